package insight

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"loupe/recording"
	"loupe/session"
)

// What functions of other packages make: a recording keeps the files of the packages that a program imports which make HTTP
// clients. They are read by their syntax alone, a statement after the other.

// keptFlag is what a source sets a flag to.
type keptFlag int

const (
	setOff    keptFlag = iota // false, or not set at all
	setOn                     // true
	setUnsure                 // it depends on something
)

// pkgLine is a line of a file of a dependency.
type pkgLine struct {
	file string // as the program's table of functions names it
	line int
	text string
}

// text is how a sentence names it.
func (l pkgLine) place() string { return fileLine(l.file, l.line) }

// madeTransport is what decides about the connections of a Transport, or of a client that has it.
type madeTransport struct {
	off     keptFlag // DisableKeepAlives
	offAt   pkgLine
	idle    keptFlag // MaxIdleConnsPerHost: whether it is below 0, so that no idle connection is kept
	idleAt  pkgLine
	perHost string // what MaxIdleConnsPerHost is set to, as the source has it; empty where it is not
	wrapped bool   // it is inside of another RoundTripper
	shared  bool   // a variable of the package has it
}

// keeps tells that connections are certainly kept, as far as these two settings decide it, and closes that none is.
func (t *madeTransport) keeps() bool  { return t.off == setOff && t.idle == setOff }
func (t *madeTransport) closes() bool { return t.off == setOn || t.idle == setOn }

// set takes over what a field is set to. On a condition, what was before may be as well.
func (t *madeTransport) set(field string, value ast.Expr, at pkgLine, branch bool) {
	was := *t
	switch field {
	case "DisableKeepAlives":
		t.offAt = at
		switch {
		case isNamed(value, "true"):
			t.off = setOn
		case isNamed(value, "false"):
			t.off = setOff
		default:
			t.off = setUnsure
		}
		if branch && t.off != was.off {
			t.off = setUnsure
		}
	case "MaxIdleConnsPerHost":
		t.idleAt, t.perHost, t.idle = at, types.ExprString(value), setOff
		n, known := numberOf(value)
		switch {
		case known && n < 0:
			t.idle = setOn
		case !known && mayBeNegative(value):
			t.idle = setUnsure
		}
		if branch {
			t.perHost = ""
			if t.idle != was.idle {
				t.idle = setUnsure
			}
		}
	}
}

// mayBeNegative tells of a number that is not known that it may be below zero: what a program counts, of its CPUs for example, is not.
func mayBeNegative(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		switch types.ExprString(x.Fun) {
		case "runtime.GOMAXPROCS", "runtime.NumCPU", "len", "cap":
			return false
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD || x.Op == token.MUL {
			one := func(e ast.Expr) bool { n, known := numberOf(e); return known && n >= 0 || !known && !mayBeNegative(e) }
			return !one(x.X) || !one(x.Y)
		}
	}
	return true
}

// clientPackages are the files of dependencies that a recording keeps.
type clientPackages struct {
	session *session.Session
	files   map[string][]pkgFile // by import path
}

// pkgFile is one of them, parsed.
type pkgFile struct {
	name string
	http string // what it calls package net/http
	s    *syntax
	text []string
}

// clientPackagesOf reads them.
func clientPackagesOf(s *session.Session) *clientPackages {
	p := &clientPackages{session: s, files: map[string][]pkgFile{}}
	for _, e := range s.Manifest().Of(recording.Dependency) {
		text, err := session.Dependency(s, e.Source)
		if err != nil {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		pkg, _ := e.DependencyName()
		p.files[pkg] = append(p.files[pkg], pkgFile{e.Source, importedAs(f, "net/http"), &syntax{fset: fset, file: f}, strings.Split(string(text), "\n")})
	}
	return p
}

// line is the one that a node begins at.
func (f *pkgFile) line(n ast.Node) pkgLine {
	l := pkgLine{file: f.name}
	l.line, _ = f.s.lines(n)
	if l.line >= 1 && l.line <= len(f.text) {
		l.text = strings.TrimSpace(f.text[l.line-1])
	}
	return l
}

// pkgFunc is a function of a dependency.
type pkgFunc struct {
	pkg  string
	file *pkgFile
	decl *ast.FuncDecl
}

// function finds the one of a name that is no method; nil where the recording does not have it.
func (p *clientPackages) function(pkg, name string) *pkgFunc {
	for i := range p.files[pkg] {
		f := &p.files[pkg][i]
		for _, d := range f.s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Body != nil && fn.Name.Name == name {
				return &pkgFunc{pkg, f, fn}
			}
		}
	}
	return nil
}

