package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A piece that is copied on the way to what keeps it does not keep the whole: always, or where a
// branch says so.

// takeCopies takes in that a statement replaces what it assigns to, a variable or a field of one, by a
// copy of that. In a branch that only may be so, which is noted of the piece.
func takeCopies(k *keeper, file string, n *ast.AssignStmt, vars map[string]taint) {
	for i, lhs := range n.Lhs {
		name := rootName(lhs)
		t := vars[name]
		if len(n.Rhs) != len(n.Lhs) || t == clean || !copiesItself(lhs, n.Rhs[i]) {
			continue
		}
		more := t.isPart() && k.cuts[t-part].also != "" // of which this is one
		if k.fn != nil && !mayNotRun(k.fn.Body, n, name) && !more {
			vars[name] = clean
		} else if neverEntered(k, file, n) {
			continue
		} else if t.isPart() {
			k.cuts[t-part].copied = fmt.Sprintf("%s:%d", baseName(file), k.lineOf(file, n.Pos()))
		}
	}
}

// copiesBytes tells of an append that it puts bytes behind new ones: append([]byte("x"), line...).
func copiesBytes(e *ast.CallExpr) bool {
	if !e.Ellipsis.IsValid() || len(e.Args) != 2 {
		return false
	}
	switch x := e.Args[0].(type) {
	case *ast.CallExpr:
		return types.ExprString(x.Fun) == "[]byte"
	case *ast.CompositeLit:
		return x.Type != nil && types.ExprString(x.Type) == "[]byte"
	}
	return false
}

// copiesItself tells of what is assigned that it is a copy of what was there: of a variable or a field, as an element
// is one of many.
func copiesItself(lhs, rhs ast.Expr) bool {
	call, ok := rhs.(*ast.CallExpr)
	if !ok || !copies(call) && types.ExprString(call.Fun) != "append" {
		return false
	}
	args := call.Args
	if types.ExprString(call.Fun) == "append" { // append([]byte(nil), x...)
		if len(args) != 2 || !isFresh(args[0]) {
			return false
		}
		args = args[1:]
	}
	text := types.ExprString(lhs)
	return len(args) == 1 && types.ExprString(args[0]) == text && !strings.Contains(text, "[")
}

// isFresh tells of what is appended to that it is nothing yet: []byte(nil), []byte{}.
func isFresh(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		_, slice := x.Fun.(*ast.ArrayType)
		return slice
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	}
	return false
}

// mayNotRun tells of a piece of a function that it stands in a branch; with a name, in one which a variable of that name
// does not begin in.
func mayNotRun(body *ast.BlockStmt, n ast.Node, name string) (may bool) {
	is := func(x ast.Expr) bool { id, ok := x.(*ast.Ident); return ok && id.Name == name }
	ast.Inspect(body, func(x ast.Node) bool {
		if x == nil || x.Pos() > n.Pos() || n.End() > x.End() {
			return false
		}
		switch x := x.(type) {
		case *ast.IfStmt, *ast.CaseClause:
			may = true
		case *ast.CommClause:
			recv, ok := x.Comm.(*ast.AssignStmt)
			may = may || !ok || !is(recv.Lhs[0])
		case *ast.RangeStmt:
			may = may && !(x.Key != nil && is(x.Key) || x.Value != nil && is(x.Value))
		case *ast.BlockStmt:
			may = may && !declares(x, name)
		case *ast.FuncLit:
			may = false // of that alone
		}
		return true
	})
	return may
}

// keepsAllParts tells of a statement that it stores what is before a separator and what is behind it.
func keepsAllParts(n *ast.AssignStmt) bool {
	if len(n.Rhs) != 1 || len(n.Lhs) < 2 {
		return false
	}
	call, ok := n.Rhs[0].(*ast.CallExpr)
	if !ok || calledName(call) != "Cut" {
		return false
	}
	for _, lhs := range n.Lhs[:2] {
		if id, ok := lhs.(*ast.Ident); ok && id.Name == "_" {
			return false
		}
	}
	return true
}

// oneOfNew tells of a statement that it appends to a field of an object that its function makes, and that not
// in a loop: the object has one of it, and what keeps the object is to be found.
func oneOfNew(k *keeper, lhs, rhs ast.Expr, n ast.Node) bool {
	call, ok := rhs.(*ast.CallExpr)
	sel, field := lhs.(*ast.SelectorExpr)
	if !ok || !field || !isNamed(call.Fun, "append") || k.fn == nil {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	made, again := false, false
	ast.Inspect(k.fn.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.AssignStmt:
			for i, l := range x.Lhs {
				made = made || x.Tok == token.DEFINE && isNamed(l, id.Name) && i < len(x.Rhs) && isComposite(x.Rhs[i])
			}
		case *ast.ForStmt:
			again = again || covers(x.Body, n) && !declares(x.Body, id.Name)
		case *ast.RangeStmt:
			again = again || covers(x.Body, n) && !declares(x.Body, id.Name)
		}
		return true
	})
	return made && !again
}

func covers(in, n ast.Node) bool { return in.Pos() <= n.Pos() && n.End() <= in.End() }

// isRemainder tells of an index that it begins anew at a length.
func isRemainder(x ast.Expr) bool {
	b, ok := ast.Unparen(x).(*ast.BinaryExpr)
	return ok && (b.Op == token.REM || b.Op == token.AND)
}

// storesEach tells of a loop that it stores its variable as it is in each turn.
func storesEach(loop *ast.RangeStmt, name string) bool {
	return slices.ContainsFunc(loop.Body.List, func(s ast.Stmt) bool {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return false
		}
		for i, lhs := range a.Lhs {
			if _, local := lhs.(*ast.Ident); local {
				continue
			}
			call, ok := a.Rhs[i].(*ast.CallExpr)
			if isNamed(a.Rhs[i], name) || ok && isNamed(call.Fun, "append") && len(call.Args) > 1 && slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return isNamed(x, name) }) {
				return true
			}
		}
		return false
	})
}
