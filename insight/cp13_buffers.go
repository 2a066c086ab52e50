package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Texts that are put together in a buffer of a function, which only debug calls are given.

// newBuffer is how a function makes a buffer, bufferWrites what adds to it, without giving anything of it away.
var (
	newBuffer    = lazily(`^(\*?(bytes\.Buffer|strings\.Builder)|&?(bytes\.Buffer|strings\.Builder)\{\}|new\((bytes\.Buffer|strings\.Builder)\)|bytes\.NewBuffer\(nil\))$`)
	bufferWrites = lazily(`^(Write|WriteString|WriteByte|WriteRune|Grow|Reset)$`)
	bufferTexts  = lazily(`^(String|Bytes)$`)
	encoderOf    = lazily(`^(json|xml)\.NewEncoder$`)
)

// bufferWritten is the function's own buffer that a call writes to; nil where it writes to none.
func (f *textFlow) bufferWritten(decl *ast.FuncDecl, call *ast.CallExpr) types.Object {
	to := ast.Expr(nil)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		inner, chained := ast.Unparen(sel.X).(*ast.CallExpr)
		switch {
		case f.d.t.fromPackage(sel) == "fmt" && strings.HasPrefix(sel.Sel.Name, "Fprint") && len(call.Args) > 0:
			to = unrefer(call.Args[0])
		case chained && sel.Sel.Name == "Encode" && encoderOf.MatchString(types.ExprString(inner.Fun)) && len(inner.Args) == 1:
			to = unrefer(inner.Args[0])
		case bufferWrites.MatchString(sel.Sel.Name):
			to = sel.X
		}
	}
	v := types.Object(nil)
	if id, ok := to.(*ast.Ident); ok {
		v = f.d.variable(id)
	}
	if v == nil || !isLocal(decl, v) || isGiven(decl, v) || !isBuffer(f.d, decl, v) {
		return nil
	}
	return v
}

// isBuffer tells of a variable of a function that it is a new buffer, and no other value.
func isBuffer(d *derivations, decl *ast.FuncDecl, v types.Object) (is bool) {
	sets := 0
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, id := range n.Names {
				if d.variable(id) != v {
					continue
				}
				sets++
				if i < len(n.Values) {
					is = newBuffer.MatchString(types.ExprString(n.Values[i]))
				} else {
					is = n.Type != nil && newBuffer.MatchString(types.ExprString(n.Type)) && !strings.HasPrefix(types.ExprString(n.Type), "*")
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if d.variable(lhs) == v {
					sets++
					is = n.Tok == token.DEFINE && len(n.Lhs) == len(n.Rhs) && newBuffer.MatchString(bufferMade(n.Rhs[i]))
				}
			}
		}
		return true
	})
	return is && sets == 1
}

// bufferMade is an expression as a text, with the braces of a value that has nothing in it.
func bufferMade(x ast.Expr) string {
	prefix := ""
	if ref, ok := x.(*ast.UnaryExpr); ok && ref.Op == token.AND {
		prefix, x = "&", ref.X
	}
	if lit, ok := x.(*ast.CompositeLit); ok && len(lit.Elts) == 0 && lit.Type != nil {
		return prefix + types.ExprString(lit.Type) + "{}"
	}
	return types.ExprString(x)
}

// written follows a buffer that a call writes to: what else is done with it, and where its text goes.
func (f *textFlow) written(decl *ast.FuncDecl, v types.Object) {
	if f.seen[v] {
		return
	}
	f.seen[v] = true
	eachNode(decl, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.other || f.d.t.info.Uses[id] != v {
			return
		}
		call, at := (*ast.CallExpr)(nil), 0
		for i, outer := range slices.Backward(around) {
			if x, is := outer.(*ast.CallExpr); is && f.bufferWritten(decl, x) == v {
				call, at = x, i
				break
			}
			if _, is := outer.(ast.Stmt); is {
				break
			}
		}
		if call != nil && !isContent(call, id) {
			f.writes(decl, call, around[:at])
			return
		}
		sel, ok := parent(around).(*ast.SelectorExpr)
		if !ok || len(around) < 2 {
			f.other = true
			return
		}
		text, ok := around[len(around)-2].(*ast.CallExpr)
		if f.other = !ok || text.Fun != ast.Expr(sel) || !bufferTexts.MatchString(sel.Sel.Name); !f.other {
			f.follow(decl, text)
		}
	})
}

// isContent tells of a name that it is in what a call writes, and not where it writes to.
func isContent(call *ast.CallExpr, id *ast.Ident) bool {
	for i, arg := range call.Args {
		if within(arg, id) {
			return i > 0 || unrefer(arg) != ast.Expr(id)
		}
	}
	return false
}

// writes looks at what becomes of the results of a call that writes to a buffer: how much, and whether it failed.
func (f *textFlow) writes(decl *ast.FuncDecl, call *ast.CallExpr, around []ast.Node) {
	switch p := parent(around).(type) {
	case *ast.ExprStmt:
	case *ast.AssignStmt:
		for i, lhs := range p.Lhs {
			switch {
			case isNamed(lhs, "_"):
			case i == len(p.Lhs)-1 && len(p.Rhs) == 1:
				f.failing(decl, p, lhs)
			default:
				f.other = true
			}
		}
	default:
		f.other = true
	}
}
