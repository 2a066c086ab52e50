package facts

import (
	"math"

	"loupe/format/metrics"
	"loupe/value/timeline"
)

// Counts are counters of the runtime over the work of a round: of all of a program that ended
// by itself, else in a second of the work. NaN is unknown.
type Counts struct {
	// Whole tells that they are of the whole program, from its start to its end.
	Whole bool
	// Bytes and Objects are what was allocated.
	Bytes, Objects float64
	// LockWait is for how long goroutines have waited for locks, in ns, all of them together:
	// the runtime's estimate from one wait in eight.
	LockWait float64
}

// uncounted is of a round that no runtime tells of.
func uncounted() Counts { return Counts{Bytes: math.NaN(), Objects: math.NaN(), LockWait: math.NaN()} }

// endSample marks the sample that the agent has taken at the end of a program.
const endSample = "/loupe/end:samples"

// counted reads the counters. Those of a program that ended are told by its last sample alone,
// which its agent took at the very end: an earlier one has seen a part of the work.
func counted(set *metrics.Set, work timeline.Span, ended bool) Counts {
	if !ended {
		return Counts{
			Bytes: rateOf(set, "/gc/heap/allocs:bytes", work), Objects: rateOf(set, "/gc/heap/allocs:objects", work),
			LockWait: rateOf(set, "/sync/mutex/wait/total:seconds", work) * 1e9,
		}
	}
	out := uncounted()
	if len(set.Series(endSample).Values) == 0 {
		return out
	}
	last := func(name string) float64 {
		v := set.Series(name).Values
		if len(v) == 0 {
			return math.NaN()
		}
		return v[len(v)-1]
	}
	out.Whole = true
	out.Bytes, out.Objects = last("/gc/heap/allocs:bytes"), last("/gc/heap/allocs:objects")
	out.LockWait = last("/sync/mutex/wait/total:seconds") * 1e9
	return out
}
