package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
)

// What a loop gathers in a list before the first item of it is handled, by the source: the list is a local variable, each turn
// adds to it, and behind the loop it is gone through, in the same function, in one that is given it, or in the only caller.

// gathered is such a list.
type gathered struct {
	decl *ast.FuncDecl
	of   types.Object
	adds []*ast.AssignStmt // the statements that append to it
	// whole is what has all turns: a loop, or the statement of a call that is given the function which appends.
	whole ast.Node
	lit   *ast.FuncLit // that function; nil of a loop
	// passes are the loops that go through it, in the order of the source.
	passes []passThrough
	// against says why an item cannot be handled when it comes; empty where nothing in the source speaks against it.
	against string
	// keeps says where the items go on being in use; empty where the source shows none.
	keeps string
	// fails is where the gathering can end with an error before the first item is handled, by the source; nil where it does not.
	fails ast.Node
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
}

// gathering depth: through how many functions a list is followed.
const gatheredDepth = 3

// gatheredLists are the lists that loops of a function gather.
func gatheredLists(d *derivations, decl *ast.FuncDecl) (all []*gathered) {
	by := map[types.Object]*gathered{}
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		a, v := gathersInto(d, n)
		if a == nil || !isLocal(decl, v) || isGiven(decl, v) {
			return
		}
		whole, lit := turnsSince(around, v.Pos())
		g := by[v]
		switch {
		case whole == nil:
			if g == nil {
				g = &gathered{decl: decl, of: v}
				by[v] = g
			}
			return // one item more, as a headline
		case g == nil:
			g = &gathered{decl: decl, of: v}
			by[v] = g
		}
		g.whole, g.lit = whole, lit
		g.adds = append(g.adds, a)
		if g.whole != nil && !slices.Contains(all, g) {
			all = append(all, g)
		}
	})
	all = slices.DeleteFunc(all, func(g *gathered) bool { return !fillsFromEmpty(d, g) })
	for _, g := range all {
		followGathered(d, g)
	}
	return all
}

// gathersInto is the variable that a statement appends single items to.
func gathersInto(d *derivations, n ast.Node) (*ast.AssignStmt, types.Object) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return nil, nil
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	v := d.variable(a.Lhs[0])
	if !ok || v == nil || !isNamed(call.Fun, "append") || len(call.Args) < 2 || d.variable(call.Args[0]) != v {
		return nil, nil
	}
	return a, v
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

// fillsFromEmpty tells of a list that nothing but its appends gives it a value, and that no turn looks at it: one that asks for
// its length bounds it, or empties it when there is a batch.
func fillsFromEmpty(d *derivations, g *gathered) bool {
	if g.whole == nil {
		return false
	}
	for _, def := range d.definitions(g.decl)[g.of] {
		if call, ok := def.x.(*ast.CallExpr); ok && isNamed(call.Fun, "append") && len(call.Args) > 1 && d.variable(call.Args[0]) == g.of {
			continue
		}
		if def.unknown || def.ranged || def.part || def.at != g.of.Pos() {
			return false
		}
		switch x := def.x.(type) {
		case nil, *ast.CompositeLit:
		case *ast.CallExpr:
			if !isNamed(x.Fun, "make") {
				return false
			}
		default:
			return false
		}
	}
	looks := 0
	ast.Inspect(g.whole, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && d.variable(id) == g.of {
			looks++
		}
		return true
	})
	return looks == 2*len(g.adds)
}

