package insight

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Records that a loop, or a function that is called for each, makes as a whole, though a condition on a few of their fields lets hardly any through.

// Limits of such records: chosen.
const (
	manyRecords = 1000
	fewPass     = 0.1
)

// passing is what the turns of a loop's body, or of a function that a call is given, make of records on a line.
func (p *partFinder) passing(in frameCode, body *ast.BlockStmt, stmt ast.Stmt, line int) *partUse {
	if p.counts == nil {
		return nil
	}
	set := recordMade(p.d, body, line)
	if set == nil {
		return nil
	}
	return p.once(set, func() *partUse {
		t, ok := p.counts.ofBody(in, body, stmt)
		v, call := p.recordOf(set)
		if !ok || v == nil || t.all < manyRecords || float64(t.acting) > fewPass*float64(t.all) {
			return nil
		}
		fields, struc := fieldsAsked(p.d, t.decides, v), structOf(v.Type())
		if struc == nil || len(fields) == 0 || 2*len(fields) > struc.NumFields() {
			return nil
		}
		return &partUse{by: types.ExprString(call.Fun), of: p.d.placeOf(set), records: true, asks: fields,
			taken: []partTaken{{kind: partPass, at: t.at, text: types.ExprString(t.decides), all: float64(t.all), used: float64(t.acting)}}}
	})
}

// recordMade is the statement on a line of a body that makes something by a call; nil where there is none.
func recordMade(d *derivations, body *ast.BlockStmt, line int) (set ast.Stmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt, *ast.ExprStmt:
			if stmt := n.(ast.Stmt); coversLine(d, stmt, line) && hasAny(stmt, func(n ast.Node) bool { _, call := n.(*ast.CallExpr); return call }) {
				set = stmt
			}
			return false
		}
		return true
	})
	return set
}

// recordOf is the variable that a statement has a call make, or fill.
func (p *partFinder) recordOf(stmt ast.Stmt) (v types.Object, call *ast.CallExpr) {
	switch n := stmt.(type) {
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 {
			return nil, nil
		}
		call, _ = ast.Unparen(n.Rhs[0]).(*ast.CallExpr)
		v = p.d.variable(n.Lhs[0])
	case *ast.ExprStmt:
		call, _ = n.X.(*ast.CallExpr)
	}
	if call == nil {
		return nil, nil
	}
	if v == nil || structOf(v.Type()) == nil {
		v = nil
		for _, arg := range call.Args {
			if to, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && to.Op == token.AND {
				v = p.d.variable(to.X)
			}
		}
	}
	return v, call
}

// structOf is the struct that a value is, or points to; nil for none.
func structOf(t types.Type) *types.Struct {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}

// fieldsAsked are the fields of a variable that a condition reads; none where it asks for more than that.
func fieldsAsked(d *derivations, cond ast.Expr, v types.Object) (fields []string) {
	known, other := map[string]bool{}, false
	eachNode(cond, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || d.variable(id) != v {
			return
		}
		sel, ok := parent(around).(*ast.SelectorExpr)
		if !ok || d.field(sel) == nil {
			other = true
		} else if !known[sel.Sel.Name] {
			known[sel.Sel.Name] = true
			fields = append(fields, sel.Sel.Name)
		}
	})
	if other {
		return nil
	}
	return fields
}
