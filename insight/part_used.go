package insight

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Lists and maps that something makes for a function which uses a part of them: a page, the few that a condition lets through, or only how many there are.

// partKind is what is used of a list.
type partKind int

const (
	partCut  partKind = iota // a[i:j]
	partFew                  // what a loop does more with than to look at it
	partOne                  // a search by the library, or an element
	partPass                 // the records that a condition lets through
)

// partTaken is a place that takes a part.
type partTaken struct {
	kind  partKind
	at    codeLine
	text  string // as the source has it
	first bool   // it begins with the first
	// all are the elements that there were, and used those that were used, on average of those times; 0 and -1 where that was not counted.
	all, used float64
}

// lengthUse is a place that asks for their number; bound tells that it may do so for where a part begins or ends alone.
type lengthUse struct {
	at    codeLine
	bound bool
}

// partUse is what is used of what a call, or a loop, makes.
type partUse struct {
	by      string   // what makes it
	of      codeLine // the line that has it made
	taken   []partTaken
	lengths []lengthUse
	sorted  codeLine // puts it in an order, or has none
	isMap   bool
	records bool     // it is no list: each turn, or call, makes one
	walk    *walkUse // it is a tree of files that is gone through; else nil
	asks    []string // the fields of a record that decide
	own     bool     // the function makes it in a loop of its own
	turns   float64  // of the longest loop of what makes it
	refuses codeLine // where what makes it gives an error in place of all, for one element
	judged  codeLine // where what makes it says of all elements whether any is to be used: by a result beside the list, or by giving none
	repeats bool     // it sets a key or an index that it may have set before: of those the last one counts
	keys    bool     // what makes it looks something up in a map, as one of which it takes each once
	puts    float64  // how many elements were put into it on average; 0 where that was not counted
	effects string   // what the call does besides; empty for nothing that the source shows

	// whole tells that all of it is used, returned that it is returned as it is, and at as which result.
	whole, returned bool
	at              int
}

// Limits of following a list.
const (
	partDepth = 4
	partSteps = 400
)

// partFinder reads functions for such uses, each call and loop once.
type partFinder struct {
	d      *derivations
	counts *countedTurns // nil where nothing was counted
	known  map[ast.Node]*partUse
	steps  int
}

func newPartFinder(c *code) *partFinder {
	counts := blockCountsOf(c)
	return &partFinder{d: derivationsWith(c, counts), counts: counts, known: map[ast.Node]*partUse{}}
}

// on are the parts that a frame's function uses of what is made on its line: by the function of the name that it calls there, or by a loop around the line.
func (p *partFinder) on(f stack.Frame, callee string) (all []*partUse) {
	in, ok := p.d.at(f)
	if !ok {
		return nil
	}
	if calls := p.d.callsOn(in, f, callee); callee != "" && len(calls) == 1 {
		all = append(all, p.once(calls[0], func() *partUse {
			if u := cmp.Or(p.ofFilled(in, calls[0]), p.ofWalk(in, calls[0])); u != nil {
				return u
			}
			return p.ofCall(in, calls[0])
		}))
	}
	var innermost ast.Stmt // whose turns make what is made on the line
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit != in.lit {
			return false
		}
		if body := bodyOfLoop(n); body != nil && coversLine(p.d, body, f.Line) {
			innermost = n.(ast.Stmt)
			all = append(all, p.once(n, func() *partUse { return p.ofLoop(in, n.(ast.Stmt)) }))
		}
		return true
	})
	switch {
	case innermost != nil:
		all = append(all, p.passing(in, bodyOfLoop(innermost), innermost, f.Line))
	case in.lit != nil:
		all = append(all, p.passing(in, in.lit.Body, nil, f.Line))
	}
	return slices.DeleteFunc(all, func(u *partUse) bool { return u == nil })
}

func (p *partFinder) once(n ast.Node, find func() *partUse) *partUse {
	u, known := p.known[n]
	if !known {
		p.steps = partSteps
		if u = find(); u != nil && !u.inPart() {
			u = nil
		}
		p.known[n] = u
	}
	return u
}

