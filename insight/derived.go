package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Functions of the program that compute what they return from what they read, and change nothing: as
// long as that stays the same they return the same.

// derivations are what the sources tell about such functions.
type derivations struct {
	c *code
	t *typed
	// known are the functions that were looked at; nil for those that are none.
	known map[*ast.FuncDecl]*derived
	// defined are the values that the variables of a function are given.
	defined map[*ast.FuncDecl]map[types.Object][]definition
	// written are the places that change a field or a package's variable.
	written map[types.Object][]changing
	calls   map[*ast.FuncDecl][]derivedCall
	named   map[string][]*ast.FuncDecl
	// later are the fields and variables of packages that are set after they were made; nil until somebody asks.
	later map[types.Object]bool
	// nodes are those that hand values on, and through those that write through what a variable refers to.
	nodes   []flowNode
	through map[types.Object][]changing
	// freshIn is what functions do with their variables.
	freshIn map[*ast.FuncDecl]*freshFacts
	// files tells that what a function reads from files, folders and the environment counts as what it computes from.
	files bool
	// effects tells that a function counts which changes nothing, though it may give something else each time.
	effects bool
	// environment stands for that of the process; nil until somebody asks.
	environment *types.Var
	// steps is how many expressions may still be followed for one question about such a function.
	steps int
}

// derived is such a function.
type derived struct {
	decl *ast.FuncDecl
	// works tells that it goes through something, or has the library do so: more than to look at a few fields.
	works bool
	// over is what its own loop goes through; nil where there is none.
	over ast.Expr
	// reads are the fields and the package's variables that it, and what it calls, reads.
	reads map[types.Object]bool
	// fills are the parameters into which it puts something: what they refer to is its caller's.
	fills map[types.Object]bool
	// locks tells that it takes a lock: others may change what it reads.
	locks bool
	// asks is the first call by which it reads files or the environment; nil where it reads none.
	asks *ast.CallExpr
}

// definition is a value that a variable is given: an expression, what a range goes through, or nothing
// that is known.
type definition struct {
	x       ast.Expr
	ranged  bool
	part    bool // only a part of it is set
	unknown bool
	at      token.Pos
}

// derivationsOf are what the sources tell to all who ask for one line at a time. Who asks for more than newDerivations tells makes their own.
func derivationsOf(c *code) *derivations {
	if c.derived == nil {
		c.derived = newDerivations(c)
	}
	return c.derived
}

func newDerivations(c *code) *derivations {
	d := &derivations{c: c, t: typedOf(c), known: map[*ast.FuncDecl]*derived{}, defined: map[*ast.FuncDecl]map[types.Object][]definition{},
		calls: map[*ast.FuncDecl][]derivedCall{}, named: map[string][]*ast.FuncDecl{}}
	for _, decl := range d.t.decls {
		d.named[decl.Name.Name] = append(d.named[decl.Name.Name], decl)
	}
	return d
}

// value is what a function that returns something computes; nil where it changes something, or may give
// something else each time.
func (d *derivations) value(decl *ast.FuncDecl) *derived {
	if decl.Type.Results == nil {
		return nil
	}
	if f := d.of(decl); f != nil && len(f.fills) == 0 {
		return f
	}
	return nil
}

// of is what a function does, the filling in of what it is given included; nil where it changes something, or may give something else each time.
func (d *derivations) of(decl *ast.FuncDecl) *derived {
	if f, ok := d.known[decl]; ok {
		return f
	}
	f := &derived{decl: decl, reads: map[types.Object]bool{}, fills: map[types.Object]bool{}}
	d.known[decl] = f // one that calls itself changes nothing by that
	w := &derivedWalk{d: d, f: f}
	if w.walk(decl.Body); w.other {
		d.known[decl] = nil
		return nil
	}
	w.wholes(decl.Body)
	return f
}

// variable is the variable that an expression names; nil for anything else.
func (d *derivations) variable(x ast.Expr) types.Object {
	id, ok := x.(*ast.Ident)
	if !ok {
		return nil
	}
	for _, obj := range []types.Object{d.t.info.Defs[id], d.t.info.Uses[id]} {
		if v, ok := obj.(*types.Var); ok {
			return v
		}
	}
	return nil
}

// field is the field that a selector names; nil where it is none of the sources.
func (d *derivations) field(x *ast.SelectorExpr) types.Object {
	if s := d.t.info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
		if v, ok := s.Obj().(*types.Var); ok {
			return v.Origin()
		}
	}
	return nil
}

