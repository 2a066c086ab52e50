package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
)

// mapReaders are packages of the library whose functions do not delete from a map that they are given.
var mapReaders = []string{"fmt", "log", "log/slog", "encoding/json", "encoding/gob", "maps", "slices", "testing", "iter"}

// use looks at one mention of the container: what is done with it there.
func (r *removerSearch) use(n ast.Node, around []ast.Node) {
	e, ok := n.(ast.Expr)
	if !ok || len(around) == 0 {
		return
	}
	switch x := e.(type) {
	case *ast.Ident:
		if sel, ok := around[len(around)-1].(*ast.SelectorExpr); ok && sel.Sel == x {
			return // the whole of that is looked at
		}
		if !r.places[r.place(x)] {
			return
		}
	case *ast.SelectorExpr:
		if field := r.embedded(x); field != nil && r.places[field] {
			r.method(x, x.Sel.Name, around)
			return
		}
		if !r.places[r.place(x)] && !(r.info.Uses[x.Sel] == nil && r.info.Selections[x] == nil && x.Sel.Name == r.name) {
			return
		}
	case *ast.CallExpr:
		fn := r.callee(x)
		if fn == nil || !r.places[fn] || !r.carries(x) {
			return
		}
	default:
		return
	}
	r.context(e, around)
}

// context goes from a mention of the container to the statement that does something with it.
func (r *removerSearch) context(e ast.Expr, around []ast.Node) {
	index, deep := 0, r.depth+r.deeper[r.place(e)]
	for i := len(around) - 1; i >= 0; i-- {
		switch p := around[i].(type) {
		case *ast.ParenExpr, *ast.StarExpr, *ast.TypeAssertExpr:
		case *ast.UnaryExpr:
			if p.Op != token.AND {
				return
			}
		case *ast.IndexExpr:
			if p.X != e {
				return // it is the index
			}
			if index++; !r.carries(p) || index > deep {
				r.entry(p, around[:i])
				return
			}
		case *ast.SelectorExpr:
			if p.X != e {
				return
			}
			r.selected(p, around[:i])
			return
		case *ast.CallExpr:
			if tv, ok := r.info.Types[p.Fun]; ok && tv.IsType() {
				break
			}
			if p.Fun == e {
				return
			}
			r.passed(p, e, around[:i], index)
			return
		default:
			r.statement(p, e, around[:i], index)
			return
		}
		e = around[i].(ast.Expr)
	}
}

// entry looks at what is done with one entry of the container: setting it to nil releases it.
func (r *removerSearch) entry(x *ast.IndexExpr, around []ast.Node) {
	a, ok := around[len(around)-1].(*ast.AssignStmt)
	if !ok {
		return
	}
	for i := range min(len(a.Lhs), len(a.Rhs)) {
		if a.Lhs[i] == x && isNamed(a.Rhs[i], "nil") {
			r.note(deletes, x, around, "")
		}
	}
}

// selected looks at a method that is called on the container.
func (r *removerSearch) selected(f *ast.SelectorExpr, around []ast.Node) {
	call, called := around[len(around)-1].(*ast.CallExpr)
	if !called || call.Fun != f {
		if sel := r.info.Selections[f]; sel != nil && sel.Kind() == types.MethodVal {
			r.note(escapes, f, around, "a function value")
		}
		return
	}
	if fn := r.callee(call); fn != nil && r.decls[fn] != nil {
		if recv := fn.Signature().Recv(); recv != nil {
			r.add(recv)
		}
		return
	}
	r.method(f, f.Sel.Name, around)
}

// method looks at a method whose source is not there, such as those of sync.Map.
func (r *removerSearch) method(f *ast.SelectorExpr, name string, around []ast.Node) {
	call, called := around[len(around)-1].(*ast.CallExpr)
	switch {
	case !called || call.Fun != f:
		r.note(escapes, f, around, "a function value")
	case name == "LoadAndDelete" || name == "CompareAndDelete" || removes(name):
		r.note(deletes, call, around, "")
	case name == "Load" && len(call.Args) == 0:
		r.context(call, around[:len(around)-1]) // of an atomic pointer
	case (name == "Store" || name == "Swap") && len(call.Args) == 1 && !r.initial(f.X, around):
		r.note(replaces, call, around, "")
	}
}

// passed looks at a call that is given the container.
func (r *removerSearch) passed(call *ast.CallExpr, arg ast.Expr, around []ast.Node, index int) {
	at := slices.Index(call.Args, arg)
	if at < 0 || !r.carries(arg) {
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok {
		if b, ok := r.info.Uses[id].(*types.Builtin); ok {
			switch {
			case (b.Name() == "delete" || b.Name() == "clear") && at == 0 && !leavesIt(r, arg, index):
				r.note(deletes, call, around, "")
			case b.Name() == "append":
				becomesElement(r, arg, index, at > 0, call, around)
			}
			return
		}
	}
	name := calledName(call)
	if from := r.fromPackage(call.Fun); from != "" && r.decls[r.callee(call)] == nil {
		switch {
		case path.Base(from) == "maps" && (name == "DeleteFunc" || name == "Clear"):
			if at == 0 {
				r.note(deletes, call, around, "")
			}
		case !slices.Contains(mapReaders, from):
			r.note(escapes, call, around, types.ExprString(call.Fun))
		}
		return
	}
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		parameterOf(r, r.literalParams(lit), at, arg, index)
		return
	}
	if lit := r.lits[r.place(call.Fun)]; lit != nil {
		parameterOf(r, r.literalParams(lit), at, arg, index)
		return
	}
	fn := r.callee(call)
	switch {
	case fn == nil:
	case r.decls[fn] != nil:
		parameterOf(r, fn.Signature().Params(), at, arg, index)
		return
	default: // of an interface: all that have its name and as many parameters
		all := 0
		for d := range r.decls {
			if d.Name() == fn.Name() && d.Signature().Recv() != nil && d.Signature().Params().Len() == fn.Signature().Params().Len() {
				parameterOf(r, d.Signature().Params(), at, arg, index)
				all++
			}
		}
		if all > 0 {
			return
		}
	}
	r.note(escapes, call, around, types.ExprString(call.Fun))
}

