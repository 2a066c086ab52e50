package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"loupe/value/stack"
)

// asking is a loop of the source that makes the same call until its answer suits.
type asking struct {
	at      stack.Frame // the frame whose line is in the loop
	retries bool        // it looks at an error or a status: what failed is tried again
	follows bool        // the next call takes what the answer before gave
	pauses  bool        // it calls something that waits, by its name
	bounded bool        // it counts its turns, or asks a context
}

// askingAround finds the loop nearest to a call, in one of the functions of its way
// through the code, if its answer decides whether it is made once more: then the calls
// cannot be made side by side, nor be one. Where a loop further out goes through
// items, the calls may be those of the items, and nothing is said.
func askingAround(c *code, path []stack.Frame) (found asking, ok bool) {
	for l, f := range loopsOn(c, path) {
		switch a, asks := l.asks(f); {
		case l.items():
			return asking{}, false
		case asks && !ok:
			found, ok = a, true
		case !ok:
			return asking{}, false
		}
	}
	return found, ok
}

// retryAround finds the loop nearest to a call that ends when something has worked and goes
// on when it has not.
func retryAround(c *code, path []stack.Frame) (found asking, ok bool) {
	for l, f := range loopsOn(c, path) {
		if l.untilDone() {
			return l.asks(f)
		}
	}
	return asking{}, false
}

// loop is a for or range statement around a line, the line being in its body or condition.
type loop struct {
	cond   ast.Expr // nil where it has none
	body   *ast.BlockStmt
	stmt   ast.Node
	source *syntax
}

// loopsOn are the loops around the lines of a way through the code, the innermost first.
func loopsOn(c *code, path []stack.Frame) iter.Seq2[loop, stack.Frame] {
	return func(yield func(loop, stack.Frame) bool) {
		for _, f := range path {
			for _, l := range slices.Backward(loopsAround(c, f)) {
				if !yield(l, f) {
					return
				}
			}
		}
	}
}

// loopsAround are the loops of a frame's function around its line, the outermost first.
func loopsAround(c *code, f stack.Frame) (loops []loop) {
	s := c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			loops = nil
		case *ast.ForStmt:
			loops = append(loops, loop{n.Cond, n.Body, n, s})
		case *ast.RangeStmt:
			loops = append(loops, loop{nil, n.Body, n, s})
		}
	})
	return loops
}

// advances are the names of calls with which a loop goes on to its next item.
var advances = []string{"Next", "NextRow", "Scan", "More", "HasNext", "Advance", "len"}

// items tells whether a loop goes through items: a range over more than a count, a count
// by which a slice is indexed, or a condition that asks for the next one.
func (l loop) items() bool {
	if r, ok := l.stmt.(*ast.RangeStmt); ok {
		return r.Key != nil && !isLiteral(r.X) && (r.Value != nil || !countsOnly(r))
	}
	n := l.stmt.(*ast.ForStmt)
	if n.Cond != nil && anyCall(n.Cond, func(name string) bool { return slices.Contains(advances, name) }) {
		return true
	}
	counter := ""
	if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
		counter = types.ExprString(a.Lhs[0])
	}
	return counter != "" && indexesBy(l.body, counter)
}

// countsOnly tells of a range over a number, as far as its text says it: a name or a
// call with a key that indexes nothing.
func countsOnly(r *ast.RangeStmt) bool {
	key, ok := r.Key.(*ast.Ident)
	return ok && (key.Name == "_" || !mentions(r.Body, key.Name))
}

// indexesBy tells whether something is indexed by a name.
func indexesBy(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		found = found || ok && mentions(x.Index, name)
		return !found
	})
	return found
}

// anyCall tells whether a node has a call whose name, without what it is of, is wanted.
func anyCall(n ast.Node, wanted func(name string) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		found = found || ok && wanted(lastName(types.ExprString(x.Fun)))
		return !found
	})
	return found
}

func isLiteral(x ast.Expr) bool {
	l, ok := x.(*ast.BasicLit)
	return ok && l.Kind == token.INT
}

// untilDone tells whether the loop goes on while something fails, and not through items.
func (l loop) untilDone() bool {
	return !l.items() && (l.cond != nil && untilWorks(l.cond) || endsWhenDone(l.body))
}

// asks tells whether the loop ends by what a call on the frame's line has given, or when
// something has worked.
func (l loop) asks(f stack.Frame) (a asking, ends bool) {
	answer := l.answer(f.Line)
	a = asking{at: f, retries: l.untilDone(), pauses: pausesIn(l.body), bounded: l.bounded(f.Line, answer), follows: l.takes(f.Line, answer)}
	ends = a.retries
	conds := exits(l.body)
	if l.cond != nil {
		conds = append(conds, l.cond)
	}
	for _, cond := range conds {
		if decides(cond, answer) {
			ends, a.retries = true, a.retries || looksAtFailure(cond)
		}
	}
	return a, ends
}

