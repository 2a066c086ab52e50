package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// How a loop compares a key of each element: in its condition, in a function that this calls, or by a function that it is given.

// keyMatch is how it does, and what is computed of an element for it.
type keyMatch struct {
	by       comparison
	same     sameBy
	computed ast.Expr // the call that gives the key of an element; nil where the loop shows none
}

// keyMatcher reads comparisons.
type keyMatcher struct {
	c *code
	d *derivations
}

// calledDeep is how many functions a comparison is followed through.
const calledDeep = 3

// condition reads the condition of a loop in a function, of which names are those of the element, with the frames that have called the function. It is
// false where the condition asks for something else than the element with a key.
func (k keyMatcher) condition(in frameCode, cond ast.Expr, names map[string]bool, made map[string]ast.Expr, up []stack.Frame) (m keyMatch, ok bool) {
	if call, is := ast.Unparen(cond).(*ast.CallExpr); is {
		if m, ok = k.called(in, call, names, up, 0); !ok {
			return m, false
		}
	} else if by, terms := matchesBy(cond, names); by != matchNone && len(terms) > 0 {
		m = keyMatch{by: refined(by, cond, names), same: k.sameIn(in.file, cond)}
	}
	m.computed = keyComputed(k.d, cond, names, made)
	return m, m.by == matchEqual || m.by == matchFold || m.by == matchGroup
}

// called reads a condition that is a call: of a function that the loop's own is given, or of one of the program.
func (k keyMatcher) called(in frameCode, call *ast.CallExpr, names map[string]bool, up []stack.Frame, deep int) (m keyMatch, ok bool) {
	if deep > calledDeep {
		return m, false
	}
	ofElement := func(x ast.Expr) bool { return mentionsAny(x, names) }
	if id, is := call.Fun.(*ast.Ident); is && k.d.variable(id) != nil {
		if !slices.ContainsFunc(call.Args, ofElement) {
			return m, false
		}
		return k.function(in, id, up, deep)
	}
	if by, terms := matchesCall(call, names); (by == matchEqual || by == matchFold) && len(terms) > 0 {
		return keyMatch{by: by, same: k.sameIn(in.file, call)}, true
	}
	fn := k.d.t.callee(call)
	if fn == nil || k.d.t.decls[fn] == nil {
		return m, false
	}
	decl := k.d.t.decls[fn]
	result := onlyResult(decl.Body)
	if result == nil {
		return m, false
	}
	inner := map[string]bool{}
	if sel, is := call.Fun.(*ast.SelectorExpr); is && decl.Recv != nil && ofElement(sel.X) {
		for name := range givenNames(decl.Recv) {
			inner[name] = true
		}
	}
	for i, name := range parameters(decl.Type) {
		if i < len(call.Args) && ofElement(call.Args[i]) {
			inner[name] = true
		}
	}
	file, _, _ := k.d.t.at(decl.Pos())
	return k.result(frameCode{decl: decl, file: file}, result, inner, deep)
}

// result reads what a function returns of an element.
func (k keyMatcher) result(in frameCode, x ast.Expr, names map[string]bool, deep int) (m keyMatch, ok bool) {
	if call, is := ast.Unparen(x).(*ast.CallExpr); is {
		return k.called(in, call, names, nil, deep+1)
	}
	by, terms := matchesBy(x, names)
	if by == matchNone || len(terms) == 0 {
		return m, false
	}
	return keyMatch{by: refined(by, x, names), same: k.sameIn(in.file, x)}, true
}

// onlyResult is what a body returns that does nothing else; nil where it does.
func onlyResult(body *ast.BlockStmt) ast.Expr {
	if body == nil || len(body.List) != 1 {
		return nil
	}
	ret, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil
	}
	return ret.Results[0]
}

