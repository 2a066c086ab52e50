package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/stats"
)

// Verdict is what a comparison of rounds comes to.
type Verdict string

// The verdicts.
const (
	Improved  Verdict = "better"
	Regressed Verdict = "worse"
	Changed   Verdict = "changed" // of a row in which neither way is better
	Same      Verdict = "same"
	Undecided Verdict = "undecided"
	NoVerdict Verdict = "" // too few rounds for any
)

// ROPE is the region of practical equivalence: a change that lies within it
// is none.
const ROPE = 0.01

// Confidence is that of the intervals.
const Confidence = 0.95

// EnoughRounds is the number of rounds a side from which a verdict is given.
const EnoughRounds = stats.Enough

// Change compares a recording with the first one.
type Change struct {
	// Ratio is new over old with its interval; unknown where a value is
	// zero or missing.
	Ratio      gc.Figure `json:"ratio"`
	Low        gc.Figure `json:"low"`
	High       gc.Figure `json:"high"`
	Confidence float64   `json:"confidence"`
	P          float64   `json:"p"`
	// Method is how the sides were compared, empty where they were not.
	Method  stats.Method `json:"method,omitempty"`
	Verdict Verdict      `json:"verdict"`
	// Needs is about how many more rounds a side would decide, if what was estimated is
	// the truth: 0 where it is decided or nobody knows.
	Needs int `json:"needs,omitempty"`
	// Exact tells that every round of a side had the same count: the verdict is no
	// estimate.
	Exact bool `json:"exact,omitempty"`
	// WithinFloor tells that it is undecided because two builds of the base differ by as
	// much.
	WithinFloor bool `json:"within_floor,omitempty"`
}

// Judge compares the values of two sides; all kinds of comparisons are judged by it. The
// verdict is of this figure alone: several share one error.
func Judge(old, new stats.Side, better Better) Change {
	return judgeAt(old, new, better, Confidence)
}

// judgeAt is Judge with the confidence that one of several looks has.
func judgeAt(old, new stats.Side, better Better, confidence float64) Change {
	return judgeBeyond(old, new, better, confidence, nil)
}

// judgeBeyond is judgeAt where a noise floor was measured; nil has none.
func judgeBeyond(old, new stats.Side, better Better, confidence float64, floor *Floor) Change {
	c := Change{Ratio: gc.Unknown(), Low: gc.Unknown(), High: gc.Unknown(), P: 1}
	r := stats.Compare(old, new, confidence)
	if r.N == 0 {
		return c
	}
	c.P, c.Method = r.P, r.Method
	a, b := stats.Median(old.Values), stats.Median(new.Values)
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0) || a <= 0 || b <= 0: // nothing to divide
	case math.IsNaN(r.Estimate):
		// The ratio to a round of zero is no number: that of the medians is.
		c.Ratio = gc.Figure(b / a)
	default:
		c.Ratio = gc.Figure(r.Estimate)
		if r.N >= EnoughRounds && !math.IsInf(r.High, 0) && r.Low > 0 {
			c.Low, c.High, c.Confidence = gc.Figure(r.Low), gc.Figure(r.High), r.Confidence
		}
	}
	if math.IsInf(slices.Min(old.Values), 0) && math.IsInf(slices.Min(new.Values), 0) {
		c.Verdict = Undecided // it came on neither side
		return c
	}
	low, high := floor.bounds()
	switch r.DecideBeyond(ROPE, low, high) {
	case stats.Larger:
		c.Verdict = better.direction(true)
	case stats.Smaller:
		c.Verdict = better.direction(false)
	case stats.Same:
		c.Verdict = Same
	case stats.Undecided:
		c.Verdict, c.Needs = Undecided, max(0, r.Needs(ROPE))
		if floor.holds(r) {
			c.WithinFloor, c.Needs = true, 0
		}
	}
	c.agree(a, b)
	return c
}

// direction is the verdict on a value that has clearly risen or fallen.
func (b Better) direction(up bool) Verdict {
	switch {
	case b == Neither:
		return Changed
	case (b == Higher) == up:
		return Improved
	}
	return Regressed
}

// agree takes back what contradicts the medians that stand beside it: the estimate
// is the median over all pairs of rounds, which in rounds that fall into two heaps can
// lie on the other side of the ratio of the medians. Then the ratio of the medians
// is told, and nothing is decided. The estimate of pairs stands: what moves the medians
// of the columns is what it leaves out.
func (c *Change) agree(old, new float64) {
	if c.Method == stats.ByPairs || !c.Ratio.Known() || !gc.Figure(old).Known() || !gc.Figure(new).Known() || old <= 0 || new <= 0 {
		return
	}
	ratio := new / old
	estimate := float64(c.Ratio)
	if (ratio-1)*(estimate-1) > 0 || math.Abs(estimate-1) <= ROPE && math.Abs(ratio-1) <= ROPE {
		return
	}
	c.Ratio = gc.Figure(ratio)
	if c.Low.Known() && (ratio < float64(c.Low) || ratio > float64(c.High)) {
		c.Low, c.High, c.Confidence = gc.Unknown(), gc.Unknown(), 0
	}
	if c.Verdict != NoVerdict && c.Verdict != Same {
		c.Verdict = Undecided
	}
}

// decided tells whether a verdict says that there is a difference.
func decided(v Verdict) bool { return v == Improved || v == Regressed || v == Changed }

// settle holds the verdicts on several rows to the p that each has when all of them
// count, as adjust tells it. What is the same on both sides without a doubt, or known
// exactly, has no part of the error. It returns what is undecided for that reason alone.
func settle(rows []*Change, adjust func(p []float64) []float64) (undecided []*Change) {
	var judged []*Change
	var p []float64
	for _, c := range rows {
		if c.P < 1 && !c.Exact {
			judged, p = append(judged, c), append(p, c.P)
		}
	}
	for i, q := range adjust(p) {
		if c := judged[i]; decided(c.Verdict) && q >= 1-Confidence {
			c.Verdict = Undecided
			undecided = append(undecided, c)
		}
	}
	return undecided
}

// settle keeps the errors of the verdicts on a recording: those of the rows that decide
// are all right in 95 of 100 comparisons (Holm), and of those on the other rows, which
// are there to explain, one in twenty is wrong (Benjamini and Hochberg).
func (t *Table) settle(i int) {
	var keys, others []*Change
	for r := range t.Rows {
		if c := &t.Rows[r].Changes[i]; t.Rows[r].Key {
			keys = append(keys, c)
		} else {
			others = append(others, c)
		}
	}
	all := func(p []float64) []float64 { // what they are worth at all looks
		for i := range p {
			if len(t.looks.At) > 0 {
				p[i] = t.looks.Overall(p[i])
			}
		}
		return p
	}
	undecided := slices.Concat(
		settle(keys, func(p []float64) []float64 { return stats.Holm(all(p)) }),
		settle(others, func(p []float64) []float64 { return stats.FalseDiscovery(all(p), 0) }),
	)
	var names []string
	for r := range t.Rows {
		if slices.Contains(undecided, &t.Rows[r].Changes[i]) {
			names = append(names, t.Rows[r].Name)
		}
	}
	if len(names) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("undecided among this many rows: %s; on its own the change would count, but among all of them it would be a false alarm too often (more rounds would decide)", strings.Join(names, ", ")))
	}
}

// roundTimes is when the rounds of a recording began.
func roundTimes(f *facts.Facts) (starts []time.Time) {
	for _, r := range f.Rounds {
		starts = append(starts, f.Manifest.Start.Add(time.Duration(r.Phase.Span.Start)))
	}
	return starts
}
