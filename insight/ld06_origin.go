package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// What a request is made with is followed back through variables, fields and functions to what makes its Transport, which may be
// a function of another package.

// httpOrigin is what a client or a Transport comes from.
type httpOrigin struct {
	at    ast.Expr      // what makes it
	in    *ast.FuncDecl // the function that it stands in; nil outside of functions
	call  *ast.CallExpr // of a function of another package; nil of a literal, of what package net/http has, and of what is not known
	pkg   string        // the import path of that package; empty of a method
	name  string        // of that function
	plain bool          // it is a literal of the program, or what package net/http has
	given *ast.CallExpr // a function of another package that it is given to; nil without
}

// originTrail follows them.
type originTrail struct {
	d     *derivations
	p     *clientPackages
	asked map[ast.Expr]bool
	// visited are the literals and calls on the way.
	visited []visited
}

func newOriginTrail(d *derivations, p *clientPackages) *originTrail {
	return &originTrail{d: d, p: p, asked: map[ast.Expr]bool{}}
}

// all are those that an expression of a function leads to, each once.
func (w *originTrail) all(in *ast.FuncDecl, x ast.Expr) (all []httpOrigin) {
	for _, o := range w.of(in, x) {
		if !slices.ContainsFunc(all, func(b httpOrigin) bool { return b.at == o.at }) {
			all = append(all, o)
		}
	}
	return all
}

// of are those of an expression. What cannot be followed is one of which nothing is known.
func (w *originTrail) of(in *ast.FuncDecl, x ast.Expr) []httpOrigin {
	x = ast.Unparen(x)
	unknown := []httpOrigin{{at: x, in: in}}
	if w.asked[x] || isNamed(x, "nil") {
		return nil
	}
	w.asked[x] = true
	switch n := x.(type) {
	case *ast.UnaryExpr:
		return w.of(in, n.X)
	case *ast.StarExpr:
		return w.of(in, n.X)
	case *ast.TypeAssertExpr:
		return w.of(in, n.X)
	case *ast.CompositeLit:
		w.visited = append(w.visited, visited{in, n})
		return w.ofLiteral(in, n)
	case *ast.CallExpr:
		w.visited = append(w.visited, visited{in, n})
		return w.ofCall(in, n)
	case *ast.Ident:
		v := w.d.variable(n)
		switch {
		case v == nil && w.packageOf(n) == "net/http": // http.Get
			return w.ofDefault(in, x)
		case v == nil:
			return unknown
		case ofPackage(v):
			return w.assigned(x, func(lhs ast.Expr) bool { return w.d.variable(lhs) == v }, nil)
		case in == nil || in.Body == nil:
			return unknown
		case isGiven(in, v):
			return w.ofParameter(in, v, unknown)
		}
		return w.assigned(x, func(lhs ast.Expr) bool { return w.d.variable(lhs) == v }, in)
	case *ast.SelectorExpr:
		if field := w.d.field(n); field != nil {
			return w.assigned(x, func(lhs ast.Expr) bool {
				sel, ok := lhs.(*ast.SelectorExpr)
				id, key := lhs.(*ast.Ident)
				return ok && w.d.field(sel) == field || key && originOf(w.d.t.info.Uses[id]) == field
			}, nil)
		}
		if id, ok := n.X.(*ast.Ident); ok && w.packageOf(id) == "net/http" {
			return w.ofDefault(in, x)
		}
		if n.Sel.Name == "Transport" { // of a client
			return w.of(in, n.X)
		}
	}
	return unknown
}

// ofDefault are those of what package net/http has, which the program may replace.
func (w *originTrail) ofDefault(in *ast.FuncDecl, x ast.Expr) []httpOrigin {
	all := []httpOrigin{{at: x, in: in, plain: true}}
	for _, n := range flowNodes(w.d) {
		assigned(n.n, func(lhs, rhs ast.Expr) {
			switch types.ExprString(lhs) {
			case "http.DefaultTransport", "http.DefaultClient", "http.DefaultClient.Transport":
				all = append(all, w.of(n.in, rhs)...)
			}
		})
	}
	return all
}

// originOf is a field as its type declares it.
func originOf(obj types.Object) types.Object {
	if v, ok := obj.(*types.Var); ok {
		return v.Origin()
	}
	return obj
}

// packageOf is the path of the package that an identifier names; empty where it names none.
func (w *originTrail) packageOf(id *ast.Ident) string {
	if w.d.t.info.Defs[id] != nil {
		return ""
	}
	if of, ok := w.d.t.info.Uses[id].(*types.PkgName); ok {
		return of.Imported().Path()
	}
	if w.d.t.info.Uses[id] != nil {
		return ""
	}
	for _, f := range w.d.t.files { // its name is not what is assumed of its path
		if f.file.FileStart <= id.Pos() && id.Pos() < f.file.FileEnd {
			return w.p.named(f.file, id.Name)
		}
	}
	return ""
}