// ofPackage tells of a variable that it is one of a package.
func ofPackage(v types.Object) bool {
	return v != nil && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// isLocal tells of a variable that a function declares it.
func isLocal(decl *ast.FuncDecl, v types.Object) bool {
	return v != nil && decl.Pos() <= v.Pos() && v.Pos() < decl.End()
}

// isGiven tells of a variable that a function is given it.
func isGiven(decl *ast.FuncDecl, v types.Object) bool {
	return v != nil && decl.Body != nil && decl.Pos() <= v.Pos() && v.Pos() < decl.Body.Pos()
}

// definitions are those of a function's variables.
func (d *derivations) definitions(decl *ast.FuncDecl) map[types.Object][]definition {
	if all, ok := d.defined[decl]; ok {
		return all
	}
	all := map[types.Object][]definition{}
	add := func(lhs ast.Expr, def definition) {
		if v := d.variable(ast.Unparen(lhs)); v != nil {
			def.at = lhs.Pos()
			all[v] = append(all[v], def)
		}
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				add(lhs, definition{x: n.Rhs[min(i, len(n.Rhs)-1)]})
				if root := innermost(lhs); root != lhs { // a part of it
					add(root, definition{x: n.Rhs[min(i, len(n.Rhs)-1)], part: true})
				}
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				switch {
				case len(n.Values) == 0:
					add(id, definition{})
				default:
					add(id, definition{x: n.Values[min(i, len(n.Values)-1)]})
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if x != nil {
					add(x, definition{x: n.X, ranged: true})
				}
			}
		case *ast.IncDecStmt:
			add(n.X, definition{x: n.X})
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X, definition{unknown: true}) // somebody else may set it
			}
		}
		return true
	})
	d.defined[decl] = all
	return all
}

func isStruct(t types.Type) bool { _, ok := t.Underlying().(*types.Struct); return ok }

// isOwn tells of a place that nobody outside of a function sees it: a variable of the function, a field
// of one that is a value, or a part of what the function, or one that it calls, has made.
func (d *derivations) isOwn(decl *ast.FuncDecl, x ast.Expr) bool {
	return isOwnPart(d, decl, x) || isFreshPlace(d, decl, x)
}

// isOwnPart is isOwn by what the function itself makes.
func isOwnPart(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x.Name == "_" || isLocal(decl, d.variable(x))
	case *ast.SelectorExpr:
		return d.valueOrMade(decl, x.X)
	case *ast.IndexExpr:
		if of := d.t.typeOf(x.X); of != nil {
			if _, array := of.Underlying().(*types.Array); array {
				return d.isOwn(decl, x.X)
			}
		}
		return d.isMade(decl, x.X)
	case *ast.StarExpr:
		return d.isMade(decl, x.X)
	}
	return false
}

// valueOrMade is isOwn of what a field is selected of.
func (d *derivations) valueOrMade(decl *ast.FuncDecl, x ast.Expr) bool {
	if of := d.t.typeOf(x); of != nil && isStruct(of) {
		return d.isOwn(decl, x)
	}
	return d.isMade(decl, x)
}

// isMade tells of a variable that all that it is ever set to was made by its function.
func (d *derivations) isMade(decl *ast.FuncDecl, x ast.Expr) bool {
	x = ast.Unparen(x)
	if sel, ok := x.(*ast.SelectorExpr); ok { // a field of what was made, with something made in it
		return d.isOwn(decl, sel) && derivedSetsMade(d, decl, sel)
	}
	if row, ok := x.(*ast.IndexExpr); ok { // a row of a table
		return d.isMade(decl, row.X) && rowsMade(d, decl, row.X)
	}
	v := d.variable(x)
	if v == nil || !isLocal(decl, v) || isGiven(decl, v) && !isResult(decl, v) {
		return false
	}
	for _, def := range d.definitions(decl)[v] {
		if def.part || def.unknown {
			continue
		}
		if def.ranged || def.x != nil && !d.makes(decl, v, def.x) {
			return false
		}
	}
	return true
}

