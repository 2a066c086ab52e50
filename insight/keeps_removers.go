package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What else in the sources may take entries out of a container: whatever deletes from it, by any
// name that it has, replaces it, or is given it and cannot be seen.

// remover is a place in the sources that takes entries out of a container, or may do so.
type remover struct {
	in   string // the function that it is in: "client.late"
	file string
	line int
	// offset is that of the call in the file.
	offset int
	kind   removerKind
	of     string // what is replaced or dropped, or what is given the container
	fn     *types.Func
	async  bool // it is in a function literal
}

type removerKind int

const (
	deletes  removerKind = iota // entries
	replaces                    // the container
	drops                       // what the container belongs to
	escapes                     // it is given to what the sources do not show
	unseen                      // the type of the container is from elsewhere
)

// String says what a remover may do: "client.late (main.go:73) deletes it later".
func (r remover) String() string {
	at := fmt.Sprintf("%s (%s:%d) ", r.in, baseName(r.file), r.line)
	switch r.kind {
	case replaces:
		return at + "replaces the map"
	case drops:
		return at + "drops the whole " + r.of + " that it is in"
	case escapes:
		return at + "passes the map to " + r.of + ", which may delete it later"
	case unseen:
		return r.of + " deletes it later"
	}
	return at + "deletes it later"
}

// removerSearch follows a container by all names that it has: variables, fields, parameters, and
// the functions that return it.
type removerSearch struct {
	*usage
	places map[types.Object]bool
	more   bool         // a name was added that nobody has looked for
	put    types.Object // what it is known by where the entry is put in
	depth  int          // how many times the container is indexed in what it is known by: 1 of c.m[tenant]
	found  []remover
	deeper map[types.Object]int          // how many indexes further down it is in a place: 1 of a slice that it is an element of
	lits   map[types.Object]*ast.FuncLit // variables that are functions
	// name is that of a field which types do not tell of.
	name string
}

// usage is where the sources name each of their functions.
type usage struct {
	*typed
	mentions map[*types.Func][]mention
}

// mention is where a function is named, with the nodes around it.
type mention struct {
	id     *ast.Ident
	around []ast.Node
}

// call is the call that a mention is of, and what is around that; nil where the function is used
// in another way.
func (m mention) call() (call *ast.CallExpr, around []ast.Node) {
	var fun ast.Expr = m.id
	for i := len(m.around) - 1; i >= 0; i-- {
		switch x := m.around[i].(type) {
		case *ast.SelectorExpr:
			fun = x
		case *ast.IndexExpr: // with the types of a generic function
			fun = x
		case *ast.CallExpr:
			if x.Fun == fun {
				return x, m.around[:i]
			}
			return nil, nil
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// removersOf are the places that take entries out of a container, which an entry is put into at a
// line; known is false where the types do not tell what that is.
func removersOf(c *code, s keepsAt) (r *removerSearch, known bool) {
	r = &removerSearch{usage: &usage{typedOf(c), map[*types.Func][]mention{}}, places: map[types.Object]bool{}, lits: map[types.Object]*ast.FuncLit{}, deeper: map[types.Object]int{}, name: lastName(s.container)}
	container := r.putAt(s)
	if container == nil {
		return r, false
	}
	place := r.place(container)
	if place == nil {
		return r, false
	}
	for x := container; ; {
		i, ok := ast.Unparen(x).(*ast.IndexExpr)
		if !ok {
			break
		}
		x, r.depth = i.X, r.depth+1
	}
	r.prepare()
	r.put = place
	r.add(place)
	for r.more {
		r.more, r.found = false, nil
		r.eachNode(func(n ast.Node, around []ast.Node) {
			r.backward(n, around)
			r.use(n, around)
		})
	}
	r.ownType(s, container)
	r.otherFiles(s)
	r.owners()
	slices.SortFunc(r.found, func(a, b remover) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), strings.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset))
	})
	r.found = slices.CompactFunc(r.found, func(a, b remover) bool {
		return a.file == b.file && a.line == b.line && (a.kind == unseen) == (b.kind == unseen)
	})
	return r, true
}

// add adds a name that the container has.
func (r *removerSearch) add(place types.Object) {
	if v, ok := place.(*types.Var); ok {
		place = v.Origin()
	}
	if place != nil && !r.places[place] {
		r.places[place] = true
		r.more = true
	}
}

// putAt finds the container that something is put into at a line.
func (r *removerSearch) putAt(s keepsAt) (container ast.Expr) {
	for _, f := range r.files {
		if f.name != s.file {
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			var x ast.Expr
			switch n := n.(type) {
			case *ast.IndexExpr:
				x = n.X
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok {
					x = f.X
					if e := r.embedded(f); e != nil {
						x = f
					}
				}
			}
			if x == nil || container != nil {
				return true
			}
			_, line, _ := r.at(n.Pos())
			text := types.ExprString(x)
			if f, ok := x.(*ast.SelectorExpr); ok && text != s.container && r.embedded(f) != nil {
				text = types.ExprString(f.X)
			}
			if line == s.line && text == s.container {
				container = x
			}
			return true
		})
	}
	return container
}

