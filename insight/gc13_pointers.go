package insight

import (
	"fmt"
	"math"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var gc13 = &Rule{
	ID: "GC13", Title: "The collector keeps scanning a large heap for pointers",
	About: "The collector scans only memory that may hold pointers: a large slice of numbers costs it nothing, a tree of small nodes its full size. If " +
		"marking takes much of the CPU and much of the live heap is scanned, the cost comes from the shape of the data.",
	Asks: []facts.Question{facts.Counters},
	Params: []Param{
		{"scanned", 0.40, "share of the live heap", "chosen: the cost is how much is scanned; research, GC13, has 80%"},
		{"mark", 0.10, "share of the busy time", "research, GC13"},
		{"least", 64, "MB", "chosen: of live heap; a smaller heap needs more room, not another shape"},
		{"warning", 0.20, "share of the busy time", "chosen: a fifth of the time is worth another shape"},
		{"line", 0.40, "share of the live heap", "chosen: of one line, whose objects stay, for a warning"},
		{"objects", 200e3, "objects", "chosen: of that line, for a warning; marking takes its time for each"},
		{"small", 256, "B", "chosen: of each of them on average, for a warning; a slice of values is one object"},
	},
	Part:  true,
	Check: checkPointers,
}

func checkPointers(r *Rule, in *Input) []Finding {
	all, none := r.readings(in, "/gc/scan/heap:bytes", "/gc/heap/live:bytes")
	if none != nil {
		return none
	}
	var worst *facts.Readings
	scan, live := 0.0, 0.0
	for _, one := range all {
		s := one.Values("/gc/scan/heap:bytes")
		for i, l := range one.Values("/gc/heap/live:bytes") {
			if i < len(s) && l > live {
				worst, scan, live = one, s[i], l
			}
		}
	}
	if worst == nil {
		return []Finding{r.answer(Fine, "no collection finished in %s", in.where())}
	}
	share, _ := gcShare(in, worst.Round)
	part := min(1, scan/max(1, live))
	if live < r.param("least")*1e6 || part < r.param("scanned") || !(share >= r.param("mark")) {
		return []Finding{r.answer(Fine, "%s of %s of live heap can hold pointers; garbage collection took %s", mib(min(scan, live)), mib(live), percentOr(share, "an unknown share"))}
	}
	f := r.answer(Found, "%s of %s of live heap are scanned at each collection, and garbage collection took %s of the busy time", mib(min(scan, live)), mib(live), unit.Percent(share))
	f.Impact = exactly(share, "share of the busy time")
	f.Severity, f.Score = Info, score(share, r.param("mark"), 0.40)
	f.Evidence = []Evidence{readFrom(worst, "%s of the live heap can hold pointers", unit.Percent(part))}
	if kept, err := in.Facts.Kept(); err == nil {
		for _, l := range kept.Lines()[:min(2, len(kept.Lines()))] {
			f.Evidence = append(f.Evidence, in.fileAt(kept.Entry, l.At, l.Frames, "%s in use were allocated here", mib(float64(l.Weight))))
		}
	}
	if at, objects, size, ok := manySmall(r, in, scan, live); ok && share >= r.param("warning") {
		f.Severity = Warning
		f.Summary += fmt.Sprintf("; %s of them are %s objects of %s that were allocated at %s:%d and stay", mib(objects*size), unit.Count(int64(objects)), unit.BytesOf(size), baseName(at.File), at.Line)
	}
	f.Advice = "Store values instead of pointers: slices of structs instead of slices of pointers, indices instead of links, fixed arrays or offsets into one buffer instead of strings, maps whose keys and values have no pointers."
	f.Verify = "Record again: /gc/scan/heap:bytes should fall against /gc/heap/live:bytes, and the collector's share with it."
	f.Doubts = append(in.doubts(), "less frequent collections also cost less, whatever the shape of the data: GC03 and GC18 say whether there is room")
	if len(in.Session.Manifest().Of(recording.Heap)) == 0 {
		f.Doubts = append(f.Doubts, "a heap profile shows what the heap consists of (record with -phases heap)")
	}
	return []Finding{f}
}

// manySmall finds a line that has most of the live heap in many small objects, which stay: each of
// them is marked at each collection.
func manySmall(r *Rule, in *Input, scan, live float64) (at stack.Frame, objects, size float64, ok bool) {
	all, err := facts.RetentionIn(in.Facts)
	if err != nil || len(all.Most.Lines()) == 0 {
		return at, 0, 0, false
	}
	top := all.Most.Lines()[0]
	size = float64(meanSize(all.Most.SizesAt(top.At)))
	if size == 0 {
		return at, 0, 0, false
	}
	objects = float64(top.Weight) / size
	stays := 2*all.Lasting(top.At) >= top.Weight
	scanned := scan >= 0.9*float64(top.Weight) // else they have no pointers
	return top.At, objects, size, stays && scanned && objects >= r.param("objects") && size <= r.param("small") && float64(top.Weight) >= r.param("line")*live
}

// percentOr prints a share, or other words where it is not known.
func percentOr(x float64, otherwise string) string {
	if math.IsNaN(x) {
		return otherwise
	}
	return unit.Percent(x)
}
