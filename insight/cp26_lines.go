package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// The counts are of all calls of a function within another one. Where several lines make them, those that repeat may all come from one of these, and
// other calls, within the function around or outside of it, may take most of the time.

// fewOutermost is of how many calls around the counts have to be under load, to tell what part of them something takes: chosen, as fewer may be set-up.
const fewOutermost = 5

// ofOutermost makes the share of a function's calls that repeat one of the outermost function that calls its unit, though nothing is told of the calls
// that this makes otherwise: a large part of what takes a small part of the time is little.
func ofOutermost(set *repetition.Set, x repetition.Call) repetition.Call {
	around := func(in, call int) (sum repetition.Within) {
		for _, w := range set.Within {
			if w.In == in && w.Call == call && !(w.Open && set.Loaded) {
				sum.Calls, sum.Around, sum.AroundTime = sum.Calls+w.Calls, sum.Around+w.Around, sum.AroundTime+w.AroundTime
			}
		}
		return sum
	}
	most := x.Outer.AroundTime
	for _, w := range set.Within {
		if w.Call != x.Outer.Call || w.In == w.Call || w.In == x.Outer.In {
			continue
		}
		all, units := around(w.In, w.Call), around(w.In, x.Outer.In)
		if all.AroundTime > most && float64(units.Calls) >= nearlyAll*float64(x.Outer.Around) && (!set.Loaded || all.Around >= fewOutermost) {
			x.Unit, most = set.Functions[w.In], all.AroundTime
		}
	}
	x.Share = min(1, float64(x.Outer.AgainTime)/float64(max(1, most)))
	return x
}

// isCountedAround tells whether a function of a stack is one that the counts are within.
func isCountedAround(frame, counted string) bool {
	return isCountedIn(frame, counted) || strings.HasSuffix(counted, ".func") && strings.HasPrefix(bareGenerics(frame), counted)
}

// withinUnit keeps of the CPU time of the function that of its calls within the unit which the counts are of, where others make calls as well.
func (r *repeatedCall) withinUnit(in *Input, unit string) {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return
	}
	inside, all, lines := int64(0), int64(0), map[cost]bool{}
	for id, w := range cpu.Profile.Samples(cpu.Index) {
		frames := facts.Frames(cpu.Profile.Stacks, id)
		at := slices.IndexFunc(frames, func(f stack.Frame) bool { return isCounted(f.Func, r.name) })
		if w <= 0 || at < 0 {
			continue
		}
		all += w
		k := slices.IndexFunc(frames[at+1:], func(f stack.Frame) bool { return isCountedAround(f.Func, unit) })
		if k < 0 {
			continue
		}
		inside += w
		f := frames[at+1+k]
		lines[cost{file: f.File, line: f.Line, callee: stack.FoldGenerics(frames[at].Func)}] = true
	}
	if inside > 0 && float64(inside) < allButLittle*float64(all) {
		r.costs = sortedCosts(lines)
	}
}

// sortedCosts are costs in the order of the source.
func sortedCosts(of map[cost]bool) []cost {
	return slices.SortedFunc(maps.Keys(of), func(a, b cost) int { return cmp.Or(cmp.Compare(a.file, b.file), a.line-b.line) })
}

// callLine is a line that calls the function within what is around.
type callLine struct {
	at stack.Frame
	// calls is how many it makes at most; not known if it is below 0.
	calls int64
	// same tells that by the source it gives the same arguments in each turn of a loop.
	same bool
}

// ofLine finds out which line the calls that repeat come from, where several lines call the function within what is around.
func (r *repeatedCall) ofLine(in *Input) {
	lines := r.callLines(in)
	if len(lines) < 2 {
		return
	}
	switch at, known := repeatingLine(lines, r.Inner.Again); {
	case known:
		r.takeLine(in, lines[at].at)
	case slices.ContainsFunc(lines, func(l callLine) bool { return !l.same }):
		r.open = lines
	}
}

