package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Pauses that are no polls: a rate that the program keeps by itself, from the time of the call before; and the time for which something has
// to stay the same until it counts as finished.

// ownRate is what to do about a distance from the call before that the program keeps by itself.
const ownRate = "The program keeps a rate of its own here: it pauses for what is left of an interval since the call before, and only where calls come faster than that. If the other side, or what the rate is for, allows more, make the interval shorter; otherwise make fewer calls (one that asks for more at once)."

// ownRateDoubt is why such a pause may be meant.
const ownRateDoubt = "the pause is what is left of an interval since the call before: it keeps a rate, which may be the intended one"

// paceOfOwn finds that a pause on a line is as long as what is left of an interval since the time that the function keeps from call to call.
func paceOfOwn(c *code, at stack.Frame) (set Evidence, ok bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil || s == nil {
		return set, false
	}
	var pause *ast.CallExpr
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		call, is := n.(*ast.CallExpr)
		if is && len(call.Args) == 1 && slices.Contains([]string{"time.Sleep", "time.After", "time.NewTimer"}, types.ExprString(call.Fun)) {
			pause = call
		}
	})
	if pause == nil {
		return set, false
	}
	left := pause.Args[0]
	if id, is := left.(*ast.Ident); is {
		eachAssigned(fn.body, func(lhs, rhs ast.Expr) {
			if isNamed(lhs, id.Name) && rhs.Pos() < pause.Pos() {
				left = rhs
			}
		})
	}
	kept := sinceKept(fn, left)
	if kept == "" {
		return set, false
	}
	eachAssigned(fn.body, func(lhs, rhs ast.Expr) {
		if types.ExprString(lhs) == kept && (timed(rhs) || hasCall(rhs, func(call *ast.CallExpr) bool { return calledName(call) == "Add" })) && !ok {
			line, _ := s.lines(lhs)
			set, ok = c.shownAt(at.File, line, "the time of this call is kept here for the next one"), true
		}
	})
	return set, ok
}

// sinceKept is the time from which what a pause lasts for is counted, where the function keeps that beyond a call: p.last of
// p.every - time.Since(p.last), of p.last.Add(p.every).Sub(now) and of time.Until(p.next).
func sinceKept(fn *scope, left ast.Expr) (kept string) {
	note := func(x ast.Expr) {
		if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && calledName(call) == "Add" { // p.last.Add(p.every)
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				x = f.X
			}
		}
		switch x := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			kept = types.ExprString(x)
		case *ast.Ident:
			if !fn.declares(x.Name) { // of a function around, or of the package
				kept = x.Name
			}
		}
	}
	difference := false
	ast.Inspect(left, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			difference = difference || n.Op == token.SUB
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) != 1 {
				return true
			}
			switch f.Sel.Name {
			case "Since":
				note(n.Args[0])
			case "Until":
				difference = true
				note(n.Args[0])
			case "Sub":
				if isTheTime(n.Args[0]) { // next.Sub(now)
					difference = true
					note(f.X)
				} else {
					note(n.Args[0])
				}
			}
		}
		return kept == ""
	})
	if !difference {
		return ""
	}
	return kept
}

// isTheTime tells of an expression that it is the time, by a clock or by a variable of that name.
func isTheTime(x ast.Expr) bool { return timed(x) || isNamed(x, "now") }

// tellOwnRate says of a pause that the program keeps a rate with it; false where it does not.
func tellOwnRate(w *waiting, c *code, f *Finding) bool {
	if w.kind != "sleep" && w.kind != "timer" {
		return false
	}
	set, ok := paceOfOwn(c, w.site.Frame)
	if !ok {
		return false
	}
	f.Advice, f.Evidence = ownRate, append(f.Evidence, set)
	return true
}

// untilQuiet is what to do about a loop that waits until something has not changed for the length of a pause.
const untilQuiet = "It waits until something has not changed for the length of a pause: that is how it tells that it is finished, and a shorter pause may take for finished what still goes on. To wait for less, have whoever changes it show that it is done (a file that gets its name at the end, a mark, a notification), or wait for several at the same time."

