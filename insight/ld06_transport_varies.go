package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// A Transport keeps the proxy, the dialer and the TLS settings that it was made with. One that is made once is the same as one
// for each request only where these would be the same each time.

// settingChange is how a setting of a Transport may be another one for the next request.
type settingChange int

const (
	changesNever settingChange = iota
	// changesUnseen: the sources do not show what gives it.
	changesUnseen
	// changesLater: somebody changes it while the program runs, or it is in a file.
	changesLater
	// changesEach: making it takes another one each time.
	changesEach
	// changesBack: a function in it sets a variable of the request that makes it.
	changesBack
)

// varyingSetting is a setting that may be another one for the next request.
type varyingSetting struct {
	field string
	how   settingChange
	says  string
	at    codeLine
}

// transportSetting is a field of a Transport with what it is set to in a function.
type transportSetting struct {
	field string
	in    *ast.FuncDecl
	x     ast.Expr
}

// transportSettings are the settings of a Transport: in the literal, or set in a variable that has the Transport.
func transportSettings(d *derivations, x ownTransport) (all []transportSetting) {
	if lit, ok := x.made.(*ast.CompositeLit); ok && len(x.in) > 0 {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && transportFields.MatchString(types.ExprString(kv.Key)) {
				all = append(all, transportSetting{types.ExprString(kv.Key), x.in[len(x.in)-1], kv.Value})
			}
		}
	}
	steps := x.steps()
	for i, decl := range x.in {
		if i >= len(steps) {
			break
		}
		eachAssigned(decl.Body, func(lhs, rhs ast.Expr) {
			field := fieldIn(lhs, transportFields.compiled())
			v := d.variable(innermost(lhs))
			if field == "" || v == nil || !isLocal(decl, v) {
				return
			}
			if slices.ContainsFunc(d.definitions(decl)[v], func(def definition) bool { return def.x != nil && covers(def.x, steps[i]) }) {
				all = append(all, transportSetting{field, decl, rhs})
			}
		})
	}
	return all
}

// transportFieldOf is the setting of a Transport that a place is, or is a part of, of those that decide as whom, and over what, requests are sent;
// empty for others.
func transportFieldOf(lhs ast.Expr) string { return fieldIn(lhs, transportOwns.compiled()) }

// fieldIn is the field that a place is, or is a part of, of some; empty for others.
func fieldIn(lhs ast.Expr, some *regexp.Regexp) string {
	for {
		switch x := ast.Unparen(lhs).(type) {
		case *ast.SelectorExpr:
			if some.MatchString(x.Sel.Name) {
				return x.Sel.Name
			}
			lhs = x.X
		case *ast.IndexExpr:
			lhs = x.X
		case *ast.StarExpr:
			lhs = x.X
		default:
			return ""
		}
	}
}

// varies finds the setting of a Transport that differs the most from one request to the next.
func (x ownTransport) varies(d *derivations) (found varyingSetting) {
	for _, s := range transportSettings(d, x) {
		if transportKeeps.MatchString(s.field) {
			continue
		}
		w := &settingWalk{d: d, x: x, dials: strings.HasPrefix(s.field, "Dial"), seen: map[ast.Node]bool{}, vars: map[types.Object]bool{}}
		w.look(s.in, s.x, 0)
		for v := range w.reads {
			w.changed(v)
		}
		if w.found.how > found.how {
			found = w.found
			found.field = s.field
		}
	}
	return found
}

// settingWalk goes through all that a setting is made of.
type settingWalk struct {
	d     *derivations
	x     ownTransport
	dials bool // what a closure does counts: it is called for each connection, and so for each request as it is
	seen  map[ast.Node]bool
	vars  map[types.Object]bool
	reads map[types.Object]bool
	found varyingSetting
}

// note keeps what says the most; of several, the first in the source.
func (w *settingWalk) note(how settingChange, n ast.Node, says string, args ...any) {
	at := w.d.placeOf(n)
	if how > w.found.how || how == w.found.how && at.file == w.found.at.file && at.line < w.found.at.line {
		w.found = varyingSetting{how: how, says: fmt.Sprintf(says, args...), at: at}
	}
}

// look goes through a part of a function, and what that calls.
func (w *settingWalk) look(decl *ast.FuncDecl, part ast.Node, depth int) {
	if part == nil || w.seen[part] {
		return
	}
	w.seen[part] = true
	ast.Inspect(part, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.setsBack(decl, n)
			return w.dials
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				w.note(changesEach, n, "what it is made of is taken from the channel %s", types.ExprString(n.X))
			}
		case *ast.SelectorExpr:
			w.methodBack(decl, n)
			if v, ok := w.d.t.info.Uses[n.Sel].(*types.Var); ok {
				w.read(decl, v, depth)
				if w.d.t.fromPackage(n) != "" {
					return false
				}
			}
		case *ast.Ident:
			w.read(decl, w.d.variable(n), depth)
		case *ast.CallExpr:
			w.call(n, depth)
		}
		return true
	})
}

