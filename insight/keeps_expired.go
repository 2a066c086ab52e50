package insight

import (
	"fmt"
	"go/ast"
	"slices"
)

// Entries that expire, but are taken out only when their key is asked for again, or when a length is reached.

// lazyExpiry is where the source does so.
type lazyExpiry struct {
	check Evidence // an entry's time is over, and it is removed
	bound Evidence // something is removed at a length; the zero Evidence where nothing is
	queue Evidence // the entry goes into a heap as well; the zero Evidence where it does not
}

// expiresLazily finds that of a map: a function that is given a key reads the entry, compares a time, and removes it. It is false where the source goes
// through the map, or through something else in a loop, and removes what has expired.
func expiresLazily(c *code, into keepsAt) (l lazyExpiry, ok bool) {
	if into.kind != intoMap || into.container == "" {
		return l, false
	}
	swept := false
	for _, fns := range (sourceHolders{c}).functions() {
		for _, fn := range fns {
			shown := func(n ast.Node, text string) Evidence {
				return c.shownAt(fn.file, c.parse(fn.file).fset.PositionFor(n.Pos(), false).Line, "%s", text)
			}
			byKey := readsByKey(c, fn.FuncDecl, into.container)
			stores := hasAny(fn.Body, func(n ast.Node) bool {
				a, is := n.(*ast.AssignStmt)
				return is && fn.file == into.file && c.parse(fn.file).fset.PositionFor(a.Pos(), false).Line == into.line
			})
			eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
				if call, is := n.(*ast.CallExpr); is && stores && calledName(call) == "Push" && len(call.Args) == 2 {
					l.queue = shown(call, "it goes into a heap here")
				}
				if call, is := n.(*ast.CallExpr); is && calledName(call) == "DeleteFunc" && asksTime(call) {
					swept = true
				}
				cond, body := conditionOf(n)
				if cond == nil || !anyCall(body, removes) {
					return
				}
				_, loop := n.(*ast.ForStmt)
				switch onTime := asksTime(cond); {
				case onTime && (loop || slices.ContainsFunc(around, isLoop)):
					swept = true
				case onTime && byKey:
					l.check, ok = shown(cond, "an entry is removed here if its time is over, when its key is asked for"), true
				case comparesLength(cond):
					if of, _ := lengthLimit(c, cond); of != nil && sameContainer(c, into.container, of) {
						l.bound = shown(cond, "something is removed when this length is reached")
					}
				}
			})
		}
	}
	return l, ok && !swept
}

// asksTime tells of a condition that it compares a time.
func asksTime(cond ast.Node) bool {
	return anyCall(cond, func(name string) bool {
		return slices.Contains([]string{"Now", "Since", "Until", "Before", "After"}, lastName(name))
	})
}

// readsByKey tells of a function that it reads an entry of a map by a parameter.
func readsByKey(c *code, fn *ast.FuncDecl, container string) bool {
	return hasAny(fn.Body, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		if !ok {
			return false
		}
		id, bare := ast.Unparen(x.Index).(*ast.Ident)
		return bare && isParameter(fn, id.Name) && sameContainer(c, container, x.X)
	})
}

// tell makes what is said of a holder say so.
func (l lazyExpiry) tell(h *holding) {
	until := ""
	if l.bound.File != "" {
		until = fmt.Sprintf(" until the length at %s is reached", lineText(l.bound))
	}
	h.advice = fmt.Sprintf("An entry whose time is over is removed only when its key is asked for again (%s): one whose key does not come again stays%s. Take out what has expired when something is added, a few each time, or by a timer",
		lineText(l.check), until)
	if l.queue.File != "" {
		h.advice += fmt.Sprintf("; if the heap that %s pushes to is in the order of expiry, these are its first", lineText(l.queue))
	}
	h.advice += "."
	for _, e := range []Evidence{l.bound, l.check} {
		if e.File != "" {
			h.shows = slices.Insert(h.shows, min(len(h.shows), 1), e)
		}
	}
}
