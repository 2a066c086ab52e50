package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// ShortStretch is the smallest number of values on a side of a change point: two
	// outliers that follow each other are no stretch.
	ShortStretch = 3
	// FewestValues is the length of a series from which on a change can be found: four values
	// that are all smaller than four others come by chance in one of 35 orders.
	FewestValues = 8
	// shortInterval is the length of the shortest interval in which a change is looked for.
	// In a shorter one no arrangement is rare among all that are looked at.
	shortInterval = 10
	// maxShuffles bounds the permutations of a test: the smallest p is one more than that,
	// inverted. Enough to stand among two hundred series.
	maxShuffles = 9999
	// enoughHits ends a test early (Besag and Clifford 1991): so many permutations were as
	// extreme as what was observed, so that more would hardly change p.
	enoughHits  = 40
	shuffleSeed = 0x6368616e6765
	// locationDrop is how much less likely than the best a split may be that is still
	// possible: 2·exp(-3.7) is 0.05, the error of a likelihood region of one change point in
	// a long series (Siegmund 1988).
	locationDrop = 3.7
)

// ChangePoint is where a series of values, in order of time, has changed its level.
type ChangePoint struct {
	// At is the index of the first value of the new level. From and To are the smallest
	// and the largest At that the values do not exclude.
	At, From, To int
	// P is the probability of as clear a change anywhere between the change points before
	// and behind it, if there were none.
	P float64
}

// interval is a part of a series, half-open.
type interval struct{ from, to int }

// seeded are intervals of a series that cover each stretch of it at about its own length:
// the whole, and lengths that fall by the square root of two, each moved by half of its
// length (Kovács, Bühlmann, Li and Munk 2023).
//
// Note: a split of the whole alone would not find a level that is left and comes back,
// a regression that was mended: both sides of either split then have much in common.
func seeded(n int) []interval {
	all := []interval{{0, n}}
	for length := float64(n) / math.Sqrt2; length >= shortInterval; length /= math.Sqrt2 {
		l := int(math.Ceil(length))
		count := 2*int(math.Ceil(float64(n)/length)) - 1
		for i := range count {
			from := int(math.Round(float64(i) * float64(n-l) / float64(count-1)))
			all = append(all, interval{from, from + l})
		}
	}
	return all
}

// normalScores are the quantiles of the normal distribution at the ranks of values (van der
// Waerden 1952). Equal values share theirs.
//
// Note: plain ranks can not tell three values at the end of a long series from chance,
// however far off they are, because the sum of three ranks is never far out; those
// three are the newest, which matter most.
func normalScores(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, twice := range ranksTwice(values) {
		out[i] = normalQuantile(float64(twice) / 2 / float64(len(values)+1))
	}
	return out
}

// scan looks for the clearest split of scores.
type scan struct {
	intervals []interval
	weights   map[int][]float64 // by length: (L-1)·L/(k·(L-k)) of each k
	sums      []float64         // prefix sums of the scores
	squares   []float64
}

func newScan(n int) *scan {
	s := &scan{intervals: seeded(n), weights: map[int][]float64{}, sums: make([]float64, n+1), squares: make([]float64, n+1)}
	for _, in := range s.intervals {
		l := in.to - in.from
		if s.weights[l] != nil {
			continue
		}
		w := make([]float64, l+1)
		for k := ShortStretch; k <= l-ShortStretch; k++ {
			w[k] = float64(l-1) * float64(l) / (float64(k) * float64(l-k))
		}
		s.weights[l] = w
	}
	return s
}

// best is the largest square of the standardised difference of two sides of any split of any
// interval. Standardised is what shuffling the interval alone would make of it.
func (s *scan) best(scores []float64) (most float64, at int) {
	for i, x := range scores {
		s.sums[i+1], s.squares[i+1] = s.sums[i]+x, s.squares[i]+x*x
	}
	for _, one := range s.intervals {
		l := one.to - one.from
		mean := (s.sums[one.to] - s.sums[one.from]) / float64(l)
		spread := s.squares[one.to] - s.squares[one.from] - mean*mean*float64(l)
		if spread < 1e-9 {
			continue
		}
		w := s.weights[l]
		least := most * spread
		for k := ShortStretch; k <= l-ShortStretch; k++ {
			d := s.sums[one.from+k] - s.sums[one.from] - mean*float64(k)
			if z := d * d * w[k]; z > least {
				least, most, at = z, z/spread, one.from+k
			}
		}
	}
	return most, at
}

// ChangeSearch looks for change points. What chance does to series of a length it finds out
// once, so that one search is for all series that are looked at together. It is used by one
// goroutine at a time; the zero value is ready.
type ChangeSearch struct {
	// Shuffles is how many permutations chance is known by; 0 are 9,999.
	Shuffles int
	// chance has the clearest splits of permutations without equal values, ascending, by
	// the length of the series.
	chance map[int][]float64
}

// Steady is the probability of values as far from one level as these, if all orders of them
// were equally likely: of the clearest split that any part of them has, by permutation. It
// is exact for independent values of whatever distribution, and 1 where one is NaN. Values that depend on those
// before them, or drift, are not of one level for it. The permutations follow from the number
// of values.
func (s *ChangeSearch) Steady(values []float64) float64 {
	p, _ := s.steady(values)
	return p
}

