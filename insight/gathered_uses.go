package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// How a gathered list is followed from where it is complete: through the function that gathers it, those that are given it, or the struct that
// has it, and those that it is returned to.

// uses goes through the uses of a variable that has the list, or what has it in a field, behind a position.
func (f *gatheredUse) uses(decl *ast.FuncDecl, at listPlace, from token.Pos, depth int) {
	within := token.NoPos // the end of the loop that goes through it
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.d.t.info.Uses[id] != at.v || id.Pos() < within {
			return
		}
		if early := decl == f.g.decl && covers(f.g.whole, id) && f.g.leavesWith(around); id.Pos() < from && !early {
			return
		}
		if slices.ContainsFunc(around, func(n ast.Node) bool { _, lit := n.(*ast.FuncLit); return lit && n.Pos() > from }) {
			f.speaks(id, "a function without a name has it, which may run more than once")
		}
		if loop := f.useOf(decl, id, at, around, max(at.v.Pos(), from), depth); loop != nil {
			within = loop.End()
		}
	})
	if i := resultIndex(decl, at.v); i >= 0 {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) == 0 && !withinLit(around) && ret.Pos() > from {
				f.returned(decl, ret, i, at.field, depth)
			}
		})
	}
}

// resultIndex is which result with a name a variable is; -1 of any other.
func resultIndex(decl *ast.FuncDecl, v types.Object) int {
	if decl.Type.Results == nil {
		return -1
	}
	i := 0
	for _, field := range decl.Type.Results.List {
		for _, id := range field.Names {
			if id.Pos() == v.Pos() {
				return i
			}
			i++
		}
	}
	return -1
}

// useOf follows an expression whose value is the list, or has it in a field: at says which, and is of no variable where the expression is a
// call. Where it is what a loop goes through, it gives that loop.
func (f *gatheredUse) useOf(decl *ast.FuncDecl, e ast.Expr, at listPlace, around []ast.Node, since token.Pos, depth int) ast.Node {
	parent, outer := around[len(around)-1], around[:len(around)-1]
	if at.field != nil && ast.Expr(e) != nil && !at.is(f.d, e) {
		return f.useOfHolder(decl, e, at, around, since, depth)
	}
	if loop, ok := passOf(f.d, e, around); ok {
		loop.decl = decl
		if loopsSinceBut(around, since, loop.loop) {
			f.speaks(loop.loop, "it is gone through again and again")
		}
		if at.v != nil && (!onlyByItem(f.d, at, loop) || at.field != nil && f.looksBeside(at, loop)) {
			f.speaks(loop.loop, "a turn looks at other items, or asks how many there are")
		}
		loop.measures = measuresOnly(f.d, loop)
		loop.counts = !loop.measures && countsOrAdds(f.d, loop)
		f.g.passes = append(f.g.passes, loop)
		f.spans(decl, loop.loop)
		return loop.loop
	}
	switch p := parent.(type) {
	case *ast.ReturnStmt:
		f.returned(decl, p, slices.Index(p.Results, e), nil, depth)
	case *ast.CallExpr:
		f.given(decl, p, e, listPlace{}, around, since, depth)
	case *ast.BinaryExpr:
		if p.Op != token.EQL && p.Op != token.NEQ {
			f.speaks(p, "it is used as a whole")
		}
	case *ast.KeyValueExpr:
		f.literal(decl, p, e, outer, since, depth)
	case *ast.AssignStmt:
		f.assigned(decl, p, e, at, depth)
	case *ast.IndexExpr:
		if p.X != e || !isZero(p.Index) || slices.ContainsFunc(outer, func(n ast.Node) bool {
			return slices.ContainsFunc(placesSet(n), func(lhs ast.Expr) bool { return covers(lhs, p) })
		}) {
			f.speaks(p, "items are taken from it by their number")
		}
	default:
		f.speaks(e, "it is used as a whole")
	}
	return nil
}

