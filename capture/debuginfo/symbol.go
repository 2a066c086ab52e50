package debuginfo

import "go/ast"

// Symbol is the name of a function in its symbol, without package and type parameters: parse, T.parse, (*T).parse. It is empty
// where the receiver is none.
func Symbol(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	typ, pointer := fn.Recv.List[0].Type, false
	for {
		switch t := typ.(type) {
		case *ast.ParenExpr:
			typ = t.X
		case *ast.StarExpr:
			typ, pointer = t.X, true
		case *ast.IndexExpr:
			typ = t.X
		case *ast.IndexListExpr:
			typ = t.X
		case *ast.Ident:
			if pointer {
				return "(*" + t.Name + ")." + fn.Name.Name
			}
			return t.Name + "." + fn.Name.Name
		default:
			return ""
		}
	}
}