// steady returns the clearest split beside its p; 0 where there are too few values.
func (s *ChangeSearch) steady(values []float64) (p float64, at int) {
	n := len(values)
	if n < 2*ShortStretch || slices.Min(values) == slices.Max(values) || math.IsNaN(slices.Min(values)) {
		return 1, 0
	}
	look, scores := newScan(n), normalScores(values)
	observed, at := look.best(scores)
	if at == 0 {
		return 1, 0
	}
	observed -= 1e-9 // sums in another order
	if tiesOf(values).pairs > 0 {
		return s.shuffled(look, scores, observed), at
	}
	chance := s.chance[n]
	if chance == nil {
		chance = s.permutations(look, slices.Clone(scores))
		if s.chance == nil {
			s.chance = map[int][]float64{}
		}
		s.chance[n] = chance
	}
	below, _ := slices.BinarySearch(chance, observed)
	return float64(len(chance)-below+1) / float64(len(chance)+1), at
}

func (s *ChangeSearch) shuffles() int {
	if s.Shuffles > 0 {
		return s.Shuffles
	}
	return maxShuffles
}

// permutations are the clearest splits of shuffled scores, ascending.
func (s *ChangeSearch) permutations(look *scan, scores []float64) []float64 {
	slices.Sort(scores) // that it is the same for all series of this length
	n := len(scores)
	r := rand.New(rand.NewPCG(shuffleSeed, uint64(n)))
	out := make([]float64, s.shuffles())
	for i := range out {
		r.Shuffle(n, func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
		out[i], _ = look.best(scores)
	}
	slices.Sort(out)
	return out
}

// shuffled is the share of permutations of scores whose clearest split is as clear as what was
// observed: of scores some of which are equal. It ends as soon as that is clearly no rare thing.
func (s *ChangeSearch) shuffled(look *scan, scores []float64, observed float64) float64 {
	r := rand.New(rand.NewPCG(shuffleSeed, uint64(len(scores))))
	hits, all := 0, s.shuffles()
	for i := 1; i <= all; i++ {
		r.Shuffle(len(scores), func(i, j int) { scores[i], scores[j] = scores[j], scores[i] })
		if most, _ := look.best(scores); most >= observed {
			if hits++; hits == enoughHits {
				return float64(hits) / float64(i)
			}
		}
	}
	return float64(hits+1) / float64(all+1)
}

// ChangePoints finds where a series has changed its level, by binary segmentation: the
// clearest split first, then those of both sides, each tested as by [ChangeSearch.Steady] with
// an error of alpha. Then each is put where it is clearest between its neighbours and tested
// again, and the one that is least clear is dropped, until all hold.
func (s *ChangeSearch) ChangePoints(values []float64, alpha float64) []ChangePoint {
	var at []int
	var search func(from, to int)
	search = func(from, to int) {
		// Parts share the error by their lengths: with one change that is there, another one
		// is found that is not in no more than alpha of series.
		p, k := s.steady(values[from:to])
		if k == 0 || p >= alpha*float64(to-from)/float64(len(values)) {
			return
		}
		search(from, from+k)
		at = append(at, from+k)
		search(from+k, to)
	}
	search(0, len(values))
	return s.settled(values, at, alpha)
}

// settled moves, tests and drops the splits.
func (s *ChangeSearch) settled(values []float64, at []int, alpha float64) []ChangePoint {
	tested := map[[2]int]ChangePoint{} // by neighbours
	for len(at) > 0 {
		var all []ChangePoint
		worst := 0
		for i := range at {
			from, to := 0, len(values)
			if i > 0 {
				from = all[i-1].At
			}
			if i+1 < len(at) {
				to = at[i+1]
			}
			c, ok := tested[[2]int{from, to}]
			if !ok {
				c = s.split(values[from:to])
				c.At, c.From, c.To = c.At+from, c.From+from, c.To+from
				tested[[2]int{from, to}] = c
			}
			if all = append(all, c); c.P > all[worst].P {
				worst = i
			}
		}
		if all[worst].P < alpha {
			return all
		}
		at = slices.Delete(at, worst, worst+1)
	}
	return nil
}

// split is the one change point of values that have one.
func (s *ChangeSearch) split(values []float64) ChangePoint {
	n := len(values)
	c := ChangePoint{P: 1}
	if n < 2*ShortStretch || slices.Min(values) == slices.Max(values) {
		return c
	}
	likelihood := likelihoods(values)
	for k := range likelihood {
		if likelihood[k] > likelihood[c.At] {
			c.At = k
		}
	}
	c.From, c.To = c.At, c.At
	for k, l := range likelihood {
		if l >= likelihood[c.At]-locationDrop {
			c.From, c.To = min(c.From, k), max(c.To, k)
		}
	}
	c.P = s.Steady(values)
	return c
}

// likelihoods are the logarithms of how likely each split of values is, -Inf where it is none: of
// two levels from which distances count as they are, and not squared (Laplace), so that no
// outlier draws the split to itself. The scores that tell whether there is a split say
// less of where it is: they do not know how far apart the levels are.
func likelihoods(values []float64) []float64 {
	if x, _, ok := scores(values, nil); ok {
		values = x
	} else if math.IsInf(slices.Max(values), 0) || math.IsInf(slices.Min(values), 0) { // no distance is known
		values = normalScores(values)
	}
	n := float64(len(values))
	out := make([]float64, len(values))
	for k := range out {
		out[k] = math.Inf(-1)
		if k >= ShortStretch && k <= len(values)-ShortStretch {
			out[k] = -n * math.Log((distances(values[:k], 0)+distances(values[k:], 0)+1e-12)/n)
		}
	}
	return out
}
