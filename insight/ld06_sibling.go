package insight

import (
	"go/ast"
	"go/format"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Whether two functions of a package make Transports that differ in nothing but what keeps connections: only then may one take the place
// of the other. What this reader does not know makes it say no.

// keepFields are the fields of a Transport that decide nothing but which connections are kept, and how many there are.
var keepFields = []string{"DisableKeepAlives", "MaxIdleConns", "MaxIdleConnsPerHost", "MaxConnsPerHost", "IdleConnTimeout"}

// madeForm is all that the source shows of a Transport or a client, and of what else is done where it is made.
type madeForm struct {
	kind   string            // what it is made from
	fields map[string]string // what else than keepFields is set, as text that means the same in each function
	keeps  map[string]string // of keepFields
	inner  *madeForm         // the Transport of a client
}

// text is what two of them have to share.
func (m *madeForm) text() string {
	if m == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(m.kind + "{")
	for _, name := range slices.Sorted(maps.Keys(m.fields)) {
		b.WriteString(name + ": " + m.fields[name] + "\n")
	}
	return b.String() + "}" + m.inner.text()
}

// kept is what is set of keepFields.
func (m *madeForm) kept() map[string]string {
	if m.inner != nil {
		return m.inner.kept()
	}
	return m.keeps
}

// formReader reads it from a function.
type formReader struct {
	p       *clientPackages
	fn      *pkgFunc
	depth   int
	forms   map[string]*madeForm // what variables hold
	texts   map[string]string    // of parameters and other variables: what they are
	effects *[]string            // what else is done, with the state before it
	fails   *bool
}

// formOf reads a function of a dependency; ok is false where it does anything that this does not follow.
func (p *clientPackages) formOf(fn *pkgFunc) (m *madeForm, effects []string, ok bool) {
	fails := false
	r := &formReader{p: p, fn: fn, forms: map[string]*madeForm{}, texts: map[string]string{}, effects: &effects, fails: &fails}
	m = r.run(nil)
	return m, effects, m != nil && !fails
}

// differs are the fields of keepFields by which two functions differ; ok is false where they may differ in anything else.
func (p *clientPackages) differs(a, b *pkgFunc) (fields []string, ok bool) {
	x, didX, okX := p.formOf(a)
	y, didY, okY := p.formOf(b)
	if !okX || !okY || x.text() != y.text() || !slices.Equal(didX, didY) {
		return nil, false
	}
	for _, name := range keepFields {
		if x.kept()[name] != y.kept()[name] {
			fields = append(fields, name)
		}
	}
	return fields, true
}

// run goes through the function; nil where it returns nothing that is known.
func (r *formReader) run(args []string) *madeForm {
	i := 0
	for _, f := range r.fn.decl.Type.Params.List {
		for _, id := range f.Names {
			r.texts[id.Name] = id.Name
			if r.depth > 0 && i < len(args) {
				r.texts[id.Name] = args[i]
			}
			i++
		}
	}
	list := r.fn.decl.Body.List
	if r.depth > maxMade || len(list) == 0 || r.declared(r.fn.decl.Name.Name) > 1 {
		return nil
	}
	for _, s := range list[:len(list)-1] {
		r.statement(s)
	}
	ret, ok := list[len(list)-1].(*ast.ReturnStmt)
	if !ok || len(ret.Results) == 0 {
		return nil
	}
	for _, x := range ret.Results[1:] { // an error
		if !isNamed(x, "nil") {
			return nil
		}
	}
	return r.form(ret.Results[0])
}

// declared is how many functions of the package have a name: for each system another one, perhaps.
func (r *formReader) declared(name string) (n int) {
	for _, f := range r.p.files[r.fn.pkg] {
		for _, d := range f.s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
				n++
			}
		}
	}
	return n
}

// fail gives up.
func (r *formReader) fail() { *r.fails = true }

func (r *formReader) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) != len(s.Rhs) {
			r.fail()
			return
		}
		for i, lhs := range s.Lhs {
			r.assign(lhs, s.Rhs[i])
		}
	case *ast.DeclStmt:
		g, _ := s.Decl.(*ast.GenDecl)
		for _, spec := range g.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || len(v.Names) != len(v.Values) {
				r.fail()
				return
			}
			for i, id := range v.Names {
				r.assign(id, v.Values[i])
			}
		}
	case *ast.ExprStmt:
		r.effect(s)
	case *ast.IfStmt:
		if hasAny(s, func(n ast.Node) bool { _, ret := n.(*ast.ReturnStmt); return ret }) {
			r.fail()
			return
		}
		r.effect(s)
	default:
		r.fail()
	}
}

