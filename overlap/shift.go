package overlap

import (
	"math/rand/v2"
	"slices"
	"time"

	"loupe/timeline"
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
const maxTested = 4000

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

// test returns the mean share of the tail over all shifts, and the p-value.
func (s *shifts) test(set *Set, r *Requests, tail []int32) (chance, p float64) {
	tail = evenly(tail)
	every := make([]int32, 0, maxTested)
	for k, n := 0, len(r.Start); k < min(n, maxTested); k++ {
		every = append(every, int32(k*n/min(n, maxTested)))
	}
	at := func(by time.Duration) (slow, more float64) {
		slow = s.share(set, r, tail, by)
		return slow, slow - s.share(set, r, every, by)
	}
	const same = 1e-12
	seen, seenMore := at(0)
	asHigh, asMuch := 0, 0
	for _, by := range s.by {
		slow, more := at(by)
		chance += slow
		if slow >= seen-same {
			asHigh++
		}
		if more >= seenMore-same {
			asMuch++
		}
	}
	return chance / float64(len(s.by)), float64(1+max(asHigh, asMuch)) / float64(1+len(s.by))
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
