package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What a loop gathers in a list before the first item of it is handled, by the source: the list is a local variable, each turn
// adds to it, and behind the loop it is gone through, in the same function, in one that is given it, or in the only caller.

// gathered is such a list.
type gathered struct {
	decl  *ast.FuncDecl
	of    types.Object
	field types.Object      // of a list that is a field of what the variable has; nil of one that the variable has itself
	adds  []*ast.AssignStmt // the statements that append to it
	// whole is what has all turns: a loop, or the statement of a call that is given the function which appends.
	whole ast.Node
	lit   *ast.FuncLit // that function; nil of a loop
	// passes are the loops that go through it, in the order of the source.
	passes []passThrough
	// others are those that handle it instead of the last one, in other methods that a call may mean; handed is that call.
	others []passThrough
	handed ast.Node
	// tells is a line of output before the last pass that says how many there are, or a field beside them; nil where there is none.
	tells ast.Node
	// against says why an item cannot be handled when it comes; empty where nothing in the source speaks against it.
	against string
	// keeps says where the items go on being in use; empty where the source shows none.
	keeps string
	// fails is where the gathering can end with an error before the first item is handled, by the source; nil where it does not.
	fails ast.Node
	// breaks is such a place where that only is because a source cannot be read, and what is handled is written.
	breaks ast.Node
	// begun is where what the items are written to is begun, behind the turns; nil where the source shows no such place.
	begun ast.Node
	// touches is where the handling may change what the items are read from; nil where the source shows no such place.
	touches *sourceChange
	// shifts is where the handling may take something out of what the pages are of that the turns ask for by numbers; nil where the source shows no such place.
	shifts *pageShift
	// closes tells that something is closed between the gathering and the first pass.
	closes bool
}

// passThrough is a loop that goes through all of a list.
type passThrough struct {
	decl *ast.FuncDecl
	loop ast.Node // *ast.RangeStmt or *ast.ForStmt
	body *ast.BlockStmt
	item []types.Object // the variables of a turn that have an item
	// measures tells that it does nothing but to find how long the longest text of each column is.
	measures bool
	// counts tells that it only counts or adds up what a line of output tells.
	counts bool
}

// gathering depth: through how many functions a list is followed.
const gatheredDepth = 3

// gatheredLists are the lists that loops of a function gather.
func gatheredLists(d *derivations, decl *ast.FuncDecl) (all []*gathered) {
	by := map[listPlace]*gathered{}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		a, at := gathersInto(d, n)
		if a == nil || !isLocal(decl, at.v) || at.field == nil && isGiven(decl, at.v) && !isResult(decl, at.v) {
			return
		}
		whole, lit := turnsSince(around, at.v.Pos())
		g := by[at]
		if g == nil {
			g = &gathered{decl: decl, of: at.v, field: at.field}
			by[at] = g
		}
		if whole == nil {
			return // one item more, as a headline
		}
		g.whole, g.lit = whole, lit
		g.adds = append(g.adds, a)
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	})
	all = slices.DeleteFunc(all, func(g *gathered) bool { return !fillsFromEmpty(d, g) })
	for _, g := range all {
		followGathered(d, g)
	}
	return all
}

// turnsSince is the outermost of some nodes that runs again and again behind a position: a loop, or the statement with a call
// that is given a function without a name. It is nil where there is none, or where other goroutines may run it.
func turnsSince(around []ast.Node, pos token.Pos) (whole ast.Node, lit *ast.FuncLit) {
	for i, n := range around {
		if n.Pos() <= pos {
			continue
		}
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if whole == nil {
				whole = n
			}
		case *ast.FuncLit:
			call, ok := around[i-1].(*ast.CallExpr)
			if !ok || call.Fun == ast.Expr(n) || lit != nil || startsGoroutine(n, around[:i]) || slices.ContainsFunc(around[:i], isDeferOrGo) {
				return nil, nil
			}
			if lit = n; whole != nil {
				continue
			}
			for _, outer := range slices.Backward(around[:i]) {
				if s, ok := outer.(ast.Stmt); ok && outer.Pos() > pos {
					if is, ok := s.(*ast.IfStmt); ok {
						s = is.Init
					}
					whole = s
					break
				}
			}
			if whole == nil {
				return nil, nil
			}
		}
	}
	return whole, lit
}

func isDeferOrGo(n ast.Node) bool {
	switch n.(type) {
	case *ast.DeferStmt, *ast.GoStmt:
		return true
	}
	return false
}

