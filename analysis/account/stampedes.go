package account

import (
	"cmp"
	"slices"
	"time"

	"loupe/value/stack"
	"loupe/value/timeline"
)

// Stampede is a call of something outside of the program that requests or tasks of a group
// make in bursts: while the first one of a burst is at it, others begin the same.
//
// A burst lasts from the begin of its first call to the end of the one that ends first:
// until then nobody has what comes of it.
type Stampede struct {
	// Kind, Path and Stack are those of the [Call]. Sure tells that no unit can make it
	// without a wait that the trace has.
	Kind  Kind
	Path  []stack.Frame
	Stack stack.ID
	Sure  bool
	// Made is how many units make the call, of All that may: those of the group and those
	// without a name.
	Made, All int64
	// Bursts is in how many bursts several make it at once, and with them most of those
	// that begin meanwhile; Members is how many units are in those, and Most in the largest.
	Bursts, Members, Most int64
	// Time is how long the members wait for it together, Extra that without the first of
	// each burst.
	Time, Extra time.Duration
	// Meanwhile is how many units begin while the first one of these is at it, and Joined
	// how many of them make the call too; it lasts for Busy in all.
	Meanwhile, Joined int64
	Busy              time.Duration
}

// In a burst of a stampede at least so many units call at once, and of those that begin
// before the first one is done at least such a part calls too.
const (
	leastTogether = 3
	mostJoin      = 0.6
)

// The bounds of what is remembered of single units: beyond, nothing is said.
const (
	maxBegun = 1 << 20
	maxMade  = 1 << 14
)

// made is a call of one unit: when the unit began and ended, and from when to when it
// called.
type made struct {
	begun, ended, first, last timeline.Time
	d                         timeline.Time
}

// remember keeps when a unit began, and which calls it has made that all may share.
func (g *gathered) remember(u *open, at timeline.Time) {
	if u.unit > Task {
		return
	}
	if len(g.begun) < maxBegun {
		g.begun = append(g.begun, u.start)
	}
	for _, c := range u.calls {
		if c.n == 0 || c.key.kind != Answer && c.key.kind != File && c.key.kind != Child {
			continue // units at once need a connection each
		}
		if g.made == nil {
			g.made = map[callKey][]made{}
		}
		if list := g.made[c.key]; len(list) < maxMade {
			g.made[c.key] = append(list, made{u.start, at, c.from, c.to, c.d})
		}
	}
}

// stampedesOf finds the calls of a group that are made in bursts, the longest together
// first. The others are units that may be of the group.
func (g *gathered) stampedesOf(w *words, others []timeline.Time) (all []Stampede) {
	if len(g.made) == 0 || len(g.begun)+len(others) >= maxBegun {
		return nil
	}
	begun := slices.Concat(g.begun, others)
	slices.Sort(begun)
	for key, list := range g.made {
		if len(list) >= maxMade {
			continue
		}
		slices.SortFunc(list, func(a, b made) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.begun, b.begun)) })
		s := burstsOf(list, begun)
		if s.Bursts == 0 {
			continue
		}
		call := g.calls[key]
		s.Kind, s.Stack, s.Sure, s.Path = key.kind, call.stack, w.out(call.stack).asks == always, w.framesOf(key.path)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Stampede) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Kind, b.Kind), comparePaths(a.Path, b.Path))
	})
	return all
}

// burstsOf divides calls, in the order in which they began, into bursts. Of one is also who
// has begun before what came of it was there for certain, with the end of a unit of it.
func burstsOf(list []made, begun []timeline.Time) (s Stampede) {
	s.Made, s.All = int64(len(list)), int64(len(begun))
	for i := 0; i < len(list); {
		from, end, ended := list[i].first, list[i].last, list[i].ended
		sum, joined, together := timeline.Time(0), int64(0), int64(0)
		j := i
		for ; j < len(list) && (list[j].first < end || list[j].begun < ended); j++ {
			sum += list[j].d
			if list[j].first >= end {
				continue
			}
			end, ended = min(end, list[j].last), min(ended, list[j].ended)
			together++
		}
		for k := i; k < len(list) && k < j; k++ {
			if list[k].begun > from && list[k].begun < end {
				joined++
			}
		}
		after, _ := slices.BinarySearch(begun, from+1)
		until, _ := slices.BinarySearch(begun, end)
		meanwhile := int64(max(0, until-after))
		if n := int64(j - i); together >= leastTogether && float64(joined) >= mostJoin*float64(meanwhile) {
			s.Meanwhile += meanwhile
			s.Joined += joined
			s.Busy += time.Duration(end - from)
			s.Bursts++
			s.Members += n
			s.Most = max(s.Most, n)
			s.Time += time.Duration(sum)
			s.Extra += time.Duration(sum - list[i].d)
		}
		i = j
	}
	return s
}
