package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Walks over a graph that begin anew for each of many roots: each knows only where it has been itself, so that what several roots reach is walked for
// each of them.

// walksTitle is the title of a finding about them.
const walksTitle = "The same nodes of a graph are walked again in each of many walks"

// Limits of what is told. Chosen.
const (
	fewWalks    = 8 // walks
	walkedTimes = 8 // times that each node is come to, on average
)

// rootWalks are the walks that one function does, which calls itself.
type rootWalks struct {
	in    frameCode
	seen  types.Object // what marks where the walk has been: a variable or a field
	mark  *ast.AssignStmt
	key   ast.Expr
	selfs []*ast.CallExpr
	// outer are the calls from outside, and makes is what makes the marks of each of these.
	outer []callBy
	makes []ast.Expr

	visits, walks, nodes int64
	from                 codeLine // where nodes come from
}

// walksAgain are the findings about such functions.
func walksAgain(r *Rule, in *Input) (found []Finding) {
	counts := blockCountsOf(in.code)
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if counts == nil || err != nil {
		return nil
	}
	for _, decl := range declsInOrder(counts.d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			w := walkMarkedBy(counts.d, decl, n, around)
			if w == nil || len(found) > 0 || !w.count(counts) {
				return
			}
			file, _, _ := counts.d.t.at(decl.Pos())
			w.in.file = file
			share, names := w.share(counts.d, cpu)
			if share.Estimate >= r.param("share") {
				found = append(found, w.finding(r, in, counts, share, names))
			}
		})
	}
	return found
}

// walkMarkedBy is the walk of which a statement marks where it is, in a set that is made for each walk; nil where it is none.
func walkMarkedBy(d *derivations, decl *ast.FuncDecl, n ast.Node, around []ast.Node) *rootWalks {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 || !isFixed(a.Rhs[0]) && !isEmptyStruct(a.Rhs[0]) {
		return nil
	}
	index, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return nil
	}
	w := &rootWalks{in: frameCode{decl: decl}, mark: a, key: index.Index}
	for _, x := range around {
		if lit, is := x.(*ast.FuncLit); is {
			w.in.lit = lit
		}
	}
	if w.calls(d); len(w.selfs) == 0 || len(w.outer) == 0 || !asksMark(w.in.body(), a, index) || undoes(w.in.body()) != "" {
		return nil
	}
	for _, by := range w.outer {
		x := w.marksOf(d, by, index.X)
		if x == nil || !slices.Equal(loopsOver(by.in, x), loopsOver(by.in, by.call)) {
			return nil
		}
		w.makes = append(w.makes, x)
	}
	return w
}

// asksMark tells of a function that it asks whether something is marked.
func asksMark(body ast.Node, mark *ast.AssignStmt, index *ast.IndexExpr) bool {
	return hasAny(body, func(n ast.Node) bool {
		x, ok := n.(*ast.IndexExpr)
		return ok && x != index && (x.Pos() < mark.Pos() || mark.End() <= x.Pos()) && types.ExprString(x.X) == types.ExprString(index.X)
	})
}

// calls collects the calls of the function, its own and those from outside.
func (w *rootWalks) calls(d *derivations) {
	if w.in.lit == nil {
		for _, by := range callersTo(d, w.in.decl) {
			switch by.in {
			case w.in.decl:
				w.selfs = append(w.selfs, by.call)
			case nil:
				w.outer = nil
				return
			default:
				w.outer = append(w.outer, by)
			}
		}
		return
	}
	var self types.Object
	eachAssigned(w.in.decl.Body, func(lhs, rhs ast.Expr) {
		if rhs == ast.Expr(w.in.lit) {
			self = d.variable(lhs)
		}
	})
	if self == nil {
		return
	}
	ast.Inspect(w.in.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || d.variable(ast.Unparen(call.Fun)) != self {
			return true
		}
		if w.in.lit.Pos() <= call.Pos() && call.Pos() < w.in.lit.End() {
			w.selfs = append(w.selfs, call)
		} else {
			w.outer = append(w.outer, callBy{w.in.decl, call})
		}
		return true
	})
}

