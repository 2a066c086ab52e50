package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Why a list has to be made whole although a part of it is used: a later element may change an earlier one, or what makes it judges all of them.

// changesEarlier finds in a loop of a part of a function where it changes something that an earlier turn may have put into the list: what it has
// looked up in a map or a list, of the type of the list's elements. It is nil where the source shows no such place.
func changesEarlier(d *derivations, decl *ast.FuncDecl, part ast.Node, list types.Type) (at ast.Node) {
	refersToElement := func(x ast.Expr) bool { return refersToStruct(d, x, list) }
	lookedUp := func(x ast.Expr, loop ast.Node) bool {
		root := innermost(pointed(x))
		for e := ast.Unparen(pointed(x)); e != nil && !isIdent(e); e = ast.Unparen(stepIn(e)) {
			if _, index := e.(*ast.IndexExpr); index && e != ast.Unparen(pointed(x)) {
				return refersToElement(e)
			}
		}
		v := d.variable(root)
		if v == nil || !covers(loop, &ast.Ident{NamePos: v.Pos(), Name: v.Name()}) {
			return false
		}
		return slices.ContainsFunc(d.definitions(decl)[v], func(def definition) bool {
			x, index := ast.Unparen(orNothing(def.x)).(*ast.IndexExpr)
			return index && !def.part && !def.ranged && refersToElement(x)
		})
	}
	eachNode(part, func(n ast.Node, around []ast.Node) {
		i := slices.IndexFunc(around, func(n ast.Node) bool { return bodyOfLoop(n) != nil })
		if at != nil || i < 0 {
			return
		}
		for _, lhs := range placesSet(n) {
			if !isIdent(ast.Unparen(lhs)) && lookedUp(lhs, around[i]) {
				at = n
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		fn := d.t.callee(call)
		if fn == nil {
			return
		}
		for _, callee := range d.declsOf(fn) {
			for _, v := range parametersOf(d, callee) {
				if arg := argumentFor(d, callee, call, v); arg != nil && callee.Body != nil && setsThrough(d, callee, v) && lookedUp(&ast.StarExpr{X: arg}, around[i]) {
					at = n
				}
			}
		}
	})
	return at
}

// orNothing is an expression, or a bad one in place of none.
func orNothing(x ast.Expr) ast.Expr {
	if x == nil {
		return &ast.BadExpr{}
	}
	return x
}

// stepIn is what an expression is a part of; nil of none.
func stepIn(x ast.Expr) ast.Expr {
	switch x := x.(type) {
	case *ast.SelectorExpr:
		return x.X
	case *ast.IndexExpr:
		return x.X
	case *ast.StarExpr:
		return x.X
	case *ast.ParenExpr:
		return x.X
	}
	return &ast.Ident{}
}

// refersToStruct tells of something looked up that it is a pointer to a struct which a list has as its elements: whoever has that sees what is changed of it.
func refersToStruct(d *derivations, x ast.Expr, list types.Type) bool {
	t := d.t.typeOf(x)
	if tuple, ok := t.(*types.Tuple); ok && tuple.Len() > 0 { // x, ok := m[k]
		t = tuple.At(0).Type()
	}
	if t == nil {
		return false
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok || !isStruct(p.Elem()) {
		return false
	}
	var of types.Type
	switch l := list.Underlying().(type) {
	case *types.Slice:
		of = l.Elem()
	case *types.Map:
		of = l.Elem()
	default:
		return false
	}
	if pointer, ok := of.Underlying().(*types.Pointer); ok {
		of = pointer.Elem()
	}
	return types.Identical(of, p.Elem())
}

// setsThrough tells of a function that it sets a field of what a parameter points to.
func setsThrough(d *derivations, decl *ast.FuncDecl, param types.Object) bool {
	return hasAny(decl.Body, func(n ast.Node) bool {
		return slices.ContainsFunc(placesSet(n), func(lhs ast.Expr) bool { return !isIdent(ast.Unparen(lhs)) && d.variable(innermost(lhs)) == param })
	})
}

// judgesAll is where a function that returns a list says of all of it whether it is to be used, when its loops are done or in one of them: a truth or an
// error beside the list that is computed there, or nothing in place of the list. list is which result that is.
func judgesAll(d *derivations, decl *ast.FuncDecl, list int) (at codeLine) {
	begins := token.NoPos
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if bodyOfLoop(n) != nil && begins == token.NoPos {
			begins = n.Pos()
		}
		return true
	})
	asks := begins == token.NoPos // it may judge what another function has made
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		ret, ok := n.(*ast.ReturnStmt)
		if !ok || at.line > 0 || withinLit(around) || len(ret.Results) <= list {
			return
		}
		if fails := returnsError(ret, decl.Type, around); fails && slices.ContainsFunc(around, func(n ast.Node) bool {
			s, ok := n.(*ast.IfStmt)
			return ok && asksError(s.Cond, token.NEQ) && within(s.Body, ret)
		}) || fails && slices.ContainsFunc(around, isLoop) {
			return // what one element, or the reading, ends with
		}
		judged := slices.ContainsFunc(around, func(n ast.Node) bool {
			s, ok := n.(*ast.IfStmt)
			return ok && within(s.Body, ret) && asksTruthOf(d, decl, s.Cond)
		})
		for i, x := range ret.Results {
			switch {
			case i == list:
				lit, empty := ast.Unparen(x).(*ast.CompositeLit)
				if (isNamed(x, "nil") || empty && len(lit.Elts) == 0) && (judged || !asks && ret.Pos() > begins && conditional(around)) {
					at = d.placeOf(ret)
				}
			case d.t.info.Types[x].Value == nil && (isTruth(d, x) || isComparing(x)) && (asks || ret.Pos() > begins):
				at = d.placeOf(ret)
			}
		}
	})
	return at
}

// isComparing tells of an expression that it compares, also what has a type that is not known.
func isComparing(x ast.Expr) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok && (b.Op.Precedence() == token.EQL.Precedence() || b.Op == token.LAND || b.Op == token.LOR)
}

// conditional tells of the nodes around a statement that a condition decides whether it is reached.
func conditional(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IfStmt, *ast.CaseClause:
			return true
		}
		return false
	})
}

// isTruth tells of an expression that its type is bool.
func isTruth(d *derivations, x ast.Expr) bool {
	t := d.t.typeOf(x)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// asksTruthOf tells of a condition that it asks a truth which a call of the sources has given beside a list.
func asksTruthOf(d *derivations, decl *ast.FuncDecl, cond ast.Expr) bool {
	return hasNode(cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || !isTruth(d, id) {
			return false
		}
		v := d.variable(id)
		return v != nil && slices.ContainsFunc(d.definitions(decl)[v], func(def definition) bool {
			call, ok := def.x.(*ast.CallExpr)
			if !ok || d.t.callee(call) == nil {
				return false
			}
			results := d.t.callee(call).Signature().Results()
			for i := range results.Len() {
				if isListOrMap(results.At(i).Type()) {
					return true
				}
			}
			return false
		})
	})
}