// read follows a variable of the function to what it is made of, and notes all others.
func (w *settingWalk) read(decl *ast.FuncDecl, v types.Object, depth int) {
	switch {
	case v == nil || w.vars[v]:
		return
	case !isLocal(decl, v):
		if w.reads == nil {
			w.reads = map[types.Object]bool{}
		}
		if of, ok := v.(*types.Var); ok && (of.IsField() || ofPackage(v)) {
			w.reads[v] = true
		}
		return
	}
	w.vars[v] = true
	w.outside(decl, v)
	for _, def := range w.d.definitions(decl)[v] {
		if def.x == nil {
			continue
		}
		if def.ranged {
			w.turn(decl, v, def)
		}
		w.look(decl, def.x, depth)
	}
}

// turn notes a variable of a loop around what makes the Transport: it is another one in each turn.
func (w *settingWalk) turn(decl *ast.FuncDecl, v types.Object, def definition) {
	for i, step := range w.x.steps() {
		if i >= len(w.x.in) || w.x.in[i] != decl {
			continue
		}
		for _, n := range nodesAt(decl.Body, step.Pos()) {
			if r, ok := n.(*ast.RangeStmt); ok && covers(r, def.x) {
				w.note(changesEach, r, "%s is another one in each turn of the loop", v.Name())
			}
		}
	}
}

// outlives is the function without a name around what makes the Transport in which a variable of the function is used that is declared outside of it;
// nil where there is none.
func (w *settingWalk) outlives(decl *ast.FuncDecl, v types.Object) (own *ast.FuncLit) {
	for i, step := range w.x.steps() {
		if i < len(w.x.in) && w.x.in[i] == decl {
			for _, n := range nodesAt(decl.Body, step.Pos()) {
				if lit, ok := n.(*ast.FuncLit); ok && own == nil && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()) {
					own = lit
				}
			}
		}
	}
	return own
}

// outside looks at a variable of a function around the closure that makes the Transport: that one outlives the requests, and closures may
// change it.
func (w *settingWalk) outside(decl *ast.FuncDecl, v types.Object) {
	own := w.outlives(decl, v)
	if own == nil {
		return
	}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		changes := func(x ast.Expr) bool { return w.d.variable(innermost(x)) == v }
		is := slices.ContainsFunc(changedBy(n), changes)
		if call, ok := n.(*ast.CallExpr); ok && !is {
			w.d.writesOfCall(call, func(x ast.Expr) { is = is || changes(x) && isAtomic(w.d.c, x) })
		}
		if !is || !withinLit(around) || setsLazily(decl, n, around) {
			return
		}
		if covers(own, n) {
			w.note(changesEach, n, "%s is changed each time", v.Name())
		} else {
			w.note(changesLater, n, "%s is changed", v.Name())
		}
	})
}

// settingPackages make the same of the same, beside those that are steady; their functions do nothing else.
var settingPackages = lazily(`^(net|net/http|net/url|net/netip|crypto(/.*)?|context|sync(/atomic)?|encoding/.*)$`)

// settingTells are methods that change nothing of what they are called on.
var settingTells = lazily(`^(Load|Get\w*|Value|Range|Peek|Clone|Copy|Bytes|Dial\w*|Lookup\w*)$`)

// settingFiles read a file.
var settingFiles = lazily(`^(os\.(ReadFile|Open|OpenFile|DirFS|Readlink)|io/ioutil\.ReadFile|crypto/tls\.LoadX509KeyPair)$`)

// settingDraws give another value each time.
var settingDraws = lazily(`^(math/rand(/v2)?\..*|crypto/rand\..*|time\.(Now|Since|Until))$`)

