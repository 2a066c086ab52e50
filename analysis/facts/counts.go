package facts

import (
	"cmp"
	"math"
	"time"

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

// boundarySample marks the samples that the agent has taken where the work of a phase begins and
// where it ends.
const boundarySample = "/loupe/boundary:samples"

// worked is the time of a round in which counters are read, and how much work that is.
type worked struct {
	// between is from the first sample that counts to the last.
	between timeline.Span
	// length is that of the work, 0 where it is the time between the samples: of a load that
	// was sampled at both ends all requests lie between these, whatever time passes before the
	// first and after the last.
	length time.Duration
}

// workedIn finds it for the work of a phase.
func workedIn(set *metrics.Set, phase, work timeline.Span, load bool) worked {
	at := set.Series(boundarySample).In(phase).Times
	if len(at) < 2 {
		return worked{between: work}
	}
	w := worked{between: timeline.Span{Start: at[0], End: at[len(at)-1] + 1}}
	if load {
		w.length = work.Len()
	}
	return w
}

// rate is by how much a counter grows in a second of the work; NaN where fewer than two samples
// tell of it.
func (w worked) rate(set *metrics.Set, name string) float64 {
	s := set.Series(name).In(w.between)
	n := len(s.Values)
	if n < 2 || s.Times[n-1] <= s.Times[0] {
		return math.NaN()
	}
	length := cmp.Or(w.length, s.Times[n-1].Sub(s.Times[0]))
	return (s.Values[n-1] - s.Values[0]) / length.Seconds()
}

// counted reads the counters. Those of a program that ended are told by its last sample alone,
// which its agent took at the very end: an earlier one has seen a part of the work.
func counted(set *metrics.Set, work worked, ended bool) Counts {
	if !ended {
		return Counts{
			Bytes: work.rate(set, "/gc/heap/allocs:bytes"), Objects: work.rate(set, "/gc/heap/allocs:objects"),
			LockWait: work.rate(set, "/sync/mutex/wait/total:seconds") * 1e9,
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
