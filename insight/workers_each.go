package insight

import (
	"go/ast"
	"go/types"
)

// Workers that a loop starts, each with a value that it makes for it: nothing of that value is shared by them.

// madeForEach tells of the type of a receiver that each goroutine which runs a method of it was started in a loop that
// makes a value for it, with a field of its own: more of them share nothing by that field.
func madeForEach(c *code, of, method, field string) bool {
	starts, each := 0, 0
	c.eachSource(func(_ string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
				x := startedOn(n, method)
				if x == nil {
					return
				}
				if is := typeNameOf(c, fn, rootName(x)); is != of && (is != "" || len(c.functions()[method]) > 1) {
					return
				}
				if starts++; ownOfTurn(c, around, x, field) {
					each++
				}
			})
		}
	})
	return starts > 0 && each == starts
}

// startedOn is what a method of a name is called on by a statement that starts a goroutine; nil of another node.
func startedOn(n ast.Node, method string) (on ast.Expr) {
	selected := func(x ast.Expr) {
		if f, ok := x.(*ast.SelectorExpr); ok && f.Sel.Name == method {
			on = f.X
		}
	}
	switch n := n.(type) {
	case *ast.GoStmt:
		selected(n.Call.Fun)
		if lit, ok := n.Call.Fun.(*ast.FuncLit); ok {
			hasCall(lit.Body, func(call *ast.CallExpr) bool { selected(call.Fun); return on != nil })
		}
	case *ast.CallExpr:
		if calledName(n) != "Go" || len(n.Args) != 1 {
			return nil
		}
		selected(n.Args[0])
		if lit, ok := n.Args[0].(*ast.FuncLit); ok {
			hasCall(lit.Body, func(call *ast.CallExpr) bool { selected(call.Fun); return on != nil })
		}
	}
	return on
}

// ownOfTurn tells of a variable that a loop around its use makes it in each turn, and, as far as that shows, a field of it
// out of what the turn makes too; or that the loop goes through a list of them.
func ownOfTurn(c *code, around []ast.Node, x ast.Expr, field string) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	for _, n := range around {
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.RangeStmt:
			if isNamed(n.Value, id.Name) {
				return true
			}
			body = n.Body
		case *ast.ForStmt:
			body = n.Body
		}
		if body == nil || !declares(body, id.Name) {
			continue
		}
		made := (&scope{params: &ast.FieldList{}, body: body}).made(id.Name)
		lit, ok := unrefer(made).(*ast.CompositeLit)
		if !ok {
			_, calls := made.(*ast.CallExpr) // of what makes it, as a new one does
			return calls
		}
		return ownField(c, body, lit, field)
	}
	return false
}

// ownField tells of a literal in the body of a loop that what is put into a field is made by a call, or of what the turn has.
func ownField(c *code, body *ast.BlockStmt, lit *ast.CompositeLit, field string) bool {
	of := func(x ast.Expr) bool {
		_, call := x.(*ast.CallExpr)
		return call || declares(body, rootName(x))
	}
	keyed := false
	for _, x := range lit.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			if keyed = true; types.ExprString(kv.Key) == field {
				return of(kv.Value)
			}
		}
	}
	if keyed || len(lit.Elts) == 0 {
		return true // set later, by the turn or the worker
	}
	i := fieldIndex(c, baseType(lit.Type), field)
	return i >= 0 && i < len(lit.Elts) && of(lit.Elts[i])
}

// fieldIndex is the place of a field in a struct of the sources; -1 where it is not known.
func fieldIndex(c *code, of, field string) (at int) {
	at = -1
	c.eachSource(func(_ string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok || t.Name.Name != of {
				return true
			}
			st, ok := t.Type.(*ast.StructType)
			if !ok {
				return true
			}
			i := 0
			for _, f := range st.Fields.List {
				for _, id := range f.Names {
					if id.Name == field {
						at = i
					}
					i++
				}
			}
			return true
		})
	})
	return at
}
