package insight

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Where the sources change what a function reads.

// changing is a place that changes a field, a variable of a package, or an element of what has a type.
type changing struct {
	in     *ast.FuncDecl
	at     token.Pos
	looped bool // it stands in a loop of its function
	of     types.Object
	starts bool // it belongs to the start of the program, or to the making of a value
	inTurn bool // it is in what a loop repeats
}

// derivedCall is a function that another one calls.
type derivedCall struct {
	callee  *ast.FuncDecl
	at      token.Pos
	looped  bool
	guarded bool // a condition decides whether it is called
}

// writes are the places of all sources that change something.
func (d *derivations) writes() map[types.Object][]changing {
	if d.written != nil {
		return d.written
	}
	d.written = map[types.Object][]changing{}
	fields := d.fieldsOfTypes()
	for _, decl := range d.t.decls {
		d.addWrites(decl, fields)
	}
	for _, f := range valueFuncs(d) {
		if _, named := d.t.info.Defs[f.decl.Name]; !named {
			d.addWrites(f.decl, fields)
		}
	}
	for _, all := range d.written {
		slices.SortFunc(all, func(a, b changing) int { return int(a.at - b.at) })
	}
	return d.written
}

// typeFields are the fields of a struct, by its name, and those of a type of several elements.
type typeFields struct {
	of, with map[string][]types.Object
}

// fieldsOfTypes collects them.
func (d *derivations) fieldsOfTypes() typeFields {
	f := typeFields{map[string][]types.Object{}, map[string][]types.Object{}}
	note := func(v *types.Var) {
		switch v.Type().Underlying().(type) {
		case *types.Slice, *types.Map:
			text := v.Type().Underlying().String()
			f.with[text] = append(f.with[text], v)
		}
	}
	for _, obj := range d.t.info.Defs {
		switch obj := obj.(type) {
		case *types.TypeName:
			if s, ok := obj.Type().Underlying().(*types.Struct); ok {
				for i := range s.NumFields() {
					f.of[obj.Type().String()] = append(f.of[obj.Type().String()], s.Field(i))
					note(s.Field(i))
				}
			}
		case *types.Var:
			if ofPackage(obj) {
				note(obj)
			}
		}
	}
	return f
}

// changesOfAny are the places that change what a variable or a field refers to, by its own name or through another one.
func (d *derivations) changesOfAny(v types.Object) []changing {
	if all, ok := d.through[v]; ok {
		return all
	}
	all := slices.Clone(d.writes()[v])
	if mayRefer(v.Type()) || isArray(v.Type()) {
		for _, w := range flowFrom(d, v).writes() {
			if !slices.ContainsFunc(all, func(c changing) bool { return c.at == w.n.Pos() }) {
				all = append(all, changing{in: w.in, at: w.n.Pos(), looped: w.looped, of: v})
			}
		}
		slices.SortFunc(all, func(a, b changing) int { return int(a.at - b.at) })
	}
	if d.through == nil {
		d.through = map[types.Object][]changing{}
	}
	d.through[v] = all
	return all
}

func isArray(t types.Type) bool { _, ok := t.Underlying().(*types.Array); return ok }

// addWrites collects those of one function.
func (d *derivations) addWrites(decl *ast.FuncDecl, fields typeFields) {
	note := func(n ast.Node, around []ast.Node, objs ...types.Object) {
		for _, obj := range objs {
			d.written[obj] = append(d.written[obj], changing{in: decl, at: n.Pos(), looped: slices.ContainsFunc(around, isLoop), of: obj})
		}
	}
	sets := func(n ast.Node, x ast.Expr, around []ast.Node) {
		if d.isOwn(decl, x) {
			return
		}
		element := false
		for {
			switch e := ast.Unparen(x).(type) {
			case *ast.IndexExpr:
				x, element = e.X, true
				continue
			case *ast.SliceExpr:
				x, element = e.X, true
				continue
			case *ast.StarExpr:
				if of := d.t.typeOf(x); of != nil && !element {
					note(n, around, fields.of[of.String()]...)
					note(n, around, fields.with[of.Underlying().String()]...)
				}
				x = e.X
				continue
			case *ast.SelectorExpr:
				if v := d.field(e); v != nil {
					note(n, around, v)
				} else if v, ok := d.t.info.Uses[e.Sel].(*types.Var); ok {
					note(n, around, v)
				}
			case *ast.Ident:
				v := d.variable(e)
				if ofPackage(v) {
					note(n, around, v)
				} else if of := d.t.typeOf(e); of != nil && element {
					note(n, around, fields.with[of.Underlying().String()]...)
				}
			}
			return
		}
	}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, x := range n.Lhs {
					sets(n, x, around)
				}
			}
		case *ast.IncDecStmt:
			sets(n, n.X, around)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				for _, x := range []ast.Expr{n.Key, n.Value} {
					if x != nil {
						sets(n, x, around)
					}
				}
			}
		case *ast.CallExpr:
			d.writesOfCall(n, func(x ast.Expr) { sets(n, x, around) })
			if setsEnvironment(d, n) {
				note(n, around, environmentOf(d))
			}
			decodedInto(d, decl, n, func(v *types.Var) { note(n, around, v) })
		}
	})
}

