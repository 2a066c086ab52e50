package insight

import (
	"go/ast"
	"go/parser"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Fields that a function reads and stores by way of others: its own getters and setters, and what
// these call in turn.

// access is what a call of a function of the program does with a variable or a field that outlives
// the call, by the name that the caller has for it.
type access struct {
	place string
	// reads tells that what the call gives is made of it; else it is stored.
	reads  bool
	values []ast.Expr // arguments of the call that it is made of
	adds   bool       // to what is there
	// appends tells that what is stored is put at the end of a list.
	appends bool
	line    int // of the statement, in the function that is called
	// guarded tells that the function that is called holds a lock wherever it has the place, and
	// renews that what it stores is made of what is there.
	guarded, renews bool
	clock           bool // what is stored is fixed, or the time
}

// maxAccess is how many functions deep a call is followed.
const maxAccess = 2

// accesses are those of a call in a function, as far as the source tells which function is called.
func accesses(c *code, in *ast.FuncDecl, call *ast.CallExpr, depth int) (all []access) {
	if in == nil || depth == 0 {
		return nil
	}
	of := methodsOf(c, in, call.Fun)
	if len(of) != 1 || of[0].FuncDecl == in {
		return nil
	}
	d, s := of[0].FuncDecl, c.parse(of[0].file)
	params, places := parameters(d.Type), map[string]bool{}
	read := func(place string, calls func(*ast.CallExpr) bool, guarded bool) {
		name := placeFor(d, call, place)
		if name == "" || places[place] {
			return
		}
		places[place] = true
		if returnsOf(s, d.Body, place, calls) {
			all = append(all, access{place: name, reads: true, guarded: guarded || guards(s, d, place)})
		}
	}
	stores := func(st storedAt, line int) {
		a := access{place: placeFor(d, call, st.place), adds: st.adds, appends: st.appends, line: line, renews: st.whole || renews(st.place, st), guarded: st.whole || guards(s, d, st.place)}
		if a.place == "" {
			return
		}
		a.clock = st.clock || len(st.values) > 0 && !slices.ContainsFunc(st.values, func(v ast.Expr) bool { return !isClock(v) })
		for i, x := range call.Args {
			if i < len(params) && slices.ContainsFunc(st.values, func(v ast.Expr) bool { return comesFrom(s, d.Body, params[i], v) }) {
				a.values = append(a.values, x)
			}
		}
		all = append(all, a)
	}
	inside(d.Body, func(n ast.Node) {
		line, _ := s.lines(n)
		for _, st := range storedBy(n) {
			st.adds = st.adds || slices.ContainsFunc(st.values, func(v ast.Expr) bool { return isSum(v) && comesFrom(s, d.Body, st.place, v) })
			stores(st, line)
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			for _, a := range accesses(c, d, n, depth-1) {
				if a.reads {
					read(a.place, func(c *ast.CallExpr) bool { return c == n }, a.guarded)
				} else {
					stores(storedAt{place: a.place, values: a.values, adds: a.adds, appends: a.appends, whole: a.guarded && a.renews, clock: a.clock}, line)
				}
			}
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.Ident:
			read(types.ExprString(n.(ast.Expr)), nil, false)
		}
	})
	return all
}

// isSum tells of a value that it is a sum, or the like, of two.
func isSum(x ast.Expr) bool {
	_, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok
}

// comesFrom tells whether a value in a function is made of an expression, by its text.
func comesFrom(s *syntax, body *ast.BlockStmt, text string, value ast.Node) bool {
	w := turnsOf(s, body)
	w.text, w.until = text, body.End()
	return w.has(value)
}

// returnsOf tells whether a function returns what is made of a place, or of what some calls give.
func returnsOf(s *syntax, body *ast.BlockStmt, place string, calls func(*ast.CallExpr) bool) (found bool) {
	w := turnsOf(s, body)
	w.text, w.until, w.calls = place, body.End(), calls
	inside(body, func(n ast.Node) {
		if r, ok := n.(*ast.ReturnStmt); ok {
			found = found || slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return w.has(x) })
		}
	})
	return found
}

// placeFor is how the caller of a function names what that has a name for: a part of its receiver
// or of an argument, or a variable of the package; empty for what is the function's own.
func placeFor(d *ast.FuncDecl, call *ast.CallExpr, place string) string {
	x, err := parser.ParseExpr(place)
	if err != nil {
		return ""
	}
	if id, ok := x.(*ast.Ident); ok && isParameter(d, id.Name) {
		return "" // itself, and no part of it
	}
	return nameFor(d, call, x)
}

func nameFor(d *ast.FuncDecl, call *ast.CallExpr, x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		fn := scopeOf(d)
		if x.Name == fn.receiver {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok {
				return types.ExprString(f.X)
			}
			return ""
		}
		if i := fn.parameter(x.Name); i >= 0 && i < len(call.Args) {
			return types.ExprString(unrefer(call.Args[i]))
		}
		if declaredIn(d, x.Name) || types.Universe.Lookup(x.Name) != nil {
			return ""
		}
		return x.Name
	case *ast.BasicLit:
		return x.Value
	case *ast.SelectorExpr:
		if of := nameFor(d, call, x.X); of != "" {
			return of + "." + x.Sel.Name
		}
	case *ast.IndexExpr:
		if of, index := nameFor(d, call, x.X), nameFor(d, call, x.Index); of != "" && index != "" {
			return of + "[" + index + "]"
		}
	}
	return ""
}

// within are the functions of the program that a call under the lock leads through: all of each is
// under it. The call's own function is the first.
func (u *underlying) within(holder []stack.Frame, call stack.Frame) []*underlying {
	levels := []*underlying{u}
	frames := upTo(holder, call)
	for i := len(frames) - 1; i >= 0; i-- {
		f := frames[i]
		fn, d := u.c.scopeAt(f), u.c.function(f)
		if fn == nil || d == nil || u.c.session.Scope().Of(f) != stack.User {
			continue
		}
		level := u
		if i < len(frames)-1 {
			first, _ := u.c.parse(f.File).lines(fn.body)
			level = &underlying{c: u.c, s: u.c.parse(f.File), fn: fn, file: f.File, lock: first - 1, call: f.Line, outer: levels[len(levels)-1]}
			levels = append(levels, level)
		}
		level.in = d
		if i > 0 {
			level.callee = frames[i-1]
		}
	}
	return levels
}

// accesses are those of a call in the function.
func (u *underlying) accesses(call *ast.CallExpr) []access {
	if u.called == nil {
		u.called = map[*ast.CallExpr][]access{}
	}
	all, ok := u.called[call]
	if !ok {
		all = accesses(u.c, u.in, call, maxAccess)
		u.called[call] = all
	}
	return all
}

// stored are what a node stores by itself or by way of what it calls.
func (u *underlying) stored(n ast.Node) []storedAt {
	all := storedBy(n)
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return all
	}
	leads := calledName(call) == ownName(u.callee.Func)
	for _, a := range u.accesses(call) {
		if !a.reads && !(leads && a.line < u.callee.Line) { // in front of what is waited for
			all = append(all, storedAt{place: a.place, values: a.values, adds: a.adds, appends: a.appends, leads: leads, whole: a.guarded && a.renews, clock: a.clock})
		}
	}
	return all
}

// gives tells of calls up to the one under the lock that what they give is made of a place.
func (u *underlying) gives(place string) func(*ast.CallExpr) bool {
	return func(call *ast.CallExpr) bool {
		if first, _ := u.s.lines(call); first > u.call {
			return false
		}
		return slices.ContainsFunc(u.accesses(call), func(a access) bool { return a.reads && a.place == place })
	}
}
