package compare

import (
	"math"

	"loupe/value/stats"
)

// Allowance says by what share figures may get worse, by unit: 0.05 of "ns/op" allows that it grows
// by 5 %, -0.05 of "rows/s" that it falls by 5 %, which says that more of it is better. The sign of
// a zero counts. A unit that it does not name is told and not held to anything.
type Allowance map[string]float64

// Holdable tells whether a unit can be held to anything: some follow from others, or are known in
// ticks of the clock alone.
func Holdable(unit string) bool { return !explains(unit) }

// Standing is how a figure stands to what it may grow by.
type Standing string

// The standings.
const (
	// Beyond: it got worse, and by more than what is allowed, which is proven.
	Beyond Standing = "regression"
	// Within: that it got worse by more is refuted.
	Within Standing = "within"
	// Open: more rounds may tell.
	Open Standing = "undecided"
	// Unheld: nothing is said of how much worse it may get.
	Unheld Standing = "not held"
)

// Held is a benchmark with how much worse it may get.
type Held struct {
	Measured
	Allowed Allowance
}

// Limited is a figure with how it stands to its limit.
type Limited struct {
	Figure
	// Allowed is the share that it may grow by, negative where it is one that it may fall by, and
	// infinite where it is not held to any.
	Allowed  float64
	Standing Standing
	// More is about how many more rounds would tell, 0 where nobody knows or it is decided.
	More int
}

// Limits judges everything that was measured, as [Rounds] does, and holds it to what is
// allowed. The question is another one than whether there is a change: the figures of the
// second side are divided by what they may grow by, and the same tests tell whether they are
// still larger. So an interval from -1 % to +4 % leaves a change undecided, and a limit of
// 5 % kept. What is beyond its limit is proven to have grown, too, and the rows of a unit
// have 5 % of false alarms in common in both (Benjamini and Hochberg 1995).
//
// What has grown from zero has grown by more than any share.
func Limits(all []Held) []Limited {
	var plain []Measured
	var out []Limited
	var divided []Figure
	for _, h := range all {
		plain, divided = append(plain, h.directed()), append(divided, h.divided()...)
	}
	beyond := shares(all, divided)
	figures, at := Rounds(plain), 0
	for _, h := range all {
		for range h.units() {
			one := Limited{Figure: figures[at], Allowed: h.Allowed.of(figures[at].Unit)}
			one.stand(&divided[at].Change, beyond[at] < 1-Confidence)
			out, at = append(out, one), at+1
		}
	}
	return out
}

// shares are the shares of false alarms that there would be among the rows of a unit if each up
// to this one were called larger than its limit. What is smaller than its limit is no alarm.
func shares(all []Held, divided []Figure) []float64 {
	out, units, at := make([]float64, len(divided)), map[string][]int{}, 0
	p := make([]float64, len(divided))
	for _, h := range all {
		for range h.units() {
			r := &divided[at]
			if out[at], p[at] = 1, 1; !r.Exact && !math.IsInf(h.Allowed.of(r.Unit), 1) {
				if units[r.Unit] = append(units[r.Unit], at); r.larger() {
					p[at] = h.Looks.Overall(r.P)
				}
			}
			at++
		}
	}
	for _, rows := range units {
		var of []float64
		for _, i := range rows {
			of = append(of, p[i])
		}
		for k, q := range stats.FalseDiscovery(of, 0) {
			out[rows[k]] = q
		}
	}
	return out
}

// of is the share that a unit may get worse by, infinite where it is not held.
func (a Allowance) of(unit string) float64 {
	if share, ok := a[unit]; ok && !explains(unit) {
		return share
	}
	return math.Inf(1)
}

// directed is what was measured, with which way is better of what is held.
func (h Held) directed() Measured {
	m := h.Measured
	m.Better = map[string]Better{}
	for unit, share := range h.Allowed {
		m.Better[unit] = Lower
		if math.Signbit(share) {
			m.Better[unit] = Higher
		}
	}
	return m
}

// divided are the figures with the second side divided by what it may grow by. Of what may fall
// the sides are exchanged: the first one has grown then, from the second.
func (h Held) divided() []Figure {
	m := h.Measured
	m.Blocks, m.Better = nil, map[string]Better{}
	for unit := range h.Allowed {
		m.Better[unit] = Lower
	}
	for _, b := range h.Blocks {
		both := Block{Before: map[string]float64{}, After: map[string]float64{}}
		for unit, old := range b.Before {
			new, ok := b.After[unit]
			if !ok {
				continue
			}
			switch share := h.Allowed.of(unit); {
			case math.IsInf(share, 1):
			case math.Signbit(share):
				old, new = new, old*(1+share)
			default:
				new /= 1 + share
			}
			both.Before[unit], both.After[unit] = old, new
		}
		m.Blocks = append(m.Blocks, both)
	}
	return m.rows()
}

// hair is what the rounding of a product can make of an exact figure.
const hair = 1e-9

// stand says how a figure stands to its limit, of which divided is the comparison; proven
// tells that its p holds among all rows of its unit.
func (l *Limited) stand(divided *Change, proven bool) {
	switch {
	case math.IsInf(l.Allowed, 1):
		l.Standing = Unheld
	case l.N < EnoughRounds:
		l.Standing, l.More = Open, EnoughRounds-l.N
	case l.Exact && l.After > l.Before*(1+l.Allowed)*(1+hair):
		l.Standing = Beyond
	case l.Exact, l.Verdict == Same, l.told() && !l.Worse:
		l.Standing = Within
	case l.Worse && proven && divided.larger():
		l.Standing = Beyond
	case divided.notLarger():
		l.Standing = Within
	default:
		l.Standing, l.More = Open, max(l.Needs, divided.Needs)
	}
}

// larger tells that all of the interval lies above no change, or of what has none, that its
// order says so.
func (c *Change) larger() bool {
	if c.Low.Known() {
		return c.Low > 1
	}
	return c.Verdict == Regressed
}

// notLarger tells the contrary.
func (c *Change) notLarger() bool {
	if c.High.Known() {
		return c.High <= 1
	}
	return c.Verdict == Improved || c.Verdict == Same
}

// Settled tells whether more rounds are of no use: all that is held to a limit stands beyond
// or within it, also among so many benchmarks that are measured together.
func (h Held) Settled(together int) bool {
	divided, plain := h.divided(), h.directed().rows()
	for i, r := range plain {
		r.inWords()
		l := Limited{Figure: r, Allowed: h.Allowed.of(r.Unit)}
		l.stand(&divided[i].Change, h.Looks.Overall(max(divided[i].P, r.P))*float64(together) < 1-Confidence)
		if l.Standing == Open {
			return false
		}
	}
	return true
}

// Stand says how a figure of recordings or loads stands to the share by which it may get worse.
// Of what more is better of, it may fall by that share.
func (c *Change) Stand(better Better, allowed float64) Standing {
	low, high := float64(c.Low), float64(c.High)
	if better == Higher {
		low, high = 1/high, 1/low // how many times worse it is
		allowed = 1/(1-min(allowed, 0.999)) - 1
	}
	switch {
	case math.IsInf(allowed, 1) || better == Neither:
		return Unheld
	case c.Verdict == Regressed && (math.IsNaN(low) || low > 1+allowed):
		return Beyond
	case c.Verdict == Same, c.Verdict == Improved, c.Verdict != NoVerdict && high <= 1+allowed:
		return Within
	}
	return Open
}