// literalParams are the parameters of a function literal; nil where they are not known.
func (t *typed) literalParams(lit *ast.FuncLit) *types.Tuple {
	if sig, ok := t.typeOf(lit).(*types.Signature); ok {
		return sig.Params()
	}
	return nil
}

// statement looks at a statement, or a literal, that the container is in.
func (r *removerSearch) statement(p ast.Node, e ast.Expr, around []ast.Node, index int) {
	switch p := p.(type) {
	case *ast.AssignStmt:
		for i, lhs := range p.Lhs {
			if lhs == e {
				r.assigned(p, e, around, index)
			} else if i < len(p.Rhs) && p.Rhs[i] == e || len(p.Rhs) == 1 && p.Rhs[0] == e && i == 0 {
				r.alias(lhs, e, p, around, index)
			}
		}
	case *ast.ValueSpec:
		for i, v := range p.Values {
			if v == e && i < len(p.Names) {
				r.alias(p.Names[i], e, p, around, index)
			}
		}
	case *ast.RangeStmt:
		if p.X == e && p.Value != nil && r.carries(p.Value) && r.depth+r.deeper[r.place(e)] > index {
			addDeeper(r, r.place(p.Value), furtherDown(r, e, index)-1)
		}
	case *ast.KeyValueExpr:
		if p.Value != e {
			return
		}
		if key, ok := p.Key.(*ast.Ident); ok && r.carries(e) {
			if v, ok := r.info.Uses[key].(*types.Var); ok && v.IsField() {
				addDeeper(r, v, furtherDown(r, e, index))
				return
			}
		}
		becomesElement(r, e, index, true, p, around)
	case *ast.CompositeLit:
		if st, ok := deref(r.typeOf(p)).(*types.Struct); ok {
			if i := slices.Index(p.Elts, e); i >= 0 && i < st.NumFields() {
				addDeeper(r, st.Field(i), furtherDown(r, e, index))
				return
			}
		}
		becomesElement(r, e, index, true, p, slices.Concat(around, []ast.Node{p}))
	case *ast.ReturnStmt:
		r.returned(p, e, around, index)
	case *ast.SendStmt:
		if p.Value == e && r.carries(e) {
			r.note(escapes, p, around, "a channel")
		}
	}
}

// alias adds another variable that has the container.
func (r *removerSearch) alias(lhs, e ast.Expr, at ast.Node, around []ast.Node, index int) {
	if isNamed(lhs, "_") || !r.carries(e) {
		return
	}
	if p := r.place(lhs); p != nil {
		addDeeper(r, p, furtherDown(r, e, index)+indexesAtEnd(lhs))
		return
	}
	r.note(escapes, at, around, "another variable")
}

// returned adds the function around, of which the container is a result.
func (r *removerSearch) returned(p *ast.ReturnStmt, e ast.Expr, around []ast.Node, index int) {
	if !r.carries(e) {
		return
	}
	for i := len(around) - 1; i >= 0; i-- {
		switch fn := around[i].(type) {
		case *ast.FuncLit:
			r.note(escapes, p, around, "whoever calls that function")
			return
		case *ast.FuncDecl:
			if obj := r.info.Defs[fn.Name]; obj != nil {
				addDeeper(r, obj, furtherDown(r, e, index))
			}
			return
		}
	}
}

// assigned looks at an assignment to the container as a whole.
func (r *removerSearch) assigned(a *ast.AssignStmt, lhs ast.Expr, around []ast.Node, index int) {
	v, ok := r.place(lhs).(*types.Var)
	_, bare := ast.Unparen(lhs).(*ast.Ident)
	other := ok && bare && !isGlobal(v) && (v != r.put || a.Tok == token.DEFINE) // a variable of a function: that leaves the map as it is
	if other || index > r.depth || leavesIt(r, lhs, index) || r.initial(lhs, around) {
		return
	}
	r.note(replaces, a, around, "")
}

// isGlobal tells of the variable of a package.
func isGlobal(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// deref is what a type, or what it points to, is made of; nil where it is not known.
func deref(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.Underlying()
}

// note notes a place that takes something out.
func (r *removerSearch) note(kind removerKind, n ast.Node, around []ast.Node, of string) {
	m := remover{kind: kind, of: of}
	m.file, m.line, m.offset = r.at(n.Pos())
	for _, a := range around {
		switch a := a.(type) {
		case *ast.FuncDecl:
			m.in = a.Name.Name
			if t := methodOf(a); t != "" {
				m.in = t + "." + m.in
			}
			if fn, ok := r.info.Defs[a.Name].(*types.Func); ok {
				m.fn = fn.Origin()
			}
		case *ast.FuncLit:
			m.async = true
		}
	}
	if m.in == "" {
		m.in = "a variable's value"
	}
	r.found = append(r.found, m)
}