// marksOf is the expression that makes the marks of a walk which a call from outside begins; nil where these may be those of others as well.
func (w *rootWalks) marksOf(d *derivations, by callBy, marks ast.Expr) ast.Expr {
	switch x := marks.(type) {
	case *ast.Ident:
		v := d.variable(x)
		w.seen = v
		switch {
		case v == nil:
		case w.in.lit != nil && isLocal(w.in.decl, v) && !isGiven(w.in.decl, v) && (v.Pos() < w.in.lit.Pos() || w.in.lit.End() <= v.Pos()):
			return marksMadeOnce(d, w.in.decl, v)
		case w.in.lit == nil && isGiven(w.in.decl, v) && w.handsOn(d, v):
			arg := argumentFor(d, w.in.decl, by.call, v)
			if arg == nil || isMaking(arg) {
				return arg
			}
			if of := d.variable(ast.Unparen(arg)); of != nil && isLocal(by.in, of) && !isGiven(by.in, of) {
				return marksMadeOnce(d, by.in, of)
			}
		}
	case *ast.SelectorExpr:
		recv := receiverVariable(d, w.in.decl)
		sel, ok := ast.Unparen(by.call.Fun).(*ast.SelectorExpr)
		if w.seen = d.field(x); w.seen == nil || recv == nil || w.in.lit != nil || d.variable(x.X) != recv || !ok {
			return nil
		}
		of := d.variable(ast.Unparen(sel.X))
		if of == nil || !isLocal(by.in, of) || isGiven(by.in, of) {
			return nil
		}
		defs := slices.DeleteFunc(slices.Clone(d.definitions(by.in)[of]), func(def definition) bool { return def.part })
		if len(defs) != 1 || defs[0].x == nil || defs[0].unknown {
			return nil
		}
		if made, ok := fieldOfLit(defs[0].x, x.Sel.Name); ok && isMaking(made) {
			return made
		}
	}
	return nil
}

// handsOn tells of a parameter that each call of the function within itself gives it on.
func (w *rootWalks) handsOn(d *derivations, v types.Object) bool {
	return !slices.ContainsFunc(w.selfs, func(call *ast.CallExpr) bool {
		arg := argumentFor(d, w.in.decl, call, v)
		return arg == nil || d.variable(ast.Unparen(arg)) != v
	})
}

// marksMadeOnce is the expression that makes what a variable has, where nothing else is put into it.
func marksMadeOnce(d *derivations, decl *ast.FuncDecl, v types.Object) (made ast.Expr) {
	for _, def := range d.definitions(decl)[v] {
		switch {
		case def.part:
		case made != nil || def.x == nil || def.unknown || def.ranged || !isMaking(def.x):
			return nil
		default:
			made = def.x
		}
	}
	return made
}

// isMaking tells of an expression that it makes a map or a slice without anything in it.
func isMaking(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.CallExpr:
		return isNamed(x.Fun, "make")
	case *ast.CompositeLit:
		_, is := x.Type.(*ast.MapType)
		return is
	}
	return false
}

// loopsOver are the loops of a function around a node of it.
func loopsOver(decl *ast.FuncDecl, of ast.Node) (loops []ast.Node) {
	for _, n := range nodesAround(decl.Body, of) {
		if _, lit := n.(*ast.FuncLit); isLoop(n) || lit {
			loops = append(loops, n)
		}
	}
	return loops
}

// timesAt is how often a node of a function was come to.
func (c *countedTurns) timesAt(decl *ast.FuncDecl, of ast.Node) (n int64, ok bool) {
	around := nodesAround(decl.Body, of)
	if len(around) == 0 {
		return 0, false
	}
	in := frameCode{decl: decl}
	inside := around
	for i, x := range around {
		if lit, is := x.(*ast.FuncLit); is {
			in.lit, inside = lit, around[i+1:]
		}
	}
	if n, ok = c.reaches(around[:len(around)-1], of); !ok && len(blocksOf(inside[:len(inside)-1])) == 1 {
		n, ok = calledTimes(c, in)
	}
	return n, ok
}

// count counts the walks, what they come to, and how many nodes there are at most. It is false where that is not known, or little.
func (w *rootWalks) count(c *countedTurns) (ok bool) {
	if w.visits, ok = c.timesAt(w.in.decl, w.mark); !ok {
		return false
	}
	for i, x := range w.makes {
		n, ok := c.timesAt(w.outer[i].in, x)
		if !ok {
			return false
		}
		if i == 0 || x != w.makes[i-1] {
			w.walks += n
		}
	}
	if w.walks < fewWalks || w.visits < walkedTimes*w.walks {
		return false
	}
	if w.nodes, w.from, ok = w.most(c); !ok || w.nodes == 0 {
		return false
	}
	return w.visits >= walkedTimes*w.nodes
}

// most is how many nodes there are at most: those that the program has made, or what it has put into the lists that the walk goes through.
func (w *rootWalks) most(c *countedTurns) (n int64, from codeLine, ok bool) {
	if name := ownStructAt(c.d.t.typeOf(w.nodeAt(c.d))); name != nil {
		n, from, ok = nodesMade(c, name)
	}
	for _, field := range w.lists(c.d) {
		if put, at, known := elementsPutInto(c, field); known && (!ok || put+w.walks < n) {
			n, from, ok = put+w.walks, at, true
		}
	}
	return n, from, ok
}