// followGathered finds what is done with a list behind its loop.
func followGathered(d *derivations, g *gathered) {
	f := &gatheredUse{d: d, g: g, begins: map[*ast.FuncDecl]token.Pos{}, ends: map[*ast.FuncDecl]token.Pos{}, back: map[*ast.FuncDecl]int{}}
	f.setsBeside()
	f.uses(g.decl, g.place(), g.whole.End(), 0)
	if g.field != nil && isGiven(g.decl, g.of) && !isResult(g.decl, g.of) {
		f.filled(g.decl, g.place(), 0)
	}
	if len(g.passes) == 0 {
		f.speaks(nil, "nothing in the source goes through it")
		return
	}
	for i := range g.passes[:len(g.passes)-1] {
		if p := &g.passes[i]; !p.measures && !(p.counts && f.toldOf(p)) {
			f.speaks(p.loop, "it is gone through here, and once more behind it")
		}
	}
	f.numbers()
	last := g.passes[len(g.passes)-1]
	failsBefore(d, g)
	if g.passes[0].decl == g.decl {
		f.between(g.decl, g.whole.End(), g.passes[0].loop.Pos())
	}
	f.needsAll(last)
	for _, p := range append([]passThrough{last}, g.others...) {
		f.shares(p)
		if g.against == "" {
			f.changes(p)
		}
		if g.against == "" {
			noteShift(f, p)
		}
		if startsFrom(p.body) && g.keeps == "" { // without a limit, all items would be in use by goroutines instead
			g.keeps = fmt.Sprintf("each turn starts a goroutine (%s), which has the item until it ends", d.placeOf(p.loop).text())
		}
		g.keepsOf(d, p.body, itemVars(p.item), 0)
	}
}

// startsFrom tells of the body of a loop that it starts goroutines.
func startsFrom(body ast.Node) (found bool) {
	eachNode(body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.FuncLit:
			found = found || startsGoroutine(n, around)
		}
	})
	return found
}

// gatheredUse follows a list: each kind of use of a list, or of what has it, leads to others. What needs no more than the list itself is asked of that.
type gatheredUse struct {
	d *derivations
	g *gathered
	// told are the places that ask how many there are, or for what else the turns have found.
	told []toldNumber
	// beside are the fields beside the list that the turns set.
	beside map[types.Object]bool
	// carries are the structs and the returns that numbers go on in beside the list.
	carries []ast.Node
	// begins and ends are where the list is gone through in each function, by itself or by a call.
	begins, ends map[*ast.FuncDecl]token.Pos
	// back are the functions that the list is followed back from into their caller, with the result that has it.
	back map[*ast.FuncDecl]int
}

// speaks notes what speaks against handling the items one by one; what comes first stays.
func (f *gatheredUse) speaks(at ast.Node, text string) {
	if f.g.against != "" {
		return
	}
	if f.g.against = text; at != nil {
		f.g.against += " (" + f.d.placeOf(at).text() + ")"
	}
}

// loopsSinceBut is loopsSince without one loop and what is in it.
func loopsSinceBut(around []ast.Node, pos token.Pos, but ast.Node) bool {
	if i := slices.Index(around, but); i >= 0 {
		around = around[:i]
	}
	return loopsSince(around, pos)
}

// passOf tells of a use of a list that it is what a loop goes through from its beginning to its end.
func passOf(d *derivations, x ast.Expr, around []ast.Node) (p passThrough, ok bool) {
	of := ast.Node(x)
	i := len(around) - 1
	if call, is := around[i].(*ast.CallExpr); is && i > 0 {
		switch types.ExprString(call.Fun) {
		case "slices.Chunk", "slices.Values", "slices.All":
			of, i = call, i-1
		case "len": // for i := 0; i < len(all); i++
			loop, is := around[max(0, i-2)].(*ast.ForStmt)
			cond, less := around[i-1].(*ast.BinaryExpr)
			if is && less && loop.Cond == ast.Expr(cond) && cond.Op == token.LSS && cond.Y == ast.Expr(call) && loop.Init != nil {
				return passThrough{loop: loop, body: loop.Body, item: []types.Object{d.variable(cond.X)}}, true
			}
			return p, false
		}
	}
	loop, is := around[i].(*ast.RangeStmt)
	if !is || ast.Node(loop.X) != of {
		return p, false
	}
	p = passThrough{loop: loop, body: loop.Body}
	for _, x := range []ast.Expr{loop.Key, loop.Value} {
		if x != nil {
			p.item = append(p.item, d.variable(x))
		}
	}
	return p, true
}

