package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Loops that go through a list for the element with a key, and compute the key of each for that, by the run that counts. The time is often that of a
// short loop further in, as one that looks up a field: what repeats it is the fault, not that.

// keyLoop is such a loop, and the samples in it.
type keyLoop struct {
	keyMatch
	stmt   ast.Stmt
	in     frameCode
	first  codeLine
	name   string // what it goes through
	ends   *ast.IfStmt
	cond   ast.Expr
	skips  bool // the condition goes on with the next one
	names  map[string]bool
	made   map[string]ast.Expr
	layers *layered // the look-up that it makes in each element, where it does that; nil where it compares a key
	counts repetition.Loop
	// turns are those in all, of which selected found their key.
	turns, selected int64
	samples         int64
	lines           map[stack.Frame]int64
	at              stack.Frame
	callers         map[stack.Frame]int64
}

// Limits of what is told. Chosen.
const (
	callersInKey = 8       // functions from the leaf to the loop
	leastAlike   = 1.0 / 3 // of the looks at a list behind another one, at which it was much the same as then
)

// keyLoops finds them by the lines of the CPU samples.
func keyLoops(r *Rule, in *Input) []Finding {
	counts := blockCountsOf(in.code)
	if counts == nil {
		return nil
	}
	finder := &keyFinder{in: in, c: counts, match: keyMatcher{in.code, counts.d}, known: map[ast.Stmt]*keyLoop{}, loops: map[stack.FrameID][]ast.Stmt{}}
	return heaviestBySamples(r, in, finder.samplesOf, func(x *keyLoop) int64 { return x.samples },
		func(x *keyLoop, w *facts.Weights, share stats.Interval) Finding {
			return x.finding(r, in, counts, w, share)
		})
}

// keyFinder adds up samples by such loops.
type keyFinder struct {
	in    *Input
	c     *countedTurns
	match keyMatcher
	known map[ast.Stmt]*keyLoop
	loops map[stack.FrameID][]ast.Stmt
}

func (s *keyFinder) samplesOf(w *facts.Weights) (all []*keyLoop) {
	v := s.in.view(w.Profile)
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		var way []stack.Frame
		for i := nextUser(v, frames, 0); i >= 0; i = nextUser(v, frames, i+1) {
			way = append(way, v.t.Frame(frames[i]))
		}
		at := 0
		for i := nextUser(v, frames, 0); i >= 0 && at < callersInKey; i, at = nextUser(v, frames, i+1), at+1 {
			x, stop := s.on(frames[i], way[at:])
			if x == nil && !stop {
				continue
			}
			if x != nil {
				if x.samples == 0 {
					all = append(all, x)
				}
				x.add(way[at:], n)
			}
			break
		}
	}
	return all
}

// on is such a loop around the line of the first of some frames; stop tells that another search through many is there, which is told itself.
func (s *keyFinder) on(id stack.FrameID, way []stack.Frame) (x *keyLoop, stop bool) {
	loops, asked := s.loops[id]
	if !asked {
		_, loops, _ = s.c.loopsAt(way[0])
		s.loops[id] = loops
	}
	for _, stmt := range slices.Backward(loops) {
		if x := s.loop(way[0], stmt); x != nil && x.looksOn(s.c.d, way[0].Line) {
			if x.layers != nil {
				return x, false
			}
			if m, ok := s.match.condition(x.in, x.cond, x.names, x.made, way[1:]); ok && m.computed != nil {
				x.keyMatch = m
				return x, false
			}
		}
		if s.manyTurns(stmt) && searchByHand(s.in.code, way[0], stack.Frame{}, true).kind == searchMany {
			return nil, true
		}
	}
	return nil, false
}

// manyTurns tells of a loop that it has more than a few turns each time.
func (s *keyFinder) manyTurns(stmt ast.Stmt) bool {
	counts, ok := s.c.loopAt(stmt)
	turns, counted := s.c.entered(bodyOfLoop(stmt).Lbrace)
	return ok && counted && turns >= fewInLoop*counts.Entered
}