// effect notes a statement that is not followed, with what there was before it. What it is given or sets may be anything, so it has to be the same.
func (r *formReader) effect(s ast.Stmt) {
	var held []string
	for _, name := range slices.Sorted(maps.Keys(r.forms)) {
		held = append(held, name+" = "+r.forms[name].text())
		given := hasAny(s, func(n ast.Node) bool { // it may ask whether connections are kept
			call, ok := n.(*ast.CallExpr)
			if !ok || isConfigure(call) {
				return false
			}
			f, method := call.Fun.(*ast.SelectorExpr)
			return method && rootName(f.X) == name
		})
		if given {
			r.fail()
		}
	}
	replaced := hasAny(s, func(n ast.Node) bool { // a whole one
		a, ok := n.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
			id, ok := x.(*ast.Ident)
			return ok && (r.forms[id.Name] != nil || r.texts[id.Name] != "")
		})
	})
	if replaced {
		r.fail()
	}
	*r.effects = append(*r.effects, strings.Join(held, "\n")+"\n"+r.text(s))
}

// isConfigure tells of a call that it sets a Transport up for HTTP/2, which asks nothing of what keeps its connections.
func isConfigure(call *ast.CallExpr) bool {
	return strings.HasPrefix(types.ExprString(call.Fun), "http2.Configure")
}

func (r *formReader) assign(lhs, rhs ast.Expr) {
	switch x := ast.Unparen(lhs).(type) {
	case *ast.Ident:
		_, formed := r.forms[x.Name]
		_, known := r.texts[x.Name]
		if x.Name == "_" || formed || known { // set again
			r.fail()
			return
		}
		if m := r.form(rhs); m != nil {
			r.forms[x.Name] = m
			return
		}
		r.texts[x.Name] = r.text(rhs)
	case *ast.SelectorExpr:
		of := r.form(x.X)
		if of == nil {
			r.fail()
			return
		}
		r.set(of, x.Sel.Name, rhs)
	default:
		r.fail()
	}
}

// set takes over what a field is set to.
func (r *formReader) set(of *madeForm, field string, value ast.Expr) {
	switch {
	case of.kind == "Client" && field == "Transport":
		if of.inner = r.form(value); of.inner == nil {
			r.fail()
		}
	case of.kind != "Client" && slices.Contains(keepFields, field):
		of.keeps[field] = r.text(value)
	default:
		of.fields[field] = r.text(value)
	}
}

// form is what an expression makes; nil where it makes nothing that is known.
func (r *formReader) form(x ast.Expr) *madeForm {
	made := func(kind string) *madeForm {
		return &madeForm{kind: kind, fields: map[string]string{}, keeps: map[string]string{}}
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return r.form(x.X)
	case *ast.Ident:
		return r.forms[x.Name]
	case *ast.SelectorExpr:
		if of := r.form(x.X); of != nil && x.Sel.Name == "Transport" {
			return of.inner
		}
	case *ast.TypeAssertExpr:
		return r.form(x.X)
	case *ast.CompositeLit:
		kind := (&pkgReader{p: r.p, fn: r.fn}).kindOf(x.Type)
		if kind == "" {
			return nil
		}
		m := made(kind)
		for _, e := range x.Elts {
			kv, ok := e.(*ast.KeyValueExpr)
			if !ok {
				r.fail()
				return nil
			}
			r.set(m, types.ExprString(kv.Key), kv.Value)
		}
		return m
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Clone" && len(x.Args) == 0 {
			if types.ExprString(f.X) == r.fn.file.http+".DefaultTransport.(*"+r.fn.file.http+".Transport)" {
				return made("a copy of the default one")
			}
			return nil
		}
		id, ok := x.Fun.(*ast.Ident)
		if !ok || r.texts[id.Name] != "" {
			return nil
		}
		fn := r.p.function(r.fn.pkg, id.Name)
		if fn == nil || !r.p.returnsClient(r.fn.pkg, id.Name) {
			return nil
		}
		var args []string
		for _, arg := range x.Args {
			if r.form(arg) != nil { // it wraps one
				r.fail()
				return nil
			}
			args = append(args, r.text(arg))
		}
		in := &formReader{p: r.p, fn: fn, depth: r.depth + 1, forms: map[string]*madeForm{}, texts: map[string]string{}, effects: r.effects, fails: r.fails}
		m := in.run(args)
		if m == nil || x.Ellipsis.IsValid() {
			r.fail()
		}
		return m
	}
	return nil
}

// text is a node as it stands in the source, with what its names mean: what variables are, and which packages others are.
func (r *formReader) text(n ast.Node) string {
	var b strings.Builder
	if err := format.Node(&b, r.fn.file.s.fset, n); err != nil {
		r.fail()
	}
	meant := map[string]string{}
	ast.Inspect(n, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(keepFields, sel.Sel.Name) { // what it is depends on these
			r.fail()
		}
		if call, ok := n.(*ast.CallExpr); ok && !isConfigure(call) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return r.forms[rootName(unrefer(x))] != nil }) {
			r.fail()
		}
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if is, ok := r.texts[id.Name]; ok && is != id.Name {
			meant[id.Name] = is
		} else if r.forms[id.Name] != nil {
			meant[id.Name] = r.forms[id.Name].kind
		} else if of := r.p.named(r.fn.file.s.file, id.Name); of != "" {
			meant[id.Name] = of
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(meant)) {
		b.WriteString(" where " + name + " is " + meant[name])
	}
	return b.String()
}
