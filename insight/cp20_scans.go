package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Loops that go through the same list again and again for few of its elements, by the run that counts: how often each block was entered, and what
// was gone through.

// countedScan is such a loop, and the samples in it.
type countedScan struct {
	turnCounts
	over  repetition.Loop
	name  string // what it goes through
	first codeLine
	kind  scanKind
	by    comparison
	// upkeep is about how many steps it would take to keep an order, an index or a list of the few up to date, and changed where that
	// comes from; noUpkeep where it was not counted.
	upkeep  float64
	changed codeLine
	same    sameBy
	samples int64
	lines   map[stack.Frame]int64
	at      stack.Frame // its heaviest line
}

// scanKind is what the condition asks that most turns end at.
type scanKind int

const (
	scanOther   scanKind = iota
	scanCompare          // it compares the element with what is looked for
	scanOrder            // whether something of the element is less than, or before, something else
	scanState            // something of the element alone
	scanSums             // whether the place is come to up to which turns add something up
	scanFailed           // whether it is what is looked for, from a place on, which nearly never comes
)

// Limits of what is told: chosen. Below them a map or an order gains little, or the list may be another one.
const (
	fewInLoop   = 32     // turns that a loop has on average
	enoughTurns = 20_000 // turns in all
	mostActing  = 0.05   // of the turns
	sameAgain   = 8      // looks for each different content, or:
	mostAlike   = 0.8    // of the looks behind another one, at which it was much the same as then
	fewLoops    = 16     // looks
)

// scansByCounts finds them by the lines of the CPU samples.
func scansByCounts(r *Rule, in *Input) []Finding {
	counts := blockCountsOf(in.code)
	if counts == nil {
		return nil
	}
	finder := &scanFinder{in: in, c: counts, known: map[ast.Stmt]*countedScan{}, frames: map[stack.FrameID][]*countedScan{}}
	return heaviestBySamples(r, in, finder.samplesOf, func(s *countedScan) int64 { return s.samples },
		func(s *countedScan, w *facts.Weights, share stats.Interval) Finding {
			return s.finding(r, in, w, counts.blocks, share)
		})
}

// heaviestBySamples are findings about what samples of the CPU profile were added up by, as far as that takes its share: three of them, those first that matter most.
func heaviestBySamples[T any](r *Rule, in *Input, samplesOf func(*facts.Weights) []T, samples func(T) int64, finding func(T, *facts.Weights, stats.Interval) Finding) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") {
		return nil
	}
	for _, x := range samplesOf(w) {
		if share := stats.Wilson(float64(samples(x)), float64(w.Total()), compare.Confidence); share.Low >= r.param("share") {
			found = append(found, finding(x, w, share))
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.Score, a.Score) })
	return found[:min(len(found), 3)]
}

// scanFinder adds up samples by such loops.
type scanFinder struct {
	in     *Input
	c      *countedTurns
	known  map[ast.Stmt]*countedScan
	frames map[stack.FrameID][]*countedScan
}

func (s *scanFinder) samplesOf(w *facts.Weights) (all []*countedScan) {
	v := s.in.view(w.Profile)
	for id, n := range w.Profile.Samples(w.Index) {
		frames := v.t.Frames(id)
		for k, i := 0, nextUser(v, frames, 0); i >= 0 && k <= callersInMatch; k, i = k+1, nextUser(v, frames, i+1) {
			scans, asked := s.frames[frames[i]]
			if !asked {
				scans = s.at(v.t.Frame(frames[i]))
				s.frames[frames[i]] = scans
			}
			if len(scans) == 0 {
				continue
			}
			x := scans[len(scans)-1] // the innermost one
			if x.lines == nil {
				x.lines = map[stack.Frame]int64{}
				all = append(all, x)
			}
			at := lineOnly(v.t.Frame(frames[i]))
			x.samples, x.lines[at] = x.samples+n, x.lines[at]+n
			if x.lines[at] > x.lines[x.at] || x.at.Line == 0 {
				x.at = at
			}
			break
		}
	}
	return all
}

// at are such loops around a frame's line, the outermost first, as far as the line is where they look.
func (s *scanFinder) at(f stack.Frame) (out []*countedScan) {
	in, loops, _ := s.c.loopsAt(f)
	for _, stmt := range loops {
		x, known := s.known[stmt]
		if !known {
			x = s.scan(in, stmt)
			s.known[stmt] = x
		}
		if x != nil && !slices.ContainsFunc(x.acts, func(lines [2]int) bool {
			return lines[0] <= f.Line && f.Line <= lines[1] && f.Line != x.turnCounts.at.line
		}) {
			out = append(out, x)
		}
	}
	return out
}