// ofLiteral are those of a literal: of a Transport, of a client, or of what hands requests on to one.
func (w *originTrail) ofLiteral(in *ast.FuncDecl, lit *ast.CompositeLit) (all []httpOrigin) {
	plain := []httpOrigin{{at: lit, in: in, plain: true}}
	client := lit.Type != nil && types.ExprString(lit.Type) == "http.Client"
	if isTransport(lit) {
		return plain
	}
	for _, e := range lit.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		switch {
		case client && keyed && isNamed(kv.Key, "Transport"):
			return w.of(in, kv.Value)
		case client:
		case keyed:
			all = append(all, w.certain(in, kv.Value)...)
		default:
			all = append(all, w.certain(in, e)...)
		}
	}
	switch {
	case client:
		return plain // it has the default one
	case len(all) == 0:
		return []httpOrigin{{at: lit, in: in}}
	}
	return all
}

// certain are those of an expression that is one of several: only what surely is a client or a Transport counts.
func (w *originTrail) certain(in *ast.FuncDecl, x ast.Expr) []httpOrigin {
	before := len(w.visited)
	all := slices.DeleteFunc(w.of(in, x), func(o httpOrigin) bool {
		return !o.plain && (o.call == nil || !w.p.returnsClient(o.pkg, o.name))
	})
	if len(all) == 0 { // it leads to none
		w.visited = w.visited[:before]
	}
	return all
}

// ofCall are those of what a call returns.
func (w *originTrail) ofCall(in *ast.FuncDecl, call *ast.CallExpr) (all []httpOrigin) {
	unknown := []httpOrigin{{at: call, in: in}}
	if fn := w.d.t.callee(call); fn != nil && w.d.t.decls[fn] != nil {
		callee := w.d.t.decls[fn]
		inside(callee.Body, func(n ast.Node) {
			if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
				all = append(all, w.of(callee, r.Results[0])...)
			}
		})
		if len(all) == 0 {
			return unknown
		}
		return all
	}
	if isNamed(call.Fun, "new") && len(call.Args) == 1 {
		return []httpOrigin{{at: call, in: in, plain: true}}
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		if id, is := call.Fun.(*ast.Ident); is && len(call.Args) == 1 {
			if _, converts := w.d.t.info.Uses[id].(*types.TypeName); converts {
				return w.of(in, call.Args[0])
			}
		}
		return unknown
	}
	id, of := f.X.(*ast.Ident)
	pkg := ""
	if of {
		pkg = w.packageOf(id)
	}
	switch {
	case pkg == "net/http" && len(call.Args) == 1: // http.RoundTripper(x)
		return w.of(in, call.Args[0])
	case pkg == "net/http" || w.d.field(f) != nil:
		return unknown
	case pkg == "" && f.Sel.Name == "Clone" && len(call.Args) == 0:
		return w.of(in, f.X)
	case pkg == "" && !(of && w.ofAnother(in, id)) || pkg != "" && !isModulePath(pkg):
		return unknown
	}
	for _, arg := range call.Args { // it wraps what it is given
		for _, o := range w.certain(in, arg) {
			o.given = call
			all = append(all, o)
		}
	}
	if len(all) > 0 {
		return all
	}
	return []httpOrigin{{at: call, in: in, call: call, pkg: pkg, name: f.Sel.Name}}
}

