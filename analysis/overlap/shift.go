package overlap

import (
	"math/rand/v2"
	"slices"
	"time"

	"loupe/value/timeline"
)

// shifts is the test against chance: would the slowest requests have met as
// much more of something than all requests do, had they come at another time?
//
// All requests are moved along the time axis by the same length, those that
// leave the window at its end come in again at its begin, and it is counted
// again what they meet. That keeps everything but the coincidence: how long
// requests are, that slow ones come in bunches, how long and how regular the
// intervals are. Requests are not independent of each other, so that tests that
// take them to be (Fisher's) see causes everywhere; the shift test does not
// need it. p is (1+b)/(1+n), where b of n random shifts did as well (Phipson and
// Smyth 2010: permutation p-values should never be zero).
//
// Two things must be as large in a shift: the share of the tail, and how much
// more that is than the share of all requests. The first alone would take it for
// evidence that requests as such come when something goes on, as a burst of
// requests causes collections; the second alone, that fewer of the quick ones
// come then, as in a closed loop that is held up. p is the larger one of both.
type shifts struct {
	window timeline.Span
	by     []time.Duration
}

// The test looks at no more than this many requests, evenly taken, which bounds
// its time; its p-values stay exact.
const maxTested = 2000

func newShifts(w timeline.Span, opt Options) *shifts {
	n, seed := opt.Shifts, opt.Seed
	if n == 0 {
		n = 999
	}
	if seed == 0 {
		seed = 1
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := &shifts{window: w, by: make([]time.Duration, n)}
	for i := range s.by {
		s.by[i] = time.Duration(rnd.Int64N(int64(max(1, w.Len()))))
	}
	return s
}

// test sets the chance and the p-value of each tail.
func (s *shifts) test(set *Set, r *Requests, tails [][]int32, out []Met) {
	every := make([]int32, 0, maxTested)
	for k, n := 0, len(r.Start); k < min(n, maxTested); k++ {
		every = append(every, int32(k*n/min(n, maxTested)))
	}
	of := make([][]int32, len(tails))
	seen, seenMore, chance := make([]float64, len(tails)), make([]float64, len(tails)), make([]float64, len(tails))
	asHigh, asMuch := make([]int, len(tails)), make([]int, len(tails))
	all := s.share(set, r, every, 0)
	for t := range tails {
		of[t] = evenly(tails[t])
		seen[t] = s.share(set, r, of[t], 0)
		seenMore[t] = seen[t] - all
	}
	const same = 1e-12
	for _, by := range s.by {
		all := s.share(set, r, every, by)
		for t := range tails {
			slow := s.share(set, r, of[t], by)
			chance[t] += slow / float64(len(s.by))
			if slow >= seen[t]-same {
				asHigh[t]++
			}
			if slow-all >= seenMore[t]-same {
				asMuch[t]++
			}
		}
	}
	for t := range tails {
		p := float64(1+max(asHigh[t], asMuch[t])) / float64(1+len(s.by))
		out[t].Chance, out[t].P = &chance[t], &p
	}
}

// share returns the share of the requests that meet the set when they are moved.
func (s *shifts) share(set *Set, r *Requests, of []int32, by time.Duration) float64 {
	hits := 0
	for _, i := range of {
		from, to := r.Start[i].Add(by), r.End[i].Add(by)
		if from >= s.window.End {
			from, to = from.Add(-s.window.Len()), to.Add(-s.window.Len())
		}
		if set.Meets(from, min(to, s.window.End)) || to > s.window.End && set.Meets(s.window.Start, to.Add(-s.window.Len())) {
			hits++
		}
	}
	return float64(hits) / float64(len(of))
}

// evenly takes at most maxTested of the requests, in equal distances.
func evenly(of []int32) []int32 {
	if len(of) <= maxTested {
		return of
	}
	out := slices.Clone(of[:maxTested])
	for k := range out {
		out[k] = of[k*len(of)/maxTested]
	}
	return out
}