// rowsMade tells whether a function puts into a table of its own only rows that it has made.
func rowsMade(d *derivations, decl *ast.FuncDecl, table ast.Expr) bool {
	text, other := types.ExprString(table), false
	eachAssigned(decl.Body, func(lhs, rhs ast.Expr) {
		if row, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && types.ExprString(row.X) == text {
			other = other || !d.makes(decl, nil, rhs) && !appendsTo(rhs, types.ExprString(lhs))
		}
		if call, ok := ast.Unparen(rhs).(*ast.CallExpr); ok && types.ExprString(lhs) == text {
			switch {
			case isNamed(call.Fun, "make"):
			case isNamed(call.Fun, "append") && !call.Ellipsis.IsValid():
				other = other || slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return !d.makes(decl, nil, x) })
			default: // a clone has the rows of another
				other = true
			}
		}
	})
	return !other && !hasAny(decl.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit) // of rows that it names, which may be anybody's
		return ok && slices.ContainsFunc(lit.Elts, func(x ast.Expr) bool {
			of := d.t.typeOf(x)
			return of != nil && mayRefer(of) && !d.makes(decl, nil, x)
		})
	})
}

// derivedSetsMade tells whether a function sets a field of its own to what it has made, and to nothing else.
func derivedSetsMade(d *derivations, decl *ast.FuncDecl, x *ast.SelectorExpr) bool {
	made, other, text := false, false, types.ExprString(x)
	eachAssigned(decl.Body, func(lhs, rhs ast.Expr) {
		if types.ExprString(lhs) == text {
			ok := d.makes(decl, nil, rhs) || appendsTo(rhs, text)
			made, other = made || ok, other || !ok
		}
	})
	if v := d.variable(ast.Unparen(x.X)); v != nil && !other { // or where its struct is made
		for _, def := range d.definitions(decl)[v] {
			field, found := fieldOfLit(def.x, x.Sel.Name)
			made, other = made || found, other || found && !d.makes(decl, nil, field)
		}
	}
	return made && !other
}

// fieldOfLit is what a struct that is made by an expression has in a field; false where it is no such, or where the field has nothing.
func fieldOfLit(x ast.Expr, name string) (value ast.Expr, ok bool) {
	if u, is := x.(*ast.UnaryExpr); is && u.Op == token.AND {
		x = u.X
	}
	lit, is := x.(*ast.CompositeLit)
	if !is {
		return nil, false
	}
	for _, e := range lit.Elts {
		if kv, is := e.(*ast.KeyValueExpr); is && isNamed(kv.Key, name) {
			return kv.Value, true
		}
	}
	return nil, false
}

// isResult tells of a variable that it is a result of a function with a name.
func isResult(decl *ast.FuncDecl, v types.Object) bool {
	return decl.Type.Results != nil && decl.Type.Results.Pos() <= v.Pos() && v.Pos() < decl.Type.Results.End()
}

// makes tells of an expression that its value is new: nobody else has it.
func (d *derivations) makes(decl *ast.FuncDecl, of types.Object, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CompositeLit, *ast.BasicLit, *ast.FuncLit:
		return true
	case *ast.Ident:
		return x.Name == "nil" || of != nil && d.variable(x) == of
	case *ast.UnaryExpr:
		_, lit := x.X.(*ast.CompositeLit)
		return lit
	case *ast.SliceExpr:
		return of != nil && d.variable(x.X) == of
	case *ast.CallExpr:
		switch name := types.ExprString(x.Fun); name {
		case "make", "new", "slices.Clone", "maps.Clone", "bytes.Clone", "slices.Collect", "slices.Sorted":
			return true
		case "append":
			return len(x.Args) > 0 && d.makes(decl, of, x.Args[0])
		}
		if len(x.Args) == 1 && isNamed(x.Args[0], "nil") { // a conversion of it
			return true
		}
		pkg := d.t.fromPackage(x.Fun)
		return pkg == "strings" || pkg == "strconv" || hashing(pkg) || drawing(pkg) || d.files && (tableAsks(d, x) || tableOpens(pkg, calledName(x)))
	}
	return false
}

// hashing tells of a package of the library that it computes sums.
func hashing(pkg string) bool {
	return strings.HasPrefix(pkg, "hash/") || strings.HasPrefix(pkg, "crypto/sha") || pkg == "crypto/md5"
}

// drawing tells of a package of the library that its sources of random numbers give the same for the same seed.
func drawing(pkg string) bool { return pkg == "math/rand" || pkg == "math/rand/v2" }

// derivedWalk goes through a function.
type derivedWalk struct {
	d     *derivations
	f     *derived
	other bool // it changes something, or gives something else each time
	// touched are the variables of the function that it writes to, or through.
	touched map[types.Object]bool
}

// touch notes that something of the function's own is written to.
func (w *derivedWalk) touch(x ast.Expr) {
	if v := w.d.variable(innermost(pointed(x))); v != nil && w.touched != nil {
		w.touched[v] = true
	}
}

