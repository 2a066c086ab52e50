package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Where the program writes through what it once got, by whatever name: a value is followed from variable to variable,
// through fields, calls and results, to the places that write into the memory which it refers to.

// bond is how a value has to do with what is followed.
type bond int

const (
	bondNot bond = iota
	bondIn       // it holds it, as a list that it was added to
	bondIs       // it is it, or a part of it
)

// memoryFlow follows what some calls return, or what some variables and fields refer to. It knows no order and no branches:
// what it finds may happen.
type memoryFlow struct {
	d       *derivations
	vars    map[types.Object]bond
	gives   map[*ast.FuncDecl]bond
	sources map[ast.Expr]bool
	// through are the calls to which alone the results of some functions go.
	through map[*ast.FuncDecl]*ast.CallExpr
	cells   *cells
	grew    bool
}

// flowNode is a node of the sources that hands a value on, or writes.
type flowNode struct {
	n      ast.Node
	in     *ast.FuncDecl // nil outside of functions
	lit    bool          // it is in a function without a name
	looped bool
	guards bool // a condition decides whether it is reached
}

// writtenPlace is where something is written.
type writtenPlace struct {
	in     *ast.FuncDecl
	n      ast.Node
	looped bool
	guards bool
}

// flowNodes are those of all sources.
func flowNodes(d *derivations) []flowNode {
	if d.nodes != nil {
		return d.nodes
	}
	d.nodes = []flowNode{}
	for _, f := range d.t.files {
		for _, decl := range f.file.Decls {
			fn, _ := decl.(*ast.FuncDecl)
			if fn != nil && fn.Body == nil {
				continue
			}
			eachNode(decl, func(n ast.Node, around []ast.Node) {
				switch n.(type) {
				case *ast.AssignStmt, *ast.ValueSpec, *ast.IncDecStmt, *ast.RangeStmt, *ast.CallExpr, *ast.ReturnStmt, *ast.CompositeLit, *ast.SendStmt:
					x := flowNode{n: n, in: fn, looped: slices.ContainsFunc(around, isLoop)}
					for _, a := range around {
						_, lit := a.(*ast.FuncLit)
						_, guard := a.(*ast.IfStmt)
						_, clause := a.(*ast.CaseClause)
						x.lit, x.guards = x.lit || lit, x.guards || guard || clause
					}
					d.nodes = append(d.nodes, x)
				}
			})
		}
	}
	return d.nodes
}

// flowOf follows what some calls return.
func flowOf(d *derivations, calls []*ast.CallExpr, of types.Type) *memoryFlow {
	f := &memoryFlow{d: d, vars: map[types.Object]bond{}, gives: map[*ast.FuncDecl]bond{}, sources: map[ast.Expr]bool{}, cells: cellsOf(of, false)}
	for _, call := range calls {
		f.sources[call] = true
	}
	return f.settled()
}

// flowFrom follows what a variable or a field refers to, without what lies in structs.
func flowFrom(d *derivations, v types.Object) *memoryFlow {
	f := &memoryFlow{d: d, vars: map[types.Object]bond{v: bondIs}, gives: map[*ast.FuncDecl]bond{}, sources: map[ast.Expr]bool{}, cells: cellsOf(v.Type(), true)}
	return f.settled()
}

// flowTurns bounds how often the sources are gone through: each time a value comes a call further at least.
const flowTurns = 8

func (f *memoryFlow) settled() *memoryFlow {
	for range flowTurns {
		f.grew = false
		for _, n := range flowNodes(f.d) {
			f.hands(n)
		}
		if !f.grew {
			break
		}
	}
	return f
}

// note adds that a variable or a field has what is followed.
func (f *memoryFlow) note(v types.Object, how bond) {
	if v != nil && how > f.vars[v] && mayRefer(v.Type()) {
		f.vars[v], f.grew = how, true
	}
}

