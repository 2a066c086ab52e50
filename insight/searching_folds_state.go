package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// What a fold reads beside the part that it is given, and what a turn changes of the elements: then the value of one turn is not that of the
// turn before with something added.

// foldState is something that may be another one in the next turn.
type foldState struct {
	what string
	at   codeLine
}

// foldTurn looks for it.
type foldTurn struct {
	d      *derivations
	fold   *ast.FuncDecl
	list   types.Object // what the part is given as
	caller *ast.FuncDecl
	loop   ast.Node
	turn   map[*ast.FuncDecl]bool // what the loop calls
	owner  types.Object           // what the part is a part of
	elem   types.Type
	reads  map[types.Object]bool // fields and variables of packages that it reads; true of those that are not of the elements
}

// foldStateOf is what may change from turn to turn of what a function makes of a part; empty where the source shows that nothing does.
func foldStateOf(c *code, way0, way1 stack.Frame, name string, k int) foldState {
	d := newDerivations(c)
	fold, ok := d.at(way0)
	caller, found := d.at(way1)
	if !ok || !found || fold.lit != nil {
		return foldState{what: "the source does not tell what it reads beside that part"}
	}
	t := &foldTurn{d: d, fold: fold.decl, caller: caller.decl, list: parameterAt(d, fold.decl, k), reads: map[types.Object]bool{}}
	calls := d.callsOn(caller, way1, name)
	for _, n := range nodesAround(caller.body(), firstNode(calls)) {
		if isLoop(n) {
			t.loop = n
		}
	}
	if len(calls) != 1 || t.loop == nil || t.list == nil || argumentAt(calls[0], k) == nil {
		return foldState{what: "the source does not tell what it reads beside that part"}
	}
	part := argumentAt(calls[0], k)
	if defs := d.definitions(caller.decl)[d.variable(part)]; len(defs) == 1 && defs[0].x != nil {
		part = defs[0].x
	}
	t.owner = t.named(partOwner(part))
	if of := t.list.Type(); of != nil {
		if s, ok := of.Underlying().(*types.Slice); ok {
			t.elem = s.Elem()
		}
	}
	t.turn = d.reached(caller.decl, t.loop)
	t.collect(t.fold, t.list, map[*ast.FuncDecl]bool{})
	for _, of := range []func() foldState{t.drawn, t.setElsewhere, t.setInTurn, t.handedOut} {
		if s := of(); s.what != "" {
			return s
		}
	}
	return foldState{}
}

func firstNode(calls []*ast.CallExpr) ast.Node {
	if len(calls) == 0 {
		return nil
	}
	return calls[0]
}

// partOwner is what a slice expression is a part of.
func partOwner(x ast.Expr) ast.Expr {
	if cut, ok := ast.Unparen(x).(*ast.SliceExpr); ok {
		return cut.X
	}
	return x
}

// named is the variable or the field that an expression names; nil for anything else.
func (t *foldTurn) named(x ast.Expr) types.Object {
	if sel, ok := ast.Unparen(x).(*ast.SelectorExpr); ok {
		return t.d.field(sel)
	}
	return t.d.variable(ast.Unparen(x))
}

// collect adds what a function reads, and what it calls. list is its variable of the part, or of an element; nil where it has none.
func (t *foldTurn) collect(decl *ast.FuncDecl, list types.Object, seen map[*ast.FuncDecl]bool) {
	if seen[decl] || decl.Body == nil {
		return
	}
	seen[decl] = true
	elements := map[types.Object]bool{}
	if list != nil {
		elements[list] = true
		(&givenFate{d: t.d}).spread(decl, elements)
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			root := t.d.variable(innermost(n))
			if f := t.d.field(n); f != nil {
				mine := isLocal(decl, root) && !isGiven(decl, root) && !elements[root] && !mayRefer(root.Type())
				if !mine {
					t.reads[f] = t.reads[f] || !elements[root]
				}
			} else if v, ok := t.d.t.info.Uses[n.Sel].(*types.Var); ok && ofPackage(v) {
				t.reads[v] = true
			}
		case *ast.Ident:
			if v := t.d.variable(n); ofPackage(v) {
				t.reads[v] = true
			}
		case *ast.CallExpr:
			fn := t.d.t.callee(n)
			if fn == nil {
				return true
			}
			for _, callee := range t.d.declsOf(fn) {
				t.collect(callee, t.elementGiven(decl, callee, n, elements), seen)
			}
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
				t.forget(decl, sel.X)
			}
		}
		return true
	})
}

