package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Work whose result is only given to functions of the program that use it behind a condition of their own: that the condition hardly ever lets it
// through is known where blocks were counted.

// handsOn tells of a statement that it is a call, or takes one's results, which is given what the work sets as it is.
func (w *unneededWork) handsOn(n ast.Stmt) bool {
	if w.s.counts == nil {
		return false
	}
	switch n.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt:
	default:
		return false
	}
	found := false
	w.eachUse(n, func(call *ast.CallExpr, _ int) { found = found || call != nil })
	return found
}

// eachUse visits the mentions of what the work sets: with the call that it is an argument of, and which one, nil where it is none.
func (w *unneededWork) eachUse(n ast.Node, visit func(call *ast.CallExpr, i int)) {
	eachNode(n, func(x ast.Node, around []ast.Node) {
		id, ok := x.(*ast.Ident)
		if !ok || !w.group[w.s.d.variable(id)] || w.s.d.t.info.Defs[id] != nil {
			return
		}
		if slices.ContainsFunc(w.parts, func(p ast.Node) bool { return p.Pos() <= id.Pos() && id.Pos() < p.End() }) {
			return
		}
		call, _ := parent(around).(*ast.CallExpr)
		if call == nil || !slices.Contains(call.Args, ast.Expr(id)) {
			visit(nil, 0)
			return
		}
		visit(call, slices.Index(call.Args, ast.Expr(id)))
	})
}

// handed is the work if all that uses what it sets are functions which it is given to, and these use it behind a condition.
func (w *unneededWork) handed(last ast.Stmt) *unneeded {
	d := w.s.d
	for v := range w.group {
		if !isLocal(w.in.decl, v) || isGiven(w.in.decl, v) || isResult(w.in.decl, v) {
			return nil
		}
	}
	done, ok := w.s.counts.entered(openOf(w.block))
	if !ok || done == 0 {
		return nil
	}
	u := &unneeded{file: w.in.file, fails: w.fails, counted: true, done: done}
	known := true
	seen := map[types.Object]bool{}
	w.eachUse(w.in.decl, func(call *ast.CallExpr, i int) {
		if !known {
			return
		}
		param, decl := w.parameterOf(call, i)
		if param == nil {
			known = false
			return
		}
		if seen[param] {
			return
		}
		seen[param] = true
		known = u.usedBehind(w, decl, param)
	})
	if !known || u.check.line == 0 {
		return nil
	}
	_, u.first, _ = d.t.at(w.list[w.stmt].Pos())
	_, u.last, _ = d.t.at(last.End())
	for v := range w.group {
		if v.Name() != "_" && !isErrorType(v.Type()) {
			u.results = append(u.results, v.Name())
		}
	}
	slices.Sort(u.results)
	if len(u.results) == 0 {
		return nil
	}
	return u
}

// parameterOf is the parameter of a function of the program that an argument becomes; nil where that is not known.
func (w *unneededWork) parameterOf(call *ast.CallExpr, i int) (types.Object, *ast.FuncDecl) {
	d := w.s.d
	if call == nil {
		return nil, nil
	}
	fn := d.t.callee(call)
	if fn == nil || fn.Signature().Variadic() {
		return nil, nil
	}
	decl := d.t.decls[fn]
	if decl == nil || len(d.declsOf(fn)) != 1 {
		return nil, nil
	}
	return fn.Signature().Params().At(i), decl
}

// usedBehind tells of a parameter that its function uses it behind one condition alone, and adds how often it comes there.
func (u *unneeded) usedBehind(w *unneededWork, decl *ast.FuncDecl, param types.Object) bool {
	d := w.s.d
	mentions := func(n ast.Node) bool { return n != nil && mentionsVars(d, n, map[types.Object]bool{param: true}) }
	entries, ok := w.s.counts.entered(decl.Body.Lbrace)
	if !ok {
		return !mentions(decl.Body)
	}
	for i, stmt := range decl.Body.List {
		n, isIf := stmt.(*ast.IfStmt)
		if !isIf {
			if mentions(stmt) {
				return false
			}
			continue
		}
		if n.Init != nil && mentions(n.Init) || mentions(n.Cond) || n.Else != nil && mentions(n.Else) {
			return false
		}
		inside, ok := w.s.counts.entered(n.Body.Lbrace)
		switch {
		case !ok:
			return false
		case mentions(n.Body):
			if slices.ContainsFunc(decl.Body.List[i+1:], func(s ast.Stmt) bool { return mentions(s) }) {
				return false
			}
			u.behind(d, decl, n, inside, false)
			return true
		case n.Else == nil && endsEarly(n.Body) && 100*inside >= 97*entries:
			u.behind(d, decl, n, max(0, entries-inside), true)
			return true
		}
	}
	return true // it is used nowhere
}

// behind notes where the condition is asked.
func (u *unneeded) behind(d *derivations, decl *ast.FuncDecl, n *ast.IfStmt, uses int64, leaves bool) {
	u.uses += uses
	u.check, u.cond, u.leaves, u.handed = d.placeOf(n), types.ExprString(n.Cond), leaves, decl.Name.Name
	var end token.Pos = n.Body.End()
	if leaves {
		end = decl.Body.End()
	}
	_, u.from, _ = d.t.at(n.Pos())
	_, u.to, _ = d.t.at(end)
}
