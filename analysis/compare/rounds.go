package compare

import (
	"cmp"
	"slices"
	"strings"

	"loupe/analysis/gc"
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
	// Apart tells that the sides were measured one after the other, so that their rounds have
	// nothing in common.
	Apart bool
	// Better says which way a unit is better that nothing is known of: a metric of a test.
	Better map[string]Better
}

// Block is one round of both sides: their figures by unit. Again are those of a second build
// of the base, nil where there was none.
type Block struct{ Before, After, Again map[string]float64 }

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
	// Before and After are medians of the rounds, N their number.
	Before, After float64
	N             int
	Change
	// Worse tells that the figure got worse: one that less is better of has grown.
	Worse bool
	// Floor is what two builds of the base differ by; nil where it was not measured.
	Floor *Floor
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
	case "peak-rss-B", "instr/op":
		return unitOf{judged: true}
	}
	return unitOf{}
}

// explains tells that a unit has no verdict: it follows from others, or the kernel knows
// it in ticks alone.
func explains(unit string) bool {
	return strings.HasSuffix(unit, "B/s") || slices.Contains([]string{"user-ns/op", "sys-ns/op"}, unit)
}

// Rounds judges everything that was measured. The benchmarks have, for each unit, 5 % of
// false alarms in common among the differences that they show (Benjamini and Hochberg 1995),
// as those of [Benchmarks] have; what is exact is no estimate.
func Rounds(all []Measured) []Figure {
	var rows []Figure
	for _, m := range all {
		rows = append(rows, m.rows()...)
	}
	units := map[string][]*Change{}
	for i := range rows {
		units[rows[i].Unit] = append(units[rows[i].Unit], &rows[i].Change)
	}
	for _, of := range units {
		settle(of, func(p []float64) []float64 {
			for i := range p {
				p[i] = all[0].Looks.Overall(p[i])
			}
			return stats.FalseDiscovery(p, 0)
		})
	}
	for i := range rows {
		rows[i].inWords()
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
		var before, after, again stats.Side
		for i, b := range m.Blocks {
			x, first := b.Before[unit]
			y, second := b.After[unit]
			if !first || !second {
				continue
			}
			before.Values, before.Blocks = append(before.Values, x), append(before.Blocks, i)
			after.Values, after.Blocks = append(after.Values, y), append(after.Blocks, i)
			if z, ok := b.Again[unit]; ok {
				again.Values, again.Blocks = append(again.Values, z), append(again.Blocks, i)
			}
		}
		if m.Apart {
			before.Blocks, after.Blocks = nil, nil
		}
		r.Before, r.After, r.N = stats.Median(before.Values), stats.Median(after.Values), len(before.Values)
		r.Floor = floorOf(before, again, m.Looks.Confidence())
		r.judge(before, after, m.better(unit), m.Looks.Confidence())
		rows = append(rows, r)
	}
	return rows
}

// better says which way a unit is better.
func (m Measured) better(unit string) Better {
	if describeUnit(unit).judged {
		return Lower
	}
	return m.Better[unit]
}

// judge gives a row its verdict, as if it were the only one.
func (r *Figure) judge(before, after stats.Side, better Better, confidence float64) {
	r.Change = judgeUnit(r.Unit, before, after, better, confidence, r.Floor)
	if explains(r.Unit) {
		r.Verdict, r.Needs, r.Exact = NoVerdict, 0, false
	}
}

// judgeUnit judges a figure of a unit of Go's benchmark format. Counts that do not vary are
// known exactly.
func judgeUnit(unit string, old, new stats.Side, better Better, confidence float64, floor *Floor) Change {
	c := judgeBeyond(old, new, better, confidence, floor)
	if !describeUnit(unit).count || c.Verdict == NoVerdict {
		return c
	}
	constant := func(v []float64) bool { return slices.Min(v) == slices.Max(v) }
	switch a, b := old.Values[0], new.Values[0]; {
	case constant(old.Values) && constant(new.Values):
		c.Exact, c.Needs, c.Verdict, c.Ratio = true, 0, Same, 1
		if a != b {
			c.Verdict, c.Ratio = better.direction(b > a), gc.Unknown()
		}
		if a != 0 {
			c.Ratio = gc.Figure(b / a)
		}
		if a != b && floor.differsBy(b-a) {
			c.Exact, c.Verdict, c.WithinFloor = false, Undecided, true
		}
	case c.Verdict == Undecided && c.P >= 1-confidence && mostly(old.Values, new.Values):
		c.Verdict, c.Needs = Same, 0
	}
	return c
}

// inWords says of a row that has changed which way, in the words of benchmarks.
func (r *Figure) inWords() {
	if !decided(r.Verdict) {
		return
	}
	r.Worse = r.Verdict == Regressed
	grown := r.After > r.Before
	if r.Ratio.Known() {
		grown = r.Ratio > 1
	}
	switch time := describeUnit(r.Unit).time; {
	case time && grown:
		r.Verdict = Slower
	case time:
		r.Verdict = Faster
	case grown:
		r.Verdict = More
	default:
		r.Verdict = Less
	}
}

// told tells whether a change is, in the words of benchmarks.
func (r *Figure) told() bool {
	return slices.Contains([]Verdict{Faster, Slower, Less, More}, r.Verdict)
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
	slices.SortFunc(units, func(a, b string) int {
		return cmp.Or(cmp.Compare(unitPlace(a), unitPlace(b)), cmp.Compare(a, b))
	})
	return units
}

// unitPlace is where a unit stands in a table.
func unitPlace(unit string) int {
	order := []string{"ns/op", "cpu-ns/op", "process-cpu-ns/op", "user-ns/op", "sys-ns/op", "instr/op", "B/op", "allocs/op", "gc-cycles/op", "peak-rss-B"}
	if i := slices.Index(order, unit); i >= 0 {
		return i
	}
	return len(order)
}

// Beyond tells whether the row is a regression of more than a share: proven, and the
// estimate is beyond it.
func (r *Figure) Beyond(share float64) bool {
	return r.Worse && (!r.Ratio.Known() || float64(r.Ratio) > 1+share)
}
