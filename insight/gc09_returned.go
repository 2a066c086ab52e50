package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var gc09 = &Rule{
	ID: "GC09", Title: "Heap spike: the heap grew, then shrank again",
	About: "A heap that rises under load looks like a leak until it falls again. Memory that is freed again was a queue, a burst or a temporary cache: " +
		"not a leak, but the machine must have room for its peak.",
	Asks: []facts.Question{facts.HeapSize},
	Params: []Param{
		{"p", 0.01, "probability", "research, as for GC08: of the trend up to the peak (Mann–Kendall)"},
		{"samples", 6, "samples", "chosen: up to the peak; fewer cannot show a trend at that p"},
		{"growth", 0.20, "share", "research, as for GC08"},
		{"least", 8, "MB", "chosen, as for GC08: less is warm-up"},
		{"returned", 0.5, "share of the growth", "research: falls by half after the load stops"},
	},
	Check: checkReturned,
}

func checkReturned(r *Rule, in *Input) []Finding {
	set, err := in.Session.Metrics(0)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	whole := timeline.Span{End: 1 << 62}
	size, readings, _ := facts.HeapSeries(set, whole)
	ended := endsItself(in)
	if ended && len(size.Values) > 0 {
		size, readings, _ = facts.HeapSeries(set, atWork(size))
	}
	live := readings.Values
	if len(size.Values) == 0 || len(live) == 0 {
		return []Finding{r.short("the runtime samples say nothing about the heap")}
	}
	peak := slices.Index(size.Values, slices.Max(size.Values))
	first, top, last := live[0], slices.Max(live), live[len(live)-1]
	if top-first < r.param("least")*(1<<20) || top < first*(1+r.param("growth")) {
		return []Finding{r.answer(Fine, "at most %s were in use after a collection, %s at the start: the heap did not grow", unit.BytesOf(top), unit.BytesOf(first))}
	}
	if peak+1 < int(r.param("samples")) {
		return []Finding{r.short("the heap was largest at sample %d; %g earlier ones are needed", peak+1, r.param("samples"))}
	}
	if _, p := stats.MannKendall(size.Values[:peak+1]); p >= r.param("p") {
		return []Finding{r.answer(Fine, "the heap went up and down, reaching %s, without a trend (p = %.2g)", unit.BytesOf(size.Values[peak]), p)}
	}
	after := timeline.Span{Start: size.Times[peak], End: size.Times[len(size.Times)-1]}
	// The last look at the heap is after a collection that was asked for. That of another
	// process, or of one that has done its work, says nothing about this one at work.
	if kept, err := in.Facts.Kept(); err == nil && kept.Entry.Run == 0 && !ended {
		at := kept.Entry.Span.Start
		if at == 0 {
			at = kept.Time.Start
		}
		if at > after.Start {
			last = min(last, float64(kept.Bytes))
			after.End = max(after.End, at)
		}
	}
	returned := (top - last) / (top - first)
	rose := fmt.Sprintf("%s, later %s and finally %s were in use after a collection", unit.BytesOf(first), unit.BytesOf(top), unit.BytesOf(last))
	if returned < r.param("returned") {
		return []Finding{r.answer(Fine, "%s: at the end, less than half of the growth was gone (GC08 says whether it still grows; GC16, what most of it is)", rose)}
	}
	f := r.answer(Found, "no leak: %s; %s of the growth was released within %s", rose, unit.Percent(min(returned, 1)), unit.Duration(after.Len()))
	f.Severity, f.Score = Info, score(top/max(first, 1)-1, 2, 20)
	f.Impact = exactly((top-max(first, last))/(1<<20), "MB that were in use temporarily")
	f.Evidence = []Evidence{{Text: "the heap rose up to here, then fell", Path: metricsPath(in), Span: span(timeline.Span{Start: size.Times[0], End: size.Times[peak]})}}
	if most, err := in.Facts.KeptAtMost(); err == nil {
		if lines := most.Lines(); len(lines) > 0 {
			at := lines[0].At
			f.Summary += fmt.Sprintf("; at the peak, most of it had been allocated at %s:%d in %s", baseName(at.File), at.Line, stack.Short(at.Func))
			f.Evidence = append([]Evidence{in.lineAt(most.Entry, at, "of %s in use at the peak, %s were allocated here", unit.BytesOf(float64(most.Bytes)), unit.BytesOf(float64(lines[0].Weight)))}, f.Evidence...)
		}
	}
	f.Advice = "Give the queue or the cache a bound that fits the machine: work that arrives faster than it is processed can wait, or be rejected. A pool keeps what it once had: limit what it takes back."
	f.Verify = "Record the same load again: the peak should be no higher than the bound allows."
	f.Doubts = append(in.doubts(), "a heap that shrinks once need not do so every time: record more than one burst")
	return []Finding{f}
}

// endsItself tells that the program came to its end by itself in its first run: what is gone
// then, or in a later run, was not released while it worked.
func endsItself(in *Input) bool {
	t := &in.Session.Manifest().Target
	return t.Kind != "files" && len(t.Runs) > 0 && t.Runs[0].Exit != "" && !t.Runs[0].Stopped
}

// askMore is what gives a program more to be sampled: one that ends by itself has no load.
func askMore(in *Input) string {
	if endsItself(in) {
		return "give the program more to do"
	}
	return "apply more load"
}

// worksOn is how much a program that ends by itself has to allocate after a fall of its heap, as
// a share of the peak, for the fall to be within its work. Chosen: to print a result takes less.
const worksOn = 0.1

// atWork is the time in which a program that ends by itself was at work: until its heap has
// risen for the last time.
func atWork(size timeline.Series) timeline.Span {
	rest, k := worksOn*slices.Max(size.Values), len(size.Values)-1
	for ; k > 0 && rest > 0; k-- {
		rest -= max(0, size.Values[k]-size.Values[k-1])
	}
	// What rose from here on was the last of its work, up to its highest.
	top := k + slices.Index(size.Values[k:], slices.Max(size.Values[k:]))
	return timeline.Span{Start: size.Times[0], End: size.Times[top] + 1}
}

// metricsPath is the entry with the samples of the runtime.
func metricsPath(in *Input) string {
	m := in.Session.Manifest()
	for _, kind := range []recording.Kind{recording.Metrics, recording.Vars} {
		if all := m.Of(kind); len(all) > 0 {
			return all[0].Path
		}
	}
	return ""
}
