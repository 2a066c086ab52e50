package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// checkLeakSteady looks at a bare phase in which no collection was forced. What marking
// finds may be garbage a moment later, and a rise may be a warm-up: so it has to be as
// steep in the second half as in the first, and what a heap profile finds in use after
// it, which follows a collection that was asked for, has to be about as much.
func checkLeakSteady(r *Rule, in *Input) (Finding, bool) {
	round, live := steadily(r, in)
	if round == nil {
		return Finding{}, false
	}
	n := len(live.Values)
	first, last := live.Values[0], live.Values[n-1]
	rise := last - first
	kept, err := in.Facts.Kept()
	if err != nil || float64(kept.Bytes) < first+r.param("kept")*rise {
		return Finding{}, false
	}
	slope := stats.TheilSen(seconds(live.Times), live.Values, 0.95)
	text := fmt.Sprintf("the live heap rose steadily from %s to %s in %s, and was still rising", unit.BytesOf(first), unit.BytesOf(last), unit.Duration(live.Times[n-1].Sub(live.Times[0])))
	if n := requestsWithin(in, round, live.Times[n-1].Sub(live.Times[0])); n > 0 {
		text += fmt.Sprintf("; %s for each request", unit.BytesOf(rise/n))
	}
	f := r.answer(Found, "%s; after a collection %s were in use", text, unit.BytesOf(float64(kept.Bytes)))
	grade(r, &f, rise/max(first, 1), slope)
	longer := "record for several times as long (-for)"
	if heapGrowth(r, in) == nil && mayLookAgain(in) {
		longer += ", or with -phases growth"
	}
	f.Doubts = append(in.doubts(), "a cache that is still filling also grows, up to its bound: "+longer)
	if !keptAt(r, &f, in, kept) && !tellRising(r, in, &f) || in.public().computes() {
		f.Severity = Info
	}
	if f.bounds.File != "" {
		f.Title = "The live heap keeps growing: what it goes into has a bound in the source"
	}
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%d readings of the live heap (/gc/heap/live:bytes)", n)}.at(round))
	return f, true
}

// requestsWithin is how many of a round's requests were answered in a part of that length, at their mean rate; 0 where there
// was no load.
func requestsWithin(in *Input, round *facts.Round, part time.Duration) float64 {
	if round.Load == nil || round.Load.Responses == 0 {
		return 0
	}
	all := float64(round.Load.Responses)
	if rate := facts.RequestRate(in.Facts, round.Phase.Name); rate > 0 {
		return min(all, rate*part.Seconds())
	}
	return all
}

// keptAt names the line that most of what is in use comes from; false where there is none.
func keptAt(r *Rule, f *Finding, in *Input, kept *facts.InUse) bool {
	lines := kept.Lines()
	if len(lines) == 0 || float64(lines[0].Weight) < r.param("line")*float64(kept.Bytes) {
		return false
	}
	at := lines[0].At
	look := &facts.Look{InUse: kept}
	f.Summary += fmt.Sprintf(", %s of them allocated at %s:%d in %s", unit.Percent(float64(lines[0].Weight)/float64(kept.Bytes)), baseName(at.File), at.Line, stack.Short(at.Func))
	for _, l := range lines[:min(3, len(lines))] {
		f.Evidence = append(f.Evidence, in.fileAt(kept.Entry, l.At, l.Frames, "%s in use were allocated here%s", unit.BytesOf(float64(l.Weight)), ofAllocated(look, l)))
	}
	tellKeeping(in, f, at, lines[0].Frames, heldBy)
	tellHeap(in, f, at)
	return true
}

// steadily finds the longest bare phase, and its readings of the live heap where these rise
// all the time; nil where they do not.
func steadily(r *Rule, in *Input) (*facts.Round, timeline.Series) {
	var round *facts.Round
	for i := range in.Facts.Rounds {
		if x := &in.Facts.Rounds[i]; round == nil || x.Phase.Span.Len() > round.Phase.Span.Len() {
			round = x
		}
	}
	if round == nil {
		return nil, timeline.Series{}
	}
	set, err := in.Session.Metrics(max(0, round.Phase.Run))
	if err != nil {
		return nil, timeline.Series{}
	}
	live := facts.LiveReadings(set, round.Phase.Span)
	different := slices.Compact(slices.Clone(live.Values))
	n := len(live.Values)
	if len(different) < int(r.param("readings")) {
		return nil, live
	}
	first, last := live.Values[0], live.Values[n-1]
	_, p := stats.MannKendall(live.Values)
	switch {
	case p >= r.param("p"), last < first*(1+r.param("growth")), last-first < r.param("rise")*(1<<20):
		return nil, live
	case slices.Max(live.Values) > last+0.1*(last-first):
		return nil, live
	}
	if c, _ := facts.CourseOf(seconds(live.Times), live.Values); c != facts.Evenly {
		return nil, live
	}
	if levelledInLife(in, max(0, round.Phase.Run)) {
		return nil, live
	}
	return round, live
}

// levelledInLife tells of a run that it is the longest one and that its live heap has levelled off by its end: the rest of its life may show that what rose
// in a phase has stopped.
func levelledInLife(in *Input, of int) bool {
	run, life := facts.LongestRun(in.Session.Manifest())
	set, err := in.Session.Metrics(of)
	if run != of || err != nil {
		return false
	}
	whole := facts.LiveReadings(set, life)
	c, _ := facts.CourseOf(seconds(whole.Times), whole.Values)
	return c == facts.LevelOff
}