// repeatingLine is, of lines that call a function, the one that most of its calls which repeat have to come from, because the others make too few; or else
// the only one that by the source gives the same in each turn.
func repeatingLine(lines []callLine, again int64) (at int, ok bool) {
	all, unknown := int64(0), 0
	for _, l := range lines {
		if all += max(0, l.calls); l.calls < 0 {
			unknown++
		}
	}
	for i, l := range lines {
		others := unknown
		if l.calls < 0 {
			others--
		}
		if others == 0 && float64(all-max(0, l.calls)) <= (1-halfOfAll)*float64(again) {
			return i, true
		}
	}
	at = -1
	for i, l := range lines {
		if !l.same {
			continue
		}
		if at >= 0 {
			return -1, false
		}
		at = i
	}
	return at, at >= 0 && (lines[at].calls < 0 || float64(lines[at].calls) >= halfOfAll*float64(again))
}

// callLines are the lines of the sources that call the function within what is around, each once.
func (r *repeatedCall) callLines(in *Input) (lines []callLine) {
	_, set, err := repetition.In(in.Session)
	d := derivationsOf(in.code)
	of, ok := d.at(stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line})
	if err != nil || !ok || of.lit != nil {
		return nil
	}
	for _, by := range whoCalls(d, of.decl) {
		file, line, _ := d.t.at(by.call.Pos())
		_, first, _ := d.t.at(by.in.Pos())
		fn := slices.IndexFunc(set.Functions, func(f repetition.Func) bool { return f.Caller == "" && f.File == file && f.Line == first })
		name := r.Within.Name
		if first != r.Within.Line || file != r.Within.File {
			if fn < 0 || !isWithinCounted(set, fn, r.Call) {
				continue
			}
			name = set.Functions[fn].Name
		}
		l := callLine{at: stack.Frame{Func: name, File: file, Line: line}, calls: enteredAt(in.code, by)}
		l.same = givesSame(in.code, l.at, by.call)
		if k := slices.IndexFunc(lines, func(o callLine) bool { return o.at == l.at }); k >= 0 {
			lines[k].calls, lines[k].same = -1, lines[k].same && l.same
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// isWithinCounted tells of a function that the calls it makes of one that repeats are within what is around these.
func isWithinCounted(set *repetition.Set, fn int, x repetition.Call) bool {
	has := func(in, call int) bool {
		return slices.ContainsFunc(set.Within, func(w repetition.Within) bool { return w.In == in && w.Call == call && w.Calls > 0 })
	}
	return has(fn, x.Inner.Call) && has(x.Inner.In, fn)
}

// enteredAt is how often the block was entered that has a call, which is then made that often at most; below 0 where that was not counted.
func enteredAt(c *code, by callBy) int64 {
	counts := blockCountsOf(c)
	if counts == nil {
		return -1
	}
	block := by.in.Body.Lbrace
	for _, n := range nodesAt(by.in.Body, by.call.Pos()) { // the outermost first
		switch n := n.(type) {
		case *ast.BlockStmt:
			block = n.Lbrace
		case *ast.CaseClause:
			block = n.Colon
		case *ast.CommClause:
			block = n.Colon
		case *ast.ForStmt:
			if n.Cond != nil && n.Cond.Pos() <= by.call.Pos() && by.call.End() <= n.Cond.End() || n.Post != nil && n.Post.Pos() <= by.call.Pos() && by.call.End() <= n.Post.End() {
				return -1 // it is called once for each turn, and not once for each time that the loop begins
			}
		}
	}
	if n, ok := counts.entered(block); ok {
		return n
	}
	return -1
}

// givesSame tells of a call that by the source it is in a loop whose turns do not change what it is given.
func givesSame(c *code, at stack.Frame, call *ast.CallExpr) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	turn := loops[len(loops)-1]
	given := call.Args
	if x := receiverOf(call); x != nil {
		given = append(slices.Clip(given), x)
	}
	return !slices.ContainsFunc(given, func(x ast.Expr) bool { return variesIn(turn, x) })
}

// takeLine makes one of several lines the one of the calls that repeat: of its CPU time these take as much as the counts say of all calls.
func (r *repeatedCall) takeLine(in *Input, at stack.Frame) {
	part, whole, line, most := r.againPart(), int64(0), int64(0), int64(0)
	var way []stack.Frame
	costs := map[cost]bool{}
	s := spentOf(in)
	if m := s.mark(r.costs); m != nil {
		whole = s.weight(m)
	}
	if cpu, err := in.Facts.Weights(facts.CPU, "samples"); err == nil {
		for id, w := range cpu.Profile.Samples(cpu.Index) {
			frames := facts.Frames(cpu.Profile.Stacks, id)
			k := slices.IndexFunc(frames, func(f stack.Frame) bool { return isCounted(f.Func, r.name) })
			if w <= 0 || k < 0 || k+1 >= len(frames) || frames[k+1].File != at.File || frames[k+1].Line != at.Line || !r.isWithin(frames[k:]) {
				continue
			}
			line += w
			costs[cost{file: at.File, line: at.Line, callee: stack.FoldGenerics(frames[k].Func)}] = true
			if w > most {
				most, way = w, frames[k:]
			}
		}
	}
	if whole > 0 && line > 0 {
		r.costs, r.linePart = sortedCosts(costs), min(1, part*float64(whole)/float64(line))
	}
	if r.site, r.loop = (stack.Frame{}), 0; way != nil {
		r.way = way
		r.calledAt(in)
		return
	}
	decl := stack.Frame{Func: r.Func.Name, File: r.Func.File, Line: r.Func.Line}
	r.way, r.site = []stack.Frame{decl, at}, at
	if loops := loopsAround(in.code, at); len(loops) > 0 {
		r.loop, _ = loops[len(loops)-1].source.lines(loops[len(loops)-1].stmt)
	}
}

// mostNamed is how many lines a finding names that may be the one in question.
const mostNamed = 4

// tellLines says that several lines make the calls, and nothing which of them those come from that repeat.
func (r *repeatedCall) tellLines(in *Input, f *Finding) {
	if len(r.open) == 0 {
		return
	}
	var names []string
	for _, l := range r.open[:min(mostNamed, len(r.open))] {
		names = append(names, fileLine(l.at.File, l.at.Line))
		f.Evidence = append(f.Evidence, in.code.shownAt(l.at.File, l.at.Line, "one of the lines that call %s", r.called()))
	}
	if more := len(r.open) - len(names); more > 0 {
		names = append(names, unit.Plural(int64(more), "other"))
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("the counts do not tell which line's calls repeat: %s calls it at %s", stack.Short(r.Within.Name), andList(names)))
}

// Limits of what is kept without a word: chosen. More results than that, or results that may have more bytes than that together, need a bound.
const (
	manyResults = 1000
	largeKept   = 32 << 20
)

// tellKept says of results that are to be kept by their arguments that they take memory, where these are many or may be large.
func (r *repeatedCall) tellKept(in *Input, f *Finding) {
	kinds := float64(r.Inner.Distinct) / float64(max(1, r.Inner.Around))
	if kinds < 1.5 {
		return
	}
	each, known := r.allocatedEach(in)
	large := known && each*kinds >= largeKept
	if kinds < manyResults && !large {
		return
	}
	text := fmt.Sprintf("the results of %s different arguments would be kept, with the arguments, for as long as a call of %s lasts", unit.About(int64(kinds)), stack.Short(r.Within.Name))
	if large {
		text += fmt.Sprintf("; a call allocates %s, of which the result may hold most", unit.BytesOf(each))
	}
	f.Doubts = append(f.Doubts, text+": keep no more of them than there is memory for, those that were asked for last")
}

// allocatedEach is how many bytes a call of the function allocates, with what it calls; not known under load, where the runs differ, or if counting ended.
func (r *repeatedCall) allocatedEach(in *Input) (bytes float64, ok bool) {
	w, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil || r.Loaded || r.Func.Cut || r.Func.Calls == 0 || r.Func.Caller != "" {
		return 0, false
	}
	sum := int64(0)
	for id, n := range w.Profile.Samples(w.Index) {
		if slices.ContainsFunc(facts.Frames(w.Profile.Stacks, id), func(f stack.Frame) bool { return isCounted(f.Func, r.name) }) {
			sum += n
		}
	}
	return float64(sum) / float64(r.Func.Calls), true
}