// writesOfCall calls for what a call of a builtin function or of the library may change.
func (d *derivations) writesOfCall(n *ast.CallExpr, sets func(ast.Expr)) {
	name := calledName(n)
	fun := ast.Unparen(n.Fun)
	if fn := d.t.callee(n); fn != nil && len(d.declsOf(fn)) > 0 {
		for _, a := range n.Args { // a function that sets what it is given the address of
			if u, ok := a.(*ast.UnaryExpr); ok && u.Op == token.AND {
				if of := d.t.typeOf(u.X); of == nil || !isStruct(of) {
					sets(u.X)
				}
			}
		}
		return
	}
	for _, a := range writtenBy(d, n) {
		sets(&ast.IndexExpr{X: pointed(a)})
	}
	pkg := d.t.fromPackage(fun)
	if tv, ok := d.t.info.Types[fun]; ok && (tv.IsType() || tv.IsBuiltin()) || computes(pkg, name) || pkg == "fmt" || pkg == "log" {
		return
	}
	for _, a := range n.Args {
		if u, ok := a.(*ast.UnaryExpr); ok && u.Op == token.AND {
			sets(u.X)
		} else if pkg == "sort" || pkg == "slices" || pkg == "container/heap" {
			sets(&ast.IndexExpr{X: a})
		}
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok && pkg == "" && !tells[name] && !lockNames.MatchString(name) {
		sets(sel.X)
	}
}

// decodedInto visits the fields of what a call of the library decodes into, unless that is the function's own.
func decodedInto(d *derivations, decl *ast.FuncDecl, n *ast.CallExpr, visit func(v *types.Var)) {
	if name := calledName(n); !strings.HasPrefix(name, "Unmarshal") && name != "Decode" && name != "DecodeElement" && name != "Scan" {
		return
	}
	if fn := d.t.callee(n); fn != nil && len(d.declsOf(fn)) > 0 {
		return
	}
	for _, a := range writtenBy(d, n) {
		x := ast.Unparen(a)
		if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
			x = u.X
			if d.isOwn(decl, x) {
				continue
			}
		} else if d.isMade(decl, x) {
			continue
		}
		if of := d.t.typeOf(x); of != nil && !types.IsInterface(of) {
			fieldsIn(of, true, visit)
		}
	}
}

// callsOf are the functions that one calls.
func (d *derivations) callsOf(decl *ast.FuncDecl) []derivedCall {
	if all, ok := d.calls[decl]; ok {
		return all
	}
	all := []derivedCall{}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		var callees []*ast.FuncDecl
		if fn := d.t.callee(call); fn != nil {
			callees = d.declsOf(fn)
		} else if _, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && d.t.fromPackage(ast.Unparen(call.Fun)) == "" {
			callees = d.named[calledName(call)]
		}
		callees = append(slices.Clone(callees), calledAsValue(d, call)...)
		for _, c := range callees {
			all = append(all, derivedCall{c, call.Pos(), slices.ContainsFunc(around, isLoop), guardedBy(append(slices.Clone(around), n), nil)})
		}
	})
	d.calls[decl] = all
	return all
}

// reached are the functions that are called in a part of a function, and by these; true of those that a
// loop may call.
func (d *derivations) reached(decl *ast.FuncDecl, part ast.Node) map[*ast.FuncDecl]bool {
	return reachedBy(d, decl, part, func(around []ast.Node, _ ast.Node) bool { return slices.ContainsFunc(around, isLoop) },
		func(looped bool, c derivedCall) bool { return looped || c.looped })
}

// reachedAlways are the same; true of those that no condition keeps from being called.
func (d *derivations) reachedAlways(decl *ast.FuncDecl, part ast.Node) map[*ast.FuncDecl]bool {
	return reachedBy(d, decl, part, func(around []ast.Node, n ast.Node) bool { return !guardedBy(append(slices.Clone(around), n), nil) },
		func(always bool, c derivedCall) bool { return always && !c.guarded })
}