// maxMade is how far functions are followed into others.
const maxMade = 6

// made is the Transport, or that of the client, which a function returns; ok is false where the source does not show it.
func (p *clientPackages) made(fn *pkgFunc, depth int) (t madeTransport, ok bool) {
	if fn == nil || depth > maxMade {
		return t, false
	}
	r := &pkgReader{p: p, fn: fn, depth: depth, vars: map[string]*madeTransport{}}
	r.statements(fn.decl.Body.List, false)
	if r.unknown || len(r.returned) == 0 {
		return t, false
	}
	t = *r.returned[0]
	for _, other := range r.returned[1:] {
		if other.off != t.off {
			t.off = setUnsure
			t.offAt = cmp.Or(t.offAt, other.offAt)
		}
		if other.idle != t.idle {
			t.idle = setUnsure
			t.idleAt = cmp.Or(t.idleAt, other.idleAt)
		}
		if other.perHost != t.perHost {
			t.perHost = ""
		}
		t.wrapped, t.shared = t.wrapped || other.wrapped, t.shared || other.shared
	}
	return t, true
}

// siblings are the exported functions of the same package that take and return the same, and whose Transport keeps connections, where that is all
// that they do otherwise.
func (p *clientPackages) siblings(of *pkgFunc) (all []*pkgFunc) {
	like := types.ExprString(of.decl.Type)
	for i := range p.files[of.pkg] {
		f := &p.files[of.pkg][i]
		for _, d := range f.s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Body == nil || !fn.Name.IsExported() || fn == of.decl || types.ExprString(fn.Type) != like {
				continue
			}
			other := &pkgFunc{of.pkg, f, fn}
			if t, ok := p.made(other, 0); !ok || !t.keeps() {
				continue
			}
			if _, same := p.differs(of, other); same {
				all = append(all, other)
			}
		}
	}
	return all
}

// pkgReader goes through the statements of a function of a dependency.
type pkgReader struct {
	p        *clientPackages
	fn       *pkgFunc
	depth    int
	vars     map[string]*madeTransport // what variables hold; nil of one that may hold anything
	returned []*madeTransport
	unknown  bool // it returns something else as well
}

// statements goes through some; branch tells that a condition decides whether they run, or how often.
func (r *pkgReader) statements(list []ast.Stmt, branch bool) {
	for _, s := range list {
		r.statement(s, branch)
	}
}

func (r *pkgReader) statement(s ast.Stmt, branch bool) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) == len(s.Rhs) || len(s.Rhs) == 1 {
			for i, lhs := range s.Lhs {
				if i < len(s.Rhs) {
					r.assign(lhs, s.Rhs[i], branch)
				} else {
					delete(r.vars, types.ExprString(lhs))
				}
			}
		}
	case *ast.DeclStmt:
		ast.Inspect(s.Decl, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				assigned(spec, func(lhs, rhs ast.Expr) { r.assign(lhs, rhs, branch) })
				if kind := r.kindOf(spec.Type); len(spec.Values) == 0 && kind != "" && len(spec.Names) == 1 {
					r.vars[spec.Names[0].Name] = &madeTransport{}
				}
			}
			return true
		})
	case *ast.ReturnStmt:
		if len(s.Results) == 0 {
			r.unknown = true // a named result
			return
		}
		if isNamed(s.Results[0], "nil") {
			return // with an error
		}
		if t := r.value(s.Results[0]); t != nil {
			is := *t
			r.returned = append(r.returned, &is)
			return
		}
		r.unknown = true
	case *ast.ExprStmt:
		r.handed(s.X)
	case *ast.BlockStmt:
		r.statements(s.List, branch)
	case *ast.LabeledStmt:
		r.statement(s.Stmt, branch)
	case *ast.IfStmt:
		if s.Init != nil {
			r.statement(s.Init, branch)
		}
		r.statements(s.Body.List, true)
		if s.Else != nil {
			r.statement(s.Else, true)
		}
	case *ast.ForStmt:
		r.statements(s.Body.List, true)
	case *ast.RangeStmt:
		r.statements(s.Body.List, true)
	case *ast.SwitchStmt:
		r.statements(s.Body.List, true)
	case *ast.TypeSwitchStmt:
		r.statements(s.Body.List, true)
	case *ast.SelectStmt:
		r.statements(s.Body.List, true)
	case *ast.CaseClause:
		r.statements(s.Body, true)
	case *ast.CommClause:
		r.statements(s.Body, true)
	case *ast.DeferStmt:
		r.handed(s.Call)
	case *ast.GoStmt:
		r.handed(s.Call)
	}
}