// useOfHolder is useOf of what has the list in a field.
func (f *gatheredUse) useOfHolder(decl *ast.FuncDecl, e ast.Expr, at listPlace, around []ast.Node, since token.Pos, depth int) ast.Node {
	outer := around[:len(around)-1]
	switch p := around[len(around)-1].(type) {
	case *ast.SelectorExpr:
		switch field := f.d.field(p); field {
		case at.field:
			if at.v == nil {
				at = listPlace{}
			}
			return f.useOf(decl, p, at, outer, since, depth)
		case nil:
			if call, ok := outer[len(outer)-1].(*ast.CallExpr); ok && call.Fun == ast.Expr(p) {
				f.given(decl, call, e, listPlace{field: at.field}, outer, since, depth)
				return nil
			}
			f.speaks(p, "it is used as a whole")
		default:
			if f.beside[field] {
				f.asks(decl, p, outer)
			}
		}
	case *ast.UnaryExpr:
		return f.useOfHolder(decl, p, at, outer, since, depth)
	case *ast.StarExpr:
		return f.useOfHolder(decl, p, at, outer, since, depth)
	case *ast.ReturnStmt:
		f.returned(decl, p, slices.Index(p.Results, e), at.field, depth)
	case *ast.CallExpr:
		f.given(decl, p, e, listPlace{field: at.field}, around, since, depth)
	case *ast.BinaryExpr:
		if p.Op != token.EQL && p.Op != token.NEQ {
			f.speaks(p, "it is used as a whole")
		}
	case *ast.AssignStmt:
		v := types.Object(nil)
		if len(p.Lhs) == 1 && len(p.Rhs) == 1 && p.Rhs[0] == e && p.Tok == token.DEFINE {
			v = f.d.variable(p.Lhs[0])
		}
		if v == nil {
			f.speaks(p, "it goes on as a whole")
			return nil
		}
		f.uses(decl, listPlace{v, at.field}, p.End(), depth)
	default:
		f.speaks(e, "it is used as a whole")
	}
	return nil
}

// literal goes on with a struct that is made with the list in a field.
func (f *gatheredUse) literal(decl *ast.FuncDecl, p *ast.KeyValueExpr, e ast.Expr, around []ast.Node, since token.Pos, depth int) {
	lit, ok := around[len(around)-1].(*ast.CompositeLit)
	id, named := p.Key.(*ast.Ident)
	if ok && named && p.Value == e {
		if field, ok := f.d.t.info.Uses[id].(*types.Var); ok && field.IsField() {
			f.carriesIn(lit)
			f.useOfHolder(decl, lit, listPlace{field: field.Origin()}, around[:len(around)-1], since, depth)
			return
		}
	}
	f.speaks(p, "it goes on as a whole")
}

// assigned goes on with a field that is given the list.
func (f *gatheredUse) assigned(decl *ast.FuncDecl, a *ast.AssignStmt, e ast.Expr, at listPlace, depth int) {
	if add, to := gathersInto(f.d, a); add != nil && to == at {
		return // one item more behind the loop
	}
	i := slices.Index(a.Rhs, e)
	if i < 0 || len(a.Rhs) != len(a.Lhs) || a.Tok != token.ASSIGN {
		f.speaks(a, "it goes on as a whole")
		return
	}
	into := placeOfList(f.d, a.Lhs[i])
	switch v := into.v; {
	case v == nil || into.field == nil || depth >= gatheredDepth:
	case makesEmpty(f.d, decl, v, into.field, 0) && !lookedAtBefore(f.d, decl, into, a.Pos(), func([]ast.Node) bool { return false }):
		f.uses(decl, into, a.End(), depth)
		return
	case isGiven(decl, v):
		f.uses(decl, into, a.End(), depth)
		f.filled(decl, into, depth)
		return
	}
	f.speaks(a, "it goes on as a whole")
}

// looksBeside tells of a loop through a list in a field that its body looks at what has it, but for a field that the turns do not set.
func (f *gatheredUse) looksBeside(at listPlace, p passThrough) (found bool) {
	eachNode(p.body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.d.t.info.Uses[id] != at.v {
			return
		}
		sel, ok := around[len(around)-1].(*ast.SelectorExpr)
		if !ok {
			found = true
			return
		}
		field := f.d.field(sel)
		found = found || f.beside[field] || field == nil && f.callsOnList(sel, at.field)
	})
	return found
}

// callsOnList tells of a method that it, or what it calls, looks at the list in a field, or at what the turns set beside it.
func (f *gatheredUse) callsOnList(sel *ast.SelectorExpr, field types.Object) bool {
	fn, _ := f.d.t.info.Uses[sel.Sel].(*types.Func)
	decl := f.d.t.decls[fn]
	if fn == nil || decl == nil || mentionsField(f.d, decl, field) {
		return true
	}
	for other := range f.beside {
		if mentionsField(f.d, decl, other) {
			return true
		}
	}
	return false
}

