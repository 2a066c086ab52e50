package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether what a client or a Transport is made with is the same for all requests. One for all that was made with the token, the certificate,
// the proxy or the cookies of one user would send the requests of the others as that one.

// givenFrom is how far a value is the same for all requests.
type givenFrom int

const (
	givenSame givenFrom = iota
	// givenUnseen: the source does not show it.
	givenUnseen
	// givenOwner: it is of the value that the function is a method of, each of which may have its own.
	givenOwner
	// givenEach: a function is given it, or it is another one in each turn.
	givenEach
)

// givenPart is a part of what a client is made with.
type givenPart struct {
	from   givenFrom
	x      ast.Expr // as the source names it
	client bool     // it is a part of the client alone, or of what is around its Transport
}

// visited is an expression that makes a client or a Transport, or what is around one.
type visited struct {
	in *ast.FuncDecl
	x  ast.Expr
}

// givenWalk follows a value to where it comes from.
type givenWalk struct {
	d     *derivations
	seen  map[ast.Node]bool
	vars  map[types.Object]bool
	found givenFrom
}

// givenOf tells it of an expression of a function; decl is nil outside of functions.
func givenOf(d *derivations, decl *ast.FuncDecl, x ast.Expr) givenFrom {
	w := &givenWalk{d: d, seen: map[ast.Node]bool{}, vars: map[types.Object]bool{}}
	w.look(decl, x)
	return w.found
}

// look goes through a part of a function.
func (w *givenWalk) look(decl *ast.FuncDecl, part ast.Node) {
	if part == nil || w.seen[part] {
		return
	}
	w.seen[part] = true
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				w.found = givenEach
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && w.isField(id) {
				w.look(decl, n.Value)
				return false
			}
		case *ast.CallExpr:
			w.call(n)
		case *ast.Ident:
			w.variable(decl, w.d.variable(n), part)
		}
		return true
	})
}

// isField tells of the key of a literal that it names a field.
func (w *givenWalk) isField(id *ast.Ident) bool {
	v, ok := w.d.variable(id).(*types.Var)
	return !ok || v.IsField()
}

// call notes what is not followed.
func (w *givenWalk) call(n *ast.CallExpr) {
	if tv, ok := w.d.t.info.Types[n.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return
	}
	fun := uninstantiated(n)
	pkg, fn := w.d.t.fromPackage(fun), w.d.t.callee(n)
	switch {
	case pkg != "" && settingDraws.MatchString(pkg+"."+calledName(n)) && !strings.HasPrefix(calledName(n), "New"):
		w.found = givenEach
	case pkg != "" && !isModulePath(pkg): // of the library
	default:
		sel, method := fun.(*ast.SelectorExpr)
		if pkg != "" || !method || !(&settingWalk{d: w.d}).library(sel.X, fn) {
			w.found = max(w.found, givenUnseen)
		}
	}
}

// variable follows one that part of a function has.
func (w *givenWalk) variable(decl *ast.FuncDecl, v types.Object, part ast.Node) {
	of, ok := v.(*types.Var)
	switch {
	case !ok || of.IsField() || w.vars[v] || part.Pos() <= v.Pos() && v.Pos() < part.End(): // or the expression declares it itself
		return
	case ofPackage(v):
		w.vars[v] = true
		if slices.ContainsFunc(w.d.changesOfAny(v), func(c changing) bool { return !derivedStartsWith(w.d, c) }) {
			w.found = max(w.found, givenUnseen)
		}
		return
	case decl == nil || decl.Body == nil || !isLocal(decl, v):
		return
	}
	w.vars[v] = true
	if isGiven(decl, v) {
		w.parameter(decl, v)
		return
	}
	defs := w.d.definitions(decl)[v]
	if len(defs) == 0 { // a function without a name is given it
		w.found = max(w.found, givenKind(v))
	}
	for _, def := range defs {
		switch {
		case def.ranged:
			w.found = givenEach
		case def.unknown:
			w.found = max(w.found, givenUnseen)
		case def.x != nil:
			w.look(decl, def.x)
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool { // who is given its address may fill it in
		call, ok := n.(*ast.CallExpr)
		if ok && slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
			u, ref := x.(*ast.UnaryExpr)
			return ref && u.Op == token.AND && w.d.variable(innermost(u.X)) == v
		}) {
			w.look(decl, call)
		}
		return true
	})
}