// nodeAt is the node that is marked: itself, or what the name is of by which it is marked.
func (w *rootWalks) nodeAt(d *derivations) ast.Expr {
	key := ast.Unparen(w.key)
	if sel, is := key.(*ast.SelectorExpr); is && d.field(sel) != nil && ownStructAt(d.t.typeOf(key)) == nil {
		return sel.X
	}
	return key
}

// lists are the fields with what a node leads to: a loop goes through them that comes to a call of the function itself.
func (w *rootWalks) lists(d *derivations) (fields []types.Object) {
	ast.Inspect(w.in.body(), func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || !slices.ContainsFunc(w.selfs, func(call *ast.CallExpr) bool { return loop.Pos() <= call.Pos() && call.Pos() < loop.End() }) {
			return true
		}
		x := ast.Unparen(loop.X)
		for {
			index, is := x.(*ast.IndexExpr)
			if !is {
				break
			}
			x = ast.Unparen(index.X)
		}
		if sel, is := x.(*ast.SelectorExpr); is {
			if v := d.field(sel); v != nil {
				fields = append(fields, v)
			}
		}
		return true
	})
	return fields
}

// share is the part of the CPU time that goes through the function, and the names that it has in the profile.
func (w *rootWalks) share(d *derivations, cpu *facts.Weights) (share stats.Interval, names []string) {
	var body ast.Node = w.in.decl
	if w.in.lit != nil {
		body = w.in.lit
	}
	within, all := int64(0), int64(0)
	for id, n := range cpu.Profile.Samples(cpu.Index) {
		all += n
		in := false
		for _, f := range facts.Frames(cpu.Profile.Stacks, id) {
			if f.File == w.in.file && coversLine(d, body, f.Line) {
				in = true
				if !slices.Contains(names, f.Func) {
					names = append(names, f.Func)
				}
			}
		}
		if in {
			within += n
		}
	}
	if all == 0 {
		return share, nil
	}
	share = stats.Wilson(float64(within), float64(all), compare.Confidence)
	slices.Sort(names)
	return share, names
}

func (w *rootWalks) finding(r *Rule, in *Input, c *countedTurns, share stats.Interval, names []string) Finding {
	d, part := c.d, 1-float64(w.nodes)/float64(w.visits)
	at := d.placeOf(w.selfs[0])
	decl := stack.Frame{Func: names[0], File: at.file, Line: at.line}
	f := r.answer(Found, "%s walks the same nodes again in each walk: %s walks, each with its own marks of where it has been, came to %s nodes, though there are at most %s (each %s times on average); this takes %s of the CPU time",
		stack.Short(names[0]), unit.Count(w.walks), unit.Count(w.visits), unit.Count(w.nodes), unit.Number(float64(w.visits)/float64(w.nodes)), unit.Percent(share.Estimate))
	f.Title, f.Severity, f.Score = walksTitle, Info, score(part*share.Estimate, 0.10, 0.40)
	f.Impact = &Impact{part * share.Estimate, "share of CPU samples", part * share.Low, part * share.High}
	f.part = part
	for _, name := range names {
		f.costs = append(f.costs, cost{function: name})
	}
	for _, call := range w.selfs {
		p := d.placeOf(call)
		f.costs = append(f.costs, cost{file: p.file, line: p.line})
	}
	if part*share.Low >= r.param("warn") {
		f.Severity, f.saves = Warning, true
	}
	made := d.placeOf(w.makes[0])
	f.Evidence = []Evidence{
		in.fileAt(c.blocks.Entry, decl, []stack.Frame{decl}, "%s nodes marked in %s walks", unit.Count(w.visits), unit.Count(w.walks)),
		in.fileAt(c.blocks.Entry, stack.Frame{File: made.file, Line: made.line}, nil, "each walk begins with marks of its own"),
		in.fileAt(c.blocks.Entry, stack.Frame{File: w.from.file, Line: w.from.line}, nil, "at most %s nodes, by the counts of the lines that make them", unit.Count(w.nodes)),
	}
	f.Advice = "Keep for each node what is reached from it, in a map that all walks share (memoisation), and make it of what is kept for the nodes that it leads to: then each node is walked once for all roots. Where the graph may have cycles, do so for each strongly connected component, in reverse topological order (Tarjan's algorithm finds them in that order): all nodes of one reach the same. If the walks begin at the same node, keep what the first one has found."
	f.Verify = "Record again: the share should fall, and the time should grow with nodes + edges, not with roots × (nodes + edges)."
	w.doubts(d, &f)
	return f
}