// followGathered finds what is done with a list behind its loop.
func followGathered(d *derivations, g *gathered) {
	f := &gatheredUse{d: d, g: g}
	f.uses(g.decl, g.of, g.whole.End(), 0)
	if len(g.passes) == 0 {
		f.speaks(nil, "nothing in the source goes through it")
		return
	}
	for i := range g.passes[:len(g.passes)-1] {
		if p := &g.passes[i]; !p.measures {
			f.speaks(p.loop, "it is gone through here, and once more behind it")
		}
	}
	last := g.passes[len(g.passes)-1]
	for _, n := range f.lengths {
		if n.Pos() < last.loop.End() {
			f.speaks(n, "its length is asked for before all have been handled")
		}
	}
	g.fails = failsBefore(d, g)
	if g.passes[0].decl == g.decl {
		f.between(g.decl, g.whole.End(), g.passes[0].loop.Pos())
	}
	f.shares(last)
	f.needsAll(last)
	if startsFrom(last.body) { // without a limit, all items would be in use by goroutines instead
		g.keeps = fmt.Sprintf("each turn starts a goroutine (%s), which has the item until it ends", d.placeOf(last.loop).text())
	}
	f.keepsOf(last.body, itemVars(last.item), 0)
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

// gatheredUse follows a list.
type gatheredUse struct {
	d       *derivations
	g       *gathered
	lengths []ast.Node
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

// uses goes through the uses of a variable that has the list, behind a position.
func (f *gatheredUse) uses(decl *ast.FuncDecl, v types.Object, from token.Pos, depth int) {
	within := token.NoPos // the end of the loop that goes through it
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || f.d.t.info.Uses[id] != v || id.Pos() < from || id.Pos() < within {
			return
		}
		if slices.ContainsFunc(around, func(n ast.Node) bool { _, lit := n.(*ast.FuncLit); return lit && n.Pos() > from }) {
			f.speaks(id, "a function without a name has it, which may run more than once")
		}
		parent := around[len(around)-1]
		if loop, ok := passOf(f.d, id, around); ok {
			loop.decl = decl
			if again := loopsSinceBut(around, max(v.Pos(), from), loop.loop); again {
				f.speaks(loop.loop, "it is gone through again and again")
			}
			if !onlyByItem(f.d, v, loop) {
				f.speaks(loop.loop, "a turn looks at other items, or asks how many there are")
			}
			loop.measures = measuresOnly(f.d, loop)
			f.g.passes, within = append(f.g.passes, loop), loop.loop.End()
			return
		}
		switch p := parent.(type) {
		case *ast.ReturnStmt:
			f.returned(decl, p, slices.Index(p.Results, ast.Expr(id)), depth)
		case *ast.CallExpr:
			f.given(decl, p, id, around, depth)
		case *ast.BinaryExpr:
			if p.Op != token.EQL && p.Op != token.NEQ {
				f.speaks(p, "it is used as a whole")
			}
		case *ast.AssignStmt:
			if _, appended := gathersInto(f.d, p); appended != v {
				f.speaks(p, "it goes on as a whole")
			}
		case *ast.IndexExpr:
			f.speaks(p, "items are taken from it by their number")
		default:
			f.speaks(id, "it is used as a whole")
		}
	})
}

// ordering are functions that need all of a list, whatever else they do with it.
var ordering = regexp.MustCompile(`(?i)sort|reverse|shuffle|uniq|compact|dedup|backward|\.max|\.min`)

// given is a call that has the list among its arguments.
func (f *gatheredUse) given(decl *ast.FuncDecl, call *ast.CallExpr, id *ast.Ident, around []ast.Node, depth int) {
	switch {
	case isNamed(call.Fun, "len"):
		if b, ok := around[len(around)-2].(*ast.BinaryExpr); !ok || !isZero(b.X) && !isZero(b.Y) || b.Op == token.SUB || b.Op == token.ADD {
			f.lengths = append(f.lengths, call)
		}
		return
	case isNamed(call.Fun, "append"):
		if a, ok := around[len(around)-2].(*ast.AssignStmt); ok {
			if _, v := gathersInto(f.d, a); v != nil && v == f.d.t.info.Uses[id] {
				return // one item more behind the loop
			}
		}
		f.speaks(call, "it goes on into another list")
		return
	case ordering.MatchString(types.ExprString(call.Fun)):
		f.speaks(call, "it needs all of them: "+types.ExprString(call.Fun))
		return
	case loopsSince(around, f.g.of.Pos()) && depth == 0:
		f.speaks(call, "it is handed on again and again")
		return
	}
	fn := f.d.t.callee(call)
	if fn == nil || depth >= gatheredDepth || slices.ContainsFunc(around, isDeferOrGo) {
		f.speaks(call, "all of it is handed to "+types.ExprString(call.Fun))
		return
	}
	decls := f.d.declsOf(fn)
	i := slices.Index(call.Args, ast.Expr(id))
	if len(decls) != 1 || i < 0 || f.d.given(decls[0], i) == nil || decls[0] == decl {
		f.speaks(call, "all of it is handed to "+types.ExprString(call.Fun))
		return
	}
	before := len(f.g.passes)
	f.uses(decls[0], f.d.given(decls[0], i), decls[0].Body.Pos(), depth+1)
	if len(f.g.passes) == before {
		f.speaks(call, "all of it is handed to "+types.ExprString(call.Fun))
	}
}