// givenKind tells of what a function is given and nobody is seen to give: a context alone is of each request, and often the same in all that matters.
func givenKind(v types.Object) givenFrom {
	if v.Type() != nil && strings.HasSuffix(v.Type().String(), "context.Context") {
		return givenUnseen
	}
	return givenEach
}

// parameter follows one to what callers give.
func (w *givenWalk) parameter(decl *ast.FuncDecl, v types.Object) {
	if decl.Recv != nil && v.Pos() < decl.Recv.End() {
		w.found = max(w.found, givenOwner)
		return
	}
	calls := callersTo(w.d, decl)
	if len(calls) == 0 {
		w.found = max(w.found, givenKind(v))
	}
	for _, by := range calls {
		arg := argumentFor(w.d, decl, by.call, v)
		if arg == nil {
			w.found = max(w.found, givenUnseen)
			continue
		}
		w.look(by.in, arg)
	}
}

// sharedFields are fields of a Transport that say nothing of whose requests it sends.
var sharedFields = lazily(`^(Max|Idle|Disable|ForceAttempt|WriteBufferSize|ReadBufferSize|TLSHandshakeTimeout|ExpectContinueTimeout|ResponseHeaderTimeout|Transport$)`)

// clientFields are those of a client.
var clientFields = lazily(`^(Jar|CheckRedirect|Timeout)$`)

// parts are what a client is made with that may not be the same for all requests, by all that was visited on the way to its origins.
func (w *originTrail) parts(of []httpOrigin) (all []givenPart) {
	add := func(in *ast.FuncDecl, x ast.Expr, client bool) {
		if in == nil { // it is made once, as a variable of the package
			return
		}
		if from := givenOf(w.d, in, x); from > givenSame {
			all = append(all, givenPart{from, x, client})
		}
	}
	for _, v := range w.visited {
		switch n := v.x.(type) {
		case *ast.CompositeLit:
			transport := isTransport(n)
			for _, e := range n.Elts {
				kv, keyed := e.(*ast.KeyValueExpr)
				switch {
				case !keyed:
					if !w.leads(e) {
						add(v.in, e, true)
					}
				case w.leads(kv.Value) || transport && sharedFields.MatchString(types.ExprString(kv.Key)):
				default:
					add(v.in, kv.Value, !transport)
				}
			}
		case *ast.CallExpr:
			w.partsOfCall(v, of, add)
		}
	}
	for _, s := range w.settings(of) {
		if !sharedFields.MatchString(s.field) {
			add(s.in, s.x, clientFields.MatchString(s.field))
		}
	}
	return all
}

// partsOfCall are what a function of another package is given that makes one, or that is given one.
func (w *originTrail) partsOfCall(v visited, of []httpOrigin, add func(in *ast.FuncDecl, x ast.Expr, client bool)) {
	call := v.x.(*ast.CallExpr)
	made := slices.ContainsFunc(of, func(o httpOrigin) bool { return o.call == call })
	if !made && !slices.ContainsFunc(of, func(o httpOrigin) bool { return o.given == call }) {
		return
	}
	for _, arg := range call.Args {
		if !w.leads(arg) {
			add(v.in, arg, !made)
		}
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		if id, is := f.X.(*ast.Ident); !is || w.packageOf(id) == "" {
			add(v.in, f.X, !made)
		}
	}
}

// leads tells of an expression that it is one of those on the way, which are looked at themselves.
func (w *originTrail) leads(x ast.Expr) bool {
	x = unrefer(x)
	return slices.ContainsFunc(w.visited, func(v visited) bool { return v.x == x })
}

// settings are what the program sets of the origins after they are made.
func (w *originTrail) settings(of []httpOrigin) (all []transportSetting) {
	for _, n := range flowNodes(w.d) {
		a, ok := n.n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i, lhs := range a.Lhs {
			sel, ok := lhs.(*ast.SelectorExpr)
			if !ok || w.d.field(sel) != nil && !clientFields.MatchString(sel.Sel.Name) && transportFieldOf(sel) == "" {
				continue
			}
			field := transportFieldOf(sel)
			if field == "" {
				field = sel.Sel.Name
			}
			root := sel.X
			if at, ok := root.(*ast.SelectorExpr); ok && at.Sel.Name == field { // a part of the setting
				root = at.X
			}
			if slices.ContainsFunc(newOriginTrail(w.d, w.p).all(n.in, root), func(b httpOrigin) bool {
				return slices.ContainsFunc(of, func(o httpOrigin) bool { return o.at == b.at })
			}) {
				all = append(all, transportSetting{field, n.in, a.Rhs[i]})
			}
		}
	}
	return all
}

