package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// What a call leaves behind that another call may find: a field of what it is made on or given, a variable of a package, a
// file. Places are told by the names that the function has for them which makes the calls, and are followed into the
// functions of the sources that it calls.

// leftTouch is one place that a call sets or reads.
type leftTouch struct {
	path []string // "u", "token"; of an element its key, if that is fixed, else elementStep
	sets bool
	// counts tells of a set that it only counts on from what was there; made for several at once, as it is locked or atomic.
	counts bool
	// guarded tells of a set that it is made under a lock, or that what is set may have one of its own.
	guarded bool
	// lazy is the function that sets it only where it is not there yet, or out of date: who reads it by that function makes
	// it if nobody has.
	lazy *ast.FuncDecl
	// file tells that it is a file by its path, and not a place in memory; adds that it is only appended to.
	file, adds bool
	// child tells of a file that a child process is given it, which may read or write it.
	child bool
}

// elementStep is the step of a path to an element whose key is not fixed.
const elementStep = "[]"

// Limits of the search. Chosen: what is further away is not how one call tells something to the next.
const (
	leftDepth = 6
	leftCalls = 400
)

// variableMark stands between the name of a variable and which one of that name it is.
const variableMark = "#"

// text names a place.
func (t leftTouch) text() string {
	root, _, _ := strings.Cut(t.path[0], variableMark)
	text := strings.Join(append([]string{root}, t.path[1:]...), ".")
	return strings.ReplaceAll(text, "."+elementStep, elementStep)
}

// tellsError tells of a place by its name that it is an error.
func tellsError(path []string) bool {
	last, _, _ := strings.Cut(path[len(path)-1], variableMark)
	return isError(last)
}

// meets tells of two places that one may be the other, or a part of it.
func (t leftTouch) meets(o leftTouch) bool {
	if t.file != o.file {
		return false
	}
	if t.file {
		return t.path[0] == o.path[0]
	}
	for i := range min(len(t.path), len(o.path)) {
		a, b := t.path[i], o.path[i]
		if a != b && !(a == elementStep && strings.HasPrefix(b, "[") || b == elementStep && strings.HasPrefix(a, "[")) {
			return false
		}
	}
	return true
}

// follows tells of two touches of different calls that the second one finds what the first one left, or changes what that has
// found: the calls have to stay in this order. of are all touches of the second call, by those of the first.
func (t leftTouch) follows(earlier leftTouch, of, by []leftTouch) bool {
	switch {
	case !t.sets && !earlier.sets || !t.meets(earlier):
		return false
	case t.file:
		return !(t.child && earlier.child) && !(t.adds && earlier.adds)
	case t.sets && earlier.sets:
		return false // whoever needs the one that stays reads it
	}
	set, others := t, by
	if earlier.sets {
		set, others = earlier, of
	}
	if set.counts {
		return false
	}
	// Both make it where it is missing.
	return set.lazy == nil || !slices.ContainsFunc(others, func(o leftTouch) bool { return o.lazy == set.lazy && o.meets(set) })
}

// leftWalk collects what calls touch.
type leftWalk struct {
	d     *derivations
	all   []leftTouch
	calls int
}

// leftFrame is a function that is called, with what its parameters are for the one that all begins with.
type leftFrame struct {
	decl  *ast.FuncDecl
	lit   *ast.FuncLit // the function literal in it that is called; nil of another
	given map[types.Object]leftGiven
	outer *leftFrame
	// held tells that a lock was taken before it was called.
	held bool
	// skip is the place that a statement only makes the next value of, by its text.
	skip string
	// renewed are the places that are set anew under a lock in each call before they are read, by their texts.
	renewed map[string]token.Pos
}

// leftGiven is what a parameter is: a place, where it is one, and its text.
type leftGiven struct {
	path []string
	text string
}

// leftBehind is what some nodes of a function touch by themselves, and by what they call.
func leftBehind(d *derivations, decl *ast.FuncDecl, nodes ...ast.Node) []leftTouch {
	w := &leftWalk{d: d}
	f := &leftFrame{decl: decl}
	for _, n := range nodes {
		w.look(f, n, nil, 0)
	}
	return w.all
}