// returned goes on in the only caller.
func (f *gatheredUse) returned(decl *ast.FuncDecl, ret *ast.ReturnStmt, i, depth int) {
	calls := callsTo(f.d, decl)
	if len(calls) != 1 || depth >= gatheredDepth || i < 0 {
		f.speaks(ret, "it is returned")
		return
	}
	for _, caller := range f.d.t.decls {
		if caller.Body == nil || !covers(caller.Body, calls[0]) {
			continue
		}
		for _, n := range nodesAround(caller.Body, calls[0]) {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Rhs) != 1 || a.Rhs[0] != ast.Expr(calls[0]) || i >= len(a.Lhs) {
				continue
			}
			if v := f.d.variable(a.Lhs[i]); v != nil && isLocal(caller, v) && a.Tok == token.DEFINE {
				f.uses(caller, v, a.End(), depth+1)
				f.between(caller, a.End(), token.Pos(1<<40))
				return
			}
		}
	}
	f.speaks(ret, "it is returned")
}

// loopsSinceBut is loopsSince without one loop and what is in it.
func loopsSinceBut(around []ast.Node, pos token.Pos, but ast.Node) bool {
	if i := slices.Index(around, but); i >= 0 {
		around = around[:i]
	}
	return loopsSince(around, pos)
}

// passOf tells of a use of a list that it is what a loop goes through from its beginning to its end.
func passOf(d *derivations, id *ast.Ident, around []ast.Node) (p passThrough, ok bool) {
	of := ast.Node(id)
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
func onlyByItem(d *derivations, v types.Object, p passThrough) (only bool) {
	only = true
	eachNode(p.body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || d.t.info.Uses[id] != v {
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
var widths = regexp.MustCompile(`^(len|max|min|utf8\.RuneCount(InString)?|range|(\w+\.)?(String)?Width\w*)$`)

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
	for _, p := range f.g.passes {
		if p.decl == decl {
			to = min(to, p.loop.Pos())
		}
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
	opensByName = regexp.MustCompile(`(?i)^(open|load|read)`)
	savesByName = regexp.MustCompile(`(?i)^(create|save|write|openfile|rename|truncate)`)
)

// needsAll looks for what a turn gives besides the list that the handling of the first item needs: another variable that it sets, an earlier item
// that a later turn changes, and a file that is read before it is written anew.
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
			if sel, ok := x.(*ast.SelectorExpr); ok && (outer(v) || f.handedOut(v)) {
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
		if id, ok := n.(*ast.Ident); ok && whole.End() < id.Pos() && id.Pos() < until && set[d.t.info.Uses[id]] {
			f.speaks(id, id.Name+", which the turns set, is used before all have been handled")
		}
		return true
	})
	for _, decl := range []*ast.FuncDecl{f.g.decl, last.decl} {
		f.sameFile(decl)
	}
	for _, call := range callsTo(d, f.g.decl) {
		for _, caller := range d.t.decls {
			if caller.Body != nil && covers(caller.Body, call) {
				f.sameFile(caller)
			}
		}
	}
}

// handedOut tells of a variable of a turn that it may be another name for what an earlier turn has made: it is taken from a map or a list.
func (f *gatheredUse) handedOut(v types.Object) bool {
	if v == nil {
		return false
	}
	return slices.ContainsFunc(f.d.definitions(f.g.decl)[v], func(def definition) bool {
		_, index := def.x.(*ast.IndexExpr)
		return index || def.part || def.ranged
	})
}

// sameFile looks for an expression by which a function both reads a file and writes it anew.
func (f *gatheredUse) sameFile(decl *ast.FuncDecl) {
	read := map[string]bool{}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		switch name, arg := calledName(call), types.ExprString(call.Args[0]); {
		case savesByName.MatchString(name) && read[arg]:
			f.speaks(call, arg+" is what they are read from")
		case opensByName.MatchString(name):
			read[arg] = true
		}
		return true
	})
}

