package insight

import (
	"go/ast"
	"go/types"

	"loupe/value/stack"
)

// copiesByJSON tells whether a line encodes what its function, or one that it calls for it, decodes, or the other way
// round: the very bytes, which nothing else uses. Bytes that are also sent, signed or kept, or that another value was made
// of in between, are no copy.
func copiesByJSON(c *code, at stack.Frame) (copies bool) {
	fn, s := c.function(at), c.parse(at.File)
	if fn == nil {
		return false
	}
	onLine := func(n ast.Node) bool { return s.covers(n, at.Line) }
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || copies {
			return !copies
		}
		text := decodedBy(c, call)
		switch x := converted(text).(type) {
		case *ast.CallExpr:
			copies = onLine(call) && encodesOnly(c, x)
		case *ast.Ident:
			// Set once, by what encodes, and mentioned there and here alone.
			made := assignedTo(fn, x.Name)
			if len(made) != 1 || timesNamed(fn.Body, x.Name) != 2 {
				break
			}
			from, ok := made[0].(*ast.CallExpr)
			copies = ok && encodesOnly(c, from) && (onLine(call) || onLine(from))
		}
		return !copies
	})
	return copies
}

// converted is an expression without conversions between texts.
func converted(x ast.Expr) ast.Expr {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return x
	}
	if to := types.ExprString(call.Fun); to == "string" || to == "[]byte" || to == "json.RawMessage" {
		return converted(call.Args[0])
	}
	return x
}

// decodedBy is the text that a call decodes: itself, or as all that a function of the program does with it.
func decodedBy(c *code, call *ast.CallExpr) ast.Expr {
	name := types.ExprString(call.Fun)
	if name == "json.Unmarshal" && len(call.Args) == 2 {
		return call.Args[0]
	}
	all := c.functions()[lastName(name)]
	if len(all) != 1 || all[0].Type.Params == nil {
		return nil
	}
	for i, p := range parameters(all[0].Type) {
		if i < len(call.Args) && timesNamed(all[0].Body, p) == 1 && hasCall(all[0].Body, func(inner *ast.CallExpr) bool {
			return types.ExprString(inner.Fun) == "json.Unmarshal" && len(inner.Args) == 2 && isNamed(converted(inner.Args[0]), p)
		}) {
			return call.Args[i]
		}
	}
	return nil
}

// encodesOnly tells of a call that it gives a text that was encoded, and does nothing else with it: itself, or by a
// function of the program.
func encodesOnly(c *code, call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	if name == "json.Marshal" {
		return true
	}
	all := c.functions()[lastName(name)]
	if len(all) != 1 || !text(all[0].Type) {
		return false
	}
	fn, gives := all[0].FuncDecl, false
	isMarshal := func(x ast.Expr) bool {
		inner, ok := x.(*ast.CallExpr)
		return ok && types.ExprString(inner.Fun) == "json.Marshal"
	}
	for _, r := range returnsIn(fn.Body) {
		if len(r.Results) == 0 {
			return false // by its name
		}
		switch x := converted(r.Results[0]).(type) {
		case *ast.CallExpr:
			if !isMarshal(x) {
				return false
			}
			gives = true
		case *ast.Ident:
			if x.Name == "nil" {
				break
			}
			made := assignedTo(fn, x.Name)
			if len(made) != 1 || !isMarshal(made[0]) || timesNamed(fn.Body, x.Name) > 2 {
				return false
			}
			gives = true
		case *ast.BasicLit: // of a failure
		default:
			return false
		}
	}
	return gives
}

// returnsIn are the return statements of a function, without those of functions inside.
func returnsIn(body *ast.BlockStmt) (all []*ast.ReturnStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			all = append(all, r)
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
	return all
}

// timesNamed counts where a variable is named, which includes where it is set.
func timesNamed(body ast.Node, name string) (n int) {
	ast.Inspect(body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			n += timesNamed(x.X, name)
			return false
		case *ast.Ident:
			if x.Name == name {
				n++
			}
		}
		return true
	})
	return n
}

// text tells of a function that its first result is a text.
func text(f *ast.FuncType) bool {
	if f.Results == nil || len(f.Results.List) == 0 {
		return false
	}
	of := types.ExprString(f.Results.List[0].Type)
	return of == "string" || of == "[]byte"
}