// worst is the part that differs the most, of the Transport before those of the client alone.
func worst(all []givenPart) (found givenPart) {
	for _, p := range all {
		if found.x == nil || !p.client && found.client || p.client == found.client && p.from > found.from {
			found = p
		}
	}
	return found
}

// named says which part it is, and where it stands.
func (w *originTrail) named(p givenPart) string {
	text := types.ExprString(p.x)
	if len(text) > 40 { // chosen: a longer one says less than its place
		text = "what it is given"
	}
	return fmt.Sprintf("%s (%s)", text, w.d.placeOf(p.x).text())
}

// sharing says of one origin how many of it are needed.
func (w *originTrail) sharing(o httpOrigin) string {
	in := newOriginTrail(w.d, w.p)
	in.visited = []visited{{o.in, o.call}}
	p := worst(in.parts([]httpOrigin{o}))
	switch {
	case p.from == givenSame || p.client:
		return "Keep one of it for all requests."
	case p.from == givenEach:
		return fmt.Sprintf("Keep one of it for each %s, in a map by that with a bound, and never one for all: it would send requests as another one.", w.named(p))
	case p.from == givenOwner:
		return fmt.Sprintf("Keep it in the value that has %s, each of which may have another one: one for all would send requests as another one.", w.named(p))
	}
	return fmt.Sprintf("Keep one of it for all requests if %s is the same for all of them, or else one for each of it, in a map with a bound.", w.named(p))
}

// oneClient is the advice that is true of a client that is made with the same for all requests.
const oneClient = "se one http.Client for all requests"

// tellOneClient takes back the advice to use one client for all requests where it may be made with what is not the same for all of them.
func tellOneClient(f *Finding, c *code, frames []stack.Frame, user func(stack.Frame) bool) {
	if !strings.Contains(f.Advice, oneClient) {
		return
	}
	d := derivationsOf(c)
	at, client, _ := requestClient(d, frames, user)
	if client == nil {
		return
	}
	w := newOriginTrail(d, clientPackagesOf(c.session))
	part := worst(w.parts(w.all(at.decl, client)))
	if part.from == givenSame {
		return
	}
	says := w.named(part)
	switch {
	case part.client && part.from == givenUnseen:
		says = fmt.Sprintf("se one http.Client for all requests if %s is the same for all of them, or else one Transport in all clients", says)
	case part.client:
		says = fmt.Sprintf("se one Transport for all requests, in clients that differ in %s (one client for all would mix them)", says)
	case part.from == givenEach:
		says = fmt.Sprintf("se one http.Client for each %s, kept in a map by that with a bound, and never one for all, which would send requests as another one", says)
	case part.from == givenOwner:
		says = fmt.Sprintf("se one http.Client for each value that has its own %s, kept in that value (one for all would send requests as another one)", says)
	default:
		says = fmt.Sprintf("se one http.Client for all requests if %s is the same for all of them, or else one for each of it, kept in a map with a bound", says)
	}
	f.Advice = strings.ReplaceAll(f.Advice, oneClient, says)
}

// asksContext finds where a function of a package, or one that this names, takes a value out of a context: what a connection is opened with may be of one
// request.
func (p *clientPackages) asksContext(fn *pkgFunc) (at pkgLine, found bool) {
	if fn == nil {
		return at, false
	}
	asked := map[string]bool{}
	var look func(file *pkgFile, decl *ast.FuncDecl)
	look = func(file *pkgFile, decl *ast.FuncDecl) {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && !found && (f.Sel.Name == "Value" && len(n.Args) == 1 || fromContext.MatchString(f.Sel.Name) && f.Sel.Name != "Value") {
					at, found = file.line(n), true
				}
			case *ast.Ident:
				if asked[n.Name] {
					return true
				}
				asked[n.Name] = true
				for i := range p.files[fn.pkg] {
					other := &p.files[fn.pkg][i]
					for _, d := range other.s.file.Decls {
						if in, ok := d.(*ast.FuncDecl); ok && in.Body != nil && in.Name.Name == n.Name {
							look(other, in)
						}
					}
				}
			}
			return !found
		})
	}
	asked[fn.decl.Name.Name] = true
	look(fn.file, fn.decl)
	return at, found
}