// oneAtATime are names of what may serve one query at a time.
var oneAtATime = regexp.MustCompile(`(?i)(^|\.)(tx|conn|db|mu|lock)$`)

// shares asks whether the loop that handles the items needs, or changes, what they are taken from.
func (f *gatheredUse) shares(p passThrough) {
	from, maps := map[string]bool{}, map[types.Object]bool{}
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && oneAtATime.MatchString(types.ExprString(x)) {
				from[lastName(types.ExprString(x))] = true
			}
			return true
		})
	}
	look(f.g.whole)
	if r, ok := f.g.whole.(*ast.RangeStmt); ok {
		if v := (takenScan{f.d, nil}).thing(r.X); v != nil {
			maps[v] = true
		}
	}
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
		switch n := n.(type) {
		case *ast.CallExpr:
			if isNamed(n.Fun, "delete") && len(n.Args) == 2 && maps[(takenScan{f.d, nil}).thing(n.Args[0])] {
				f.speaks(n, "the items are taken out of what the first loop goes through")
			}
			for name := range from {
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if ok && lastName(types.ExprString(sel.X)) == name || slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return lastName(types.ExprString(x)) == name }) {
					f.speaks(n, name+" is used while the items are handled, too")
				}
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if x, ok := lhs.(*ast.IndexExpr); ok && maps[(takenScan{f.d, nil}).thing(x.X)] {
					f.speaks(n, "it changes what the first loop goes through")
				}
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
var keepingNames = regexp.MustCompile(`^(Add|Push|PushBack|PushFront|Insert|InsertNoReplace|ReplaceOrInsert|Set|Put|Store|LoadOrStore|Append|Register|Enqueue|Queue)$`)

// keepsOf looks for what keeps the items, or what is made of them, beyond a turn.
func (f *gatheredUse) keepsOf(body *ast.BlockStmt, items map[types.Object]bool, depth int) {
	d := f.d
	spreadItems(d, body, items)
	has := func(x ast.Node) bool { return mentionsVars(d, x, items) }
	outside := func(x ast.Expr) bool {
		v := d.variable(innermost(ast.Unparen(unrefer(x))))
		return v == nil || v.Pos() < body.Pos() || v.Pos() > body.End()
	}
	keeps := func(n ast.Node, into string) {
		if f.g.keeps == "" {
			f.g.keeps = fmt.Sprintf("what is made of them goes on into %s (%s)", into, d.placeOf(n).text())
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
					if outside(lhs) && has(rhs) && n.Tok == token.ASSIGN && !onlyNumber(d, rhs) {
						keeps(n, types.ExprString(lhs))
					}
				case *ast.Ident:
					if outside(lhs) && isCall && isNamed(call.Fun, "append") && slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return has(x) && !onlyNumber(d, x) }) {
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
					f.keepsOf(decl.Body, given, depth+1)
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
func (g *gathered) measured() bool { return len(g.passes) > 1 }

// last is the loop that handles the items.
func (g *gathered) last() passThrough { return g.passes[len(g.passes)-1] }

// whereLast is its place.
func (g *gathered) whereLast(d *derivations) codeLine { return d.placeOf(g.last().loop) }

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