// hands notes what a node hands on.
func (f *memoryFlow) hands(x flowNode) {
	switch n := x.n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			f.put(lhs, f.has(n.Rhs[min(i, len(n.Rhs)-1)]))
		}
	case *ast.ValueSpec:
		for i, id := range n.Names {
			if len(n.Values) > 0 {
				f.put(id, f.has(n.Values[min(i, len(n.Values)-1)]))
			}
		}
	case *ast.RangeStmt:
		if f.has(n.X) != bondNot {
			for _, v := range []ast.Expr{n.Key, n.Value} {
				if v != nil {
					f.put(v, bondIs)
				}
			}
		}
	case *ast.ReturnStmt:
		f.returns(x, n)
	case *ast.SendStmt:
		if f.has(n.Value) != bondNot {
			f.put(&ast.IndexExpr{X: n.Chan}, bondIs)
		}
	case *ast.CompositeLit:
		f.literal(n)
	case *ast.CallExpr:
		f.call(x, n)
	}
}

// put notes that a place is given something.
func (f *memoryFlow) put(place ast.Expr, how bond) {
	if how == bondNot {
		return
	}
	switch x := ast.Unparen(place).(type) {
	case *ast.Ident:
		f.note(f.d.variable(x), how)
	case *ast.SelectorExpr:
		v := f.d.field(x)
		if v == nil {
			v = f.d.t.info.Uses[x.Sel]
		}
		f.note(v, how)
	case *ast.IndexExpr:
		f.put(x.X, bondIn)
	case *ast.StarExpr:
		f.put(x.X, how)
	}
}

func (f *memoryFlow) returns(x flowNode, n *ast.ReturnStmt) {
	if x.in == nil || x.lit || x.in.Type.Results == nil {
		return
	}
	how := bondNot
	for _, r := range n.Results {
		how = max(how, f.has(r))
	}
	if len(n.Results) == 0 {
		for _, field := range x.in.Type.Results.List {
			for _, id := range field.Names {
				how = max(how, f.vars[f.d.variable(id)])
			}
		}
	}
	if how > f.gives[x.in] {
		f.gives[x.in], f.grew = how, true
	}
}

// literal notes the fields of a literal that are given it.
func (f *memoryFlow) literal(n *ast.CompositeLit) {
	var s *types.Struct
	if t := f.d.t.typeOf(n); t != nil {
		s, _ = t.Underlying().(*types.Struct)
	}
	for i, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		switch {
		case ok && s != nil:
			if id, is := kv.Key.(*ast.Ident); is {
				f.note(f.d.t.info.Uses[id], f.has(kv.Value))
			}
		case s != nil && i < s.NumFields():
			f.note(s.Field(i).Origin(), f.has(e))
		}
	}
}

// call notes the parameters of the program's functions that are given it, and the values of the library into which it
// is put.
func (f *memoryFlow) call(x flowNode, n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	if lit, ok := fun.(*ast.FuncLit); ok {
		f.give(lit.Type.Params, n)
		return
	}
	if v := f.d.variable(fun); v != nil {
		f.callback(x, v, n)
		return
	}
	fn := f.d.t.callee(n)
	sel, method := fun.(*ast.SelectorExpr)
	if fn == nil || len(f.d.declsOf(fn)) == 0 {
		if method && storers.MatchString(sel.Sel.Name) && slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return f.has(a) != bondNot }) {
			f.put(sel.X, bondIn)
		}
		return
	}
	for _, decl := range f.d.declsOf(fn) {
		f.give(decl.Type.Params, n)
	}
	if method {
		f.bind(sel)
	}
}

// bind notes the receivers of the methods that a selector means.
func (f *memoryFlow) bind(sel *ast.SelectorExpr) {
	fn := f.d.t.callee(&ast.CallExpr{Fun: sel})
	if fn == nil {
		return
	}
	for _, decl := range f.d.declsOf(fn) {
		if own := receiverVariable(f.d, decl); own != nil {
			f.note(own, max(f.has(sel.X), f.place(sel.X)))
		}
	}
}

