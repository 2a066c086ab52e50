package insight

import (
	"go/ast"
	"go/types"
	"slices"
)

// A container may be an element of others: of a slice of all maps, or of a map of maps, which a loop goes through to delete from each.

// maxDeeper bounds how many indexes down a container is looked for; chosen.
const maxDeeper = 3

// addDeeper adds a place that has the container so many indexes further down than what it is put into by.
func addDeeper(r *removerSearch, place types.Object, deep int) {
	if v, ok := place.(*types.Var); ok {
		place = v.Origin()
	}
	if r.add(place); place != nil && deep > r.deeper[place] && deep <= maxDeeper {
		r.deeper[place], r.more = deep, true
	}
}

// furtherDown is how many indexes further down the container is in an expression of a place, of which so many are there already.
func furtherDown(r *removerSearch, e ast.Expr, index int) int {
	return max(0, r.deeper[r.place(e)]-index)
}

// indexesAtEnd is how many indexes an expression has at its end.
func indexesAtEnd(e ast.Expr) (n int) {
	for {
		x, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return n
		}
		e, n = x.X, n+1
	}
}

// parameterOf adds what an argument is called in a function.
func parameterOf(r *removerSearch, params *types.Tuple, at int, arg ast.Expr, index int) {
	if params.Len() > 0 {
		addDeeper(r, params.At(min(at, params.Len()-1)), furtherDown(r, arg, index))
	}
}

// becomesElement adds what the container becomes an element of, by append or a composite literal; where it is what is appended to, what
// the result is assigned to.
func becomesElement(r *removerSearch, e ast.Expr, index int, element bool, n ast.Node, around []ast.Node) {
	deep := furtherDown(r, e, index)
	if element {
		deep++
	}
	var value ast.Node = n
	within := false
	for i := len(around) - 1; i >= 0; i-- {
		switch p := around[i].(type) {
		case *ast.CompositeLit:
			if within {
				deep++ // of a literal within it
			}
			value, within = p, true
			continue
		case *ast.KeyValueExpr:
			if key, ok := p.Key.(*ast.Ident); ok && p.Value == value {
				if v, ok := r.info.Uses[key].(*types.Var); ok && v.IsField() {
					addDeeper(r, v, deep)
					return
				}
			}
		case *ast.AssignStmt:
			for j, rhs := range p.Rhs {
				if rhs == value && len(p.Lhs) == len(p.Rhs) && r.place(p.Lhs[j]) != nil {
					addDeeper(r, r.place(p.Lhs[j]), deep+indexesAtEnd(p.Lhs[j]))
					return
				}
			}
		case *ast.ValueSpec:
			if j := slices.IndexFunc(p.Values, func(x ast.Expr) bool { return x == value }); j >= 0 && j < len(p.Names) && len(p.Names) == len(p.Values) {
				addDeeper(r, r.place(p.Names[j]), deep)
				return
			}
		}
		break
	}
	r.note(escapes, n, around, "another variable")
}

// leavesIt tells of what takes something out of a place that the container is further down in that the container stays: a variable of
// a package, or a field, has it as well.
func leavesIt(r *removerSearch, e ast.Expr, index int) bool {
	v, ok := r.put.(*types.Var)
	return furtherDown(r, e, index) > 0 && ok && (v.IsField() || isGlobal(v))
}

// tellTakenElsewhere says of a map that a variable of the package has, or that is in one, what takes entries out by another name.
func tellTakenElsewhere(c *code, s keepsAt, h *holding) {
	r, known := removersOf(c, s)
	if !known {
		return
	}
	others := slices.DeleteFunc(slices.Clone(r.found), func(m remover) bool { return m.kind != deletes && m.kind != replaces && m.kind != drops })
	tellOthers(c, s, others, h)
}
