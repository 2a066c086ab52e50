package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Texts that are put together where they are given to a function.

// makesTextHere tells of an expression that it puts a text together of what makes nothing that is larger: by +, by a function of the library, or
// by a conversion.
func makesTextHere(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		return x.Op == token.ADD && slices.ContainsFunc(operands(x, token.ADD), isTextPart) && !slices.ContainsFunc(operands(x, token.ADD), callsMore)
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		return (strings.HasPrefix(name, "fmt.Sprint") || name == "strings.Join" || name == "string" && len(x.Args) == 1) && !slices.ContainsFunc(x.Args, callsMore)
	}
	return false
}

// isTextPart tells of an operand that it is a text for certain: a literal, or what a function of the library writes as one.
func isTextPart(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return x.Kind == token.STRING
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		return strings.HasPrefix(name, "strconv.") || strings.HasPrefix(name, "fmt.Sprint")
	}
	return false
}

// callsMore tells of an expression that it calls more than what writes a number or measures a length.
func callsMore(x ast.Expr) bool {
	return hasCall(x, func(call *ast.CallExpr) bool {
		name := types.ExprString(call.Fun)
		return name != "len" && !strings.HasPrefix(name, "strconv.") && !strings.HasPrefix(name, "rand.") && !strings.HasPrefix(name, "fmt.Sprint")
	})
}