// assign takes over what something is set to.
func (r *pkgReader) assign(lhs, rhs ast.Expr, branch bool) {
	r.handed(rhs)
	switch x := ast.Unparen(lhs).(type) {
	case *ast.Ident:
		t := r.value(rhs)
		if was, known := r.vars[x.Name]; branch && known && (was == nil || t == nil || !sameKept(was, t)) {
			t = nil
		}
		if _, known := r.vars[x.Name]; t != nil || known {
			r.vars[x.Name] = t
		}
	case *ast.SelectorExpr:
		of := r.value(x.X)
		if of == nil {
			return
		}
		if x.Sel.Name != "Transport" {
			of.set(x.Sel.Name, rhs, r.fn.file.line(x), branch)
			return
		}
		t := r.value(rhs)
		if branch && (t == nil || !sameKept(of, t)) {
			t = nil
		}
		if root := rootName(x); root != "" {
			r.vars[root] = t
		}
	}
}

// sameKept tells of two Transports that they keep connections alike.
func sameKept(a, b *madeTransport) bool {
	return a.off == b.off && a.idle == b.idle && a.perHost == b.perHost
}

// handed forgets what is known of a variable that an expression gives to a function, which may set it; the library sets none of it.
func (r *pkgReader) handed(x ast.Expr) {
	ast.Inspect(x, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if name := types.ExprString(call.Fun); strings.HasPrefix(name, "http2.Configure") || strings.HasPrefix(name, "errors.") || strings.HasPrefix(name, "fmt.") {
			return true
		}
		for _, arg := range call.Args {
			if lit, ok := arg.(*ast.FuncLit); ok { // it may set what it sees
				for name := range r.vars {
					if mentionsAny(lit, map[string]bool{name: true}) {
						r.vars[name] = nil
					}
				}
			}
			if id, ok := unrefer(arg).(*ast.Ident); ok {
				if _, known := r.vars[id.Name]; known && !r.keepsArgument(call) {
					r.vars[id.Name] = nil
				}
			}
		}
		return true
	})
}

// keepsArgument tells of a call that it changes nothing of a Transport: a function of the same package that sets no such field.
func (r *pkgReader) keepsArgument(call *ast.CallExpr) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	fn := r.p.function(r.fn.pkg, id.Name)
	if fn == nil {
		return false
	}
	return !hasAny(fn.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return n.Sel.Name == "DisableKeepAlives" || n.Sel.Name == "MaxIdleConnsPerHost" || n.Sel.Name == "Transport"
		case *ast.CallExpr:
			return true
		}
		return false
	})
}

// kindOf is which type of package net/http an expression names, of those that matter here; empty for others.
func (r *pkgReader) kindOf(of ast.Expr) string {
	if of == nil || r.fn.file.http == "" {
		return ""
	}
	name, is := strings.CutPrefix(types.ExprString(of), r.fn.file.http+".")
	if !is || name != "Client" && name != "Transport" {
		return ""
	}
	return name
}

