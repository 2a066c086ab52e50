package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// What a request is made with is followed back to what makes it: through variables, and functions that return it. Conditions may
// decide whether it is made or found; the counts of blocks tell how often each came.

// transportTrail follows what makes requests.
type transportTrail struct {
	d      *derivations
	counts *countedTurns // nil without
	asked  map[ast.Expr]bool
}

// of are the Transports that an expression of a function leads to, each with the way there.
func (w *transportTrail) of(decl *ast.FuncDecl, x ast.Expr) (all []ownTransport) {
	x = ast.Unparen(x)
	if w.asked[x] {
		return nil
	}
	w.asked[x] = true
	made := func(n ast.Node, sets bool) []ownTransport {
		return []ownTransport{{in: []*ast.FuncDecl{decl}, made: n, sets: sets}}
	}
	switch n := x.(type) {
	case *ast.UnaryExpr:
		return w.of(decl, n.X)
	case *ast.CompositeLit:
		if isTransport(n) {
			return made(n, transportSets(n))
		}
		for _, e := range n.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			all = append(all, w.of(decl, e)...)
		}
	case *ast.CallExpr:
		if makesTransport(w.d, n) {
			return made(n, false)
		}
		all = w.ofCall(decl, n)
	case *ast.Ident:
		v := w.d.variable(n)
		if v == nil || ofPackage(v) || isGiven(decl, v) {
			return nil
		}
		for _, def := range w.d.definitions(decl)[v] {
			if def.x != nil && !def.ranged {
				all = append(all, w.of(decl, def.x)...)
			}
		}
	}
	return all
}

// ofCall are those that a function of the sources returns.
func (w *transportTrail) ofCall(decl *ast.FuncDecl, call *ast.CallExpr) (all []ownTransport) {
	fn := w.d.t.callee(call)
	if fn == nil || w.d.t.decls[fn] == nil || w.d.t.decls[fn].Body == nil {
		return nil
	}
	callee := w.d.t.decls[fn]
	inside(callee.Body, func(n ast.Node) {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			for _, x := range w.of(callee, r.Results[0]) {
				x.calls, x.in = append([]*ast.CallExpr{call}, x.calls...), append([]*ast.FuncDecl{decl}, x.in...)
				x.given = true
				all = append(all, x)
			}
		}
	})
	return all
}

// makesTransport tells of a call that it makes a Transport: a copy of another one, or new.
func makesTransport(d *derivations, call *ast.CallExpr) bool {
	if isNamed(call.Fun, "new") && len(call.Args) == 1 {
		return types.ExprString(call.Args[0]) == "http.Transport"
	}
	of := receiverOf(call)
	if of == nil || calledName(call) != "Clone" {
		return false
	}
	if a, ok := ast.Unparen(of).(*ast.TypeAssertExpr); ok && a.Type != nil {
		return types.ExprString(a.Type) == "*http.Transport"
	}
	id, ok := ast.Unparen(of).(*ast.Ident)
	if !ok {
		return false
	}
	found := false
	for _, decl := range d.t.decls {
		if v := d.variable(id); decl.Body != nil && isLocal(decl, v) {
			for _, def := range d.definitions(decl)[v] {
				a, ok := def.x.(*ast.TypeAssertExpr)
				found = found || ok && a.Type != nil && types.ExprString(a.Type) == "*http.Transport"
			}
		}
	}
	return found
}

// steps are the nodes that make, or lead to, a Transport, each in its function.
func (x ownTransport) steps() (all []ast.Node) {
	for _, call := range x.calls {
		all = append(all, call)
	}
	return append(all, x.made)
}

// often is how often what is made for requests is, as far as conditions decide it.
type often struct {
	made, of int64    // by counts; of is 0 without
	unset    ast.Expr // without: the field that the condition asks, which is set nowhere
	cond     ast.Node
}

// each tells of a Transport whether each request makes it: it is kept nowhere on the way, and where conditions decide, they let most come there.
func (w *transportTrail) each(x ownTransport) (o often, ok bool) {
	share := 1.0
	for i, n := range x.steps() {
		if i >= len(x.in) || transportKept(w.d, x.in[i], n.(ast.Expr), nil) {
			return o, false
		}
		step, ok := w.step(x.in[i], n)
		if !ok {
			return o, false
		}
		if step.of > 0 {
			share *= float64(step.made) / float64(step.of)
		}
		if step.cond != nil && o.cond == nil {
			o = step
		}
	}
	return o, 2*share >= 1
}

// step asks that of one function of the way.
func (w *transportTrail) step(decl *ast.FuncDecl, at ast.Node) (o often, ok bool) {
	var guards []*ast.IfStmt
	var way []ast.Node
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if n == at {
			way = slices.Clone(around)
		}
	})
	other := false // a condition that is no comparison with nil
	for i, n := range way {
		switch clause := n.(type) {
		case *ast.CaseClause, *ast.CommClause:
			other, o.cond = true, clause
		}
		if s, is := n.(*ast.IfStmt); is && i+1 < len(way) && (way[i+1] == ast.Node(s.Body) || way[i+1] == s.Else) {
			guards = append(guards, s)
		}
		for _, s := range statements(n) {
			if before, is := s.(*ast.IfStmt); is && s.End() <= at.Pos() && returnsFound(before) {
				guards = append(guards, before)
			}
		}
	}
	switch {
	case len(guards) > 0:
		o.cond = guards[len(guards)-1].Cond
	case !other:
		return o, true
	}
	if w.counts != nil {
		made, known := w.counts.reaches(way, at)
		of, counted := w.counts.entered(decl.Body.Lbrace)
		if known && counted && of > 0 {
			o.made, o.of = made, of
			return o, true
		}
	}
	if other {
		return o, false
	}
	for _, s := range guards {
		field := w.unset(decl, s)
		if field == nil || at.Pos() > s.End() != (askedNil(s.Cond) == token.NEQ) {
			return o, false
		}
		o.unset = field
	}
	return o, true
}