// callback notes the parameters of the functions that a variable may have, if it is given what is followed: those that
// are assigned to it, and those that are handed over for it. What a function without a name calls may be the turn of
// a loop over an iterator.
func (f *memoryFlow) callback(x flowNode, v types.Object, n *ast.CallExpr) {
	if x.in == nil || !slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return f.has(a) != bondNot }) {
		return
	}
	to := func(fun ast.Expr) {
		switch fun := ast.Unparen(fun).(type) {
		case *ast.FuncLit:
			f.give(fun.Type.Params, n)
		case *ast.Ident, *ast.SelectorExpr:
			if fn := f.d.t.callee(&ast.CallExpr{Fun: fun}); fn != nil && f.d.t.decls[fn] != nil {
				f.give(f.d.t.decls[fn].Type.Params, n)
			}
		}
	}
	for _, def := range f.d.definitions(x.in)[v] {
		if def.x != nil {
			to(def.x)
		}
	}
	if isGiven(x.in, v) {
		for _, call := range callsTo(f.d, x.in) {
			if a := argumentFor(f.d, x.in, call, v); a != nil {
				to(a)
			}
		}
	}
	if x.lit && f.gives[x.in] == bondNot {
		f.gives[x.in], f.grew = bondIn, true
	}
}

// give notes parameters by the arguments of a call.
func (f *memoryFlow) give(params *ast.FieldList, n *ast.CallExpr) {
	i := 0
	for _, field := range params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, id := range field.Names {
			for k := i; k < len(n.Args) && (k == i || variadic); k++ {
				how := f.has(n.Args[k])
				if variadic && !n.Ellipsis.IsValid() {
					how = min(how, bondIn)
				}
				v := f.d.variable(id)
				f.note(v, how)
				if f.vars[v] == bondIn { // the function may have put it there
					f.put(n.Args[k], bondIn)
				}
			}
			i++
		}
		if len(field.Names) == 0 {
			i++
		}
	}
}

// elementOfIt is what a part of a value has: that of a list which holds it may be it.
func elementOfIt(how bond) bond {
	if how == bondNot {
		return bondNot
	}
	return bondIs
}

// has tells how an expression has to do with what is followed.
func (f *memoryFlow) has(x ast.Expr) bond {
	if f.sources[x] {
		return bondIs
	}
	of := func(inner ast.Expr) bond {
		if !mayRefer(f.d.t.typeOf(x)) {
			return bondNot
		}
		return elementOfIt(f.has(inner))
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return f.has(x.X)
	case *ast.Ident:
		return f.vars[f.d.variable(x)]
	case *ast.SelectorExpr:
		if v := f.d.field(x); v != nil {
			return max(f.vars[v], of(x.X))
		}
		if s := f.d.t.info.Selections[x]; s != nil && s.Kind() == types.MethodVal { // it is called with that later
			f.bind(x)
			return bondNot
		}
		if v, ok := f.d.t.info.Uses[x.Sel].(*types.Var); ok && ofPackage(v) {
			return f.vars[v]
		}
		return of(x.X)
	case *ast.IndexExpr:
		return of(x.X)
	case *ast.StarExpr:
		return of(x.X)
	case *ast.SliceExpr:
		return max(f.has(x.X), f.array(x.X))
	case *ast.TypeAssertExpr:
		return f.has(x.X)
	case *ast.UnaryExpr:
		switch x.Op {
		case token.AND:
			return max(f.place(x.X), f.has(x.X))
		case token.ARROW:
			return elementOfIt(f.has(x.X))
		}
	case *ast.CompositeLit:
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			if f.has(e) != bondNot {
				return bondIn
			}
		}
	case *ast.CallExpr:
		return f.result(x)
	}
	return bondNot
}

// array is what a slice of an array refers to.
func (f *memoryFlow) array(x ast.Expr) bond {
	if t := f.d.t.typeOf(x); t != nil {
		if _, ok := t.Underlying().(*types.Array); ok {
			return f.place(x)
		}
	}
	return bondNot
}

// place tells of a place, whose address is taken, whether it lies in memory that is followed.
func (f *memoryFlow) place(x ast.Expr) bond {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if v := f.d.variable(x); v != nil && f.vars[v] == bondIs {
			return bondIs
		}
	case *ast.SelectorExpr:
		if v := f.d.field(x); v != nil && f.vars[v] == bondIs {
			return bondIs
		}
		return f.place(x.X)
	case *ast.IndexExpr:
		return max(f.place(x.X), elementOfIt(f.has(x.X)))
	case *ast.StarExpr:
		return f.has(x.X)
	case *ast.CompositeLit:
		return f.has(x)
	}
	return bondNot
}