// spans notes that the list is gone through in a function, by a loop or a call there.
func (f *gatheredUse) spans(decl *ast.FuncDecl, n ast.Node) {
	if _, known := f.begins[decl]; !known {
		f.begins[decl] = n.Pos()
	}
	f.ends[decl] = max(f.ends[decl], n.End())
}

// ordering are functions that need all of a list, whatever else they do with it.
var ordering = lazily(`(?i)sort|reverse|shuffle|uniq|compact|dedup|backward|\.max|\.min`)

// given is a call that has the list among its arguments, or what has it in a field of place.
func (f *gatheredUse) given(decl *ast.FuncDecl, call *ast.CallExpr, e ast.Expr, place listPlace, around []ast.Node, since token.Pos, depth int) {
	holder := place.field != nil
	switch {
	case !holder && isNamed(call.Fun, "len"):
		if b, ok := around[len(around)-2].(*ast.BinaryExpr); !ok || !isZero(b.X) && !isZero(b.Y) || b.Op == token.SUB || b.Op == token.ADD {
			f.asks(decl, call, around[:len(around)-1])
		}
		return
	case !holder && isNamed(call.Fun, "append"):
		if a, ok := around[len(around)-2].(*ast.AssignStmt); ok {
			if _, to := gathersInto(f.d, a); to.v != nil && call.Args[0] == e {
				return // one item more behind the loop
			}
		}
		f.speaks(call, "it goes on into another list")
		return
	case ordering.MatchString(types.ExprString(call.Fun)):
		f.speaks(call, "it needs all of them: "+types.ExprString(call.Fun))
		return
	case loopsSince(around, since):
		f.speaks(call, "it is handed on again and again")
		return
	}
	before := len(f.g.passes)
	if i := slices.Index(call.Args, e); depth < gatheredDepth && !slices.ContainsFunc(around, isDeferOrGo) {
		f.into(decl, call, i, place.field, depth)
	} else {
		before = -1
	}
	switch {
	case len(f.g.passes) > before && before >= 0:
		f.spans(decl, call)
	case !holder || before < 0 || len(meantBy(f.d, call, slices.Index(call.Args, e))) == 0:
		f.speaks(call, "all of it is handed to "+types.ExprString(call.Fun))
	}
}

// into follows the list into what a call may mean: its i-th argument, or, below 0, its receiver.
func (f *gatheredUse) into(decl *ast.FuncDecl, call *ast.CallExpr, i int, field types.Object, depth int) {
	decls := meantBy(f.d, call, i)
	if slices.Contains(decls, decl) {
		return
	}
	for k, callee := range decls {
		at := listPlace{listParameter(f.d, callee, i), field}
		if k == 0 {
			f.uses(callee, at, callee.Body.Pos(), depth+1)
			continue
		}
		g := *f.g
		g.passes, g.against, g.others = nil, "", nil
		other := *f
		other.g = &g
		other.uses(callee, at, callee.Body.Pos(), depth+1)
		switch {
		case g.against != "":
			f.speaks(nil, g.against)
		case len(g.passes) != 1:
			f.speaks(call, "all of it is handed to "+types.ExprString(call.Fun))
		default:
			f.g.others, f.g.handed = append(f.g.others, g.passes[0]), call
		}
		f.told = other.told
	}
}

// listParameter is the i-th parameter of a function, or, below 0, its receiver.
func listParameter(d *derivations, decl *ast.FuncDecl, i int) types.Object {
	if i >= 0 {
		return d.given(decl, i)
	}
	return receiverVariable(d, decl)
}

// mostMeant is how many methods a call of an interface's may mean, to be followed into all of them.
const mostMeant = 4

// meantBy are the functions that a call may mean: of an interface's method, those with its signature. There are none where one of them
// cannot be followed, as the parameter has no name.
func meantBy(d *derivations, call *ast.CallExpr, i int) []*ast.FuncDecl {
	fn := d.t.callee(call)
	if fn == nil {
		return nil
	}
	decls := d.declsOf(fn)
	if d.t.decls[fn] == nil {
		decls = slices.DeleteFunc(decls, func(decl *ast.FuncDecl) bool {
			def := d.t.info.Defs[decl.Name]
			return def == nil || !types.Identical(def.Type(), fn.Type())
		})
	}
	if len(decls) > mostMeant || slices.ContainsFunc(decls, func(decl *ast.FuncDecl) bool { return decl.Body == nil || listParameter(d, decl, i) == nil }) {
		return nil
	}
	slices.SortFunc(decls, func(a, b *ast.FuncDecl) int { return int(a.Pos() - b.Pos()) })
	return decls
}