// returnsFound tells of an if statement that it returns what it has asked for: not an error, or nothing.
func returnsFound(s *ast.IfStmt) bool {
	if len(s.Body.List) == 0 {
		return false
	}
	r, ok := s.Body.List[len(s.Body.List)-1].(*ast.ReturnStmt)
	return ok && len(r.Results) > 0 && !isNamed(r.Results[0], "nil") && !asksError(s.Cond, token.NEQ)
}

// askedNil is how a condition compares something with nil.
func askedNil(cond ast.Expr) token.Token {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && (isNamed(b.Y, "nil") || isNamed(b.X, "nil")) {
		return b.Op
	}
	return token.ILLEGAL
}

// unset is the field that a condition compares with nil, by itself or by a variable that has it, where the sources set it nowhere.
func (w *transportTrail) unset(decl *ast.FuncDecl, s *ast.IfStmt) ast.Expr {
	if askedNil(s.Cond) == token.ILLEGAL {
		return nil
	}
	b := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	x := ast.Unparen(b.X)
	if isNamed(x, "nil") {
		x = ast.Unparen(b.Y)
	}
	if v := w.d.variable(x); isLocal(decl, v) && !isGiven(decl, v) {
		for _, def := range w.d.definitions(decl)[v] {
			if f, ok := def.x.(*ast.SelectorExpr); ok && def.x.Pos() < s.Pos() {
				x = f
			}
		}
	}
	f, ok := x.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	field := w.d.field(f)
	if field == nil || setsField(w.d, field) {
		return nil
	}
	return f
}

// setsField tells whether the sources set a field.
func setsField(d *derivations, field types.Object) bool {
	if len(d.writes()[field]) > 0 {
		return true
	}
	return slices.ContainsFunc(d.t.files, func(f typedFile) bool {
		return hasAny(f.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return false
			}
			return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
				kv, keyed := e.(*ast.KeyValueExpr)
				if !keyed { // all fields, in their order
					of, is := typeUnder(d.t.typeOf(lit)).(*types.Struct)
					return is && hasField(of, field)
				}
				id, named := kv.Key.(*ast.Ident)
				return named && d.t.info.Uses[id] == field
			})
		})
	})
}

// typeUnder is the underlying type of one that may not be known.
func typeUnder(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// forEach tells of what is made at a step of the function in which a client is found that it is made for each request, or for a few tries of one.
func (w *transportTrail) forEach(p clientPlace, frames []stack.Frame, user func(stack.Frame) bool, served bool, step ast.Node) bool {
	outer, counted, ok := w.around(p, frames, user, step)
	if once, known := w.once(outer, frames, user); !ok || !once || !known {
		return false
	}
	return counted || w.repeated(outer.at, frames[outer.frame:], user, served, step)
}

// repeated tells of the function that makes a request that it does so again and again, and that what is made at a place of it
// is not made once for many of them.
func (w *transportTrail) repeated(in frameCode, frames []stack.Frame, user func(stack.Frame) bool, served bool, at ast.Node) bool {
	calls, counted := int64(0), false
	if w.counts != nil {
		calls, counted = w.counts.entered(in.body().Lbrace)
	}
	inner := slices.IndexFunc(frames, user)
	loop := transportLoop(w.d, in.body(), frames[inner].Line)
	within := loop.Pos() <= at.Pos() && at.Pos() < loop.End()
	if body := bodyOfLoop(loop); body != nil && !within && counted {
		turns, known := w.counts.entered(body.Lbrace)
		return known && calls >= fewCalls && turns < 2*calls // it tries again
	}
	if served || counted && calls >= fewCalls && within {
		return true
	}
	if bodyOfLoop(loop) != nil {
		return within
	}
	return slices.ContainsFunc(frames[inner+1:], func(f stack.Frame) bool { return user(f) && len(loopsAround(w.d.c, f)) > 0 })
}

// fewCalls are no more than those of a start.
const fewCalls = 10

// says is how often, for a sentence.
func (o often) says() string {
	if o.of == 0 {
		return ""
	}
	return fmt.Sprintf(", in %s of %s calls", unit.Count(o.made), unit.Count(o.of))
}

// tellOften says of an advice what it depends on.
func (o often) tellOften(d *derivations, advice string) string {
	if o.unset == nil {
		return advice
	}
	return fmt.Sprintf("If the condition at %s mostly leads there, as the source sets %s nowhere: ", d.placeOf(o.cond).text(), types.ExprString(o.unset)) + strings.ToLower(advice[:1]) + advice[1:]
}
