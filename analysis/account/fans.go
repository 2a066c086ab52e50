package account

import (
	"cmp"
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Fan is goroutines that units start at one place to work side by side, and wait for.
type Fan struct {
	// Made is the stack that starts them, Waits the line that waits for the last one.
	Made  stack.ID
	Waits Site
	// Count is how often all of them were waited for, Units how many units did, and
	// Goroutines how many they were together.
	Count, Units, Goroutines int64
	// Last and Median are how long the last one took, and the one in the middle, from the
	// start of the first, added up; Excess is how much of the time from the one to the
	// other the units waited.
	Last, Median, Excess time.Duration
	// Did is what the last ones did most in the excess, and for how long together.
	Did     Cause
	DidTime time.Duration
}

// fan is one in the making.
type fan struct {
	made  stack.ID
	first timeline.Time // start of the first, each time
	n     int64
	ends  []timeline.Time
}

const (
	maxFans    = 8   // of a goroutine, at a time
	maxFanEnds = 256 // beyond, they are too many to remember
	leastFan   = 3
)

// madeBy counts a goroutine that one with units has made.
func (f *follower) madeBy(t, by *track, id stack.ID, at timeline.Time) {
	n := slices.IndexFunc(by.fans, func(x fan) bool { return x.made == id })
	if n < 0 {
		if len(by.fans) >= maxFans {
			return
		}
		n = len(by.fans)
		by.fans = append(by.fans, fan{made: id, first: at})
	}
	if by.fans[n].n == 0 { // the next time at the same place
		by.fans[n].first = at
	}
	t.fanned = true
	by.fans[n].n++
}

// finished counts the end of one.
func (f *follower) finished(t *track, at timeline.Time) {
	if x := f.fanOf(t); x != nil && len(x.ends) < maxFanEnds {
		x.ends = append(x.ends, at)
	}
}

// fanOf finds the fan that a goroutine is of.
func (f *follower) fanOf(t *track) *fan {
	by := f.living(t.creator)
	if !t.fanned || by == nil || by.id != t.maker {
		return nil
	}
	n := slices.IndexFunc(by.fans, func(x fan) bool { return x.made == t.made })
	if n < 0 {
		return nil
	}
	return &by.fans[n]
}

// fanned is a fan that a unit has waited for.
type fanned struct {
	made                 stack.ID
	waits                siteID
	count, units, n      int64
	last, median, excess timeline.Time
	did                  []amount // what the last one did in the excess
}

// straggles looks whether a wait was for the last goroutine of a fan, and notes by how much
// it was behind the one in the middle.
func (f *follower) straggles(t, by *track, site siteID, e *exectrace.Event) {
	x := f.fanOf(by)
	if t.units == nil || x == nil || by.creator != e.SubjectSlot || x.n < leastFan || int64(len(x.ends)) != x.n-1 {
		return
	}
	slices.Sort(x.ends)
	median := x.ends[len(x.ends)/2]
	since := max(median, t.history.end())
	out := fanned{made: x.made, waits: site, count: 1, n: x.n, last: e.Time - x.first, median: median - x.first, excess: max(0, e.Time-since)}
	x.n, x.ends = 0, x.ends[:0]
	by.fanned = false
	if out.excess > 0 {
		did, known := by.history.within(since, e.Time, nil)
		if open := max(by.history.end(), since); open < e.Time && known < e.Time {
			did = append(did, amount{f.w.at(plainRunning, e.Stack), e.Time - open})
		}
		out.did = did
	}
	for u := t.units; u != nil; u = u.next {
		u.fans = addFan(u.fans, out)
	}
}

// addFan adds a fan to those of the same place.
func addFan(all []fanned, x fanned) []fanned {
	n := slices.IndexFunc(all, func(y fanned) bool { return y.made == x.made && y.waits == x.waits })
	if n < 0 {
		x.did = slices.Clone(x.did)
		return append(all, x)
	}
	y := &all[n]
	y.count += x.count
	y.units += x.units
	y.n += x.n
	y.last += x.last
	y.median += x.median
	y.excess += x.excess
	for _, d := range x.did {
		i := slices.IndexFunc(y.did, func(a amount) bool { return a.key == d.key })
		switch {
		case i >= 0:
			y.did[i].d += d.d
		case len(y.did) < blockRows:
			y.did = append(y.did, d)
		}
	}
	return all
}

// takeFans adds the fans of a unit.
func (g *gathered) takeFans(u *open) {
	for _, x := range u.fans {
		x.units = 1
		g.fans = addFan(g.fans, x)
	}
}

// fansOf puts the fans of a group in words, those first that cost most.
func (g *gathered) fansOf(w *words) (all []Fan) {
	for _, x := range g.fans {
		out := Fan{Made: x.made, Waits: w.sites[x.waits], Count: x.count, Units: x.units, Goroutines: x.n,
			Last: time.Duration(x.last), Median: time.Duration(x.median), Excess: time.Duration(x.excess)}
		for _, d := range x.did {
			if time.Duration(d.d) <= out.DidTime {
				continue
			}
			k := w.keys[d.key]
			out.Did, out.DidTime = Cause{Kind: k.kind, Site: w.sites[k.site]}, time.Duration(d.d)
			if k.cause != None && k.cause != Unknown {
				out.Did = Cause{Kind: k.cause, Site: w.sites[k.at]}
			}
		}
		all = append(all, out)
	}
	slices.SortFunc(all, func(a, b Fan) int {
		return cmp.Or(cmp.Compare(b.Excess, a.Excess), compareSites(a.Waits, b.Waits), cmp.Compare(a.Made, b.Made))
	})
	return all
}