// result tells how the result of a call has to do with it.
func (f *memoryFlow) result(n *ast.CallExpr) (how bond) {
	fun := ast.Unparen(n.Fun)
	if tv, ok := f.d.t.info.Types[fun]; ok && tv.IsType() {
		if len(n.Args) == 1 && mayRefer(tv.Type) && mayRefer(f.d.t.typeOf(n.Args[0])) {
			return f.has(n.Args[0])
		}
		return bondNot
	}
	if isNamed(fun, "append") && len(n.Args) > 0 {
		how = f.has(n.Args[0])
		for _, a := range n.Args[1:] {
			if f.has(a) != bondNot && f.elementsRefer(n) {
				how = max(how, bondIn)
			}
		}
		return how
	}
	if fn := f.d.t.callee(n); fn != nil && len(f.d.declsOf(fn)) > 0 {
		for _, decl := range f.d.declsOf(fn) {
			if by := f.through[decl]; by == nil || by == n {
				how = max(how, f.gives[decl])
			}
		}
		return how
	}
	pkg, name := f.d.t.fromPackage(fun), calledName(n)
	sel, method := fun.(*ast.SelectorExpr)
	switch {
	case slices.Contains(libraryCopies, types.ExprString(uninstantiated(n))):
		for _, a := range n.Args {
			if f.has(a) != bondNot && f.elementsRefer(a) {
				how = bondIn
			}
		}
	case pkg != "":
		for _, a := range n.Args {
			if refersBack(pkg, name) {
				how = max(how, f.has(a))
			}
		}
	case method && !tells[name]:
		how = elementOfIt(f.has(sel.X))
	}
	return how
}

// elementsRefer tells of a list that its elements may refer to something.
func (f *memoryFlow) elementsRefer(x ast.Expr) bool {
	t := f.d.t.typeOf(x)
	if t == nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return mayRefer(u.Elem())
	case *types.Map:
		return mayRefer(u.Elem())
	}
	return true
}

// writes are the places that write into the memory, in the order of the source.
func (f *memoryFlow) writes() (all []writtenPlace) {
	for _, x := range flowNodes(f.d) {
		if x.in != nil && f.written(x.n) {
			all = append(all, writtenPlace{x.in, x.n, x.looped, x.guards})
		}
	}
	return all
}

// written tells of a node that it writes into the memory.
func (f *memoryFlow) written(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, f.into)
	case *ast.IncDecStmt:
		return f.into(n.X)
	case *ast.RangeStmt:
		return n.Tok == token.ASSIGN && (n.Key != nil && f.into(n.Key) || n.Value != nil && f.into(n.Value))
	case *ast.CallExpr:
		return f.writtenByCall(n)
	}
	return false
}

// into tells of a place that is set whether it lies in the memory.
func (f *memoryFlow) into(place ast.Expr) bool {
	x := ast.Unparen(place)
	inner := aroundPart(x)
	if inner == x {
		return false
	}
	if f.has(inner) == bondIs && isReference(f.d, x, inner) && f.cells.has(keyOf(f.d, x)) {
		return true
	}
	return !isReference(f.d, x, inner) && f.into(inner)
}

// isReference tells of a place that what it is a part of refers to it: a pointer, a slice or a map, not a struct or an
// array by value.
func isReference(d *derivations, x, inner ast.Expr) bool {
	if _, star := x.(*ast.StarExpr); star {
		return true
	}
	t := d.t.typeOf(inner)
	if t == nil {
		return true
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return false
	}
	return true
}

// writtenByCall tells of a call of the library, or of a builtin function, that it writes into the memory.
func (f *memoryFlow) writtenByCall(n *ast.CallExpr) bool {
	fun := ast.Unparen(n.Fun)
	if fn := f.d.t.callee(n); fn != nil && len(f.d.declsOf(fn)) > 0 {
		return false // what it does is looked at there
	}
	for _, a := range writtenBy(f.d, n) {
		if u, ok := ast.Unparen(a).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if f.into(u.X) {
				return true
			}
			a = u.X // a heap, whose elements change their places
		}
		if f.has(a) == bondIs && (f.cells.any || f.cells.has(keyOfElements(f.d, a)) || f.cells.has("*"+f.pointee(a)) || isAny(f.d, a)) {
			return true
		}
	}
	if isNamed(fun, "append") && len(n.Args) > 1 && f.has(n.Args[0]) == bondIs && !f.cells.shallow {
		return f.cells.has(keyOfElements(f.d, n.Args[0])) // there may be room behind it
	}
	if f.usedUp(n) {
		return true
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || f.d.t.fromPackage(fun) != "" || tells[sel.Sel.Name] || lockNames.MatchString(sel.Sel.Name) {
		return false
	}
	return changesValue(sel.Sel.Name) && f.d.t.typeOf(sel.X) == nil && (f.into(sel.X) || f.has(sel.X) == bondIs && f.cells.any)
}