// onlyByItem tells of a loop through a list that its body looks at no item but that of the turn.
func onlyByItem(d *derivations, at listPlace, p passThrough) (only bool) {
	only = true
	eachNode(p.body, func(n ast.Node, around []ast.Node) {
		if !at.is(d, n) {
			return
		}
		x, ok := around[len(around)-1].(*ast.IndexExpr)
		i := types.Object(nil)
		if ok {
			i = d.variable(x.Index)
		}
		only = only && i != nil && slices.Contains(p.item, i)
	})
	return only
}

// widths are functions that say how long a text is when it is shown.
var widths = lazily(`^(len|max|min|utf8\.RuneCount(InString)?|range|(\w+\.)?(String)?Width\w*)$`)

// measuresOnly tells of a loop that it keeps of each item nothing but how long the longest text is.
func measuresOnly(d *derivations, p passThrough) bool {
	only, longest := true, false
	ast.Inspect(p.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			only = only && widths.MatchString(types.ExprString(n.Fun))
			longest = longest || isNamed(n.Fun, "max")
		case *ast.IfStmt:
			b, ok := n.Cond.(*ast.BinaryExpr)
			longest = longest || ok && (b.Op == token.GTR || b.Op == token.LSS)
		case *ast.AssignStmt:
			only = only && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE)
		case *ast.ReturnStmt, *ast.SendStmt, *ast.GoStmt, *ast.FuncLit, *ast.IncDecStmt, *ast.BranchStmt, *ast.CompositeLit:
			only = false
		}
		return only
	})
	return only && longest && hasCall(p.body, func(call *ast.CallExpr) bool { return !isNamed(call.Fun, "max") })
}

// between looks at what stands between the gathering and the going through.
func (f *gatheredUse) between(decl *ast.FuncDecl, from, to token.Pos) {
	if len(f.g.passes) == 0 {
		return
	}
	if begins, ok := f.begins[decl]; ok {
		to = min(to, begins)
	}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < from || call.Pos() >= to || slices.ContainsFunc(around, isDeferOrGo) {
			return
		}
		switch calledName(call) {
		case "Unlock", "RUnlock", "Commit", "Rollback", "Release", "Remove", "RemoveAll":
			f.speaks(call, "what they are taken from is released before they are handled: "+types.ExprString(call.Fun))
		case "Rename":
			f.speaks(call, "something is put in its place before they are handled: "+types.ExprString(call.Fun))
		case "Close":
			f.g.closes = true
		}
	})
}

// opensByName and savesByName are names of functions that read a whole file, and that write it anew.
var (
	opensByName = lazily(`(?i)^(open|load|read)`)
	savesByName = lazily(`(?i)^(create|save|write|openfile|rename|truncate)`)
)

// needsAll looks for what a turn gives besides the list that the handling of the first item needs: another variable that it sets, an earlier item
// that a later turn changes.
func (f *gatheredUse) needsAll(last passThrough) {
	d, whole := f.d, f.g.whole
	outer := func(v types.Object) bool { return v != nil && (v.Pos() < whole.Pos() || v.Pos() > whole.End()) }
	set := map[types.Object]bool{}
	ast.Inspect(whole, func(n ast.Node) bool {
		for _, x := range placesSet(n) {
			v := d.variable(innermost(x))
			if v == f.g.of || v != nil && isError(v.Name()) {
				continue
			}
			if sel, ok := x.(*ast.SelectorExpr); ok && (outer(v) || f.g.handedOut(d, v)) {
				f.speaks(sel, types.ExprString(x)+" is set by the turns: a later one may change an earlier item")
			}
			if outer(v) {
				set[v] = true
			}
		}
		return true
	})
	until := f.g.decl.Body.End()
	if last.decl == f.g.decl {
		until = last.loop.End()
	}
	ast.Inspect(f.g.decl.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && whole.End() < id.Pos() && id.Pos() < until && set[d.t.info.Uses[id]] && !slices.ContainsFunc(f.carries, func(n ast.Node) bool { return covers(n, id) }) {
			f.speaks(id, id.Name+", which the turns set, is used before all have been handled")
		}
		return true
	})
}