// bounded tells whether something else than the answer can end the loop: a count of its
// turns, a clock, a context, or what else a condition or a case asks for.
func (l loop) bounded(line int, answer map[string]bool) bool {
	if _, ok := l.stmt.(*ast.RangeStmt); ok || l.cond != nil && !byAnswer(l.cond, answer) {
		return true
	}
	found := mentionsCall(l.body, "Err", "Done")
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.IfStmt:
			otherwise, _ := n.Else.(*ast.BlockStmt)
			ends := leavesLoop(n.Body.List) || goesOn(n.Body.List) || otherwise != nil && leavesLoop(otherwise.List)
			found = found || ends && !byAnswer(n.Cond, answer)
		case *ast.CaseClause:
			found = found || leavesClause(n.Body) && slices.ContainsFunc(n.List, func(x ast.Expr) bool { return !byAnswer(x, answer) && !isConstant(x) })
		case *ast.CommClause:
			found = found || leavesClause(n.Body)
		case *ast.CallExpr:
			found = found || !l.source.covers(n, line) && slices.ContainsFunc(n.Args, isContext)
		}
		return !found
	})
	return found
}

// isConstant tells of an expression, by its text, that it is the same in every turn: a
// literal, or what a package or a type has.
func isConstant(x ast.Expr) bool {
	switch x.(type) {
	case *ast.BasicLit, *ast.SelectorExpr, *ast.Ident:
		return true
	}
	return false
}

// isContext tells of an argument, by its name, that it is a context.
func isContext(x ast.Expr) bool {
	text := types.ExprString(x)
	return strings.HasSuffix(strings.ToLower(text), "ctx") || strings.HasSuffix(text, ".Context()")
}

// answer are the names that what happens on a line gives a value to, and those whose
// value is made of theirs.
func (l loop) answer(line int) map[string]bool {
	names := map[string]bool{}
	for more := true; more; {
		more = false
		ast.Inspect(l.body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			if l.source.covers(a, line) || slices.ContainsFunc(a.Rhs, func(x ast.Expr) bool { return mentionsAny(x, names) }) {
				for _, x := range a.Lhs {
					if name := rootName(x); name != "" && name != "_" && !names[name] {
						names[name], more = true, true
					}
				}
			}
			return true
		})
	}
	return names
}

// takes tells whether a call on the line is given what the answer before gave: a name
// that is assigned in the loop, and declared outside of it.
func (l loop) takes(line int, answer map[string]bool) (found bool) {
	kept := map[string]bool{}
	for name := range answer {
		if !declares(l.body, name) {
			kept[name] = true
		}
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if l.source.covers(call, line) {
			found = found || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mentionsAny(x, kept) })
		}
		return true
	})
	return found
}

// advice is what to do about calls that are made until one suits.
func (a asking) advice() string {
	switch {
	case a.retries && a.pauses:
		return "It tries again until it works: wait longer after each try that fails (exponential backoff with jitter), stop after a few or with the context of who asked, and fail at once while the peer is known to be down. Look at why the first answer does not suit."
	case a.retries:
		return "It tries again until it works, without a pause: wait before the next try, longer after each (exponential backoff with jitter), stop after a few or with the context of who asked. Look at why the first answer does not suit."
	case a.follows:
		return "Each call needs the answer of the one before: ask for more at a time (larger pages), get the next while the last is worked on, or have the peer do the whole walk."
	}
	return "It asks until the answer suits: have the peer say when it is ready (a long poll, a callback, a notification) in place of asking again, or ask less often."
}

// paces tells whether a pause stands in a loop that is not left by what it has met: no
// condition within ends it.
func paces(c *code, at stack.Frame) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	l := loops[len(loops)-1]
	n, ok := l.stmt.(*ast.ForStmt)
	if ok && (n.Cond == nil || n.Post == nil) {
		return false // for ready() == false { … }
	}
	return !slices.ContainsFunc(exits(l.body), func(cond ast.Expr) bool {
		return !plainError(cond)
	})
}

// asksForLock tells whether a line of a loop asks for a lock or a slot without waiting for it,
// in the condition or in the body.
func asksForLock(c *code, at stack.Frame) (asks bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			name := strings.ToLower(lastName(types.ExprString(call.Fun)))
			asks = asks || strings.HasPrefix(name, "trylock") || strings.HasPrefix(name, "tryrlock") || strings.HasPrefix(name, "tryacquire")
		}
	})
	return asks
}