// inPart tells that not all of it is used, as far as the source shows. Only their number is used of elements if what makes them has one in each turn: of
// different ones, or of few that it finds among many, counting takes as long.
func (u *partUse) inPart() bool {
	if len(u.taken) == 0 && (u.isMap || u.keys || u.turns > 2*u.puts) {
		return false
	}
	if one := !slices.ContainsFunc(u.taken, func(t partTaken) bool { return t.kind != partOne }); one && (u.effects != "" || len(u.taken) > 0 && u.sorted.line > 0) {
		return false // what is made for its effect, or one by its rank
	}
	return !u.whole && !u.returned && (len(u.taken) > 0 || len(u.lengths) > 0)
}

// ofCall is what a function uses of a call's only list or map.
func (p *partFinder) ofCall(in frameCode, call *ast.CallExpr) *partUse {
	fn := p.d.t.callee(call)
	if fn == nil {
		return nil
	}
	decls, results, at := p.d.declsOf(fn), fn.Signature().Results(), -1
	for i := range results.Len() {
		if isListOrMap(results.At(i).Type()) {
			if at >= 0 {
				return nil
			}
			at = i
		}
	}
	if at < 0 || len(decls) != 1 {
		return nil
	}
	made, isMap := decls[0], isMap(results.At(at).Type())
	repeats := setsByKey(p.d, made)
	if p.buildsOn(made) != nil || repeats && !isMap || changesEarlier(p.d, made, made.Body, results.At(at).Type()) != nil {
		return nil // to have one, those before, or behind it, have to be made
	}
	u := &partUse{by: calledName(call), of: p.d.placeOf(call), isMap: isMap, refuses: refusesAll(p.d, made),
		effects: p.effectOf(made), puts: p.putsIn(made), turns: p.turnsIn(made), keys: asksMap(p.d, made), repeats: repeats, judged: judgesAll(p.d, made, at)}
	around := nodesAround(in.decl.Body, call)
	p.result(u, in.decl, call, at, around[:max(0, len(around)-1)], 0)
	return u
}

// ofFilled is what a function uses of a list or a map of its own that a library call fills, as json.Unmarshal does.
func (p *partFinder) ofFilled(in frameCode, call *ast.CallExpr) *partUse {
	if p.d.t.callee(call) != nil && p.d.t.decls[p.d.t.callee(call)] != nil || len(call.Args) == 0 {
		return nil
	}
	to, ok := ast.Unparen(call.Args[len(call.Args)-1]).(*ast.UnaryExpr)
	if !ok || to.Op != token.AND {
		return nil
	}
	v := p.d.variable(to.X)
	if v == nil || !isLocal(in.decl, v) || isGiven(in.decl, v) || isResult(in.decl, v) || !isListOrMap(v.Type()) {
		return nil
	}
	u := &partUse{by: types.ExprString(call.Fun), of: p.d.placeOf(call), isMap: isMap(v.Type())}
	p.uses(u, in.decl, v, call.End(), 0)
	return u
}

// isListOrMap tells of a type that it is a slice or a map, but for bytes and runes.
func isListOrMap(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Slice:
		b, basic := t.Elem().Underlying().(*types.Basic)
		return !basic || b.Kind() != types.Uint8 && b.Kind() != types.Int32
	}
	return false
}

// ofLoop is what a function uses of the list that a loop of it makes, if it does nothing else.
func (p *partFinder) ofLoop(in frameCode, loop ast.Stmt) *partUse {
	var of types.Object
	only := true
	eachNode(bodyOfLoop(loop), func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			_, at := gathersInto(p.d, n)
			if v := at.v; v != nil && at.field == nil && v.Pos() < loop.Pos() {
				only = only && (of == nil || of == v) && isLocal(in.decl, v) && !isGiven(in.decl, v)
				of = v
				return
			}
			for _, lhs := range n.Lhs {
				if v := p.d.variable(innermost(pointed(ast.Unparen(lhs)))); v != nil && (v.Pos() < loop.Pos() || v.Pos() > loop.End()) && !isErrorType(v.Type()) {
					only = false
				}
			}
		case *ast.IncDecStmt:
			v := p.d.variable(innermost(n.X))
			only = only && v != nil && v.Pos() > loop.Pos() && v.Pos() < loop.End()
		case *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
			only = false
		case *ast.ReturnStmt:
			only = only && (len(n.Results) == 0 || returnsFailure(n))
		}
	})
	if of == nil || !only || p.acts(bodyOfLoop(loop)) || changesEarlier(p.d, in.decl, loop, of.Type()) != nil {
		return nil
	}
	u := &partUse{by: "the loop", of: p.d.placeOf(loop), own: true}
	if p.counts != nil {
		body, ok := p.counts.entered(bodyOfLoop(loop).Lbrace)
		calls, counted := p.counts.entered(in.body().Lbrace)
		if ok && counted && calls > 0 {
			u.puts = float64(body) / float64(calls)
		}
	}
	p.uses(u, in.decl, of, loop.End(), 0)
	return u
}