// leftWhere is what the statements of a function touch that lie between two places, by where a node begins and ends.
func leftWhere(d *derivations, in frameCode, place func(ast.Node) (from, to int), first, last int) []leftTouch {
	var nodes []ast.Node
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if n == nil {
			return false
		}
		from, to := place(n)
		if first <= from && to <= last {
			if _, isCall := n.(*ast.CallExpr); isCall || isSet(n) {
				nodes = append(nodes, n)
				return false
			}
		}
		return from <= last && first <= to
	})
	return leftBehind(d, in.decl, nodes...)
}

// isSet tells of a node that it gives something a value.
func isSet(n ast.Node) bool {
	switch n.(type) {
	case *ast.AssignStmt, *ast.IncDecStmt:
		return true
	}
	return false
}

// look goes through a node of a function, with some others around.
func (w *leftWalk) look(f *leftFrame, top ast.Node, around []ast.Node, depth int) {
	stack := slices.Clone(around)
	ast.Inspect(top, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if !w.one(f, n, slices.Clone(stack), depth) {
			return false
		}
		stack = append(stack, n)
		return true
	})
}

// one looks at a node, and tells whether what it consists of is still to be looked at.
func (w *leftWalk) one(f *leftFrame, n ast.Node, around []ast.Node, depth int) bool {
	within := append(slices.Clone(around), n)
	keys := func(x ast.Expr) {
		for _, key := range indexesOf(x) {
			w.look(f, key, within, depth)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			before := f.skip
			if len(n.Lhs) == len(n.Rhs) && n.Tok == token.ASSIGN { // what only makes the next value of it does not read it
				f.skip = types.ExprString(n.Lhs[i])
			}
			w.look(f, rhs, within, depth)
			f.skip = before
		}
		for i, x := range n.Lhs {
			keys(x)
			if n.Tok == token.DEFINE && isIdent(x) {
				continue
			}
			self := n.Tok != token.ASSIGN && n.Tok != token.DEFINE || len(n.Lhs) == len(n.Rhs) && hasText(n.Rhs[i], types.ExprString(x))
			w.set(f, x, self, n, around)
		}
		return false
	case *ast.IncDecStmt:
		keys(n.X)
		w.set(f, n.X, true, n, around)
		return false
	case *ast.CallExpr:
		w.call(f, n, around, depth)
		return false
	case *ast.KeyValueExpr:
		w.look(f, n.Value, within, depth)
		return false
	case *ast.CompositeLit:
		for _, x := range n.Elts {
			w.look(f, x, within, depth)
		}
		return false
	case *ast.FuncType, *ast.LabeledStmt, *ast.BranchStmt:
		_, isLabel := n.(*ast.LabeledStmt)
		return isLabel
	case *ast.SelectorExpr, *ast.Ident, *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr:
		return w.value(f, n.(ast.Expr), within, depth)
	}
	return true
}

// value looks at an expression that may be a place which is read.
func (w *leftWalk) value(f *leftFrame, x ast.Expr, within []ast.Node, depth int) bool {
	if f.skip != "" && types.ExprString(x) == f.skip {
		return false
	}
	if f.skip != "" && hasText(x, f.skip) {
		return true
	}
	if path := w.path(f, x, 0); path != nil {
		w.read(f, path)
		for _, key := range indexesOf(x) {
			w.look(f, key, within, depth)
		}
		return false
	}
	if sel, ok := x.(*ast.SelectorExpr); ok {
		w.look(f, sel.X, within, depth)
		return false
	}
	return true
}

// indexesOf are the keys in the expression of a place.
func indexesOf(x ast.Expr) (all []ast.Expr) {
	for {
		if i, ok := ast.Unparen(x).(*ast.IndexExpr); ok {
			all = append(all, i.Index)
		}
		inner := aroundPart(x)
		if inner == ast.Unparen(x) {
			return all
		}
		x = inner
	}
}