// scan is a loop, if it goes through the same again and few of its turns do anything.
func (s *scanFinder) scan(in frameCode, stmt ast.Stmt) *countedScan {
	over, ok := s.c.loopAt(stmt)
	if !ok || over.Looked < fewLoops || over.Contents*sameAgain > over.Looked && (over.Paired < fewLoops/2 || float64(over.Alike) < mostAlike*float64(over.Paired)) {
		return nil
	}
	if x := s.fromStart(in, stmt, over); x != nil {
		return x
	}
	if x := s.fails(in, stmt, over); x != nil {
		return x
	}
	t, ok := s.c.of(in, stmt)
	if !ok || t.all < enoughTurns || t.all < fewInLoop*over.Entered || float64(t.acting) > mostActing*float64(t.all) {
		return nil
	}
	x := &countedScan{turnCounts: t, over: over, first: s.c.d.placeOf(stmt), name: types.ExprString(goneThrough(stmt))}
	e := s.element(stmt, t.asks)
	if x.kind = scanOther; !mentionsAny(t.decides, e.mixed) {
		x.kind, x.by = s.asks(t.decides, e.names)
	}
	x.upkeep, x.changed = s.upkeepOf(x, t.decides, e)
	if x.by == matchOther && ofNetworks(s.in.code, goneThrough(stmt)) {
		x.by = matchNetwork
	}
	x.same = sameByIn(s.in.code, in.file, t.decides)
	return x
}

// goneThrough is what a loop goes through: what it ranges over, or that whose length ends it.
func goneThrough(stmt ast.Stmt) ast.Expr {
	if n, ok := stmt.(*ast.ForStmt); ok {
		var over ast.Expr = ast.NewIdent("it")
		if n.Cond == nil {
			return over
		}
		eachNode(n.Cond, func(n ast.Node, _ []ast.Node) {
			if call, ok := n.(*ast.CallExpr); ok && isLenCall(call) && len(call.Args) == 1 {
				over = call.Args[0]
			}
		})
		return over
	}
	return stmt.(*ast.RangeStmt).X
}

// asks is what a condition asks of an element by its variables.
func (s *scanFinder) asks(cond ast.Expr, names map[string]bool) (kind scanKind, by comparison) {
	if by, terms := matchesBy(cond, names); by != matchNone && !slices.ContainsFunc(terms, s.constant) {
		return scanCompare, refined(by, cond, names)
	}
	kind = scanState
	for _, part := range conjuncts(cond, names) {
		switch s.part(ast.Unparen(part), names) {
		case scanOrder:
			kind = scanOrder
		case scanOther:
			return scanOther, matchNone
		}
	}
	return kind, matchNone
}

// constant tells of an expression that it is the same in each run.
func (s *scanFinder) constant(x ast.Expr) bool {
	tv := s.c.d.t.info.Types[x]
	return tv.Value != nil
}

// part is the same of one operand.
func (s *scanFinder) part(cond ast.Expr, names map[string]bool) scanKind {
	if not, ok := cond.(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond = ast.Unparen(not.X)
	}
	var a, b ast.Expr
	switch x := cond.(type) {
	case *ast.BinaryExpr:
		if !slices.Contains([]token.Token{token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ}, x.Op) {
			return scanOther
		}
		a, b = x.X, x.Y
	case *ast.CallExpr:
		sel, ok := x.Fun.(*ast.SelectorExpr)
		if !ok || len(x.Args) > 1 {
			return scanOther
		}
		if a = sel.X; len(x.Args) == 1 {
			if b = x.Args[0]; sel.Sel.Name != "Before" && sel.Sel.Name != "After" {
				return scanOther
			}
		}
	default:
		a = cond
	}
	if b != nil && mentionsAny(b, names) {
		a, b = b, a
	}
	switch {
	case !ofElement(a, names), b != nil && mentionsAny(b, names):
		return scanOther
	case b == nil || s.constant(b) || isNamed(b, "nil"):
		return scanState
	case isComparison(cond, token.EQL) || isComparison(cond, token.NEQ):
		return scanOther
	}
	return scanOrder
}

func isComparison(x ast.Expr, op token.Token) bool {
	b, ok := x.(*ast.BinaryExpr)
	return ok && b.Op == op
}

