package insight

import (
	"cmp"
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// The lines that the collector works for: where most of the bytes are allocated.

// linesNamed is how many of them are named, and fewAllocated the part of all bytes that one has at least.
const (
	linesNamed   = 3
	fewAllocated = 0.05
)

// allocatingLine is a line of the program, with the part of all allocated bytes that it has.
type allocatingLine struct {
	at    stack.Frame
	share float64
}

// allocatingLines are those that allocate most, the first with the most.
func allocatingLines(in *Input, w *facts.Weights) (lines []allocatingLine) {
	v, by := in.view(w.Profile), map[stack.Frame]int64{}
	for id, n := range w.Profile.Samples(w.Index) {
		frames := w.Profile.Stacks.Frames(id)
		if i := nextUser(v, frames, 0); n > 0 && i >= 0 {
			by[lineOnly(w.Profile.Stacks.Frame(frames[i]))] += n
		}
	}
	for at, n := range by {
		if share := float64(n) / float64(max(1, w.Total())); share >= fewAllocated {
			lines = append(lines, allocatingLine{at, share})
		}
	}
	slices.SortFunc(lines, func(a, b allocatingLine) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Line, b.at.Line))
	})
	return lines[:min(len(lines), linesNamed)]
}

// lessAllocated is the advice to allocate less, at the lines that allocate most.
func lessAllocated(in *Input) string {
	w, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil {
		return "Allocate less: an allocs profile shows at which lines (-phases allocs)."
	}
	var texts []string
	for _, l := range allocatingLines(in, w) {
		texts = append(texts, fmt.Sprintf("%s (%s)", fileLine(l.at.File, l.at.Line), unit.Percent(l.share)))
	}
	if len(texts) == 0 {
		return "Allocate less: no line of the program's allocates much by itself; loupe pprof -top -cum -sample_index alloc_space shows who calls what does."
	}
	return "Allocate less, first where most bytes are allocated: " + andList(texts) + "."
}