// forget leaves out the fields of a value that the function makes for itself, such as the state of a hash.
func (t *foldTurn) forget(decl *ast.FuncDecl, x ast.Expr) {
	v := t.d.variable(ast.Unparen(x))
	if v == nil || !isLocal(decl, v) || isGiven(decl, v) || !t.d.isMade(decl, ast.Unparen(x)) {
		return
	}
	of := v.Type()
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	if s, ok := of.Underlying().(*types.Struct); ok {
		for i := range s.NumFields() {
			delete(t.reads, s.Field(i))
		}
	}
}

// elementGiven is the parameter of a function that a call gives an element, or the receiver.
func (t *foldTurn) elementGiven(decl, callee *ast.FuncDecl, n *ast.CallExpr, elements map[types.Object]bool) types.Object {
	for _, p := range parametersOf(t.d, callee) {
		if x := argumentFor(t.d, callee, n, p); x != nil && mentionsObject(t.d, x, elements) {
			return p
		}
	}
	return nil
}

// drawn tells of a fold that it reads the clock, or draws numbers.
func (t *foldTurn) drawn() (s foldState) {
	ast.Inspect(t.fold.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && s.what == "" {
			pkg := t.d.t.fromPackage(call.Fun)
			if drawing(pkg) || pkg == "time" && slices.Contains([]string{"Now", "Since", "Until"}, ownCallName(call)) {
				s = foldState{"it calls " + types.ExprString(call.Fun), t.d.placeOf(call)}
			}
		}
		return true
	})
	return s
}

// setElsewhere tells of a field or a variable which is not of the elements that something else sets than what makes it.
func (t *foldTurn) setElsewhere() foldState {
	for _, v := range sorted(t.reads) {
		if !t.reads[v] {
			continue
		}
		for _, x := range t.d.changesOfAny(v) {
			if t.inTurn(x.in, x.at) || !derivedStartsWith(t.d, x) {
				return foldState{fmt.Sprintf("it reads %s, which is set", v.Name()), t.placeAt(x.at)}
			}
		}
	}
	return foldState{}
}

// setInTurn tells of the list, of a field of its elements, or of what they point to, that a turn sets it.
func (t *foldTurn) setInTurn() (s foldState) {
	for _, v := range append(sorted(t.reads), t.owner) {
		if v == nil {
			continue
		}
		for _, x := range t.d.changesOfAny(v) {
			if t.inTurn(x.in, x.at) && !(v == t.owner && t.grows(x.at)) {
				return foldState{fmt.Sprintf("a turn changes %s of what it has been through", v.Name()), t.placeAt(x.at)}
			}
		}
	}
	t.eachInTurn(func(n ast.Node) {
		for _, x := range changedBy(n) {
			switch {
			case s.what != "":
			case t.ofPointee(x):
				s = foldState{"a turn changes what elements point to", t.d.placeOf(n)}
			case t.setsRead(x):
				s = foldState{fmt.Sprintf("a turn changes %s, which it reads", types.ExprString(x)), t.d.placeOf(n)}
			}
		}
	})
	return s
}

// setsRead tells of a place that is set that it is a field which is read, or a part of one.
func (t *foldTurn) setsRead(x ast.Expr) bool {
	for {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			if _, read := t.reads[t.d.field(e)]; read {
				return true
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return false
		}
	}
}

