package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A loop that makes calls is often itself in a function that another loop calls for each of its items: one call for each run of the inner loop
// would leave one for each item of the outer one. Where that would be as many as the rule asks for, the calls are to be combined over all of it.

// outerLoop is a loop of the same unit around that which makes calls.
type outerLoop struct {
	at           stack.Frame // its line from which the inner one is reached
	inner        stack.Frame // the line of the inner one from which the calls are made
	first, begin int         // the lines at which the outer and the inner one begin
	runs         float64     // how often a unit runs the inner loop, on average; 0 is unknown
	counted      bool        // runs is what the run that counts saw, for each time that the outer loop began
	open         string      // why a turn of the outer loop may change what a later one asks for; empty where the source shows that none does
	ends         outerEnd    // a condition that decides for which of its items calls are made; none where cond and at are empty
	others       []*outward  // further calls of the kind that are made in the outer loop, and not by the inner one
}

// loopOutside finds the next loop outward from that in which calls are made, as far as that goes through items, each of which brings calls of its own. What is
// beyond the unit, and a loop whose turns need the answers of earlier ones, or go through parts of a list, is none. all are the calls of the group.
func loopOutside(r *Rule, in *Input, o *outward, ways []callWay, inner stack.Frame, all []*outward) (l outerLoop, ok bool) {
	from := slices.Index(o.path, inner)
	way := unitPath(o)
	if from < 0 || from >= len(way) || len(loopsAround(in.code, inner)) == 0 {
		return l, false
	}
	l.inner = inner
	near := loopsAround(in.code, inner)
	innermost := near[len(near)-1]
	l.begin, _ = innermost.source.lines(innermost.stmt)
	for outer, f := range loopsOn(in.code, way[from:]) {
		if f == inner && outer.stmt == innermost.stmt {
			continue
		}
		callee := ""
		if i := slices.Index(o.path, f); i > 0 {
			callee = ownName(o.path[i-1].Func)
		}
		if !outer.items(f.Line) || outer.batches(f.Line, callee) || outer.chained(f.Line, callee) {
			return l, false
		}
		if _, ends := outer.asks(f); ends {
			return l, false
		}
		l.at = f
		l.first, _ = outer.source.lines(outer.stmt)
		l.find(r, in, o, ways, all)
		if _, _, met := leftForNext(in.code, f); met {
			return l, false
		}
		l.open = peerOrder(in.code, o.path, o.path[:slices.Index(o.path, f)+1])
		between := slices.Clone(way[from : from+slices.Index(way[from:], f)+1])
		slices.Reverse(between)
		l.ends, _ = outerEnds(outer, in.code, between)
		return l, l.runs == 0 || l.runs >= r.param("calls")
	}
	return l, false
}

// unitPath is the way of a call through the code, up to the function that handles the unit.
func unitPath(o *outward) []stack.Frame {
	for i, f := range slices.Backward(o.path) {
		if o.group.Name != "" && stack.Short(f.Func) == stack.Short(o.group.Name) {
			return o.path[:i+1]
		}
	}
	return o.path
}

// find looks for how often the inner loop is run, in the trace and else in the counts of loops, and for the other calls of the outer one.
func (l *outerLoop) find(r *Rule, in *Input, o *outward, ways []callWay, all []*outward) {
	rest := o.path[slices.Index(o.path, l.inner)+1:]
	beyond := o.path[slices.Index(o.path, l.at):]
	for _, x := range all {
		if x.kind != o.kind || slices.ContainsFunc(ways, func(w callWay) bool { return w.outward == x }) || x == o || slices.Equal(x.path, o.path) {
			continue
		}
		within := len(x.path) >= len(beyond) && slices.Equal(x.path[len(x.path)-len(beyond):], beyond)
		i := len(x.path) - len(rest) - 1
		if within && i >= 0 && l.at != l.inner && x.path[i].Func == l.inner.Func && slices.Equal(x.path[i+1:], rest) && len(loopsAround(in.code, x.path[i])) == 0 {
			l.runs = max(l.runs, x.each()) // once in each call of the function that has the inner loop
		}
		if within && x.each() >= r.param("calls") {
			l.others = append(l.others, x)
		}
	}
	if l.runs > 0 {
		return
	}
	counts := blockCountsOf(in.code)
	if counts == nil {
		return
	}
	out, ok := loopCounts(counts, l.at, l.first)
	near, begun := loopCounts(counts, l.inner, l.begin)
	if ok && begun && out.Entered > 0 && out.Looked > 0 {
		l.runs, l.counted = min(float64(out.Size)/float64(out.Looked), float64(near.Entered)/float64(out.Entered)), true
	}
}