// ofElement tells of an expression that it is an element, or something that it has: a field, an entry, a length, or what a method without arguments gives.
func ofElement(x ast.Expr, names map[string]bool) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return names[x.Name]
	case *ast.SelectorExpr:
		return ofElement(x.X, names)
	case *ast.StarExpr:
		return ofElement(x.X, names)
	case *ast.UnaryExpr:
		return ofElement(x.X, names)
	case *ast.IndexExpr:
		return mentionsAny(x.Index, names) || ofElement(x.X, names)
	case *ast.CallExpr:
		if isLenCall(x) && len(x.Args) == 1 {
			return ofElement(x.Args[0], names)
		}
		sel, ok := x.Fun.(*ast.SelectorExpr)
		return ok && len(x.Args) == 0 && ofElement(sel.X, names)
	}
	return false
}

// finding says how few turns of the loop do anything.
func (s *countedScan) finding(r *Rule, in *Input, w *facts.Weights, blocks *repetition.Blocks, share stats.Interval) Finding {
	size := s.over.Size / max(1, s.over.Looked)
	acting := "none did more than look"
	if s.acting > 0 {
		acting = fmt.Sprintf("%s did more than look (%s)", unit.Count(s.acting), unit.Percent(float64(s.acting)/float64(s.all)))
	}
	f := r.answer(Found, "%s of the CPU time goes into a loop%s that goes through %s again and again, %s elements; of %s turns %s", unit.Percent(share.Estimate), atFrame(s.at),
		s.name, unit.About(size), unit.About(s.all), acting)
	f.Title = "The same elements are gone through again and again for few of them"
	if s.kind == scanSums {
		f.Title, f.Summary = sumsTitle, s.sumsText(share)
	}
	if s.kind == scanFailed {
		f.Title, f.Summary = failedTitle, s.failedText(share)
	}
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Severity, f.Score = Info, score(share.Estimate, r.param("share"), 0.6)
	f.Evidence = []Evidence{in.lineAt(w.Entry, s.at, "%d of %d samples", s.samples, w.Total()),
		{Text: fmt.Sprintf("true for %s of %s turns in the run that counts, in which the loop began %s", unit.Count(s.holds), unit.About(s.asked), howOften(s.over.Entered)),
			Path: blocks.Entry.Path, File: s.turnCounts.at.file, Line: s.turnCounts.at.line, Source: in.code.text(s.turnCounts.at.file, s.turnCounts.at.line)}}
	f.Verify = "Record again with the same input: the CPU time of this loop should vanish."
	f.saves, f.grows = true, true
	s.advise(&f)
	s.weighUpkeep(in, &f)
	if f.saves && share.Low >= r.param("warn") {
		f.Severity = Warning
	}
	for at := range s.lines {
		f.costs = append(f.costs, cost{file: at.File, line: at.Line})
	}
	return f
}

// lookAtFewer begins the advice where nothing finds the few at once.
const lookAtFewer = "Look at fewer: "

// advise says what finds the few.
func (s *countedScan) advise(f *Finding) {
	f.Doubts = []string{"if the elements, or what is asked of them, change between the loops, what finds them has to change as well"}
	switch {
	case s.kind == scanCompare && s.by == matchRules:
		f.Advice = lookUpBy(s.by)
		asRules(f)
	case s.kind == scanCompare && s.by != matchOther && s.by != matchPattern:
		f.Advice = lookUpBy(s.by)
		if several(s.by) {
			f.Doubts = append(f.Doubts, firstDoubt)
		}
		if s.by == matchEqual || s.by == matchFold || s.by == matchGroup {
			s.same.tell(f)
		}
	case s.kind == scanOrder:
		f.Advice = "Keep the elements in the order of what the condition compares, a heap (container/heap) or a sorted slice: then those for which it is true stand together, and the rest is not looked at."
	case s.kind == scanSums:
		f.Advice = "Add it up once, when the list is complete: keep a table with what there is to know at each place (the sums so far), and find the place by a binary search (sort.Search, slices.BinarySearchFunc). Where places are asked for in their order, go on from the last one instead."
	case s.kind == scanFailed:
		s.adviseFailed(f)
	case s.kind == scanState:
		f.Advice = "Keep the elements for which the condition is true in a list or a map of their own, to which they are added where that becomes true and from which they are removed where it ends; or, where few change, a count of them that tells when there are none."
	default:
		f.Advice = lookAtFewer + "group the elements by something that the condition requires of them (a key, a range, a first part), and go through one group; or keep the result until the list changes."
		f.saves, f.grows = false, false
		f.Verify = "Record again with the same input: the CPU time of this loop should be less."
	}
}

// howOften is how often something happened.
func howOften(n int64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}
