package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// A function in a setting of a Transport may tell the request that made it what a connection is like: the address of the peer, its certificate.
// With one Transport for all requests, those that use a connection again would not be told.

// setsBack notes a function without a name that sets a variable of the function around it, each request having its own.
func (w *settingWalk) setsBack(decl *ast.FuncDecl, lit *ast.FuncLit) {
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		changed := changedBy(n)
		if send, ok := n.(*ast.SendStmt); ok {
			changed = []ast.Expr{&ast.ParenExpr{X: send.Chan}}
		}
		for _, x := range changed {
			v := w.d.variable(innermost(x))
			if v == nil || covers(lit, n) && lit.Pos() <= v.Pos() && v.Pos() < lit.End() || !w.ownOfRequest(decl, v) {
				continue
			}
			if isIdent(x) || w.madeHere(decl, v) {
				w.note(changesBack, n, "sets %s", v.Name())
			}
		}
		return true
	})
}

// methodBack notes a method of what the function makes that sets something in it.
func (w *settingWalk) methodBack(decl *ast.FuncDecl, x *ast.SelectorExpr) {
	v := w.d.variable(innermost(x.X))
	fn, ok := w.d.t.info.Uses[x.Sel].(*types.Func)
	if !ok || v == nil || !w.ownOfRequest(decl, v) || !w.madeHere(decl, v) {
		return
	}
	method := w.d.t.decls[fn]
	if method == nil || method.Body == nil || method.Recv == nil || len(method.Recv.List[0].Names) == 0 || w.called(decl, x) {
		return
	}
	receiver := w.d.variable(method.Recv.List[0].Names[0])
	ast.Inspect(method.Body, func(n ast.Node) bool {
		if slices.ContainsFunc(changedBy(n), func(c ast.Expr) bool { return !isIdent(c) && w.d.variable(innermost(c)) == receiver }) {
			w.note(changesBack, n, "sets a field of %s", v.Name())
		}
		return true
	})
}

// called tells of a selector that it is called where it stands, which is when the setting is made.
func (w *settingWalk) called(decl *ast.FuncDecl, x *ast.SelectorExpr) bool {
	return hasCall(decl, func(call *ast.CallExpr) bool { return ast.Unparen(call.Fun) == ast.Expr(x) })
}

// ownOfRequest tells of a variable that each call of the function that makes the Transport has its own.
func (w *settingWalk) ownOfRequest(decl *ast.FuncDecl, v types.Object) bool {
	of, ok := v.(*types.Var)
	return ok && !of.IsField() && isLocal(decl, v) && (!isGiven(decl, v) || isResult(decl, v)) && w.outlives(decl, v) == nil
}

// madeHere tells of a variable that the function makes what it has, and takes it from nowhere.
func (w *settingWalk) madeHere(decl *ast.FuncDecl, v types.Object) bool {
	return !slices.ContainsFunc(w.d.definitions(decl)[v], func(def definition) bool {
		if def.part || def.x == nil {
			return false
		}
		switch x := unrefer(def.x).(type) {
		case *ast.CompositeLit, *ast.BasicLit:
			return false
		case *ast.CallExpr:
			return !isNamed(x.Fun, "new") && !isNamed(x.Fun, "make")
		}
		return true
	})
}

// tellBack gives the advice where a request is told something by a function in a setting.
func (s varyingSetting) tellBack(f *Finding, made codeLine) {
	f.Severity = Info
	f.Advice = "A function in its " + s.field + " " + s.says + " of the request that makes the Transport (" + s.at.text() + "): with one for all, the other requests would not be told. " +
		"If each of them has to see a connection of its own, as a probe does, leave it so, and set DisableKeepAlives, which closes the connection after use. Otherwise "
	switch {
	case s.field == "TLSClientConfig":
		f.Advice += "take it from the response, which has it for a kept connection too (resp.TLS), and make the Transport once, and not for each request as at " + made.text() + "."
	case strings.HasPrefix(s.field, "Dial"):
		f.Advice += "let each request ask for its connection (GotConn of net/http/httptrace), and make the Transport once, and not for each request as at " + made.text() + "."
	default:
		f.Advice += "tell it in another way, and make the Transport once, and not for each request as at " + made.text() + "."
	}
}