// call looks at a call that a setting is made by.
func (w *settingWalk) call(n *ast.CallExpr, depth int) {
	fun := uninstantiated(n)
	if tv, ok := w.d.t.info.Types[n.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return
	}
	if pkg := w.d.t.fromPackage(fun); pkg != "" {
		name := pkg + "." + calledName(n)
		switch {
		case settingDraws.MatchString(name):
			if !strings.HasPrefix(calledName(n), "New") {
				w.note(changesEach, n, "it is made with %s", types.ExprString(n.Fun))
			}
			return
		case settingFiles.MatchString(name):
			w.note(changesLater, n, "a file is read for it (%s)", types.ExprString(n.Fun))
			return
		}
	}
	decls := []*ast.FuncDecl{}
	fn := w.d.t.callee(n)
	if fn != nil {
		decls = w.d.declsOf(fn)
	}
	for _, decl := range decls {
		if decl.Body == nil || depth >= steadyDepth || len(w.seen) > steadyFuncs {
			w.note(changesUnseen, n, "what %s gives is not seen", types.ExprString(n.Fun))
			return
		}
		w.look(decl, decl.Body, depth+1)
	}
	if len(decls) > 0 {
		return
	}
	if pkg := w.d.t.fromPackage(fun); pkg != "" {
		if !settingPackages.MatchString(pkg) && !steadyPackages.MatchString(pkg) {
			w.note(changesUnseen, n, "what %s gives is not seen", types.ExprString(n.Fun))
		}
		return
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && !w.library(sel.X, fn) {
		w.note(changesUnseen, n, "what %s gives is not seen", types.ExprString(n.Fun))
	}
}

// library tells of what a method is called on that it is of the standard library, or made by a function of it.
func (w *settingWalk) library(x ast.Expr, fn *types.Func) bool {
	if fn != nil && ofLibrary(fn) {
		return true
	}
	of := w.d.t.typeOf(x)
	for {
		p, ok := of.(*types.Pointer)
		if !ok {
			break
		}
		of = p.Elem()
	}
	if named, ok := of.(*types.Named); ok && named.Obj().Pkg() != nil {
		return settingPackages.MatchString(named.Obj().Pkg().Path()) || steadyPackages.MatchString(named.Obj().Pkg().Path())
	}
	switch x := unrefer(innermost(x)).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return w.d.t.fromPackage(uninstantiated(x)) != ""
	case *ast.Ident:
		v := w.d.variable(x)
		return v != nil && !ofPackage(v) // what it is made of is looked at
	}
	return false
}

// changed looks for what changes a field, or a variable of a package, while the program runs: what the making of the setting itself
// changes is another one each time.
func (w *settingWalk) changed(v types.Object) {
	for _, c := range w.d.changesOfAny(v) {
		var at ast.Node
		var around []ast.Node
		eachNode(c.in.Body, func(n ast.Node, outer []ast.Node) {
			if at == nil && n.Pos() == c.at {
				at, around = n, slices.Clone(outer)
			}
		})
		if call, ok := at.(*ast.CallExpr); ok && settingTells.MatchString(calledName(call)) || at == nil || setsLazily(c.in, at, around) || w.ofTransport(c.in, at) {
			continue
		}
		own := w.seen[ast.Node(c.in.Body)] || slices.ContainsFunc(w.x.in, func(decl *ast.FuncDecl) bool { return decl == c.in })
		switch {
		case own:
			w.note(changesEach, at, "%s is changed each time", v.Name())
		case !derivedStartsWith(w.d, c):
			w.note(changesLater, at, "%s is changed", v.Name())
		}
	}
}

// ofTransport tells of a change that it is one of the Transport itself.
func (w *settingWalk) ofTransport(decl *ast.FuncDecl, n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	return ok && slices.Contains(w.x.in, decl) && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return fieldIn(x, transportFields.compiled()) != "" })
}

// tell gives the advice where the settings are not the same for each request; it is false where they are.
func (s varyingSetting) tell(f *Finding, made codeLine) bool {
	if s.how == changesNever {
		return false
	}
	const chosen = "with a function that chooses for each request (Proxy: func(*http.Request) (*url.URL, error)): a Transport keeps the connections to each proxy apart."
	switch {
	case s.how == changesBack:
		s.tellBack(f, made)
		return true
	case s.how == changesUnseen:
		f.Advice = fmt.Sprintf("If its %s is the same for each request (%s at %s): ", s.field, s.says, s.at.text()) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
		return true
	case s.how == changesEach:
		f.Severity = Info
		f.Advice = fmt.Sprintf("Its %s is not the same for each request (%s at %s), and one Transport for all would keep that of the first one. ", s.field, s.says, s.at.text())
	default:
		f.Advice = fmt.Sprintf("Its %s may be another one later (%s at %s), and a Transport that is made once would keep the first one. ", s.field, s.says, s.at.text())
	}
	switch {
	case s.field == "Proxy":
		f.Advice += "Make the Transport once, and not for each request as at " + made.text() + ", " + chosen
	case s.how == changesEach:
		f.Advice += fmt.Sprintf("If a few come again and again, keep one Transport for each of them, made once, instead of that at %s, and take the one whose turn it is. If each request needs a new one, no connection can be kept.", made.text())
	default:
		f.Advice += fmt.Sprintf("Keep the Transport that is made at %s until that changes: then make another one, give it to the requests that follow, and call CloseIdleConnections of the old one.", made.text())
	}
	return true
}