// returnsFailure tells of a return that its last result is an error by its name, or made by a call.
func returnsFailure(n *ast.ReturnStmt) bool {
	switch x := n.Results[len(n.Results)-1].(type) {
	case *ast.Ident:
		return isError(x.Name)
	case *ast.CallExpr:
		return true
	}
	return false
}

// isErrorType tells of the type error.
func isErrorType(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// result follows what a call returns at a position: around are the nodes around the call.
func (p *partFinder) result(u *partUse, decl *ast.FuncDecl, call ast.Expr, at int, around []ast.Node, depth int) {
	switch n := parent(around).(type) {
	case *ast.AssignStmt:
		i := slices.Index(n.Rhs, call)
		if len(n.Rhs) == 1 {
			i = at
		}
		if i < 0 || i >= len(n.Lhs) {
			u.whole = true
			return
		}
		v := p.d.variable(n.Lhs[i])
		if v == nil || v.Name() == "_" || !isLocal(decl, v) || isResult(decl, v) {
			u.whole = true
			return
		}
		p.uses(u, decl, v, n.End(), depth)
	case *ast.ValueSpec:
		if i := min(at, len(n.Names)-1); len(n.Values) == 1 && i >= 0 {
			p.uses(u, decl, p.d.variable(n.Names[i]), n.End(), depth)
			return
		}
		u.whole = true
	default:
		p.use(u, decl, call, around, depth)
	}
}

// uses goes through what a function does with a variable behind a place.
func (p *partFinder) uses(u *partUse, decl *ast.FuncDecl, v types.Object, from token.Pos, depth int) {
	if v == nil || depth > partDepth {
		u.whole = true
		return
	}
	until := token.Pos(1 << 40) // where it becomes a part of itself
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || p.d.t.info.Uses[id] != v || u.whole {
			return
		}
		if loop := innermostAround(around, from); id.Pos() < from && loop == nil || id.Pos() > until {
			return
		}
		if p.steps--; p.steps < 0 {
			u.whole = true
			return
		}
		if of := literalSince(around, from); of != nil {
			pkg := p.d.t.fromPackage(of.Fun)
			own := (pkg == "sort" || pkg == "slices") && len(of.Args) > 0 && p.d.variable(ast.Unparen(of.Args[0])) == v
			u.whole = u.whole || !own // else it is the comparison of a call that is a use of its own
			return
		}
		if set, ok := parent(around).(*ast.AssignStmt); ok && slices.Contains(set.Lhs, ast.Expr(id)) {
			if cut := partOfItself(p.d, set, v); cut != nil {
				until = set.End()
			}
			return
		}
		p.use(u, decl, id, around, depth)
	})
}

// literalSince is the call that is given a function without a name which is among some nodes, and a place is not in; a call of nothing where it is
// not an argument.
func literalSince(around []ast.Node, from token.Pos) *ast.CallExpr {
	for i, n := range around {
		if _, ok := n.(*ast.FuncLit); !ok || n.Pos() < from && from < n.End() {
			continue
		}
		if call, ok := around[i-1].(*ast.CallExpr); ok {
			return call
		}
		return &ast.CallExpr{}
	}
	return nil
}

// innermostAround is the innermost loop among some nodes that a place is in: what stands before it there comes behind it in the next turn.
func innermostAround(around []ast.Node, from token.Pos) ast.Node {
	for _, n := range slices.Backward(around) {
		if bodyOfLoop(n) != nil && n.Pos() < from && from < n.End() {
			return n
		}
	}
	return nil
}

