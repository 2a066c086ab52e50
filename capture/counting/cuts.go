package counting

import (
	"fmt"
	"go/ast"
	"go/token"
)

// How large what is cut from a list is, and how large the list: x[a:b] is looked at as what a loop goes through is, x by the place of the opening bracket
// and the part by that of the closing one.

// cuts looks at the parts that the statements of a function take of something, where both can be named twice.
func (s *sites) cuts(fn *ast.FuncDecl) {
	arrays := arraysOf(fn)
	around := []ast.Node{fn}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		if cut, ok := n.(*ast.SliceExpr); ok && s.isCut(cut, arrays) {
			if at := statementOf(cut, around); at.IsValid() {
				s.look(at, cut.X, cut.Lbrack)
				s.look(at, cut, cut.Rbrack)
			}
		}
		around = append(around, n)
		return true
	})
}

// look has something looked at before a statement, and known by a place.
func (s *sites) look(before token.Pos, x ast.Expr, place token.Pos) {
	c := &s.w.src.Counted
	if len(c.Loops) >= MostLoops {
		return
	}
	s.w.add(before, fmt.Sprintf("if %s.Look(%d) { %s.Over(%d, func() interface{} { return %s }) }; ", local, len(c.Loops), local, len(c.Loops), s.text(x)))
	c.Loops = append(c.Loops, s.w.place(place))
}

// isCut tells of x[a:b] that it leaves out something at the end, and can be named twice. A part of an array of the function's own is left out: it
// would no longer be on the stack.
func (s *sites) isCut(cut *ast.SliceExpr, arrays map[string]bool) bool {
	if lit, ok := cut.High.(*ast.BasicLit); cut.High == nil || ok && lit.Value == "0" || cut.Max != nil {
		return false
	}
	id, ok := cut.X.(*ast.Ident)
	return !(ok && arrays[id.Name]) && s.again(cut) && s.text(cut) != ""
}

// statementOf is where the statement begins that a cut is in: one of a block, in which nothing is called before. It is none where there is no such.
func statementOf(cut ast.Expr, around []ast.Node) token.Pos {
	for i := len(around) - 1; i > 0; i-- {
		switch n := around[i].(type) {
		case *ast.FuncLit:
			return token.NoPos
		case *ast.AssignStmt, *ast.ReturnStmt, *ast.ExprStmt, *ast.DeclStmt:
			switch around[i-1].(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			default:
				return token.NoPos // as the first statement of a condition
			}
			if callsElsewhere(n, cut) {
				return token.NoPos
			}
			return n.Pos()
		case ast.Stmt:
			return token.NoPos
		}
	}
	return token.NoPos
}

// callsElsewhere tells of a statement that something else than len is called or received in it which is not given the cut: it might change what is cut.
// What stands behind && may not be asked.
func callsElsewhere(stmt ast.Node, cut ast.Expr) (found bool) {
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			found = found || !(ok && (id.Name == "len" || id.Name == "string")) && !(n.Lparen < cut.Pos() && cut.End() <= n.Rparen)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.BinaryExpr:
			found = found || n.Op == token.LAND || n.Op == token.LOR
		case *ast.FuncLit:
			found = true
		}
		return !found
	})
	return found
}

// arraysOf are the names of a function's variables that are declared as arrays.
func arraysOf(fn *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if isArray(n.Type) {
				for _, name := range n.Names {
					out[name.Name] = true
				}
			}
		case *ast.ValueSpec:
			if isArray(n.Type) {
				for _, name := range n.Names {
					out[name.Name] = true
				}
			}
		}
		return true
	})
	return out
}

// isArray tells of a type's expression that it is an array.
func isArray(x ast.Expr) bool {
	a, ok := x.(*ast.ArrayType)
	return ok && a.Len != nil
}