// usedUp tells of a call of the library that it reads on in a value of the library's that is followed: a reader, a decoder, what a
// query returns. What was read is not there for the next.
func (f *memoryFlow) usedUp(n *ast.CallExpr) bool {
	fun, name := ast.Unparen(n.Fun), calledName(n)
	of := func(x ast.Expr) bool {
		t := f.d.t.typeOf(x)
		return f.has(x) == bondIs && (t == nil || types.IsInterface(t))
	}
	switch f.d.t.fromPackage(fun) {
	case "":
		sel, ok := fun.(*ast.SelectorExpr)
		return ok && f.cells.any && readsNext.MatchString(name) && of(sel.X)
	case "io", "bufio", "fmt", "io/ioutil", "encoding/json", "encoding/xml", "encoding/csv", "encoding/gob":
		return f.cells.any && (movesOn.MatchString(name) || strings.HasPrefix(name, "New")) && !strings.Contains(name, "Writer") && !strings.Contains(name, "Encoder") && slices.ContainsFunc(n.Args, of)
	}
	return false
}

// readsNext are methods of the library's types that read what comes next.
var readsNext = lazily(`^(Read|ReadByte|ReadBytes|ReadRune|ReadString|ReadLine|ReadSlice|ReadAll|ReadRecord|ReadMessage|Scan|Next|NextPart|Token|Decode|Recv|WriteTo)$`)

// isAny tells of an expression that it is of an interface, which may have anything in it.
func isAny(d *derivations, x ast.Expr) bool {
	t := d.t.typeOf(x)
	return t != nil && types.IsInterface(t)
}

// pointee is the type that an expression points to, as a text.
func (f *memoryFlow) pointee(x ast.Expr) string {
	if t := f.d.t.typeOf(x); t != nil {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			return p.Elem().String()
		}
	}
	return ""
}

// resultWritten finds where the program writes to what some calls of a function have returned. What only the making of
// the result calls does not count.
func resultWritten(d *derivations, decl *ast.FuncDecl, calls []*ast.CallExpr) (at codeLine, ok bool) {
	fn, _ := d.t.info.Defs[decl.Name].(*types.Func)
	if fn == nil || len(calls) == 0 {
		return at, false
	}
	results := fn.Signature().Results()
	for i := range results.Len() {
		of := results.At(i).Type()
		if !mayRefer(of) {
			continue
		}
		for _, w := range flowOf(d, calls, of).writes() {
			if !ofMaking(d.c, w.in.Name.Name, decl.Name.Name, 0) {
				return d.placeOf(w.n), true
			}
		}
	}
	return at, false
}

// configuredLater finds where the program changes how the value works that a call has made: by a condition, with what is
// not constant, or in another function. What is always done in the same way belongs to making it.
func configuredLater(d *derivations, in frameCode, call *ast.CallExpr, methods func(name string) bool) (at codeLine, method string, ok bool) {
	f := flowOf(d, []*ast.CallExpr{call}, nil)
	for _, x := range flowNodes(d) {
		c, is := x.n.(*ast.CallExpr)
		if !is || x.in == nil || x.in == in.decl && c.Pos() <= call.End() {
			continue
		}
		sel, is := ast.Unparen(c.Fun).(*ast.SelectorExpr)
		if !is || !methods(sel.Sel.Name) || f.has(sel.X) == bondNot {
			continue
		}
		constant := !slices.ContainsFunc(c.Args, func(a ast.Expr) bool {
			return d.t.info.Types[a].Value == nil && !ofPackage(d.variable(a))
		})
		if x.in == in.decl && !x.guards && !x.looped && constant {
			continue
		}
		return d.placeOf(c), sel.Sel.Name, true
	}
	return at, "", false
}
