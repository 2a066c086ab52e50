package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/recording"
	"loupe/stack"
	"loupe/stats"
	"loupe/timeline"
	"loupe/unit"
)

var gc09 = &Rule{
	ID: "GC09", Title: "The heap grew, and gave back what it took",
	About: "A heap that rises under load looks like a leak until it falls again. What comes back was a queue, a burst or a cache with an end: no leak, " +
		"but its peak is what the machine must have room for.",
	Needs: []recording.Kind{recording.Metrics}, Instead: []recording.Kind{recording.Vars},
	Params: []Param{
		{"p", 0.01, "probability", "research, as for GC08: of the trend up to the peak (Mann–Kendall)"},
		{"samples", 6, "samples", "chosen: up to the peak; fewer show no trend at that p"},
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
	size, live, _ := heapSeries(set, whole)
	if len(size.Values) == 0 || len(live) == 0 {
		return []Finding{r.short("the samples of the runtime tell nothing of the heap")}
	}
	peak := slices.Index(size.Values, slices.Max(size.Values))
	first, top, last := live[0], slices.Max(live), live[len(live)-1]
	if top-first < r.param("least")*(1<<20) || top < first*(1+r.param("growth")) {
		return []Finding{r.answer(Fine, "at most %s were in use after a collection, %s at first: it did not grow", unit.BytesOf(top), unit.BytesOf(first))}
	}
	if peak+1 < int(r.param("samples")) {
		return []Finding{r.short("the heap was largest at sample %d, %g before are needed", peak+1, r.param("samples"))}
	}
	if _, p := stats.MannKendall(size.Values[:peak+1]); p >= r.param("p") {
		return []Finding{r.answer(Fine, "the heap went up and down, up to %s, without a trend (p = %.2g)", unit.BytesOf(size.Values[peak]), p)}
	}
	after := timeline.Span{Start: size.Times[peak], End: size.Times[len(size.Times)-1]}
	// The last look at the heap is after a collection that was asked for.
	heap, entry, err := in.Session.Profile(recording.Heap)
	at := entry.Span.Start
	if phase, ok := in.Session.Manifest().PhaseNamed(entry.Phase); ok && at == 0 {
		at = phase.Span.Start
	}
	if err == nil && at > after.Start {
		if index, err := heap.Index("inuse_space"); err == nil {
			last = min(last, float64(heap.Total(index)))
			after.End = max(after.End, at)
		}
	}
	returned := (top - last) / (top - first)
	rose := fmt.Sprintf("%s, later %s and in the end %s were in use after a collection", unit.BytesOf(first), unit.BytesOf(top), unit.BytesOf(last))
	if returned < r.param("returned") {
		return []Finding{r.answer(Fine, "%s: what the heap took it has kept (GC08 says whether it still grows)", rose)}
	}
	f := r.answer(Found, "no leak: %s; %s of the growth were let go of within %s", rose, unit.Percent(min(returned, 1)), unit.Duration(after.Len()))
	f.Severity, f.Score = Info, score(top/max(first, 1)-1, 2, 20)
	f.Impact = exactly((top-max(first, last))/(1<<20), "MB that were in use for a while")
	f.Evidence = []Evidence{{Text: "the heap rose up to here, then fell", Path: in.metricsPath(), Span: span(timeline.Span{Start: size.Times[0], End: size.Times[peak]})}}
	if held := in.heldAtPeak(); len(held) > 0 {
		at := held[0]
		f.Summary += fmt.Sprintf("; at the peak most of it was allocated at %s:%d in %s", baseName(at.File), at.Line, stack.Short(at.Function))
		f.Evidence = append(held, f.Evidence...)
	}
	f.Advice = "Give the queue or the cache a bound that fits the machine: what comes faster than it is worked off can wait, or be refused. A pool keeps what it once had: cap what it takes back."
	f.Verify = "Record the same load again: the peak should be as high as the bound allows."
	f.Doubts = append(in.doubts(), "a heap that comes back once need not do so each time: record more than one burst")
	return []Finding{f}
}

// metricsPath is the entry with the samples of the runtime.
func (in *Input) metricsPath() string {
	m := in.Session.Manifest()
	for _, kind := range []recording.Kind{recording.Metrics, recording.Vars} {
		if all := m.Of(kind); len(all) > 0 {
			return all[0].Path
		}
	}
	return ""
}

// heldAtPeak names the line that had allocated most of what was in use when that
// was most, where several heap profiles were taken.
func (in *Input) heldAtPeak() []Evidence {
	var most, held int64
	var e recording.Entry
	var at stack.Frame
	all := in.Session.Manifest().Of(recording.Heap)
	for _, entry := range all {
		p, err := in.Session.ProfileAt(entry.Path)
		if err != nil {
			continue
		}
		if index, err := p.Index("inuse_space"); err == nil && p.Total(index) > most {
			most, e = p.Total(index), entry
			at, held = in.holder(p.Stacks, p.Samples(index))
		}
	}
	if len(all) < 2 || held == 0 {
		return nil
	}
	source, _ := in.lineInLoop(at)
	return []Evidence{{
		Text: fmt.Sprintf("of %s in use at the most, %s were allocated here", unit.BytesOf(float64(most)), unit.BytesOf(float64(held))),
		Path: e.Path, Phase: e.Phase, File: at.File, Line: at.Line, Function: at.Func, Source: strings.TrimSpace(source),
	}}
}
