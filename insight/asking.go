package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

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
	if r, retries := c.retryAround(path); retries {
		found, ok = asking{at: r.at, retries: true, pauses: r.pauses, bounded: r.bounded}, true
	}
	for _, f := range path {
		loops := loopsAround(c, f)
		for i := len(loops) - 1; i >= 0; i-- {
			switch a, asks := loops[i].asks(f); {
			case loops[i].items():
				return asking{}, false
			case asks && !ok:
				found, ok = a, true
			case !ok:
				return asking{}, false
			}
		}
	}
	return found, ok
}

// loop is a for or range statement around a line, the line being in its body or condition.
type loop struct {
	cond  ast.Expr // nil where it has none
	body  *ast.BlockStmt
	stmt  ast.Node
	lines func(ast.Node) (first, last int)
}

// loopsAround are the loops of a frame's function around its line, the outermost first.
func loopsAround(c *code, f stack.Frame) (loops []loop) {
	s := c.parse(f.File)
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			loops = nil
		case *ast.ForStmt:
			loops = append(loops, loop{n.Cond, n.Body, n, s.lines})
		case *ast.RangeStmt:
			loops = append(loops, loop{nil, n.Body, n, s.lines})
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

// asks tells whether the loop ends by what a call on the frame's line has given.
func (l loop) asks(f stack.Frame) (asking, bool) {
	answer := l.answer(f.Line)
	a := asking{at: f, pauses: pausesIn(l.body), bounded: mentionsCall(l.body, "Err", "Done")}
	if n, ok := l.stmt.(*ast.ForStmt); !ok || n.Cond != nil {
		a.bounded = true
	}
	ends := l.cond != nil && decides(l.cond, answer)
	a.retries = ends && looksAtFailure(l.cond)
	for _, cond := range exits(l.body) {
		if decides(cond, answer) {
			ends, a.retries = true, a.retries || looksAtFailure(cond)
		}
	}
	a.follows = l.takes(f.Line, answer)
	return a, ends
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
			first, last := l.lines(a)
			if first <= line && line <= last || slices.ContainsFunc(a.Rhs, func(x ast.Expr) bool { return mentionsAny(x, names) }) {
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

// mentionsAny tells whether a node has one of the names; what is selected of another is none.
func mentionsAny(n ast.Node, names map[string]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || mentionsAny(n.X, names)
			return false
		case *ast.Ident:
			found = found || names[n.Name]
		}
		return !found
	})
	return found
}

// decides tells whether a condition asks for one of the names, in another way than
// whether an error is there: every loop ends on an error.
func decides(cond ast.Expr, names map[string]bool) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return decides(x.X, names)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return decides(x.X, names) || decides(x.Y, names)
		}
		if plainError(x) {
			return false
		}
	}
	return mentionsAny(cond, names)
}

// looksAtFailure tells whether a condition asks which error came, or for the status of
// an answer; or whether none came, which ends a loop that tries again.
func looksAtFailure(cond ast.Expr) bool {
	switch x := cond.(type) {
	case *ast.ParenExpr:
		return looksAtFailure(x.X)
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return looksAtFailure(x.X) || looksAtFailure(x.Y)
		}
		if plainError(x) {
			return false
		}
	}
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && (isError(id.Name) || id.Name == "StatusCode")
		return !found
	})
	return found
}

// exits are the conditions of a loop's body by which it is left, outside of loops and
// functions within.
func exits(body *ast.BlockStmt) (conds []ast.Expr) {
	for i, s := range body.List {
		for {
			n, ok := s.(*ast.IfStmt)
			if !ok {
				break
			}
			otherwise, _ := n.Else.(*ast.BlockStmt)
			switch {
			case leavesLoop(n.Body.List), otherwise != nil && leavesLoop(otherwise.List),
				n.Else == nil && goesOn(n.Body.List) && leavesLoop(body.List[i+1:]):
				conds = append(conds, n.Cond)
			default:
				conds = append(conds, exits(n.Body)...)
			}
			s = n.Else
		}
		if n, ok := s.(*ast.SwitchStmt); ok {
			conds = append(conds, switchExits(n)...)
		}
	}
	return conds
}

// switchExits are what decides in a switch that returns, in one of its cases.
func switchExits(n *ast.SwitchStmt) (conds []ast.Expr) {
	for _, s := range n.Body.List {
		c := s.(*ast.CaseClause)
		if len(c.Body) == 0 {
			continue
		}
		switch c.Body[len(c.Body)-1].(type) {
		case *ast.ReturnStmt:
		default:
			if b, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt); !ok || b.Label == nil || b.Tok != token.BREAK {
				continue
			}
		}
		if n.Tag != nil {
			conds = append(conds, n.Tag)
		}
		conds = append(conds, c.List...)
	}
	return conds
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
		if first, last := l.lines(call); first <= line && line <= last {
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

// plainError tells of a condition that it asks whether an error is there, and nothing else.
func plainError(cond ast.Expr) bool {
	x, ok := cond.(*ast.BinaryExpr)
	return ok && x.Op == token.NEQ && isError(lastName(types.ExprString(x.X))) && types.ExprString(x.Y) == "nil"
}