func (w *derivedWalk) walk(body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if w.other {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			// What is declared is its own, also the variable of a type switch, which is another one in each case.
			w.other = slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return (n.Tok != token.DEFINE || !isIdent(x)) && !w.sets(x) })
		case *ast.IncDecStmt:
			w.other = !w.sets(n.X)
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				w.other = w.other || x != nil && !w.sets(x)
			}
			w.loop(n.X)
		case *ast.ForStmt:
			w.loop((&gone{l: loop{n.Cond, n.Body, n, nil}}).through())
		case *ast.SendStmt, *ast.GoStmt, *ast.SelectStmt:
			w.other = true
		case *ast.DeferStmt:
			w.other = !lockNames.MatchString(calledName(n.Call)) && !w.d.files // else the call is looked at, as any other
		case *ast.UnaryExpr:
			w.other = n.Op == token.ARROW
		case *ast.CallExpr:
			w.call(n)
		case *ast.SelectorExpr:
			w.selects(n)
		case *ast.Ident:
			if v := w.d.variable(n); ofPackage(v) {
				w.f.reads[v] = true
			}
		}
		return !w.other
	})
}

// wholes notes what is read without being named.
func (w *derivedWalk) wholes(body ast.Node) {
	own := func(x ast.Expr) bool {
		root := w.d.variable(innermost(x))
		return root != nil && isLocal(w.f.decl, root) && !isGiven(w.f.decl, root) && w.d.isMade(w.f.decl, innermost(x))
	}
	eachNode(body, func(n ast.Node, around []ast.Node) {
		if x, ok := n.(ast.Expr); ok && own(x) {
			return
		}
		if call, ok := n.(*ast.CallExpr); ok && readsEnvironment(w.d, call) {
			w.f.reads[environmentOf(w.d)] = true
		}
		eachWholeRead(w.d, n, around, func(v *types.Var) { w.f.reads[v] = true })
	})
}

// loop notes what a loop goes through.
func (w *derivedWalk) loop(over ast.Expr) {
	w.f.works = true
	if over == nil || w.f.over != nil {
		return
	}
	if root, _ := chain(over); root != "" {
		w.f.over = over
	}
}

// selects notes the field that is read, unless it is one of a value of the function's own.
func (w *derivedWalk) selects(n *ast.SelectorExpr) {
	v := w.d.field(n)
	if v == nil {
		if s, ok := w.d.t.info.Uses[n.Sel].(*types.Var); ok && ofPackage(s) {
			w.f.reads[s] = true
		}
		return
	}
	if root := w.d.variable(innermost(n)); root != nil && isLocal(w.f.decl, root) && !isGiven(w.f.decl, root) && isStruct(root.Type()) && w.d.isMade(w.f.decl, innermost(n)) {
		return
	}
	w.f.reads[v] = true
}

// call tells what a call does.
func (w *derivedWalk) call(n *ast.CallExpr) {
	d, decl := w.d, w.f.decl
	fun := ast.Unparen(n.Fun)
	if tv, ok := d.t.info.Types[fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		w.other = tv.IsBuiltin() && !w.builtin(n, types.ExprString(fun))
		return
	}
	if lit, ok := fun.(*ast.FuncLit); ok && lit != nil {
		return // its body is looked at as well
	}
	if v := d.variable(fun); v != nil { // a function that is a value
		for _, def := range d.definitions(decl)[v] {
			if _, lit := def.x.(*ast.FuncLit); !lit && def.x != nil {
				w.other = true
			}
		}
		w.other = w.other || !isLocal(decl, v) || isGiven(decl, v)
		return
	}
	if fn := d.t.callee(n); fn != nil && len(d.declsOf(fn)) > 0 {
		w.calls(n, fn)
		return
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && d.field(sel) != nil { // whatever the field holds
		w.other = true
		return
	}
	w.library(n)
}

// builtin tells of a builtin function that it changes nothing outside of the function.
func (w *derivedWalk) builtin(n *ast.CallExpr, name string) bool {
	d, decl := w.d, w.f.decl
	switch name {
	case "append":
		return len(n.Args) > 0 && (d.makes(decl, nil, n.Args[0]) || w.fills(n.Args[0]))
	case "copy", "clear", "delete":
		return len(n.Args) > 0 && w.fills(n.Args[0])
	case "print", "println", "close", "recover":
		return false
	}
	return true
}

// calls tells of a function of the sources what it does.
func (w *derivedWalk) calls(n *ast.CallExpr, fn *types.Func) {
	for _, decl := range w.d.declsOf(fn) {
		f := w.d.of(decl)
		if f == nil {
			w.other = true
			return
		}
		for v := range f.fills { // into what it is given
			x := argumentFor(w.d, decl, n, v)
			w.other = w.other || x == nil || !w.fills(x)
		}
		w.f.works, w.f.locks = w.f.works || f.works || decl == w.f.decl, w.f.locks || f.locks
		if w.f.asks == nil {
			w.f.asks = f.asks
		}
		for v := range f.reads {
			w.f.reads[v] = true
		}
	}
}

// fills tells whether something may be put into what an expression refers to: it is the function's own,
// or what it was given for that.
func (w *derivedWalk) fills(x ast.Expr) bool {
	if u, ok := ast.Unparen(x).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return w.sets(u.X)
	}
	if w.d.isMade(w.f.decl, pointed(x)) {
		w.touch(x)
		return true
	}
	v := w.d.variable(innermost(pointed(x)))
	if v == nil || !isGiven(w.f.decl, v) {
		return false
	}
	w.f.fills[v] = true
	return true
}