// changes looks for a place between the turns and the end of the handling that changes what the items are read from.
func (f *gatheredUse) changes(p passThrough) {
	sources := itemsFrom(f.d, f.g.decl, f.g.whole)
	var parts []codePart
	for decl, end := range f.ends {
		part := codePart{decl, decl.Body.Pos(), end}
		for _, by := range whoCalls(f.d, f.g.decl) {
			if by.in == decl && by.call.Pos() < end {
				part.from = max(part.from, by.call.End())
			}
		}
		if decl == f.g.decl {
			part.from = f.g.whole.End()
		}
		parts = append(parts, part)
	}
	f.g.begun = begunBehind(sources.names, parts, p.loop, beginsTarget.compiled())
	c := sources.changed(parts, codePart{p.decl, p.body.Pos(), p.body.End()}, itemVars(p.item))
	switch {
	case c == nil:
	case c.maybe:
		f.g.touches = c
	default:
		f.speaks(c.at, c.text)
	}
}

// handedOut tells of a variable of a turn that it may be another name for what an earlier turn has made: it is taken from a map or a list.
func (g *gathered) handedOut(d *derivations, v types.Object) bool {
	if v == nil {
		return false
	}
	return slices.ContainsFunc(d.definitions(g.decl)[v], func(def definition) bool {
		_, index := def.x.(*ast.IndexExpr)
		return index || def.part || def.ranged
	})
}

// oneAtATime are names of what may serve one query at a time.
var oneAtATime = lazily(`(?i)(^|\.)(tx|conn|db|mu|lock)$`)

// shares asks whether the loop that handles the items needs what they are taken from.
func (f *gatheredUse) shares(p passThrough) {
	from := map[string]bool{}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && oneAtATime.MatchString(types.ExprString(x)) {
				from[lastName(types.ExprString(x))] = true
			}
			return true
		})
	}
	look(f.g.whole)
	ast.Inspect(f.g.whole, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			for _, def := range f.d.definitions(f.g.decl)[f.d.variable(id)] {
				if def.x != nil && def.at < f.g.whole.Pos() {
					look(def.x)
				}
			}
		}
		return true
	})
	ast.Inspect(p.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		for name := range from {
			if !ok {
				break
			}
			sel, method := call.Fun.(*ast.SelectorExpr)
			if method && lastName(types.ExprString(sel.X)) == name || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return lastName(types.ExprString(x)) == name }) {
				f.speaks(call, name+" is used while the items are handled, too")
			}
		}
		return true
	})
}

// itemVars are variables as a set.
func itemVars(all []types.Object) map[types.Object]bool {
	set := map[types.Object]bool{}
	for _, v := range all {
		if v != nil {
			set[v] = true
		}
	}
	return set
}

// keepingNames are names of methods of libraries that keep what they are given.
var keepingNames = lazily(`^(Add|Push|PushBack|PushFront|Insert|InsertNoReplace|ReplaceOrInsert|Set|Put|Store|LoadOrStore|Append|Register|Enqueue|Queue)$`)

// keepsOf looks for what keeps the items, or what is made of them, beyond a turn.
func (g *gathered) keepsOf(d *derivations, body *ast.BlockStmt, items map[types.Object]bool, depth int) {
	spreadItems(d, body, items)
	has := func(x ast.Node) bool { return mentionsVars(d, x, items) }
	outside := func(x ast.Expr) bool {
		v := d.variable(innermost(ast.Unparen(unrefer(x))))
		return v == nil || v.Pos() < body.Pos() || v.Pos() > body.End()
	}
	keeps := func(n ast.Node, into string) {
		if g.keeps == "" {
			g.keeps = fmt.Sprintf("what is made of them goes on into %s (%s)", into, d.placeOf(n).text())
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				rhs := n.Rhs[min(i, len(n.Rhs)-1)]
				call, isCall := rhs.(*ast.CallExpr)
				switch lhs.(type) {
				case *ast.IndexExpr, *ast.SelectorExpr:
					if outside(lhs) && has(rhs) && n.Tok == token.ASSIGN && !onlyNumber(d, rhs) && !usedAnew(d, body, lhs) {
						keeps(n, types.ExprString(lhs))
					}
				case *ast.Ident:
					if outside(lhs) && isCall && isNamed(call.Fun, "append") && !usedAnew(d, body, lhs) && slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return has(x) && !onlyNumber(d, x) }) {
						keeps(n, types.ExprString(lhs))
					}
				}
			}
		case *ast.CallExpr:
			fn := d.t.callee(n)
			sel, method := n.Fun.(*ast.SelectorExpr)
			if fn == nil {
				if method && keepingNames.MatchString(sel.Sel.Name) && outside(sel.X) && slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return has(x) }) {
					keeps(n, types.ExprString(sel.X))
				}
				return true
			}
			for _, decl := range d.declsOf(fn) {
				given := map[types.Object]bool{}
				for i, x := range n.Args {
					if v := d.given(decl, min(i, decl.Type.Params.NumFields()-1)); has(x) && v != nil {
						given[v] = true
					}
				}
				if len(given) > 0 && depth < gatheredDepth {
					g.keepsOf(d, decl.Body, given, depth+1)
				}
			}
		}
		return true
	})
}