// returned goes on in the only caller.
func (f *gatheredUse) returned(decl *ast.FuncDecl, ret *ast.ReturnStmt, i int, field types.Object, depth int) {
	if known, followed := f.back[decl]; followed && known == i {
		return // by another return
	}
	_, followed := f.back[decl]
	f.back[decl] = i
	caller, call, ok := onlyCall(f.d, decl)
	if !ok || followed || depth >= gatheredDepth || i < 0 {
		f.speaks(ret, "it is returned")
		return
	}
	around := nodesAround(caller.Body, call)
	around = around[:len(around)-1]
	a, ok := around[len(around)-1].(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		if resultCount(decl) > 1 {
			f.speaks(ret, "it is returned")
			return
		}
		f.useOf(caller, call, listPlace{field: field}, around, call.Pos(), depth+1)
		f.between(caller, call.Pos(), token.Pos(1<<40))
		return
	}
	v := types.Object(nil)
	if i < len(a.Lhs) {
		v = f.d.variable(a.Lhs[i])
	}
	if v == nil || !isLocal(caller, v) || a.Tok != token.DEFINE && !setOnce(f.d, caller, v) {
		f.speaks(ret, "it is returned")
		return
	}
	f.carriesBy(ret, i, caller, a)
	f.uses(caller, listPlace{v, field}, a.End(), depth+1)
	f.between(caller, a.End(), token.Pos(1<<40))
}

// resultCount is how many results a function has.
func resultCount(decl *ast.FuncDecl) int {
	if decl.Type.Results == nil {
		return 0
	}
	return decl.Type.Results.NumFields()
}

// setOnce tells of a variable that is declared without a value that one statement gives it one.
func setOnce(d *derivations, decl *ast.FuncDecl, v types.Object) bool {
	sets := 0
	for _, def := range d.definitions(decl)[v] {
		switch {
		case def.part:
		case def.unknown || def.ranged:
			return false
		case def.x != nil:
			sets++
		}
	}
	return sets == 1 && !isGiven(decl, v)
}

// onlyCall is the only call of a function in the sources, and the function that makes it.
func onlyCall(d *derivations, decl *ast.FuncDecl) (caller *ast.FuncDecl, call *ast.CallExpr, ok bool) {
	all := whoCalls(d, decl)
	if len(all) != 1 || len(callersTo(d, decl)) != 1 {
		return nil, nil, false
	}
	return all[0].in, all[0].call, true
}

// filled goes on in the only caller of a function that is given what it fills, or of whose receiver it is: it has to be something that the
// caller, or one above it, makes, and that nobody else has.
func (f *gatheredUse) filled(decl *ast.FuncDecl, at listPlace, depth int) {
	caller, call, ok := onlyCall(f.d, decl)
	if !ok || depth >= gatheredDepth {
		f.speaks(decl.Name, "somebody else has what it is put into")
		return
	}
	arg := argumentFor(f.d, decl, call, at.v)
	if arg == nil {
		f.speaks(call, "somebody else has what it is put into")
		return
	}
	above := listPlace{f.d.variable(ast.Unparen(unrefer(arg))), at.field}
	around := nodesAround(caller.Body, call)
	if above.v == nil || !isLocal(caller, above.v) || slices.ContainsFunc(around, isDeferOrGo) || withinLit(around) {
		f.speaks(call, "somebody else has what it is put into")
		return
	}
	own := func(around []ast.Node) bool { return slices.Contains(around, ast.Node(call)) }
	given := isGiven(caller, above.v) && !isResult(caller, above.v)
	if !given && !makesEmpty(f.d, caller, above.v, at.field, 0) || lookedAtBefore(f.d, caller, above, call.End(), own) {
		f.speaks(call, "somebody else has what it is put into")
		return
	}
	from := call.End()
	if whole, _ := turnsSince(around, above.v.Pos()); whole != nil {
		from = whole.End()
		if lookedAtBefore(f.d, caller, above, from, own) {
			f.speaks(call, "it is handed on again and again")
		}
	}
	f.uses(caller, above, from, depth+1)
	f.between(caller, from, token.Pos(1<<40))
	if given {
		f.filled(caller, above, depth+1)
	}
}
