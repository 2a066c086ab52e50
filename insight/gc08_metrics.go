package insight

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// checkLeakMetrics looks for a leak where nothing but the samples of the
// runtime tells of collections: a service that was attached to or watched. The
// profile of the heap is taken after a collection that was asked for, and so
// says what was in use at the end, and where it was allocated.
func checkLeakMetrics(r *Rule, in *Input) []Finding {
	set, err := in.Session.Metrics(0)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	heap, err := in.Facts.Kept()
	if errors.Is(err, session.ErrNone) {
		return []Finding{r.answer(NotApplicable, "the recording has no gctrace, and no heap profile (record with -phases heap)")}
	}
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	if endsItself(in) || heap.Entry.Run != 0 {
		return []Finding{r.answer(TooLittle, "%s is of another run of the program, or of its end: it does not say what was in use while it worked%s", heap.Entry.Path, lookAgain(in, " (record with -phases growth)"))}
	}
	bare := timeline.Span{}
	for _, p := range in.Session.BarePhases() {
		if p.Span.Len() > bare.Len() {
			bare = p.Span
		}
	}
	size, readings, cycles := facts.HeapSeries(set, bare)
	live := readings.Values
	if len(size.Values) < int(r.param("cycles")) || len(live) < int(r.param("forced")) {
		return []Finding{r.short("%d samples and %s with a different live heap in %s; %g and %g are needed", len(size.Values), unit.Plural(int64(len(live)), "collection"), unit.Duration(bare.Len()), r.param("cycles"), r.param("forced"))}
	}
	_, p := stats.MannKendall(size.Values)
	slope := stats.TheilSen(seconds(size.Times), size.Values, 0.95)
	first, last := live[0], float64(heap.Bytes)
	ending := slices.Concat(live, []float64{last})
	until := slices.Concat(seconds(readings.Times), []float64{bare.End.Seconds()})
	stood := facts.Stood(until, slices.Concat(live, live[len(live)-1:]))
	levelled := stood && facts.LevelledOff(until, ending)
	rose := fmt.Sprintf("the heap went from %s to %s in %s and %s", unit.BytesOf(size.Values[0]), unit.BytesOf(size.Values[len(size.Values)-1]), unit.Duration(bare.Len()), unit.Plural(int64(math.Round(cycles)), "collection"))
	if levelled || p >= r.param("p") || slope.Low <= 0 || slices.Max(live) > live[len(live)-1] || last < first+r.param("kept")*(slices.Max(live)-first) || last < first*(1+r.param("growth")) || last-first < r.param("least")*(1<<20) {
		_, late := stats.MannKendall(size.Values[len(size.Values)/2:])
		if before := size.Values[0]; (levelled || !stood || late >= r.param("p")) && last >= before*(1+r.param("growth")) && last-before >= r.param("least")*(1<<20) && slices.Max(live) <= last*(1+r.param("growth")) {
			if !stood {
				return []Finding{r.answer(TooLittle, "%s; after a collection %s were still in use: whether it has stopped growing needs a longer recording", rose, unit.BytesOf(last))}
			}
			return []Finding{r.answer(Fine, "%s; after a collection %s were still in use, but it had stopped growing (GC16 says what keeps it)", rose, unit.BytesOf(last))}
		}
		if n := len(live) - 1; !stood && cycles < r.param("cycles") && slices.IsSorted(live) && min(live[n], last) >= first*(1+r.param("growth")) {
			return []Finding{r.answer(TooLittle, "%s, after which %s were in use at first and %s in the end: too few collections to tell whether it goes on growing; record longer", rose, unit.BytesOf(first), unit.BytesOf(live[n]))}
		}
		return []Finding{r.answer(Fine, "%s, of which %s were in use: no lasting growth", rose, unit.BytesOf(last))}
	}
	if levelledInLife(in, 0) {
		return []Finding{r.answer(TooLittle, "%s; after a collection %s were still in use, but in the rest of its life the live heap has levelled off: whether it goes on growing needs a longer recording", rose, unit.BytesOf(last))}
	}
	rose = fmt.Sprintf("the live heap went from %s to %s in %s and %s", unit.BytesOf(first), unit.BytesOf(live[len(live)-1]), unit.Duration(bare.Len()), unit.Plural(int64(math.Round(cycles)), "collection"))
	f := r.answer(Found, "%s; after a collection %s were still in use", rose, unit.BytesOf(last))
	grade(r, &f, last/max(first, 1)-1, slope)
	if lines := heap.Lines(); len(lines) > 0 {
		at, held := lines[0].At, float64(lines[0].Weight)
		f.Summary += fmt.Sprintf(", %s of them allocated at %s:%d in %s", unit.Percent(held/last), baseName(at.File), at.Line, stack.Short(at.Func))
		f.Evidence = append(f.Evidence, in.lineAt(heap.Entry, at, "%s in use were allocated here", unit.BytesOf(held)))
		tellKeeping(in, &f, at, lines[0].Frames, heldBy)
		tellHeap(in, &f, at)
	}
	f.Evidence = append(f.Evidence, Evidence{Text: rose, Span: span(bare)})
	f.Doubts = slices.Concat(in.doubts(), f.Doubts, []string{"a program that is still warming up grows too: watch for longer than that"})
	return []Finding{f}
}

func seconds(times []timeline.Time) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = t.Seconds()
	}
	return out
}
