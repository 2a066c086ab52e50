package sched

import (
	"iter"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// life is what the summarizer has added up of a living goroutine. There may be
// millions, so that what few need is behind a pointer.
type life struct {
	created, started      timeline.Time
	syscallBlockedAt      timeline.Time // when its P was taken away
	exec, schedWait       timeline.Time // times spent, in ns
	syscall, syscallBlock timeline.Time
	blockedFor            [2]timeline.Time // for the two reasons it had first
	blockedBy             [2]exectrace.NameID
	more                  uint32           // index plus one of its lifeMore
	reason                exectrace.NameID // why it last waited
	known                 bool
}

// lifeMore is what most goroutines do not have.
type lifeMore struct {
	blocked Times // for further reasons
	ranges  []openRange
	ranged  Times
	regions []openRegion
	marks   []time.Duration // those of all regions, see [mark]
}

type openRange struct {
	name  exectrace.NameID
	since timeline.Time
}

type openRegion struct {
	start timeline.Time
	task  exectrace.TaskID
	name  exectrace.NameID
	stack stack.ID
	from  mark // of its goroutine when it began
}

// mark is how far the figures of a goroutine were at one moment. It refers to
// times by their place: what has a place keeps it. The times of [lifeMore],
// which are rare, lie in its marks, from first on.
//
// Note: a whole [Stats] at the begin of a region, and the difference of two at
// its end, were a third of the time for a trace that is full of regions.
type mark struct {
	exec, schedWait       timeline.Time
	syscall, syscallBlock timeline.Time
	total                 timeline.Time
	blockedFor            [2]timeline.Time
	first                 uint32
	blocked, ranged       uint16 // how many marks there are
}

// extra returns what most goroutines do not have, for one that needs it now.
func (l *lives) extra(g *life) *lifeMore {
	if g.more == 0 {
		if n := len(l.free); n > 0 {
			g.more, l.free = l.free[n-1], l.free[:n-1]
		} else {
			l.more = append(l.more, new(lifeMore))
			g.more = uint32(len(l.more))
		}
	}
	return l.more[g.more-1]
}

// had returns it for one that may do without: nil if it does.
func (l *lives) had(g *life) *lifeMore {
	if g.more == 0 {
		return nil
	}
	return l.more[g.more-1]
}

// blocked adds time for one reason.
func (l *lives) blocked(g *life, why exectrace.NameID, d time.Duration) {
	if g.blockedBy[0] == why { // nearly always
		g.blockedFor[0] += timeline.Time(d)
		return
	}
	for i := range g.blockedFor {
		if g.blockedFor[i] == 0 || g.blockedBy[i] == why {
			g.blockedBy[i] = why
			g.blockedFor[i] += timeline.Time(d)
			return
		}
	}
	l.extra(g).blocked.add(why, d)
}

// lives holds the goroutines by the slot that the reader has lent them, in
// pages, so that growing copies nothing. They have no pointers: the collector
// has nothing to look at. A page is nil as long as its goroutines are asleep,
// see [asleep].
type lives struct {
	pages  []*[lifePage]life
	more   []*lifeMore
	free   []uint32 // indices plus one of those of goroutines that have ended
	gs     *sweep.Goroutines
	reason func(*sweep.Goroutine) exectrace.NameID // for which one waits
	waits  exectrace.CollectorWaits                // of those that are asked about
}

const lifePage = 256

// page returns the page of a slot, which may be nil.
func (l *lives) page(slot exectrace.Slot) *[lifePage]life {
	if page := uint(slot) / lifePage; page < uint(len(l.pages)) {
		return l.pages[page]
	}
	return nil
}

// awake returns the life in a slot, nil if its page is.
func (l *lives) awake(slot exectrace.Slot) *life {
	if p := l.page(slot); p != nil {
		return &p[slot%lifePage]
	}
	return nil
}

// begin makes g a new life.
func (l *lives) begin(g *life, at timeline.Time) {
	*g = life{created: at, known: true}
}

// end forgets g.
func (l *lives) end(g *life) {
	if m := l.had(g); m != nil {
		m.blocked.reset()
		m.ranged.reset()
		m.ranges, m.regions, m.marks = m.ranges[:0], m.regions[:0], m.marks[:0]
		l.free = append(l.free, g.more)
	}
	*g = life{}
}

// Times are durations by name: the few reasons for which one goroutine waits.
// The zero value is ready for use.
type Times struct {
	head [4]nameTime // the first ones, in place: few wait for more reasons
	n    int         // of head
	more []nameTime
}

type nameTime struct {
	name exectrace.NameID
	d    time.Duration
}

func (t *Times) add(n exectrace.NameID, d time.Duration) {
	for i := range t.n {
		if t.head[i].name == n {
			t.head[i].d += d
			return
		}
	}
	for i := range t.more {
		if t.more[i].name == n {
			t.more[i].d += d
			return
		}
	}
	if t.n < len(t.head) {
		t.head[t.n] = nameTime{n, d}
		t.n++
		return
	}
	t.more = append(t.more, nameTime{n, d})
}

// reset forgets all times. What others may still hold stays as it is.
func (t *Times) reset() { t.n, t.more = 0, nil }

// count returns how many names there are.
func (t *Times) count() int { return t.n + len(t.more) }

// at returns the i-th of them, which always has the same name.
func (t *Times) at(i int) nameTime {
	if i < len(t.head) {
		return t.head[i]
	}
	return t.more[i-len(t.head)]
}

// Get returns the time for one name.
func (t *Times) Get(n exectrace.NameID) time.Duration {
	for name, d := range t.All() {
		if name == n {
			return d
		}
	}
	return 0
}

// Sum returns the time for all names together.
func (t *Times) Sum() (sum time.Duration) {
	for _, d := range t.All() {
		sum += d
	}
	return sum
}

// All iterates over the names and their times, in no order that means
// anything.
func (t *Times) All() iter.Seq2[exectrace.NameID, time.Duration] {
	return func(yield func(exectrace.NameID, time.Duration) bool) {
		for _, e := range t.head[:t.n] {
			if !yield(e.name, e.d) {
				return
			}
		}
		for _, e := range t.more {
			if !yield(e.name, e.d) {
				return
			}
		}
	}
}
