package insight

import (
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// What is guarded by a lock of its own, as the connections of a client's pool are, needs no other
// lock: where one call takes something out, and another puts it back, each is a change by itself,
// and none is lost.

// guards tells whether a function takes a lock once and holds it at all lines that mention a place.
func guards(s *syntax, d *ast.FuncDecl, place string) bool {
	var lines []int
	inside(d.Body, func(n ast.Node) {
		if x, ok := n.(ast.Expr); ok && types.ExprString(x) == place {
			line, _ := s.lines(n)
			lines = append(lines, line)
		}
	})
	own := locks{fset: s.fset}
	own.function(d.Body)
	for _, h := range own.found {
		if len(lines) > 0 && !slices.ContainsFunc(lines, func(line int) bool { return !h.has(line) }) {
			return true
		}
	}
	return false
}

// renews tells of a value that is stored in a place that it is what is there, with more or less.
func renews(place string, st storedAt) bool {
	return st.adds || slices.ContainsFunc(st.values, func(x ast.Expr) bool { return mentionsText(x, place) })
}

// mentionsText tells whether a part of an expression reads as a text does.
func mentionsText(x ast.Expr, text string) (found bool) {
	ast.Inspect(x, func(n ast.Node) bool {
		part, ok := n.(ast.Expr)
		found = found || ok && types.ExprString(part) == text
		return !found
	})
	return found
}

// guardsItself tells of a place, which is read before the call and stored behind it, that both are
// changes by themselves under a lock that is not held across the call: what is read is taken out
// with it, and what is stored is made of what is there by then.
func (u *underlying) guardsItself(place string) bool {
	takes, puts, other := false, false, false
	note := func(line int, guarded, renewed, reads bool) {
		switch {
		case !guarded || !renewed:
			other = true
		case u.behind(line):
			puts = true
		case reads:
			takes = true
		}
	}
	own := u.ownGuards()
	inside(u.fn.body, func(n ast.Node) {
		line, _ := u.s.lines(n)
		if line <= u.lock {
			return
		}
		for _, st := range storedBy(n) {
			if st.place == place {
				note(line, slices.ContainsFunc(own, func(h held) bool { return h.has(line) }), renews(place, st), true)
			}
		}
		if x, ok := n.(ast.Expr); ok && types.ExprString(x) == place && !slices.ContainsFunc(own, func(h held) bool { return h.has(line) }) {
			other = true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		reads, guarded, renewed := false, true, false
		for _, a := range u.accesses(call) {
			if a.place != place {
				continue
			}
			reads, guarded, renewed = reads || a.reads, guarded && a.guarded, renewed || a.renews
			if !a.reads && !a.renews {
				other = true
			}
		}
		if reads || renewed {
			note(line, guarded, renewed, reads)
		}
	})
	return takes && puts && !other
}

// ownGuards are the stretches of the function in which it holds a lock of its own: not the one that
// is held across the call.
func (u *underlying) ownGuards() []held {
	return slices.DeleteFunc(slices.Clone(u.c.heldIn(stack.Frame{File: u.file, Line: u.call})), func(h held) bool {
		return h.from == u.lock || h.has(u.call)
	})
}
