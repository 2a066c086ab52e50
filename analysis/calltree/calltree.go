// Package calltree answers questions about weighted call stacks: which
// functions are heavy (top), which lines of them (list), who calls whom (tree,
// peek, dot, callgrind), where the weight goes from the root down or from the
// leaf up (flame), and who in the user's own code has called something heavy
// (sites).
//
// Weighted stacks come from anywhere: the CPU, heap, block and mutex columns
// of a profile, the samples of an execution trace, a dump of goroutines. The
// numbers are computed with the semantics of pprof, node by node and edge by
// edge, so that they can be compared with what users have seen before: a
// recursive function counts once per sample for its cumulative weight, and an
// inlined call is a function like any other.
//
// [New] builds the one [Graph] that all of pprof's views are made from, and
// the results are values. [WriteTop], [WriteTree], [WriteList],
// [WriteCallgrind] and [WriteDot] print them exactly as go tool pprof does,
// byte for byte; every other presentation is for report.
package calltree

import (
	"iter"

	"loupe/value/stack"
)

// Samples is a sequence of stacks and their weights. A stack may come more
// than once and a weight may be negative (in a difference). All stacks belong
// to one [stack.Table]; an ID that is not of the table panics.
type Samples = iter.Seq2[stack.ID, int64]

// Sample is one observation with all that [New] can make use of.
type Sample struct {
	Stack  stack.ID
	Labels uint32 // number of the set of labels, which [Options.Tags] knows
	Weight int64
	// Divisor turns weights into means: every weight that is shown is a sum of
	// weights divided by the sum of their divisors. 0 everywhere means sums.
	Divisor int64
}

// Plain makes samples without labels and divisors.
func Plain(samples Samples) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for id, v := range samples {
			if !yield(Sample{Stack: id, Weight: v}) {
				return
			}
		}
	}
}

// weights is a sequence of samples summed up by stack. Profiles have fewer
// distinct stacks than samples, and everything that follows works on these.
type weights struct {
	sum   []int64 // by stack
	div   []int64 // divisors, by stack; nil when all are 0
	count []int64 // observations behind sum, by stack
	live  []stack.ID

	labelled []labelled // the same by stack and label set, in the order of the samples

	total        int64 // sum of the absolute weights, as pprof's total
	divisor      int64 // sum of the divisors
	observations int64
}

// labelled is the weight of all samples with one stack and one label set.
type labelled struct {
	id       stack.ID
	labels   uint32
	sum, div int64
}

// weigh sums up samples. Samples with weight 0 and divisor 0 are skipped, as
// pprof does, but a stack whose weights cancel each other out stays. The
// observations are the weights of counts, or else one for each sample.
func weigh(t *stack.Table, samples iter.Seq[Sample], counts Samples, withLabels bool) *weights {
	w := &weights{sum: make([]int64, t.Len()), count: make([]int64, t.Len())}
	live := make([]bool, t.Len())
	var pairs pairs
	for s := range samples {
		if s.Weight == 0 && s.Divisor == 0 {
			continue
		}
		w.total += abs(s.Weight)
		w.sum[s.Stack] += s.Weight
		if s.Divisor != 0 {
			if w.div == nil {
				w.div = make([]int64, t.Len())
			}
			w.div[s.Stack] += s.Divisor
			w.divisor += s.Divisor
		}
		if counts == nil {
			w.count[s.Stack]++
			w.observations++
		}
		if !live[s.Stack] {
			live[s.Stack] = true
			w.live = append(w.live, s.Stack)
		}
		if withLabels {
			i := pairs.at(uint32(s.Stack), s.Labels)
			if i == len(w.labelled) {
				w.labelled = append(w.labelled, labelled{id: s.Stack, labels: s.Labels})
			}
			w.labelled[i].sum += s.Weight
			w.labelled[i].div += s.Divisor
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

// divisorOf returns the sum of the divisors of a stack.
func (w *weights) divisorOf(id stack.ID) int64 {
	if w.div == nil {
		return 0
	}
	return w.div[id]
}

// whole is pprof's total: the mean of all samples, if there are divisors.
func (w *weights) whole() int64 { return mean(w.total, w.divisor) }

func mean(v, divisor int64) int64 {
	if divisor == 0 {
		return v
	}
	return v / divisor
}

func abs(v int64) int64 { return max(v, -v) }
