package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Bounds that are not in the function that allocates: in one that it calls with what it has
// made, or anywhere in the sources for what that goes into.

// nearDepth is how far calls are followed from the line that allocates, chosen.
const nearDepth = 3

// nearBound finds a bound of what a line allocates, wherever it is: the room of a channel, a
// loop or a condition that removes when something is greater than something, or what takes
// out of the container, or cuts it to nothing. Whether it is reached the source does not say.
func nearBound(c *code, own []stack.Frame) (at Evidence, found bool) {
	stores := c.storesOf(own)
	note := func(file string, n ast.Node, text string) {
		if !found {
			at, found = c.shownAt(file, c.parse(file).fset.PositionFor(n.Pos(), false).Line, "%s", text), true
		}
	}
	for _, fn := range calledFrom(c, own) {
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncLit); ok {
				return false
			}
			cond, body := conditionOf(n)
			if x, ok := cond.(*ast.BinaryExpr); ok && slices.Contains([]token.Token{token.GTR, token.GEQ, token.LSS, token.LEQ}, x.Op) {
				if anyCall(body, removes) {
					note(fn.file, n, "the source has a bound here: something is removed")
				} else if comparesLength(cond) {
					of, _ := lengthLimit(c, cond)
					if of != nil && keptIn(c, stores, of) && madeAnew(body, types.ExprString(of)) && !makesItself(c, own, fn.file, body) {
						note(fn.file, n, "the source has a bound here: it is made anew")
					}
				}
			}
			return !found
		})
	}
	if found || len(stores) == 0 {
		return at, found
	}
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if takesEntries(types.ExprString(n.Fun)) && len(n.Args) > 0 && keptIn(c, stores, unrefer(n.Args[0])) {
					note(file, n, "the source has a bound here: entries are deleted")
				}
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && slices.ContainsFunc(stores, func(k keepsAt) bool {
					return k.kind != intoField && removesFrom(n, lastName(k.container)) && sameContainer(c, k.container, f.X)
				}) {
					note(file, n, "the source has a bound here: entries are deleted")
				}
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if i < len(n.Rhs) && keptIn(c, stores, lhs) && !isAllocation(c, own, lhs) {
						roomOrCut(n.Rhs[i], types.ExprString(lhs), stores, func(text string) { note(file, n, text) })
					}
				}
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) && keptIn(c, stores, name) {
						roomOrCut(n.Values[i], name.Name, stores, func(text string) { note(file, n, text) })
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && keptIn(c, stores, key) {
					roomOrCut(n.Value, key.Name, stores, func(text string) { note(file, n, text) })
				}
			}
			return !found
		})
	})
	return at, found
}

// takesEntries tells of a function, by its name, that it takes entries out of its first argument.
func takesEntries(name string) bool {
	return slices.Contains([]string{"delete", "clear", "maps.DeleteFunc", "heap.Pop", "heap.Remove"}, name)
}

// makesItself tells whether what is done under a condition is the allocation itself: another chunk, where the last one
// is used up.
func makesItself(c *code, own []stack.Frame, file string, body *ast.BlockStmt) bool {
	return len(own) > 0 && own[0].File == file && c.parse(file).covers(body, own[0].Line)
}

// isAllocation tells of a container that the line that allocates makes it: to cut it hands its elements out.
func isAllocation(c *code, own []stack.Frame, x ast.Expr) (is bool) {
	if len(own) == 0 {
		return false
	}
	c.parse(own[0].File).onLine(own[0].Line, func(n ast.Node, _ []ast.Node) {
		assigned(n, func(left, right ast.Expr) {
			call, ok := right.(*ast.CallExpr)
			is = is || ok && isNamed(call.Fun, "make") && types.ExprString(left) == types.ExprString(x)
		})
	})
	return is
}

// roomOrCut tells of what is assigned to a container that it is a channel with room for so
// many, or a part of the container that begins with nothing of it.
func roomOrCut(x ast.Expr, container string, stores []keepsAt, note func(text string)) {
	switch x := x.(type) {
	case *ast.CallExpr:
		cuts := strings.HasPrefix(types.ExprString(x.Fun), "slices.Delete") && len(x.Args) > 0 && types.ExprString(x.Args[0]) == container
		if cuts || shortens(x, container) {
			note("the source has a bound here: it is cut")
		}
		channel := slices.ContainsFunc(stores, func(k keepsAt) bool { return k.kind == intoChannel && lastName(k.container) == lastName(container) })
		if channel && isNamed(x.Fun, "make") && len(x.Args) == 2 {
			if _, ok := x.Args[0].(*ast.ChanType); ok {
				note("the source has a bound here: the room of the channel")
			}
		}
	case *ast.SliceExpr:
		if types.ExprString(x.X) == container {
			note("the source has a bound here: it is cut")
		}
	}
}

// calledFrom are the functions of the frames nearest to an allocation, and those that the
// lines of these frames call, and what these call in turn.
func calledFrom(c *code, own []stack.Frame) (all []declaration) {
	funcs := c.functions()
	add := func(call *ast.CallExpr) {
		found := funcs[calledName(call)]
		if len(found) == 0 || len(found) > 2 {
			return // of many of one name nobody knows which
		}
		for _, d := range found {
			if !slices.ContainsFunc(all, func(o declaration) bool { return o.FuncDecl == d.FuncDecl }) {
				all = append(all, d)
			}
		}
	}
	for _, f := range own[:min(maxKeepUp, len(own))] {
		if fn := c.function(f); fn != nil && !slices.ContainsFunc(all, func(o declaration) bool { return o.FuncDecl == fn }) {
			all = append(all, declaration{fn, f.File})
		}
	}
	from := len(all)
	for _, f := range own[:min(maxKeepUp, len(own))] {
		s := c.parse(f.File)
		s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
			if call, ok := n.(*ast.CallExpr); ok {
				add(call)
			}
		})
	}
	for range nearDepth - 1 {
		to := len(all)
		for _, d := range all[from:to] {
			ast.Inspect(d.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					add(call)
				}
				return true
			})
		}
		from = to
	}
	return all
}