// untilQuietDoubt is why such a pause may be meant.
const untilQuietDoubt = "by the source, the loop ends when what it looks at is the same as before the pause: the pause is what is measured"

// untilSame finds that the loop around a pause ends when what it looks at is as it was before the pause: it keeps what it has seen for the next
// turn, and compares the two.
func untilSame(c *code, at stack.Frame) (cond Evidence, ok bool) {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return cond, false
	}
	l := loops[len(loops)-1]
	kept := map[string]string{} // what is kept, by the variable that keeps it
	ast.Inspect(l.body, func(n ast.Node) bool {
		if a, is := n.(*ast.AssignStmt); is && a.Tok == token.ASSIGN && len(a.Lhs) == len(a.Rhs) {
			for i, lhs := range a.Lhs {
				kept[types.ExprString(lhs)] = types.ExprString(a.Rhs[i])
			}
		}
		return true
	})
	same := func(x, y ast.Expr) bool {
		a, b := types.ExprString(x), types.ExprString(y)
		return kept[a] == b && kept[a] != "" || kept[b] == a && kept[b] != ""
	}
	var asks func(x ast.Expr, on bool) bool
	asks = func(x ast.Expr, on bool) bool {
		switch x := ast.Unparen(x).(type) {
		case *ast.UnaryExpr:
			return x.Op == token.NOT && asks(x.X, !on)
		case *ast.BinaryExpr:
			switch x.Op {
			case token.LAND, token.LOR:
				return asks(x.X, on) || asks(x.Y, on)
			case token.EQL, token.NEQ:
				return (x.Op == token.EQL) == on && same(x.X, x.Y)
			}
		case *ast.CallExpr:
			f, is := x.Fun.(*ast.SelectorExpr)
			if !is || !on {
				return false
			}
			return f.Sel.Name == "Equal" && (len(x.Args) == 1 && same(f.X, x.Args[0]) || len(x.Args) == 2 && same(x.Args[0], x.Args[1]))
		}
		return false
	}
	for _, x := range l.exits() {
		if asks(x.cond, x.on) && !x.fails {
			line, _ := l.source.lines(x.cond)
			return c.shownAt(at.File, line, "the loop ends here when nothing has changed since the turn before"), true
		}
	}
	return cond, false
}

// tellUntilSame says of the pauses of a loop that they measure whether something still changes; false where they do not.
func tellUntilSame(w *waiting, c *code, f *Finding) bool {
	if w.kind != "sleep" && w.kind != "timer" {
		return false
	}
	cond, ok := untilSame(c, w.site.Frame)
	if !ok {
		return false
	}
	f.Advice, f.Evidence = untilQuiet, append(f.Evidence, cond)
	return true
}

// ownPause is why a pause is none of a poll, nor one between tries; empty where it is not known to be.
func ownPause(c *code, at stack.Frame) string {
	if _, ok := paceOfOwn(c, at); ok {
		return ownRateDoubt
	}
	if _, ok := untilSame(c, at); ok {
		return untilQuietDoubt
	}
	return ""
}

// goesThrough tells of a loop that a condition of it goes on to the next of what it goes through, by a method that is called on the line, and that
// the body uses what that has brought: each turn has an item of its own, and nothing is asked for twice.
func goesThrough(l loop, line int) bool {
	called := calledOn(l.source, line)
	return slices.ContainsFunc(l.exits(), func(x exit) bool {
		cond := ast.Unparen(x.cond)
		if not, is := cond.(*ast.UnaryExpr); is && not.Op == token.NOT {
			cond = ast.Unparen(not.X)
		}
		call, ok := cond.(*ast.CallExpr)
		if !ok || !called(call) || !slices.Contains(advances, calledName(call)) {
			return false
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		of := types.ExprString(f.X)
		return hasNode(l.body, func(n ast.Node) bool {
			x, is := n.(*ast.SelectorExpr)
			return is && types.ExprString(x.X) == of && !slices.Contains([]string{"Err", "Close", f.Sel.Name}, x.Sel.Name)
		})
	})
}