// reachedBy are the functions that are called in a part of a function, and by these, with what is true of one of the
// calls at least: here says it of a call in the part by what is around it, and below of one that a called function makes.
func reachedBy(d *derivations, decl *ast.FuncDecl, part ast.Node, here func(around []ast.Node, n ast.Node) bool, below func(is bool, c derivedCall) bool) map[*ast.FuncDecl]bool {
	reached := map[*ast.FuncDecl]bool{}
	var visit func(f *ast.FuncDecl, is bool)
	visit = func(f *ast.FuncDecl, is bool) {
		if before, ok := reached[f]; ok && (before || !is) {
			return
		}
		reached[f] = is
		for _, c := range d.callsOf(f) {
			visit(c.callee, below(is, c))
		}
	}
	eachNode(part, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		for _, c := range d.callsOf(decl) {
			if c.at == call.Pos() {
				visit(c.callee, here(around, n))
			}
		}
	})
	return reached
}

// turnParts are what each turn of a loop does: its body, its condition and what follows the body, and a function that it goes through.
func turnParts(d *derivations, stmt ast.Node, body *ast.BlockStmt) []ast.Node {
	parts := []ast.Node{body}
	switch n := stmt.(type) {
	case *ast.ForStmt:
		if n.Cond != nil {
			parts = append(parts, n.Cond)
		}
		if n.Post != nil {
			parts = append(parts, n.Post)
		}
	case *ast.RangeStmt:
		if t := d.t.typeOf(n.X); t != nil {
			if _, is := t.Underlying().(*types.Signature); is {
				parts = append(parts, n.X)
			}
		}
	}
	return parts
}

// changed looks at what changes what is read: in what each turn of the loop does, or the body of the function, that repeats
// the call, and elsewhere. It is false where that may make each call give something else.
func (w *derivedWay) changed(decl *ast.FuncDecl, parts ...ast.Node) bool {
	turn := map[*ast.FuncDecl]bool{}
	for _, part := range parts {
		for fn, looped := range w.reached(decl, part) {
			turn[fn] = turn[fn] || looped
		}
	}
	inner := map[*ast.FuncDecl]bool{}
	if w.inner != nil {
		inner = w.reached(w.innerIn, w.inner)
	}
	within := func(n ast.Node, x changing) bool { return n != nil && n.Pos() <= x.at && x.at < n.End() }
	for v := range w.dep.reads {
		for _, x := range w.changesOfAny(v) {
			looped, in := turn[x.in]
			for _, part := range parts {
				if x.in == decl && within(part, x) {
					in, looped = true, slices.ContainsFunc(nodesAt(part, x.at), isLoop)
				}
			}
			_, each := inner[x.in]
			switch {
			case !in:
			case w.rec.kind != againElements, !w.ofElement(v), each, w.inner != nil && x.in == w.innerIn && within(w.inner, x), looped, x.looped && x.in != decl:
				return false
			}
			x.inTurn, x.starts = in, !in && derivedStartsWith(w.derivations, x)
			w.rec.changes = append(w.rec.changes, x)
		}
	}
	slices.SortFunc(w.rec.changes, earlierChange)
	w.rec.waits = w.rec.waits || w.waitsIn(parts, turn)
	return true
}

// earlierChange puts changes in the order of the source.
func earlierChange(a, b changing) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.of.Pos(), b.of.Pos()))
}

// ofElement tells of a field that it is one of the elements themselves, and of nothing that they have in common: a
// change of it changes one of them.
func (w *derivedWay) ofElement(v types.Object) bool {
	params := parametersOf(w.derivations, w.f.decl)
	if len(params) != 1 || w.rec.elements == "" {
		return false
	}
	of := params[0].Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	s, ok := of.Underlying().(*types.Struct)
	return ok && hasField(s, v)
}

// nodesAt are the nodes of a body around a position, that body left out.
func nodesAt(body ast.Node, at token.Pos) (all []ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || n.Pos() > at || at >= n.End() {
			return false
		}
		if n != body {
			all = append(all, n)
		}
		return true
	})
	return all
}

// waitsIn tells whether what is repeated waits for others, or takes a lock: they may change something
// meanwhile.
func (d *derivations) waitsIn(parts []ast.Node, turn map[*ast.FuncDecl]bool) (found bool) {
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt:
				found = true
			case *ast.UnaryExpr:
				found = found || n.Op == token.ARROW
			case *ast.CallExpr:
				name := calledName(n)
				found = found || lockNames.MatchString(name) || name == "Wait" || name == "Sleep"
			}
			return !found
		})
	}
	for _, part := range parts {
		look(part)
	}
	for f := range maps.Keys(turn) {
		look(f.Body)
	}
	return found
}

// derivedStartsWith tells whether a change is made at the start of the program, or when a value is made, and no
// more then.
func derivedStartsWith(d *derivations, x changing) bool {
	file, line, _ := d.t.at(x.in.Name.Pos())
	for _, c := range d.c.functions()[x.in.Name.Name] {
		if c.file != file {
			continue
		}
		if first, _ := d.c.parse(file).lines(c.FuncDecl.Name); first == line {
			return runsAtStart(d.c, c, nil, 0)
		}
	}
	return false
}