// grows tells of a place that it only appends to the list.
func (t *foldTurn) grows(at token.Pos) bool {
	for _, n := range nodesAt(t.loop, at) {
		if a, ok := n.(*ast.AssignStmt); ok && a.Pos() == at && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			return appendsTo(a.Rhs[0], types.ExprString(a.Lhs[0]))
		}
	}
	return false
}

// ofPointee tells of a place that is set that elements may point to it.
func (t *foldTurn) ofPointee(x ast.Expr) bool {
	if t.elem == nil {
		return false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.StarExpr:
		p, ok := t.elem.Underlying().(*types.Pointer)
		of := t.d.t.typeOf(x.X)
		return ok && (of == nil || types.Identical(of.Underlying(), p))
	case *ast.IndexExpr:
		switch t.elem.Underlying().(type) {
		case *types.Slice, *types.Map:
			of := t.d.t.typeOf(x.X)
			return of == nil || types.Identical(of.Underlying(), t.elem.Underlying())
		}
	}
	return false
}

// eachInTurn visits what a turn does, in the loop and in what it calls.
func (t *foldTurn) eachInTurn(visit func(n ast.Node)) {
	parts := []ast.Node{t.loop}
	for decl := range t.turn {
		if decl != t.caller && decl.Body != nil {
			parts = append(parts, decl.Body)
		}
	}
	slices.SortFunc(parts[1:], func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	for _, part := range parts {
		ast.Inspect(part, func(n ast.Node) bool {
			if n != nil {
				visit(n)
			}
			return true
		})
	}
}

// handedOut tells of a turn that it hands an element which is pointed to, or which points to something, to what the sources do not have.
func (t *foldTurn) handedOut() (s foldState) {
	if t.elem == nil || !mayRefer(t.elem) {
		return s
	}
	t.eachInTurn(func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || s.what != "" {
			return
		}
		fun := ast.Unparen(uninstantiated(call))
		if tv, ok := t.d.t.info.Types[fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
			return
		}
		if fn := t.d.t.callee(call); fn != nil && len(t.d.declsOf(fn)) > 0 || computes(t.d.t.fromPackage(fun), calledName(call)) || t.d.t.fromPackage(fun) == "fmt" {
			return
		}
		is := func(x ast.Expr) bool {
			of := t.d.t.typeOf(x)
			return of != nil && types.Identical(of, t.elem)
		}
		sel, selects := fun.(*ast.SelectorExpr)
		if slices.ContainsFunc(call.Args, is) || selects && is(sel.X) {
			s = foldState{fmt.Sprintf("a turn hands an element to %s, which may change it", types.ExprString(call.Fun)), t.d.placeOf(call)}
		}
	})
	return s
}

// inTurn tells of a place that a turn may come to it.
func (t *foldTurn) inTurn(in *ast.FuncDecl, at token.Pos) bool {
	if in == t.caller {
		return t.loop.Pos() <= at && at < t.loop.End()
	}
	_, ok := t.turn[in]
	return ok
}

func (t *foldTurn) placeAt(at token.Pos) codeLine {
	file, line, _ := t.d.t.at(at)
	return codeLine{file, line}
}

// tell makes a remark of a finding about a fold whose value may not go on from that of the turn before.
func (s foldState) tell(in *Input, f *Finding) {
	f.saves = false
	doubt := s.what
	if s.at.line > 0 {
		doubt += " at " + s.at.text()
		f.Evidence = append(f.Evidence, in.code.shownAt(s.at.file, s.at.line, "what it makes of the part may change with this"))
	}
	f.Doubts = append(f.Doubts, doubt+": then what it makes of the part is not what it made of the one before, with what is new")
	f.Advice = "Only if nothing that it reads changes from one turn to the next, or each change can be added to what is kept, too: keep what it makes of the part (a total, an extreme) and add what is new."
}