// sets tells whether a place may be given another value: it is the function's own, or a part of what it
// was given for that.
func (w *derivedWalk) sets(x ast.Expr) bool {
	if w.d.isOwn(w.f.decl, x) {
		w.touch(x)
		return true
	}
	v := w.d.variable(innermost(x))
	if v == nil || !isGiven(w.f.decl, v) || isIdent(x) {
		return false
	}
	w.f.fills[v] = true
	return true
}

// argumentFor is what a call gives for a parameter, or its receiver.
func argumentFor(d *derivations, decl *ast.FuncDecl, n *ast.CallExpr, v types.Object) ast.Expr {
	i := 0
	for _, field := range decl.Type.Params.List {
		for _, id := range field.Names {
			if d.variable(id) == v && i < len(n.Args) {
				return n.Args[i]
			}
			i++
		}
	}
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && decl.Recv != nil && v.Pos() < decl.Recv.End() {
		return sel.X
	}
	return nil
}

// declsOf are the declarations that a call of a function may mean: those of methods of its name where it
// is one of an interface.
func (d *derivations) declsOf(fn *types.Func) []*ast.FuncDecl {
	if decl := d.t.decls[fn]; decl != nil {
		return []*ast.FuncDecl{decl}
	}
	sig, ok := fn.Type().(*types.Signature)
	if !ok || sig.Recv() == nil || !types.IsInterface(sig.Recv().Type()) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d.named[fn.Name()]), func(decl *ast.FuncDecl) bool { return decl.Recv == nil })
}

// library tells of a call of the library that it computes something of its arguments alone.
func (w *derivedWalk) library(n *ast.CallExpr) {
	d, decl, name := w.d, w.f.decl, calledName(n)
	if d.files && tableLibrary(w, n) {
		return
	}
	if pkg := d.t.fromPackage(n.Fun); pkg != "" {
		switch {
		case d.effects && harmlessLibrary(pkg, name):
		case (pkg == "sort" || pkg == "slices") && (strings.HasPrefix(name, "Sort") && name != "Sorted" || name == "Reverse" || pkg == "sort" && !strings.HasPrefix(name, "Search")):
			w.other = len(n.Args) == 0 || !w.fills(n.Args[0])
		case pkg == "fmt" && strings.HasPrefix(name, "Fprint") && len(n.Args) > 0, pkg == "io" && name == "WriteString" && len(n.Args) > 0, pkg == "encoding/binary" && name == "Write" && len(n.Args) > 0:
			w.other = !w.fills(n.Args[0])
		case pkg == "encoding/json" && name == "Unmarshal" && len(n.Args) == 2:
			w.other = !w.fills(n.Args[1])
		case !computes(pkg, name):
			w.other = true
		}
		w.f.works = w.f.works || pkg != "math" && pkg != "math/bits" && pkg != "time" && pkg != "errors" && pkg != "cmp"
		return
	}
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	switch {
	case !ok:
		w.other = true
	case lockNames.MatchString(name):
		w.f.locks = true
	case name == "Load" && len(n.Args) == 0:
		w.f.locks = true
	case tells[name], strings.HasPrefix(name, "Get"), strings.HasPrefix(name, "Is"), strings.HasPrefix(name, "Has"):
	case (name == "Next" || name == "Prev") && derivedOfList(d, decl, sel.X):
	case w.fills(sel.X): // a strings.Builder of its own
		w.f.works = true
	default:
		w.other = true
	}
}