// value is the Transport that an expression stands for, or that of the client; nil where the source does not show it.
func (r *pkgReader) value(x ast.Expr) *madeTransport {
	switch x := ast.Unparen(x).(type) {
	case *ast.UnaryExpr:
		return r.value(x.X)
	case *ast.StarExpr:
		return r.value(x.X)
	case *ast.TypeAssertExpr:
		return r.value(x.X)
	case *ast.Ident:
		if t, known := r.vars[x.Name]; known {
			return t
		}
		return r.shared(x.Name)
	case *ast.CompositeLit:
		return r.literal(x)
	case *ast.SelectorExpr:
		if x.Sel.Name == "Transport" {
			return r.value(x.X)
		}
		if name := types.ExprString(x); name == r.fn.file.http+".DefaultTransport" || name == r.fn.file.http+".DefaultClient" {
			return &madeTransport{}
		}
	case *ast.CallExpr:
		return r.call(x)
	}
	return nil
}

// literal is that of a literal: of a Transport, of a client, or of what has one in it.
func (r *pkgReader) literal(lit *ast.CompositeLit) *madeTransport {
	kind := r.kindOf(lit.Type)
	t := &madeTransport{}
	var within []*madeTransport
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		id, _ := kv.Key.(*ast.Ident)
		switch {
		case id == nil:
			return nil
		case kind == "Transport":
			t.set(id.Name, kv.Value, r.fn.file.line(kv), false)
		case kind == "Client" && id.Name == "Transport":
			return r.value(kv.Value)
		case kind == "":
			if in := r.value(kv.Value); in != nil {
				within = append(within, in)
			}
		}
	}
	switch {
	case kind != "":
		return t
	case len(within) == 1: // it hands requests on
		is := *within[0]
		is.wrapped = true
		return &is
	}
	return nil
}

// call is that of what a call returns.
func (r *pkgReader) call(call *ast.CallExpr) *madeTransport {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if f.Name == "new" && len(call.Args) == 1 && r.kindOf(call.Args[0]) != "" {
			return &madeTransport{}
		}
		if t, ok := r.p.made(r.p.function(r.fn.pkg, f.Name), r.depth+1); ok {
			return &t
		}
	case *ast.SelectorExpr:
		if f.Sel.Name == "Clone" && len(call.Args) == 0 {
			if of := r.value(f.X); of != nil {
				is := *of
				is.shared = false
				return &is
			}
			return nil
		}
		id, ok := f.X.(*ast.Ident)
		if !ok {
			return nil
		}
		if t, ok := r.p.made(r.p.function(r.p.named(r.fn.file.s.file, id.Name), f.Sel.Name), r.depth+1); ok {
			return &t
		}
	}
	return nil
}

// named is the path of the package that a file calls by a name; empty where it imports none. A package whose files are there says itself what it
// is called.
func (p *clientPackages) named(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		of := strings.Trim(spec.Path.Value, "\"`")
		called := assumedName(of)
		if kept := p.files[of]; len(kept) > 0 {
			called = kept[0].s.file.Name.Name
		}
		if spec.Name != nil {
			called = spec.Name.Name
		}
		if called == name {
			return of
		}
	}
	return ""
}

// returnsClient tells of a function that its first result is a client, a Transport, or what takes the place of one.
func (p *clientPackages) returnsClient(pkg, name string) bool {
	fn := p.function(pkg, name)
	if fn == nil || fn.decl.Type.Results == nil || len(fn.decl.Type.Results.List) == 0 {
		return false
	}
	of := strings.TrimPrefix(types.ExprString(fn.decl.Type.Results.List[0].Type), "*")
	return of == fn.file.http+".Client" || of == fn.file.http+".Transport" || of == fn.file.http+".RoundTripper"
}

// shared is that of a variable of the package that begins with one, and that no file sets or changes later.
func (r *pkgReader) shared(name string) (found *madeTransport) {
	changed := false
	for i := range r.p.files[r.fn.pkg] {
		f := &r.p.files[r.fn.pkg][i]
		for _, d := range f.s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					assigned(spec, func(lhs, rhs ast.Expr) {
						if isNamed(lhs, name) && r.depth < maxMade {
							in := &pkgReader{p: r.p, fn: &pkgFunc{r.fn.pkg, f, r.fn.decl}, depth: r.depth + 1, vars: map[string]*madeTransport{}}
							if t := in.value(rhs); t != nil {
								is := *t
								is.shared = true
								found = &is
							}
						}
					})
				}
				continue
			}
			eachAssigned(d, func(lhs, _ ast.Expr) { changed = changed || rootName(lhs) == name })
		}
	}
	if changed {
		return nil
	}
	return found
}