// hasText tells whether an expression by its text is a part of another one.
func hasText(x ast.Node, text string) bool {
	return hasNode(x, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		return ok && types.ExprString(e) == text
	})
}

// path is the place that an expression is, by the names of the function that all begins with; nil where it is a value of
// a called function's own.
func (w *leftWalk) path(f *leftFrame, x ast.Expr, depth int) []string {
	if depth > leftDepth {
		return nil
	}
	switch e := ast.Unparen(x).(type) {
	case *ast.Ident:
		return w.ofVariable(f, e, depth)
	case *ast.StarExpr:
		return w.path(f, e.X, depth)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return w.path(f, e.X, depth)
		}
	case *ast.SliceExpr:
		return w.path(f, e.X, depth)
	case *ast.TypeAssertExpr:
		return w.path(f, e.X, depth)
	case *ast.IndexExpr:
		if of := w.path(f, e.X, depth); of != nil {
			return append(slices.Clip(of), w.step(e.Index))
		}
	case *ast.SelectorExpr:
		if v, ok := w.d.t.info.Uses[e.Sel].(*types.Var); ok && ofPackage(v) {
			return []string{w.global(f, v)}
		}
		if w.d.field(e) == nil && w.d.t.fromPackage(e) != "" {
			return nil
		}
		if of := w.path(f, e.X, depth); of != nil {
			return append(slices.Clip(of), e.Sel.Name)
		}
	case *ast.CallExpr:
		if calledName(e) == "Load" && len(e.Args) == 0 {
			return w.path(f, receiverOf(e), depth)
		}
	}
	return nil
}

// ofVariable is that of a variable.
func (w *leftWalk) ofVariable(f *leftFrame, id *ast.Ident, depth int) []string {
	v := w.d.variable(id)
	if v == nil {
		return nil
	}
	if ofPackage(v) {
		return []string{w.global(f, v)}
	}
	if given, ok := f.given[v]; ok {
		return given.path
	}
	if defs := w.d.definitions(f.decl)[v]; len(defs) == 1 && defs[0].x != nil && !defs[0].part && !defs[0].unknown && !isGiven(f.decl, v) {
		from := defs[0].x
		if _, isCall := ast.Unparen(from).(*ast.CallExpr); !isCall || calledName(ast.Unparen(from).(*ast.CallExpr)) == "Load" {
			if of := w.path(f, from, depth+1); of != nil {
				if defs[0].ranged {
					of = append(slices.Clip(of), elementStep)
				}
				return of
			}
		}
	}
	if f.outer == nil && !(f.lit != nil && f.lit.Pos() <= v.Pos() && v.Pos() < f.lit.End()) {
		return []string{fmt.Sprint(v.Name(), variableMark, v.Pos())} // others of its name are others
	}
	return nil
}

// global is the name of a variable of a package.
func (w *leftWalk) global(f *leftFrame, v types.Object) string {
	for f.outer != nil {
		f = f.outer
	}
	if fn, ok := w.d.t.info.Defs[f.decl.Name].(*types.Func); ok && fn.Pkg() == v.Pkg() {
		return v.Name()
	}
	return v.Pkg().Name() + "." + v.Name()
}

// step is the step to an element.
func (w *leftWalk) step(key ast.Expr) string {
	if tv, ok := w.d.t.info.Types[key]; ok && tv.Value != nil {
		return "[" + tv.Value.ExactString() + "]"
	}
	return elementStep
}

// copied tells of a place that it is in a copy which a function has of a struct that it is given.
func (w *leftWalk) copied(f *leftFrame, x ast.Expr) bool {
	id, ok := innermost(x).(*ast.Ident)
	if !ok {
		return false
	}
	v := w.d.variable(id)
	return isGiven(f.decl, v) && isStruct(v.Type()) && !hasIndex(x)
}