// ofAnother tells of a variable that a function of another module made it: one of the library, such as a pool, holds what the program puts there.
func (w *originTrail) ofAnother(in *ast.FuncDecl, id *ast.Ident) bool {
	v := w.d.variable(id)
	if in == nil || !isLocal(in, v) || in.Body == nil {
		return false
	}
	return slices.ContainsFunc(w.d.definitions(in)[v], func(def definition) bool {
		call, ok := def.x.(*ast.CallExpr)
		if !ok || def.part {
			return false
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := f.X.(*ast.Ident)
		return ok && isModulePath(w.packageOf(pkg))
	})
}

// isModulePath tells the path of a package of a module from one of the library: it begins with the name of a host.
func isModulePath(pkg string) bool {
	host, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(host, ".")
}

// ofParameter are those of what the callers of a function give for a parameter.
func (w *originTrail) ofParameter(decl *ast.FuncDecl, v types.Object, unknown []httpOrigin) (all []httpOrigin) {
	if decl.Recv != nil && v.Pos() < decl.Recv.End() {
		return unknown
	}
	for _, by := range callersTo(w.d, decl) {
		arg := argumentFor(w.d, decl, by.call, v)
		if arg == nil {
			return unknown
		}
		all = append(all, w.of(by.in, arg)...)
	}
	if len(all) == 0 {
		return unknown
	}
	return all
}

// assigned are those of what is assigned to a place, in one function or in all, and to the Transport of the client that is there.
// A Transport that is set without a condition where the client was made takes the place of that which the client had.
func (w *originTrail) assigned(x ast.Expr, is func(lhs ast.Expr) bool, within *ast.FuncDecl) (all []httpOrigin) {
	var transports []httpOrigin
	always := map[*ast.FuncDecl]bool{}
	for _, n := range flowNodes(w.d) {
		if within != nil && n.in != within {
			continue
		}
		add := func(lhs, rhs ast.Expr) {
			lhs = ast.Unparen(lhs)
			if is(lhs) {
				all = append(all, w.of(n.in, rhs)...)
			}
			if sel, ok := lhs.(*ast.SelectorExpr); ok && sel.Sel.Name == "Transport" && w.d.field(sel) == nil && is(ast.Unparen(sel.X)) {
				transports = append(transports, w.of(n.in, rhs)...)
				if !n.guards && !n.lit && !n.looped {
					always[n.in] = true
				}
			}
		}
		switch s := n.n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range s.Lhs {
				add(lhs, s.Rhs[min(i, len(s.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, id := range s.Names {
				if len(s.Values) > 0 {
					add(id, s.Values[min(i, len(s.Values)-1)])
				} else if is(id) && s.Type != nil && types.ExprString(s.Type) == "http.Client" {
					all = append(all, httpOrigin{at: id, in: n.in, plain: true})
				}
			}
		case *ast.CompositeLit:
			for _, e := range s.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if _, key := kv.Key.(*ast.Ident); key && is(kv.Key) {
						all = append(all, w.of(n.in, kv.Value)...)
					}
				}
			}
		}
	}
	all = slices.DeleteFunc(all, func(o httpOrigin) bool { return o.in != nil && always[o.in] })
	all = append(all, transports...)
	if len(all) == 0 {
		return []httpOrigin{{at: x, in: within}}
	}
	return all
}

// settled is what is known of the Transport of a call of another package, with what the program sets on it afterwards. shown tells that the source of
// that function shows what it makes, or that the program sets all that matters.
func (w *originTrail) settled(o httpOrigin) (t madeTransport, shown bool) {
	t, shown = w.p.made(w.p.function(o.pkg, o.name), 0)
	if !shown {
		t = madeTransport{off: setUnsure, idle: setUnsure}
	}
	for _, n := range flowNodes(w.d) {
		a, ok := n.n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i, lhs := range a.Lhs {
			sel, ok := lhs.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "DisableKeepAlives" && sel.Sel.Name != "MaxIdleConnsPerHost" || w.d.field(sel) != nil {
				continue
			}
			of := newOriginTrail(w.d, w.p).all(n.in, sel.X)
			mine := slices.ContainsFunc(of, func(b httpOrigin) bool { return b.at == o.at })
			if !mine && !slices.ContainsFunc(of, func(b httpOrigin) bool { return !b.plain && b.call == nil }) {
				continue
			}
			place := w.d.placeOf(sel)
			t.set(sel.Sel.Name, a.Rhs[i], pkgLine{file: place.file, line: place.line}, !mine || len(of) > 1 || !w.follows(o, n))
		}
	}
	return t, shown || t.off != setUnsure && t.idle != setUnsure
}

// follows tells of a setting that it is certainly made after a call: in the same function without a condition, and before the function returns
// anything, or in one that this calls so.
func (w *originTrail) follows(o httpOrigin, n flowNode) bool {
	if n.guards || n.lit || n.looped || n.in == nil {
		return false
	}
	at := n.n.Pos()
	if n.in != o.in {
		by := callersTo(w.d, n.in)
		if len(by) != 1 || by[0].in == nil || by[0].in != o.in {
			return false
		}
		at = by[0].call.Pos()
		if slices.ContainsFunc(flowNodes(w.d), func(c flowNode) bool { return c.n == ast.Node(by[0].call) && (c.guards || c.lit || c.looped) }) {
			return false
		}
	}
	returns := hasAny(o.in, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		return ok && o.at.End() <= r.Pos() && r.Pos() < at && (len(r.Results) == 0 || !isNamed(r.Results[0], "nil"))
	})
	return o.at.Pos() < at && !returns
}