// provided begins advice to combine the calls of all items of the outer loop, with what is to be seen to first.
func (l outerLoop) provided() string {
	var when []string
	if l.ends.at != "" {
		when = append(when, l.needed())
	}
	if l.open != "" {
		when = append(when, fmt.Sprintf("no turn of the outer loop changes what a later one asks for (%s)", l.open))
	}
	if len(when) == 0 {
		return "Do so"
	}
	return fmt.Sprintf("If %s, do so", strings.Join(when, ", and "))
}

// needed is what has to be so where the outer loop may end early, or leave out items.
func (l outerLoop) needed() string {
	return fmt.Sprintf("the calls of all items of the outer loop are needed, whatever earlier turns bring (%s: to make all of them beforehand may be many more)", l.ends.text())
}

// loopCounts are the counts of the loop around a frame's line that begins on another one.
func loopCounts(c *countedTurns, f stack.Frame, begin int) (l repetition.Loop, ok bool) {
	_, loops, _ := c.loopsAt(f)
	for _, stmt := range loops {
		if _, line, _ := c.d.t.at(stmt.Pos()); line == begin {
			return c.loopAt(stmt)
		}
	}
	return l, false
}

// tell makes a finding about the calls of the inner loop name the outer one, and say that its calls are to be combined.
func (l outerLoop) tell(in *Input, t *traced, o *outward, f *Finding) {
	out, near := fileLine(l.at.File, l.first), fileLine(l.inner.File, l.begin)
	u := unitNoun(o.group)
	often := ""
	switch {
	case l.runs > 0 && l.counted:
		often = fmt.Sprintf(", which runs it %s times each time that it begins, as the run that counts has seen", timesOf(l.runs))
	case l.runs > 0:
		often = fmt.Sprintf(", which runs it about %s times in each %s", timesOf(l.runs), u)
	}
	where := "another one," + atFrame(l.at)
	if l.at == l.inner {
		where = "that at " + out
	}
	f.Summary += fmt.Sprintf("; that loop is within %s%s", where, often)
	calls := 0.0
	for _, x := range l.others {
		calls += x.each()
	}
	if len(l.others) > 0 {
		f.Summary += fmt.Sprintf(", and makes about %s other %s", timesOf(calls), callsWords[o.kind])
	}
	last := strings.TrimSuffix(f.Advice, ".")
	if l.runs == 0 {
		when := ", and no turn changes what a later one asks for"
		if l.ends.at != "" {
			when = fmt.Sprintf(", no turn changes what a later one asks for, and %s", l.needed())
		}
		f.Advice = fmt.Sprintf("%s. If the loop at %s runs that at %s several times in each %s%s, do so once for all of its items, before it: once for each run of the inner loop leaves one call for each of them.", last, out, near, u, when)
		return
	}
	leaves := timesOf(l.runs)
	too := ""
	if len(l.others) > 0 {
		too = ", with its other calls too"
	}
	left := "calls"
	if o.kind == "network" {
		left = "rounds, one after another" // also of those that are made concurrently
	}
	f.Advice = fmt.Sprintf("%s. %s once for all items of the outer loop at %s, before it%s (if these are very many, for some hundreds of them at a time): once for each run of the loop at %s would leave about %s %s.", last, l.provided(), out, too, near, leaves, left)
	runs := fmt.Sprintf("about %s times in each %s", leaves, u)
	if l.counted {
		runs = fmt.Sprintf("%s times each time that the loop begins", leaves)
	}
	if f.outer = true; l.at == l.inner {
		return
	}
	line := t.seenAt(t.Frames(o.stack), l.at, "runs the loop at %s %s", near, runs)
	if len(f.Evidence) > 0 {
		f.Evidence[0].waits = true // the line of the calls
	}
	f.Evidence = slices.Insert(f.Evidence, 0, line)
}