// set notes a place that is set.
func (w *leftWalk) set(f *leftFrame, x ast.Expr, self bool, n ast.Node, around []ast.Node) {
	path := w.path(f, x, 0)
	if path == nil || tellsError(path) || underFailure(around) || f.outer != nil && w.copied(f, x) {
		return
	}
	if id, ok := ast.Unparen(x).(*ast.Ident); ok && !ofPackage(w.d.variable(id)) && f.outer != nil {
		return // the parameter itself
	}
	t := leftTouch{path: path, sets: true, counts: self && countsOn(n) && f.locks(n), guarded: f.locks(n)}
	if setsLazily(f.decl, n, around) {
		t.lazy = f.decl
	}
	if !self && f.outer != nil && isAlways(around) && f.locks(n) || emptiesIt(n) && f.locks(n) {
		if f.renewed == nil {
			f.renewed = map[string]token.Pos{}
		}
		f.renewed[t.text()] = n.Pos()
	}
	w.all = append(w.all, t)
}

// read notes a place that is read.
func (w *leftWalk) read(f *leftFrame, path []string) {
	if tellsError(path) {
		return
	}
	t := leftTouch{path: path}
	for at := f; at != nil; at = at.outer {
		for text := range at.renewed {
			if own := t.text(); own == text || strings.HasPrefix(own, text+".") || strings.HasPrefix(own, text+"[") {
				return
			}
		}
	}
	w.all = append(w.all, t)
}

// storesIn are methods of containers and of atomic values that change what they are called on; storesBare are functions that do.
var (
	storesIn   = lazily(`^(Store|Swap|CompareAndSwap|Set|Del|Delete|Add|Put|Push|PushBack|PushFront|LoadOrStore|LoadAndDelete|CompareAndDelete|SetCookies|SetCookie|Reset)$`)
	storesBare = lazily(`^(Store|Swap|CompareAndSwap|Add|Or|And)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)$`)
)

// call notes what a call of the library touches, and goes into one of the sources.
func (w *leftWalk) call(f *leftFrame, n *ast.CallExpr, around []ast.Node, depth int) {
	name, pkg := calledName(n), w.d.t.fromPackage(ast.Unparen(n.Fun))
	within := append(slices.Clone(around), n)
	sel, method := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	method = method && pkg == ""
	args := n.Args
	switch callees := calledDecls(w.d, n); {
	case len(callees) > 0:
		if method {
			w.steps(f, sel.X, within, depth)
		}
		for _, x := range args { // a place that is handed on is looked at there
			if of := w.d.t.typeOf(x); w.path(f, x, 0) != nil && (of == nil || !isBasic(of)) {
				w.steps(f, x, within, depth)
			} else {
				w.look(f, x, within, depth)
			}
		}
		if len(callees) <= effectNames {
			for _, callee := range callees {
				w.enter(f, callee, n, depth)
			}
		}
		return
	case pkg == "os" || pkg == "os/exec" || pkg == "io/ioutil":
		w.file(f, n, pkg, name)
	case pkg == "sync/atomic" && len(args) > 0 && storesBare.MatchString(name):
		w.note(f, args[0], nil, leftTouch{sets: true, counts: strings.HasPrefix(name, "Add")}, n, around)
		args = args[1:]
	case isIdent(n.Fun) && (name == "delete" || name == "clear" || name == "copy") && len(args) > 0:
		w.note(f, args[0], nil, leftTouch{sets: true}, n, around)
		args = args[1:]
	case !method:
		w.look(f, n.Fun, within, depth)
		w.enterLiterals(f, n, depth)
	case storesIn.MatchString(name):
		var key ast.Expr
		if len(args) > 1 || name != "Store" && name != "Swap" && name != "Add" && len(args) == 1 {
			key = args[0]
		}
		w.note(f, sel.X, key, leftTouch{sets: true, counts: name == "Add" && len(args) < 2}, n, around)
		w.steps(f, sel.X, within, depth)
	case usesConnection(w.d, sel.X):
		w.note(f, sel.X, nil, leftTouch{sets: true}, n, around)
		w.note(f, sel.X, nil, leftTouch{}, n, around)
	case lockNames.MatchString(name):
	case (name == "Load" || name == "Get") && len(args) == 1:
		w.note(f, sel.X, args[0], leftTouch{}, n, around)
		w.steps(f, sel.X, within, depth)
	default:
		w.look(f, sel.X, within, depth)
	}
	for _, x := range args {
		w.look(f, x, within, depth)
	}
}