// partOfItself is what a statement cuts from a variable that it sets to that.
func partOfItself(d *derivations, set *ast.AssignStmt, v types.Object) *ast.SliceExpr {
	if len(set.Lhs) != 1 || len(set.Rhs) != 1 {
		return nil
	}
	cut, ok := ast.Unparen(set.Rhs[0]).(*ast.SliceExpr)
	if !ok || d.variable(set.Lhs[0]) != v || d.variable(cut.X) != v {
		return nil
	}
	return cut
}

// use sorts one use of the list: x is the variable, or what has all of it.
func (p *partFinder) use(u *partUse, decl *ast.FuncDecl, x ast.Expr, around []ast.Node, depth int) {
	switch n := parent(around).(type) {
	case *ast.ParenExpr:
		p.use(u, decl, n, around[:len(around)-1], depth)
	case *ast.BinaryExpr:
		u.whole = u.whole || !isNamed(n.X, "nil") && !isNamed(n.Y, "nil")
	case *ast.CallExpr:
		p.given(u, decl, n, x, around, depth)
	case *ast.SelectorExpr: // a method of its type
		call, ok := parent(around[:len(around)-1]).(*ast.CallExpr)
		if !ok || call.Fun != ast.Expr(n) {
			u.whole = true
			return
		}
		p.given(u, decl, call, x, around[:len(around)-1], depth)
	case *ast.SliceExpr:
		p.cut(u, decl, n, around[:len(around)-1], depth)
	case *ast.IndexExpr:
		p.element(u, decl, n, around[:len(around)-1])
	case *ast.RangeStmt:
		p.loop(u, decl, n)
	case *ast.AssignStmt:
		i := slices.Index(n.Rhs, x)
		if i < 0 || len(n.Lhs) != len(n.Rhs) {
			u.whole = true
			return
		}
		if v := p.d.variable(n.Lhs[i]); v == nil || !isLocal(decl, v) || isResult(decl, v) {
			u.whole = true
		} else {
			p.uses(u, decl, v, n.End(), depth+1)
		}
	case *ast.ReturnStmt:
		u.returned, u.at = true, max(0, slices.Index(n.Results, x))
	case *ast.ExprStmt:
	default:
		u.whole = true
	}
}

// given sorts a use as an argument, or as the receiver.
func (p *partFinder) given(u *partUse, decl *ast.FuncDecl, call *ast.CallExpr, x ast.Expr, around []ast.Node, depth int) {
	outer := around[:len(around)-1]
	name := types.ExprString(call.Fun)
	switch pkg := p.d.t.fromPackage(call.Fun); {
	case isNamed(call.Fun, "len"):
		if b, ok := parent(outer).(*ast.BinaryExpr); !ok || !isZero(b.X) && !isZero(b.Y) {
			u.lengths = append(u.lengths, lengthUse{p.d.placeOf(call), isBound(outer)})
		}
		return
	case isNamed(call.Fun, "cap"):
		return
	case (pkg == "sort" || pkg == "slices") && ordering.MatchString(name) && !takesAll(name):
		u.sorted = p.d.placeOf(call)
		return
	case (pkg == "slices" || pkg == "sort") && partSearches(calledName(call)) && len(call.Args) > 0 && call.Args[0] == x:
		u.taken = append(u.taken, partTaken{kind: partOne, at: p.d.placeOf(call), text: name, used: 1})
		return
	case pkg != "" || slices.ContainsFunc(around, isDeferOrGo):
		u.whole = true
		return
	}
	fn := p.d.t.callee(call)
	if fn == nil || fn.Signature().Variadic() {
		u.whole = true
		return
	}
	decls := p.d.declsOf(fn)
	if len(decls) != 1 || decls[0] == decl || depth >= partDepth {
		u.whole = true
		return
	}
	param := p.d.given(decls[0], slices.Index(call.Args, x))
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && sel.X == x {
		param = receiverVariable(p.d, decls[0])
	}
	if param == nil {
		u.whole = true
		return
	}
	inner := &partUse{}
	p.uses(inner, decls[0], param, decls[0].Body.Pos(), depth+1)
	u.taken, u.lengths, u.whole = append(u.taken, inner.taken...), append(u.lengths, inner.lengths...), u.whole || inner.whole
	if inner.sorted.line > 0 {
		u.sorted = inner.sorted
	}
	if inner.returned && !u.whole { // all of it, and what it is now is in the result
		p.result(u, decl, call, inner.at, outer, depth+1)
	}
}

