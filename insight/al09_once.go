package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// A text that is converted where it is read is converted once, whatever the loop around it does.

// reads are functions and methods whose result, or each element of it, is a text that has just been read or cut out.
var reads = lazily(`^(Text|ReadString|Fields|FieldsSeq|FieldsFunc|FieldsFuncSeq|Split|SplitN|SplitSeq|SplitAfter|SplitAfterSeq|Lines|Cut|CutPrefix|CutSuffix|FindAllString|FindString)$`)

// comparing are functions that compare texts or look for one in another.
var comparing = lazily(`^(Contains|ContainsAny|HasPrefix|HasSuffix|Index|LastIndex|Count|Compare|EqualFold|Equal|Cut|CutPrefix|CutSuffix|TrimPrefix|TrimSuffix)$`)

// eachOnce tells of a line that converts the case of texts, that each is one that its function has just read, and that the
// result is not compared with anything.
func eachOnce(c *code, at stack.Frame, callee string) (once bool) {
	fn := c.function(at)
	if fn == nil {
		return false
	}
	calls := 0
	c.parse(at.File).onLine(at.Line, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || types.ExprString(call.Fun) != stack.Short(callee) || len(call.Args) == 0 {
			return
		}
		calls++
		once = (calls == 1 || once) && justRead(fn, call.Args[0], 0) && !isCompared(fn, call, around)
	})
	return once
}

// justRead tells of an expression of a function that it is what that has just read, or a part of it.
func justRead(fn *ast.FuncDecl, x ast.Expr, depth int) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		if reads.MatchString(calledName(x)) {
			return true
		}
		return len(x.Args) > 0 && receiverOf(x) != nil && isNamed(receiverOf(x), "strings") && justRead(fn, x.Args[0], depth)
	case *ast.SliceExpr:
		return justRead(fn, x.X, depth)
	case *ast.IndexExpr:
		return justRead(fn, x.X, depth)
	case *ast.Ident:
		some, all := false, depth < 3 && !slices.Contains(parameters(fn.Type), x.Name)
		for _, value := range assignedTo(fn, x.Name) {
			if !mentionsAny(value, map[string]bool{x.Name: true}) { // what it is made of itself is a part of it
				some = true
				all = all && justRead(fn, value, depth+1)
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if r, ok := n.(*ast.RangeStmt); ok && (r.Value != nil && isNamed(r.Value, x.Name) || r.Key != nil && isNamed(r.Key, x.Name)) {
				some = true
				all = all && justRead(fn, r.X, depth+1)
			}
			return true
		})
		return some && all
	}
	return false
}

// isCompared tells whether the result of a call is compared with something, there or by a variable that holds it.
func isCompared(fn *ast.FuncDecl, call *ast.CallExpr, around []ast.Node) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return true
			}
		case *ast.CallExpr:
			if comparing.MatchString(calledName(n)) {
				return true
			}
		case *ast.SwitchStmt, *ast.CaseClause:
			if i == len(around)-1 {
				return true
			}
		case *ast.ReturnStmt:
			return true // by who gets it, perhaps
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if _, index := lhs.(*ast.IndexExpr); !index && comparesName(fn, rootName(lhs)) {
					return true
				}
			}
			return false
		case ast.Stmt:
			return false
		}
	}
	return false
}

// comparesName tells whether a function compares a variable with something, or returns it.
func comparesName(fn *ast.FuncDecl, name string) (found bool) {
	of := map[string]bool{name: true}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			found = found || n.Op != token.ADD && (isNamed(n.X, name) || isNamed(n.Y, name)) && !isEmptyText(n.X) && !isEmptyText(n.Y)
		case *ast.CallExpr:
			found = found || comparing.MatchString(calledName(n)) && slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return mentionsAny(x, of) })
		case *ast.SwitchStmt:
			found = found || n.Tag != nil && mentionsAny(n.Tag, of)
		case *ast.ReturnStmt:
			found = found || slices.ContainsFunc(n.Results, func(x ast.Expr) bool { return mentionsAny(x, of) })
		}
		return !found
	})
	return found
}

// isEmptyText tells of an expression that it is "".
func isEmptyText(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && lit.Value == `""`
}