// steps looks at what is called or asked for on the way to a place, and not at the place itself.
func (w *leftWalk) steps(f *leftFrame, x ast.Expr, within []ast.Node, depth int) {
	for _, key := range indexesOf(x) {
		w.look(f, key, within, depth)
	}
	for {
		x = ast.Unparen(unrefer(x))
		if call, ok := x.(*ast.CallExpr); ok {
			w.look(f, call, within, depth)
			return
		}
		inner := aroundPart(x)
		if inner == x {
			return
		}
		x = inner
	}
}

// note adds a touch of the place that an expression is, or of its element.
func (w *leftWalk) note(f *leftFrame, x, key ast.Expr, t leftTouch, n ast.Node, around []ast.Node) {
	path := w.path(f, x, 0)
	if path == nil || tellsError(path) || t.sets && underFailure(around) {
		return
	}
	if key != nil {
		path = append(slices.Clip(path), w.step(key))
	}
	t.path, t.guarded = path, f.locks(n) || !isIdent(n.(*ast.CallExpr).Fun)
	if t.sets && (setsLazily(f.decl, n, around) || key != nil && looksUpFirst(f.decl, n, x, key) || calledName(n.(*ast.CallExpr)) == "LoadOrStore") {
		t.lazy = f.decl
	}
	w.all = append(w.all, t)
}

// usesConnection tells of what a method is called on that it is one connection, or reads or writes one.
func usesConnection(d *derivations, x ast.Expr) bool {
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of := d.t.typeOf(sel.X)
	if of == nil {
		return false
	}
	named, ok := pointedType(of).(*types.Named)
	if !ok {
		return false
	}
	return isStream(fieldsOf(d.c, named.Obj().Name())[sel.Sel.Name])
}

// enter goes into a function that is called.
func (w *leftWalk) enter(f *leftFrame, callee *ast.FuncDecl, n *ast.CallExpr, depth int) {
	if w.calls++; depth >= leftDepth || w.calls > leftCalls || callee.Body == nil {
		return
	}
	for up := f; up != nil; up = up.outer {
		if up.decl == callee {
			return
		}
	}
	in := &leftFrame{decl: callee, given: map[types.Object]leftGiven{}, outer: f, held: f.locks(n)}
	for _, v := range parametersOf(w.d, callee) {
		x := argumentFor(w.d, callee, n, v)
		if x == nil {
			continue
		}
		in.given[v] = leftGiven{w.path(f, x, 0), w.words(f, x, 0)}
	}
	w.look(in, callee.Body, nil, depth+1)
}

// enterLiterals goes into the function literals that a variable of a function has which is called.
func (w *leftWalk) enterLiterals(f *leftFrame, n *ast.CallExpr, depth int) {
	for _, def := range w.d.definitions(f.decl)[w.d.variable(ast.Unparen(n.Fun))] {
		lit, ok := def.x.(*ast.FuncLit)
		if w.calls++; !ok || depth >= leftDepth || w.calls > leftCalls || f.lit == lit {
			continue
		}
		in := &leftFrame{decl: f.decl, lit: lit, given: maps.Clone(f.given), outer: f.outer, held: f.locks(n)}
		if in.given == nil {
			in.given = map[types.Object]leftGiven{}
		}
		i := 0
		for _, field := range lit.Type.Params.List {
			for _, id := range field.Names {
				if v := w.d.variable(id); v != nil && i < len(n.Args) {
					in.given[v] = leftGiven{w.path(f, n.Args[i], 0), w.words(f, n.Args[i], 0)}
				}
				i++
			}
		}
		w.look(in, lit.Body, nil, depth+1)
	}
}