// derivedOfList tells of a variable that it goes through a container/list.
func derivedOfList(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	return slices.ContainsFunc(d.definitions(decl)[d.variable(x)], func(def definition) bool {
		call, ok := def.x.(*ast.CallExpr)
		return ok && (calledName(call) == "Front" || calledName(call) == "Back")
	})
}

// tells are methods of the library's types that tell something and change nothing.
var tells = map[string]bool{"Before": true, "After": true, "Equal": true, "Sub": true, "Unix": true, "UnixNano": true, "UnixMilli": true, "Seconds": true, "Hours": true, "Minutes": true, "Milliseconds": true, "Nanoseconds": true,
	"Microseconds": true, "IsZero": true, "Year": true, "Month": true, "Day": true, "Weekday": true, "YearDay": true, "Hour": true, "Minute": true, "Second": true, "Format": true, "Truncate": true, "Round": true, "AddDate": true,
	"MatchString": true, "FindStringSubmatch": true, "FindString": true, "FindStringIndex": true, "Cmp": true, "Compare": true, "Sign": true, "IsLoopback": true, "Contains": true,
	"Len": true, "Front": true, "Back": true, "String": true, "Error": true, "Name": true}

// computes tells of a function of the library that it does nothing but to compute a result from its
// arguments.
func computes(pkg, name string) bool {
	switch pkg {
	case "encoding/hex", "encoding/base64":
		return name != "Encode" && name != "Decode" // into what they are given
	case "strings", "strconv", "math", "math/bits", "math/cmplx", "unicode", "unicode/utf8", "unicode/utf16", "cmp", "path", "errors", "html", "encoding/binary", "slices", "maps":
		return !strings.HasPrefix(name, "Delete") && !strings.HasPrefix(name, "Put") && name != "Insert" && name != "Copy" && name != "Compact" && name != "CompactFunc" && name != "Replace" || pkg == "strings"
	case "bytes":
		return name != "NewReader" && name != "NewBuffer"
	case "fmt":
		return strings.HasPrefix(name, "Sprint") || name == "Errorf"
	case "path/filepath":
		return name == "Base" || name == "Dir" || name == "Ext" || name == "Join" || name == "Clean" || name == "Match"
	case "net/url":
		return strings.HasSuffix(name, "Escape")
	case "encoding/json":
		return name == "Marshal" || name == "Valid"
	case "os":
		return name == "Getenv" || name == "LookupEnv"
	case "sort":
		return strings.HasPrefix(name, "Search")
	case "time":
		return name == "Date" || name == "Unix" || name == "Duration" || name == "UnixMilli"
	}
	return ofAddresses(pkg, name) || hashing(pkg) || drawing(pkg) && strings.HasPrefix(name, "New")
}

// ofAddresses tells of a function that it makes network addresses of what it is given, and asks nobody.
func ofAddresses(pkg, name string) bool {
	return pkg == "net/netip" || pkg == "net" && addressMakers.MatchString(name)
}

// addressMakers are those of package net, addressTypes its types that are addresses and nothing of the system's.
var (
	addressMakers = lazily(`^(Parse(IP|CIDR|MAC)|IPv4(Mask)?|CIDRMask|(Join|Split)HostPort)$`)
	addressTypes  = lazily(`^net\.(IP|IPMask|IPNet|IPAddr|TCPAddr|UDPAddr|UnixAddr|HardwareAddr)$`)
)

// returnsAddresses tells of a function that all it returns are addresses, lists and maps of them, texts, numbers and errors.
func returnsAddresses(fn *ast.FuncDecl) bool {
	if fn == nil || fn.Type.Results == nil {
		return false
	}
	any := false
	var plain func(x ast.Expr) bool
	plain = func(x ast.Expr) bool {
		switch x := x.(type) {
		case *ast.StarExpr:
			return plain(x.X)
		case *ast.ArrayType:
			return plain(x.Elt)
		case *ast.MapType:
			return plain(x.Key) && plain(x.Value)
		case *ast.Ident:
			return types.Universe.Lookup(x.Name) != nil && x.Name != "any"
		}
		is := addressTypes.MatchString(types.ExprString(x))
		any = any || is
		return is
	}
	for _, field := range fn.Type.Results.List {
		if !plain(field.Type) {
			return false
		}
	}
	return any
}

// lockNames are methods that take a lock or let it go.
var lockNames = lazily(`^R?(Un)?[lL]ock$`)