// answerReads are the waits in which a loop reads the answers of its calls: at another line, they go on with them. from is the place of the loop's line on
// the way of the calls; all are those of the group.
func answerReads(in *Input, o *outward, from int, all []*outward) (reads []*outward) {
	if o.kind != "network" || o.calls == 0 {
		return nil
	}
	for _, x := range all {
		if x.kind != o.kind || x.calls > 0 || x.path[0] == o.path[0] {
			continue
		}
		i := len(x.path) - (len(o.path) - from)
		if i >= 0 && slices.Equal(x.path[i+1:], o.path[from+1:]) && sameLoop(in.code, x.path[i], o.path[from]) {
			reads = append(reads, x)
		}
	}
	return reads
}

// readsText says where the answers are read.
func readsText(o *outward) string {
	if len(o.reads) == 0 {
		return ""
	}
	text := ", with the reading of the answers" + atFrame(o.reads[0].path[0])
	if n := len(o.reads) - 1; n > 0 {
		text += fmt.Sprintf(" and at %s", unit.Plural(int64(n), "other line"))
	}
	return text
}

// calledBackBy is the function without a name that a loop of an iterator calls for each item, and whose outer function has handed it over: it, and not the
// iterator, is the code to change.
func calledBackBy(path []stack.Frame, at stack.Frame) (f stack.Frame, ok bool) {
	i := slices.Index(path, at)
	if i < 1 {
		return f, false
	}
	outer, _, is := strings.Cut(path[i-1].Func, ".func")
	if !is || strings.HasPrefix(at.Func, outer+".func") || at.Func == outer || !slices.ContainsFunc(path[i+1:], func(f stack.Frame) bool { return f.Func == outer }) {
		return f, false
	}
	return path[i-1], true
}

// unitNoun is what one unit of a group is called.
func unitNoun(g facts.UnitGroup) string {
	if g.Unit.String() == "main" {
		return "run"
	}
	return g.Unit.String()
}

// raiseLoops makes a warning of calls that a loop makes, which take too little of the time of units for that by themselves, where they are most of what a
// warning is about that names only the line which waits: the loop, and what to do about it, is to be told first, and not under that.
func raiseLoops(all []Finding) {
	for i := range all {
		loop := &all[i]
		if loop.State != Found || !loop.slight || loop.Impact == nil {
			continue
		}
		for j := range all {
			wait := &all[j]
			if wait.State == Found && namesLineAlone(wait) && wait.Severity == Warning && wait.Impact != nil && wait.Impact.Unit == loop.Impact.Unit &&
				loop.Impact.Value >= halfOfAll*wait.Impact.Value && sharedWaits(wait, loop) >= halfOfAll {
				loop.Severity = Warning
			}
		}
	}
}

// namesLineAlone tells of a finding about a wait that it names the line, and no more of a fault than that many calls are made there.
func namesLineAlone(f *Finding) bool {
	return f.Rule == wt01.ID && (namesNoFault(f) || strings.HasPrefix(f.Advice, "It makes one call after another"))
}

// withOuter makes a finding about many calls tell of the loop around the one that makes them, where that is to be changed.
func withOuter(r *Rule, in *Input, t *traced, o *outward, ways []callWay, all []*outward, f *Finding) {
	if f.Title != r.Title || !strings.Contains(strings.ToLower(f.Advice), strings.ToLower(asksForAll)) {
		return // batches, lists, writes: these are not combined over the items of another loop
	}
	f.slight = f.Severity == Info && strings.HasPrefix(f.Advice, asksForAll) && !slices.Contains(f.Doubts, relayDoubt)
	at, looped := in.loopLine(o.path)
	near, _ := nearLoop(in.code, o.path, innerOf(t.Frames(o.stack), o.path))
	if !looped || near.within() {
		return
	}
	l, ok := loopOutside(r, in, o, ways, at, all)
	if !ok {
		return
	}
	l.tell(in, t, o, f)
	if l.runs == 0 || len(l.others) == 0 {
		return
	}
	sum := o.time
	for _, x := range l.others {
		sum += x.time
	}
	share := o.group.All.Share(sum)
	f.Summary += fmt.Sprintf(": with these, %s of its time", unit.Percent(share))
	f.Impact = exactly(ofAll(in, o.group, share), f.Impact.Unit)
}