// loop is a loop with many turns each time, hardly any of which selects an element; nil where it is none.
func (s *keyFinder) loop(f stack.Frame, stmt ast.Stmt) *keyLoop {
	if x, known := s.known[stmt]; known {
		return x
	}
	s.known[stmt] = nil
	in, ok := s.c.d.at(f)
	counts, counted := s.c.loopAt(stmt)
	turns, _ := s.c.entered(bodyOfLoop(stmt).Lbrace)
	if !ok || !counted || counts.Entered < fewLoops || turns < enoughTurns || !s.manyTurns(stmt) {
		return nil
	}
	l := loop{body: bodyOfLoop(stmt), stmt: stmt}
	x := &keyLoop{stmt: stmt, in: in, first: s.c.d.placeOf(stmt), name: types.ExprString(goneThrough(stmt)), names: l.variables(), made: map[string]ast.Expr{}, counts: counts, turns: turns,
		lines: map[stack.Frame]int64{}, callers: map[stack.Frame]int64{}}
	if x.layers, x.ends, x.skips = layersIn(s.c.d, stmt, x.names); x.layers != nil {
		x.name = x.layers.nameOf(stmt)
	} else if x.ends, x.cond, x.skips = keyCondition(l.body, x.names, x.made); x.ends == nil {
		return nil
	}
	if x.selected, ok = s.c.entered(x.ends.Body.Lbrace); !ok {
		return nil
	}
	if x.skips {
		x.selected = max(0, turns-x.selected)
	}
	if float64(x.selected) > mostActing*float64(turns) || !x.sameList(s.in.code, f) {
		return nil
	}
	s.known[stmt] = x
	return x
}

// sameList tells that the loop goes through a list of which most was there the last time, by the looks at it, or by the source where it is added to in between.
func (x *keyLoop) sameList(c *code, f stack.Frame) bool {
	n := x.counts
	return n.Contents*sameAgain <= n.Looked || n.Paired >= fewLoops/2 && float64(n.Alike) >= leastAlike*float64(n.Paired) || growsBetween(c, f).Line > 0
}

// looksOn tells of a line of the loop that it belongs to the condition, and not to what is done with an element that was found.
func (x *keyLoop) looksOn(d *derivations, line int) bool {
	_, ends, _ := d.t.at(x.ends.Cond.End())
	return line <= ends
}

func (x *keyLoop) add(way []stack.Frame, n int64) {
	at := lineOnly(way[0])
	x.samples, x.lines[at] = x.samples+n, x.lines[at]+n
	if x.lines[at] > x.lines[x.at] || x.at.Line == 0 {
		x.at = at
	}
	if len(way) > 1 {
		x.callers[lineOnly(way[1])] += n
	}
}

// finding says what goes through the list so often, and what to look up instead.
func (x *keyLoop) finding(r *Rule, in *Input, c *countedTurns, w *facts.Weights, share stats.Interval) Finding {
	says, title := "", layersTitle
	if x.layers != nil {
		says = x.saysLayers()
	} else {
		says, title = fmt.Sprintf("that goes through %s for what has one key, and again for the next key: it began %s, with %s turns each on average, and computes %s again in each",
			x.name, howOften(x.counts.Entered), unit.About(x.turns/max(1, x.counts.Entered)), types.ExprString(x.computed)), "A list is searched for a key that is computed of each element"
	}
	f := r.answer(Found, "%s of the CPU time goes into a loop%s %s", unit.Percent(share.Estimate), atFrame(x.at), says)
	f.Title = title
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
	if share.Low >= r.param("warn") {
		f.Severity = Warning
	}
	cond := c.d.placeOf(x.ends)
	hits := "none had the key"
	if x.selected > 0 {
		hits = fmt.Sprintf("%s had the key", unit.Count(x.selected))
	}
	counted := fmt.Sprintf("of %s turns in the run that counts, in which the loop began %s, %s", unit.About(x.turns), howOften(x.counts.Entered), hits)
	if x.at.Line == cond.line {
		f.Evidence = []Evidence{in.lineAt(w.Entry, x.at, "%d of %d samples, with all that it calls; %s", x.samples, w.Total(), counted)}
	} else {
		f.Evidence = []Evidence{in.lineAt(w.Entry, x.at, "%d of %d samples, with all that it calls", x.samples, w.Total()),
			{Text: counted, Path: c.blocks.Entry.Path, File: cond.file, Line: cond.line, Source: in.code.text(cond.file, cond.line)}}
	}
	if at := heaviestFrame(x.callers); at.Line > 0 {
		f.Evidence = append(f.Evidence, in.lineAt(w.Entry, at, "from here, in %d of the samples", x.callers[at]))
	}
	f.saves, f.grows = true, true
	f.Verify = "Record again with the same input: the CPU time of this loop should vanish."
	if x.layers != nil {
		x.adviseLayers(c.d, &f)
	} else {
		x.advise(in, c.d, &f, types.ExprString(x.computed))
	}
	for at := range x.lines {
		f.costs = append(f.costs, cost{file: at.File, line: at.Line})
	}
	return f
}