// embedded is the field that a method of an embedded type belongs to; nil where the method is the
// type's own.
func (t *typed) embedded(f *ast.SelectorExpr) types.Object {
	sel := t.info.Selections[f]
	if sel == nil || sel.Kind() != types.MethodVal || len(sel.Index()) < 2 {
		return nil
	}
	var field *types.Var
	of := sel.Recv()
	for _, i := range sel.Index()[:len(sel.Index())-1] {
		if p, ok := of.Underlying().(*types.Pointer); ok {
			of = p.Elem()
		}
		st, ok := of.Underlying().(*types.Struct)
		if !ok {
			return nil
		}
		field = st.Field(i)
		of = field.Type()
	}
	return field.Origin()
}

// place is what an expression is of: a variable, a field, or a function that returns it; nil where
// that is not known.
func (t *typed) place(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.StarExpr:
		return t.place(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return t.place(e.X)
		}
	case *ast.IndexExpr:
		return t.place(e.X)
	case *ast.TypeAssertExpr:
		return t.place(e.X)
	case *ast.Ident:
		for _, obj := range []types.Object{t.info.Uses[e], t.info.Defs[e]} {
			if v, ok := obj.(*types.Var); ok {
				return v.Origin()
			}
		}
	case *ast.SelectorExpr:
		if field := t.embedded(e); field != nil {
			return field
		}
		if v, ok := t.info.Uses[e.Sel].(*types.Var); ok {
			return v.Origin()
		}
	case *ast.CallExpr:
		if tv, ok := t.info.Types[e.Fun]; ok && tv.IsType() && len(e.Args) == 1 {
			return t.place(e.Args[0])
		}
		if fn := t.callee(e); fn != nil && t.decls[fn] != nil {
			return fn
		}
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Load" || f.Sel.Name == "Swap") {
			return t.place(f.X) // an atomic pointer to it
		}
	}
	return nil
}

// carries tells of an expression that its value may be a container, or lead to one: a map, a
// pointer to one, something of an interface or of a type that is not known.
func (t *typed) carries(e ast.Expr) bool {
	of := t.typeOf(e)
	return of == nil || carriesType(of, 3)
}

func carriesType(t types.Type, deep int) bool {
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync" {
		return named.Obj().Name() == "Map"
	}
	if _, ok := t.(*types.TypeParam); ok {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Pointer:
		return deep > 0 && carriesType(u.Elem(), deep-1)
	case *types.Slice:
		return deep > 0 && carriesType(u.Elem(), deep-1)
	case *types.Array:
		return deep > 0 && carriesType(u.Elem(), deep-1)
	case *types.Interface:
		return true
	case *types.Basic:
		return u.Kind() == types.Invalid
	}
	return false
}

// eachNode calls for each node of the sources, with those around it, the innermost last.
func (r *removerSearch) eachNode(do func(n ast.Node, around []ast.Node)) {
	for _, f := range r.files {
		eachNode(f.file, do)
	}
}

// prepare notes which variables are function literals, and where functions are mentioned.
func (r *removerSearch) prepare() {
	r.eachNode(func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.Ident:
			if fn, ok := r.info.Uses[n].(*types.Func); ok {
				r.mentions[fn.Origin()] = append(r.mentions[fn.Origin()], mention{n, slices.Clone(around)})
			}
		default:
			assigned(n, func(lhs, rhs ast.Expr) {
				if lit, ok := rhs.(*ast.FuncLit); ok {
					r.lits[r.place(lhs)] = lit
				}
			})
		}
	})
}

// backward adds what a variable that has the container gets it from: what is assigned to it, passed
// for a parameter, or returned by a function.
func (r *removerSearch) backward(n ast.Node, around []ast.Node) {
	from := func(lhs, rhs ast.Expr, deeper int) {
		if p := r.place(lhs); p == nil || !r.places[p] || !r.carries(lhs) && r.typeOf(lhs) != nil {
			return
		}
		r.source(rhs, deeper)
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i := range n.Lhs {
			if i < len(n.Rhs) || i == 0 {
				from(n.Lhs[i], n.Rhs[min(i, len(n.Rhs)-1)], 0)
			}
		}
	case *ast.ValueSpec:
		for i := range min(len(n.Names), len(n.Values)) {
			from(n.Names[i], n.Values[i], 0)
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			from(n.Value, n.X, 1)
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok {
			from(key, n.Value, 0)
		}
	case *ast.ReturnStmt:
		for i := len(around) - 1; i >= 0; i-- {
			if _, ok := around[i].(*ast.FuncLit); ok {
				return
			}
			if fn, ok := around[i].(*ast.FuncDecl); ok && r.places[r.info.Defs[fn.Name]] {
				for _, x := range n.Results {
					r.source(x, 0)
				}
			}
		}
	case *ast.CallExpr:
		r.arguments(n)
	}
}

// source adds what an expression is of, where it may be the container.
func (r *removerSearch) source(x ast.Expr, deeper int) {
	p := r.place(x)
	if p == nil || !r.carries(x) {
		return
	}
	for {
		i, ok := ast.Unparen(x).(*ast.IndexExpr)
		if !ok {
			break
		}
		x, deeper = i.X, deeper+1
	}
	r.depth = max(r.depth, deeper-r.deeper[p])
	r.add(p)
}

// arguments adds what a call passes for a parameter, or the receiver, that has the container.
func (r *removerSearch) arguments(call *ast.CallExpr) {
	fn := r.callee(call)
	if fn == nil {
		return
	}
	params := fn.Signature().Params()
	for i := range params.Len() {
		if r.places[params.At(i)] && i < len(call.Args) {
			r.source(call.Args[i], 0)
		}
	}
	recv := fn.Signature().Recv()
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && recv != nil && r.places[recv] {
		r.source(f.X, 0)
	}
}