// function reads a value that is a function which is asked for each element: up to where it is made, in the functions that hand it on.
func (k keyMatcher) function(in frameCode, x ast.Expr, up []stack.Frame, deep int) (m keyMatch, ok bool) {
	if deep > calledDeep {
		return m, false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.FuncLit:
		if result := onlyResult(x.Body); result != nil {
			names := map[string]bool{}
			for _, name := range parameters(x.Type) {
				names[name] = true
			}
			return k.result(in, result, names, deep)
		}
	case *ast.SelectorExpr:
		s := k.d.t.info.Selections[x]
		if s == nil || s.Kind() != types.MethodVal || matchNamed(x.Sel.Name) != matchEqual {
			return m, false
		}
		m = keyMatch{by: matchEqual, same: sameBy{equality: equalUnknown, name: x.Sel.Name}}
		if fn, is := s.Obj().(*types.Func); is && k.d.t.decls[fn.Origin()] != nil {
			decl := k.d.t.decls[fn.Origin()]
			m.same.equality, m.same.at = equalBy(k.d.t, decl, 0), k.d.placeOf(decl).text()
		}
		return m, true
	case *ast.CallExpr: // which makes it
		fn := k.d.t.callee(x)
		if fn == nil || k.d.t.decls[fn] == nil {
			return m, false
		}
		if result := onlyResult(k.d.t.decls[fn].Body); result != nil {
			file, _, _ := k.d.t.at(result.Pos())
			return k.function(frameCode{decl: k.d.t.decls[fn], file: file}, result, nil, deep+1)
		}
	case *ast.Ident:
		v := k.d.variable(x)
		if v == nil {
			return m, false
		}
		all := k.d.definitions(in.decl)[v]
		if !isGiven(in.decl, v) {
			if len(all) == 1 && all[0].x != nil && !all[0].ranged && !all[0].part {
				return k.function(in, all[0].x, up, deep+1)
			}
			return m, false
		}
		if len(all) > 0 || in.lit != nil || len(up) == 0 {
			return m, false
		}
		at := slices.Index(parameters(in.decl.Type), x.Name)
		caller, ok := k.d.at(up[0])
		if !ok || at < 0 {
			return m, false
		}
		for _, call := range callsOn(k.d, caller, up[0].Line) {
			if calledName(call) == in.decl.Name.Name && at < len(call.Args) {
				return k.function(caller, call.Args[at], up[1:], deep+1)
			}
		}
	}
	return m, false
}

// callsOn are the calls of a function that begin on a line.
func callsOn(d *derivations, in frameCode, line int) (all []*ast.CallExpr) {
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, first, _ := d.t.at(call.Pos())
			_, last, _ := d.t.at(call.Lparen)
			if first <= line && line <= last {
				all = append(all, call)
			}
		}
		return true
	})
	return all
}

// sameIn is what the calls of a condition take for equal.
func (k keyMatcher) sameIn(file string, cond ast.Expr) (by sameBy) {
	ast.Inspect(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if m := matchNamed(calledName(call)); m != matchEqual && m != matchFold {
			return true
		}
		if e, at := sameByCall(k.d.t, nil, file, call); e >= by.equality {
			by = sameBy{equality: e, name: lastName(types.ExprString(call.Fun)), at: at}
		}
		return true
	})
	return by
}

// keyComputed is the call of a condition, or of what its variables were made of, that gives something of the element alone; nil where there is none.
func keyComputed(d *derivations, cond ast.Expr, names map[string]bool, made map[string]ast.Expr) (found ast.Expr) {
	alone := func(call *ast.CallExpr) bool {
		if fn := d.t.callee(call); fn == nil || d.t.decls[fn] == nil || isLenCall(call) {
			return false // a function of the program, as what a library computes is not seen to take long
		}
		parts := slices.Clone(call.Args)
		if x := receiverOf(call); x != nil && !isPackageName(d, x) {
			parts = append(parts, x)
		}
		of := len(parts) > 0 && mentionsAny(call, names)
		for _, x := range parts {
			_, constant := x.(*ast.BasicLit)
			of = of && (constant || mentionsAny(x, names))
		}
		return of
	}
	look := func(x ast.Node) {
		ast.Inspect(x, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && found == nil && alone(call) {
				if sig, is := d.t.info.TypeOf(call).(*types.Basic); !is || sig.Info()&types.IsBoolean == 0 {
					found = call
				}
			}
			return found == nil
		})
	}
	look(cond)
	ast.Inspect(cond, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && made[id.Name] != nil {
			look(made[id.Name])
		}
		return true
	})
	return found
}

// isPackageName tells of an expression that it names an imported package.
func isPackageName(d *derivations, x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	_, is := d.t.info.Uses[id].(*types.PkgName)
	return is
}

// keyCondition is the statement by which a loop selects elements, and what it asks of them: in the sense in which it selects. It is nil where the loop
// does anything else for each element.
func keyCondition(body *ast.BlockStmt, names map[string]bool, made map[string]ast.Expr) (ends *ast.IfStmt, cond ast.Expr, skips bool) {
	for i, s := range body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE || ends != nil {
				return nil, nil, false
			}
			for j, lhs := range s.Lhs {
				if id, ok := lhs.(*ast.Ident); ok && id.Name != "_" && mentionsAny(s, names) {
					names[id.Name], made[id.Name] = true, s.Rhs[min(j, len(s.Rhs)-1)]
				}
			}
		case *ast.IfStmt:
			switch {
			case ends != nil || s.Else != nil || s.Init != nil:
				return nil, nil, false
			case onlyGoesOn(s.Body.List) && i+1 < len(body.List):
				x, differs := ast.Unparen(s.Cond).(*ast.BinaryExpr)
				not, negated := ast.Unparen(s.Cond).(*ast.UnaryExpr)
				switch {
				case negated && not.Op == token.NOT:
					return s, ast.Unparen(not.X), true
				case differs && x.Op == token.NEQ && !isNamed(x.Y, "nil"):
					return s, opposite(s.Cond), true
				}
			default:
				ends, cond = s, s.Cond
			}
		default:
			return nil, nil, false
		}
	}
	return ends, cond, false
}