// advise says what to keep, and what that has to follow.
func (x *keyLoop) advise(in *Input, d *derivations, f *Finding, key string) {
	what := "to the element, or to its place"
	if x.by == matchGroup {
		what = "to the elements that have it, in their order, and test the rest of the condition on these alone"
	}
	of := "what " + key + " returns"
	if x.same.at != "" && x.same.equality == equalKey {
		of = fmt.Sprintf("all that %s (%s) compares of %s", x.same.name, x.same.at, key)
	}
	f.Advice = fmt.Sprintf("Keep a map from the key, %s, %s, beside %s, and look up there instead of going through all; the list itself keeps the order.", of, what, x.name)
	grows := growsBetween(in.code, stack.Frame{File: x.first.file, Line: x.first.line, Func: x.at.Func})
	switch {
	case grows.Line > 0:
		f.Advice += fmt.Sprintf(" Add to the map where the list grows (%s), and take out of it what leaves the list. Now the time grows with the square of the number of elements: twice as many take four times as long.", fileLine(grows.File, grows.Line))
	default:
		f.Advice += " Make it with the list, and change it where that changes. Now the time grows with the number of elements times that of the searches."
	}
	if x.by == matchFold {
		x.same.equality = equalFolded
	}
	x.same.tell(f)
	if places, known := x.keyChanges(d); len(places) > 0 {
		f.Advice += " The key itself may change at " + strings.Join(places, " and ") + ": the map has to follow there as well, or be made anew after it."
	} else if !known {
		f.Doubts = append(f.Doubts, fmt.Sprintf("if what %s returns can change while an element is in the list, the map has to follow there: the source does not show all that it reads", key))
	} else {
		f.Doubts = append(f.Doubts, changesDoubt)
	}
	switch {
	case x.by == matchGroup || !x.skips && !takes(x.ends.Body.List, x.names): // it asks whether there is one
	case x.skips || !endsSearch(x.ends.Body.List):
		f.Doubts = append(f.Doubts, "the loop takes all elements with the key: if there can be several, the map needs a list of them, in their order")
	default:
		f.Doubts = append(f.Doubts, firstDoubt)
	}
}

// mostPlaces is how many places are named at which keys change.
const mostPlaces = 2

// keyChanges are the places of the sources that change what the key is made of, other than where an element is made; known is false where it is made of what
// the sources do not show.
func (x *keyLoop) keyChanges(d *derivations) (places []string, known bool) {
	call, ok := x.computed.(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	fn := d.t.callee(call)
	if fn == nil || d.t.decls[fn] == nil {
		return nil, false
	}
	of := d.value(d.t.decls[fn])
	if of == nil {
		return nil, false
	}
	all := changesOfOthers(d, d.t.decls[fn])
	for v := range of.reads {
		if ofPackage(v) {
			continue
		}
		for _, c := range d.writes()[v] {
			if !c.starts && !slices.Contains(all, c.at) {
				all = append(all, c.at)
			}
		}
	}
	slices.Sort(all)
	for _, at := range all[:min(len(all), mostPlaces)] {
		file, line, _ := d.t.at(at)
		places = append(places, fileLine(file, line))
	}
	return places, true
}

// changesOfOthers are the places that set a field of a type whose source is not there, of a name that a function reads, or one that it calls.
func changesOfOthers(d *derivations, decl *ast.FuncDecl) (all []token.Pos) {
	other := func(n ast.Node) (name string) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || d.t.info.Selections[sel] != nil || d.t.info.Uses[sel.Sel] != nil || isPackageName(d, sel.X) {
			return ""
		}
		return sel.Sel.Name
	}
	read := map[string]bool{}
	reached := d.reached(decl, decl.Body)
	for _, in := range append(slices.Collect(maps.Keys(reached)), decl) {
		eachNode(in.Body, func(n ast.Node, around []ast.Node) {
			if call, ok := parent(around).(*ast.CallExpr); !ok || call.Fun != n {
				read[other(n)] = true
			}
		})
	}
	for _, in := range d.t.decls {
		ast.Inspect(in.Body, func(n ast.Node) bool {
			for _, lhs := range changedBy(n) {
				if name := other(lhs); name != "" && read[name] {
					all = append(all, lhs.Pos())
				}
			}
			return true
		})
	}
	return all
}

// coveredBy tells of a finding about a short search that most of its time is that of one of some loops around it.
func coveredBy(in *Input, f Finding, around []Finding) bool {
	if f.Severity != Info || f.saves {
		return false
	}
	s := spentOf(in)
	own := s.mark(f.costs)
	return slices.ContainsFunc(around, func(o Finding) bool {
		m := s.mark(o.costs)
		if own == nil || m == nil {
			return false
		}
		var both, all int64
		for i, is := range own {
			if is {
				all += s.counts[i]
				if m[i] {
					both += s.counts[i]
				}
			}
		}
		return 2*both >= all
	})
}