// isBound tells of an expression, of which the nodes around it are given, that it says where a part begins or ends, or whether that is within the list: it is
// compared, or stands in an index.
func isBound(around []ast.Node) bool {
	for _, n := range slices.Backward(around) {
		switch n := n.(type) {
		case *ast.IndexExpr, *ast.SliceExpr:
			return true
		case *ast.BinaryExpr:
			if n.Op.Precedence() == token.EQL.Precedence() {
				return true
			}
		case *ast.CallExpr:
			if isNamed(n.Fun, "min") || isNamed(n.Fun, "max") {
				return true
			}
		case ast.Stmt:
			return false
		}
	}
	return false
}

// takesAll tells of a function of the library by whose name it might put a list in order that it gives something made of all.
func takesAll(name string) bool {
	return slices.Contains([]string{"slices.Backward", "slices.Max", "slices.Min", "slices.MaxFunc", "slices.MinFunc", "slices.SortedFunc", "slices.Sorted"}, name)
}

// partSearches tells of a function of the library that it finds one element.
func partSearches(name string) bool {
	return slices.Contains([]string{"Contains", "ContainsFunc", "Index", "IndexFunc", "BinarySearch", "BinarySearchFunc", "Search", "SearchStrings", "SearchInts", "Find"}, name)
}

// cut sorts x[a:b].
func (p *partFinder) cut(u *partUse, decl *ast.FuncDecl, cut *ast.SliceExpr, around []ast.Node, depth int) {
	if cut.High == nil && (cut.Low == nil || isZero(cut.Low)) {
		p.use(u, decl, cut, around, depth)
		return
	}
	if cut.High == nil || isZero(cut.High) || innermostAround(around, cut.Pos()) != nil && partOfTurns(p.d, cut, around) {
		u.whole = true // the rest of it, or one part after another
		return
	}
	t := partTaken{kind: partCut, at: p.d.placeOf(cut), text: types.ExprString(cut), first: cut.Low == nil || isZero(cut.Low), used: -1}
	if p.counts != nil {
		if p.emptyAt(cut.Lbrack) {
			u.whole = true // there was never anything in it to leave out
			return
		}
		t.all, t.used = p.sizeAt(cut.Lbrack), p.sizeAt(cut.Rbrack)
		if t.all == 0 {
			t.used = -1
		}
	}
	u.taken = append(u.taken, t)
}

// partOfTurns tells of a cut within a loop that its bounds change from turn to turn: all parts together may be all.
func partOfTurns(d *derivations, cut *ast.SliceExpr, around []ast.Node) bool {
	for _, n := range around {
		if bodyOfLoop(n) == nil {
			continue
		}
		for _, bound := range []ast.Expr{cut.Low, cut.High} {
			if bound == nil {
				continue
			}
			if hasNode(bound, func(x ast.Node) bool {
				id, ok := x.(*ast.Ident)
				return ok && d.variable(id) != nil && (within(n, id) && d.variable(id).Pos() > n.Pos() || setWithin(d, n, d.variable(id)))
			}) {
				return true
			}
		}
	}
	return false
}

// setWithin tells of a variable that something within a node sets it.
func setWithin(d *derivations, n ast.Node, v types.Object) bool {
	return hasAny(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return d.variable(x) == v })
		case *ast.IncDecStmt:
			return d.variable(n.X) == v
		}
		return false
	})
}

// sizeAt is how large what was looked at at a bracket was, on average; 0 where nothing was.
func (p *partFinder) sizeAt(pos token.Pos) float64 {
	file, _, offset := p.d.t.at(pos)
	l, ok := p.counts.blocks.LoopAt(file, offset)
	if !ok || l.Looked == 0 {
		return 0
	}
	return float64(l.Size) / float64(l.Looked)
}

// emptyAt tells that what was looked at at a bracket had nothing in it, each time.
func (p *partFinder) emptyAt(pos token.Pos) bool {
	file, _, offset := p.d.t.at(pos)
	l, ok := p.counts.blocks.LoopAt(file, offset)
	return ok && l.Looked > 0 && l.Size == 0
}