// onlyNumber tells of an expression that its type is that of a number or a truth, which refers to nothing.
func onlyNumber(d *derivations, x ast.Expr) bool {
	t := d.t.typeOf(x)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString == 0
}

// spreadItems adds the variables of a body that are given something made of some variables.
func spreadItems(d *derivations, body ast.Node, items map[types.Object]bool) {
	add := func(x ast.Expr) bool {
		v := d.variable(innermost(x))
		if v == nil || items[v] {
			return false
		}
		items[v] = true
		return true
	}
	for grown := true; grown; {
		grown = false
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if mentionsVars(d, n.Rhs[min(i, len(n.Rhs)-1)], items) && !isError(types.ExprString(lhs)) {
						grown = add(lhs) || grown
					}
				}
			case *ast.RangeStmt:
				if mentionsVars(d, n.X, items) {
					for _, x := range []ast.Expr{n.Key, n.Value} {
						if x != nil {
							grown = add(x) || grown
						}
					}
				}
			}
			return true
		})
	}
}

// feedsFrom tells whether what a line of the turns makes goes into the list, as far as the variables show.
func (g *gathered) feedsFrom(d *derivations, line int) bool {
	from := map[types.Object]bool{}
	add := func(x ast.Expr) {
		if x == nil {
			return
		}
		if v := d.variable(innermost(pointed(x))); v != nil {
			from[v] = true
		}
	}
	if slices.ContainsFunc(g.adds, func(a *ast.AssignStmt) bool { return coversLine(d, a, line) }) {
		return true
	}
	ast.Inspect(g.whole, func(n ast.Node) bool {
		if n == nil || !coversLine(d, n, line) {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if !isError(types.ExprString(x)) {
					add(x)
				}
			}
		case *ast.RangeStmt:
			if coversLine(d, n.X, line) && !coversLine(d, n.Body, line) || d.placeOf(n).line == line {
				add(n.Key)
				add(n.Value)
			}
		case *ast.CallExpr:
			for _, x := range n.Args {
				if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND {
					add(u.X)
				}
				if x == ast.Expr(g.lit) && g.lit != nil && d.placeOf(n).line == line {
					for _, field := range g.lit.Type.Params.List {
						for _, id := range field.Names {
							add(id)
						}
					}
				}
			}
		}
		return true
	})
	spreadItems(d, g.whole, from)
	return slices.ContainsFunc(g.adds, func(a *ast.AssignStmt) bool {
		call := a.Rhs[0].(*ast.CallExpr)
		return slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return mentionsVars(d, x, from) })
	})
}

// measured tells that a pass before the last one only finds the widths of columns.
func (g *gathered) measured() bool {
	return slices.ContainsFunc(g.passes, func(p passThrough) bool { return p.measures })
}

// last is the loop that handles the items.
func (g *gathered) last() passThrough { return g.passes[len(g.passes)-1] }

// whereLast is its place.
func (g *gathered) whereLast(d *derivations) codeLine {
	if len(g.others) > 0 {
		return d.placeOf(g.handed)
	}
	return d.placeOf(g.last().loop)
}

// inWhole tells of a place whether it is in one of the turns.
func (g *gathered) inWhole(d *derivations, file string, line int) bool {
	return d.placeOf(g.whole).file == file && coversLine(d, g.whole, line)
}

// turnsText is what has the turns, for a sentence.
func (g *gathered) turnsText(d *derivations) string {
	at := d.placeOf(g.whole).text()
	if _, loop := g.whole.(*ast.RangeStmt); loop {
		return "the loop at " + at
	}
	if _, loop := g.whole.(*ast.ForStmt); loop {
		return "the loop at " + at
	}
	return "the call at " + at
}
