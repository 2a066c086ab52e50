// Package calltree answers questions about weighted call stacks: which
// functions are heavy (top), which lines of them (list), and who in the
// user's own code has called something heavy (sites).
//
// Weighted stacks come from anywhere: the CPU, heap, block and mutex columns
// of a profile, the samples of an execution trace, a dump of goroutines. The
// numbers are computed with the semantics of pprof, function by function, so
// that they can be compared with what users have seen before: a recursive
// function counts once per sample for its cumulative weight, and an inlined
// call is a function like any other.
//
// The results are values. [WriteTop] and [WriteList] print them exactly as go
// tool pprof does, byte for byte; every other presentation is for report.
package calltree

import (
	"iter"

	"loupe/stack"
)

// Samples is a sequence of stacks and their weights. A stack may come more
// than once and a weight may be negative (in a difference). All stacks belong
// to one [stack.Table]; an ID that is not of the table panics.
type Samples = iter.Seq2[stack.ID, int64]

// weights is a sequence of samples summed up by stack. Profiles have fewer
// distinct stacks than samples, and everything that follows works on these.
type weights struct {
	sum   []int64 // by stack
	count []int64 // observations behind sum, by stack
	live  []stack.ID

	total        int64 // sum of the absolute weights, as pprof's total
	observations int64
}

// weigh sums up samples. Samples with weight 0 are skipped, as pprof does, but
// a stack whose weights cancel each other out stays. The observations are the
// weights of counts, or else one for each sample.
func weigh(t *stack.Table, samples, counts Samples) *weights {
	w := &weights{sum: make([]int64, t.Len()), count: make([]int64, t.Len())}
	live := make([]bool, t.Len())
	for id, v := range samples {
		if v == 0 {
			continue
		}
		w.total += max(v, -v)
		w.sum[id] += v
		if counts == nil {
			w.count[id]++
			w.observations++
		}
		if !live[id] {
			live[id] = true
			w.live = append(w.live, id)
		}
	}
	if counts != nil {
		for id, n := range counts {
			w.count[id] += n
			w.observations += n
		}
	}
	return w
}

func abs(v int64) int64 { return max(v, -v) }