// element sorts x[i]: within a loop that goes through it, it belongs to that; else it is one of them.
func (p *partFinder) element(u *partUse, decl *ast.FuncDecl, x *ast.IndexExpr, around []ast.Node) {
	if set, ok := parent(around).(*ast.AssignStmt); ok && slices.Contains(set.Lhs, ast.Expr(x)) {
		u.whole = true
		return
	}
	v := p.d.variable(innermost(x.X))
	for _, n := range slices.Backward(around) {
		if bodyOfLoop(n) == nil || v == nil || n.Pos() < v.Pos() && v.Pos() < n.End() {
			continue // each turn has another list
		}
		own := false
		switch n := n.(type) {
		case *ast.RangeStmt:
			own = n.Key != nil && p.indexedBy(x, n.Key)
			if own && types.ExprString(n.X) != types.ExprString(x.X) {
				own = false
			} else if own {
				return // the loop is a use of its own
			}
		case *ast.ForStmt:
			if set, ok := n.Init.(*ast.AssignStmt); ok && len(set.Lhs) == 1 {
				own = p.indexedBy(x, set.Lhs[0])
			}
		}
		if !own {
			u.whole = true
			return
		}
		p.loop(u, decl, n.(ast.Stmt))
		return
	}
	u.taken = append(u.taken, partTaken{kind: partOne, at: p.d.placeOf(x), text: types.ExprString(x), used: 1})
}

// indexedBy tells of x[i] that i has a variable in it.
func (p *partFinder) indexedBy(x *ast.IndexExpr, of ast.Expr) bool {
	v := p.d.variable(of)
	return v != nil && derivedMentions(p.d, x.Index, v)
}

// loop sorts a loop that goes through it: what its turns do more with than to look at it is used.
func (p *partFinder) loop(u *partUse, decl *ast.FuncDecl, loop ast.Stmt) {
	at := p.d.placeOf(loop)
	if slices.ContainsFunc(u.taken, func(t partTaken) bool { return t.kind == partFew && t.at == at }) {
		return
	}
	if p.counts == nil {
		u.whole = true
		return
	}
	over, ok := p.counts.loopAt(loop)
	began := float64(over.Entered)
	turns, counted := p.counts.entered(bodyOfLoop(loop).Lbrace)
	if !counted {
		u.whole = true
		return
	}
	t := partTaken{kind: partFew, at: at, text: types.ExprString(goneThrough(loop)), used: float64(turns)}
	if !ok || over.Looked == 0 {
		calls, ok := p.counts.entered(decl.Body.Lbrace)
		if !ok || calls == 0 || u.puts == 0 {
			u.whole = true
			return
		}
		began, t.all = float64(calls), u.puts
	} else {
		t.all = float64(over.Size) / float64(over.Looked)
	}
	if turns == 0 && t.all == 0 {
		u.whole = true // it was empty each time: nothing tells what the turns would use, nor that anything is made for nothing
		return
	}
	if c, ok := p.counts.of(frameCode{decl: decl, file: at.file}, loop); ok {
		if p.comparesBest(bodyOfLoop(loop), c.decides) {
			u.whole = true // which one it is, is known when all are there
			return
		}
		t.used = float64(c.acting)
	}
	t.used /= max(1, began)
	u.taken = append(u.taken, t)
}

// comparesBest tells of a condition in a loop's body that it asks for something that the body sets, as the best so far.
func (p *partFinder) comparesBest(body *ast.BlockStmt, cond ast.Expr) bool {
	return hasNode(cond, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		v := p.d.variable(id)
		return ok && v != nil && (v.Pos() < body.Pos() || v.Pos() > body.End()) && setWithin(p.d, body, v)
	})
}

// used is the part of the elements that is used, and how many there are, on average; it is false where that was not counted.
func (u *partUse) used() (part, all float64, ok bool) {
	all = u.puts
	for _, t := range u.taken {
		all = max(all, t.all)
	}
	if all == 0 {
		return 0, 0, false
	}
	for _, t := range u.taken {
		switch {
		case t.used < 0:
			return 0, 0, false
		case t.all > 0:
			part += t.used / t.all
		default:
			part += t.used / all
		}
	}
	return min(1, part), all, true
}
