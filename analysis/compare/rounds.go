package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"loupe/value/stats"
)

// Measured is a benchmark or a command as it was measured on both sides, in blocks of
// random order.
type Measured struct {
	Package, Name string
	// Blocks are the rounds of which both sides have come.
	Blocks []Block
	// Looks are the numbers of blocks at which it may have been stopped.
	Looks stats.Looks
}

// Block is one round of both sides: their figures by unit.
type Block struct{ Before, After map[string]float64 }

// The verdicts of benchmarks, beside [Same] and [Undecided]: Faster and Slower are of times,
// Less and More of everything else.
const (
	Faster Verdict = "faster"
	Slower Verdict = "slower"
	Less   Verdict = "less"
	More   Verdict = "more"
)

// Figure is one figure of a benchmark on both sides.
type Figure struct {
	Package, Name, Unit string
	// Before and After are medians of the rounds.
	Before, After float64
	stats.Comparison
	Verdict Verdict
	// Exact tells that every round of a side had the same figure: the verdict is no
	// estimate.
	Exact bool
	// Needs is about how many more rounds an undecided row needs, -1 where that cannot
	// be told.
	Needs int
	// Worse tells that the figure is of those that less is better of, and has grown.
	Worse bool
}

// unitOf says what is known of a unit.
type unitOf struct {
	time  bool // it is one
	count bool // equal rounds have equal figures, unless chance has a part in them
	// judged tells that less is better, and that having more is a regression.
	judged bool
}

// describeUnit says what is known of a unit of Go's benchmark format.
func describeUnit(unit string) unitOf {
	switch unit {
	case "ns/op", "cpu-ns/op", "process-cpu-ns/op":
		return unitOf{time: true, judged: true}
	case "B/op", "allocs/op":
		return unitOf{count: true, judged: true}
	case "peak-rss-B":
		return unitOf{judged: true}
	}
	return unitOf{}
}

// explains tells that a unit has no verdict: it follows from others, or the kernel knows
// it in ticks alone.
func explains(unit string) bool {
	return strings.HasSuffix(unit, "B/s") || slices.Contains([]string{"user-ns/op", "sys-ns/op"}, unit)
}

// Rounds judges everything that was measured. All rows together have 5 % of false alarms
// among the differences that they show (Benjamini and Hochberg 1995), rows that are exact
// aside.
func Rounds(all []Measured) []Figure {
	var rows []Figure
	var worth []float64
	var of []int // rows by the p
	for _, m := range all {
		for _, r := range m.rows() {
			if !r.Exact && r.N >= stats.Enough && !explains(r.Unit) {
				worth, of = append(worth, m.Looks.Overall(r.P)), append(of, len(rows))
			}
			rows = append(rows, r)
		}
	}
	for k, p := range stats.FalseDiscovery(worth, 0) {
		if r := &rows[of[k]]; p >= 1-Confidence && r.Verdict != Same {
			r.Verdict, r.Worse = Undecided, false
		}
	}
	return rows
}

// Decided tells whether more rounds are of no use: the times and what is allocated have a
// verdict that holds among so many benchmarks that are measured together.
func (m Measured) Decided(together int) bool {
	for _, r := range m.rows() {
		switch {
		case !describeUnit(r.Unit).judged || r.Exact || r.Verdict == Same:
		case r.Verdict == Undecided || r.Verdict == "":
			return false
		case m.Looks.Overall(r.P)*float64(together) >= 1-Confidence:
			return false
		}
	}
	return true
}

// rows are the figures of both sides, each judged alone.
func (m Measured) rows() (rows []Figure) {
	for _, unit := range m.units() {
		r := Figure{Package: m.Package, Name: m.Name, Unit: unit}
		var before, after stats.Side
		for i, b := range m.Blocks {
			x, first := b.Before[unit]
			y, second := b.After[unit]
			if !first || !second {
				continue
			}
			before.Values, before.Blocks = append(before.Values, x), append(before.Blocks, i)
			after.Values, after.Blocks = append(after.Values, y), append(after.Blocks, i)
		}
		r.Before, r.After = stats.Median(before.Values), stats.Median(after.Values)
		r.Comparison = stats.Compare(before, after, m.Looks.Confidence())
		r.judge(before.Values, after.Values)
		rows = append(rows, r)
	}
	return rows
}

// judge gives a row its verdict, as if it were the only one.
func (r *Figure) judge(before, after []float64) {
	about := describeUnit(r.Unit)
	if explains(r.Unit) {
		return
	}
	constant := func(v []float64) bool { return slices.Min(v) == slices.Max(v) }
	if about.count && r.N >= stats.Enough && constant(before) && constant(after) {
		r.Exact = true
		r.Verdict = map[int]Verdict{-1: Less, 0: Same, 1: More}[cmp.Compare(after[0], before[0])]
		r.Worse = r.Verdict == More
		return
	}
	if about.count && r.N >= stats.Enough && r.P >= r.Alpha && mostly(before, after) {
		r.Verdict = Same
		return
	}
	larger, smaller := More, Less
	if about.time {
		larger, smaller = Slower, Faster
	}
	switch r.Decide(ROPE) {
	case stats.TooFew:
	case stats.Same:
		r.Verdict = Same
	case stats.Larger:
		r.Verdict, r.Worse = larger, about.judged
	case stats.Smaller:
		r.Verdict = smaller
	default:
		r.Verdict = Undecided
		r.Needs = r.Comparison.Needs(ROPE)
	}
}

// mostly tells whether four of five rounds of each side have one and the same figure. Now
// and then the runtime allocates for itself while a benchmark runs, which is no change.
func mostly(before, after []float64) bool {
	usual := stats.Median(before)
	for _, side := range [][]float64{before, after} {
		n := 0
		for _, v := range side {
			if v == usual {
				n++
			}
		}
		if 5*n < 4*len(side) {
			return false
		}
	}
	return true
}

// units are those that both sides have, in the order of the format.
func (m Measured) units() (units []string) {
	seen := map[string]bool{}
	for _, b := range m.Blocks {
		for unit := range b.Before {
			if _, ok := b.After[unit]; ok && !seen[unit] {
				seen[unit], units = true, append(units, unit)
			}
		}
	}
	order := []string{"ns/op", "cpu-ns/op", "process-cpu-ns/op", "user-ns/op", "sys-ns/op", "B/op", "allocs/op", "gc-cycles/op", "peak-rss-B"}
	at := func(unit string) int {
		if i := slices.Index(order, unit); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(units, func(a, b string) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a, b))
	})
	return units
}

// Beyond tells whether the row is a regression of more than a share: proven, and the
// estimate is beyond it.
func (r *Figure) Beyond(share float64) bool {
	if !r.Worse {
		return false
	}
	ratio := r.Ratio()
	return math.IsNaN(ratio) || ratio > 1+share
}

// Ratio is how much larger the figure is after: as estimated, or as it is where it is
// exact. It is NaN where there is none.
func (r *Figure) Ratio() float64 {
	switch {
	case !r.Exact:
		return r.Estimate
	case r.Before == r.After:
		return 1
	case r.Before == 0:
		return math.NaN()
	}
	return r.After / r.Before
}
