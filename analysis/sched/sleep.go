package sched

import (
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

// asleep says that the trace has found a goroutine waiting, and nothing more was
// heard of it: a program with a hundred thousand idle connections has as many. Where
// a page of slots has none but these they need no lives: the table of goroutines has
// all that there is to know.
func asleep(g *sweep.Goroutine) bool {
	return g.First && g.Older && g.State == exectrace.Waiting && g.Reason != exectrace.NameForever
}

// at returns the life in a slot.
func (l *lives) at(slot exectrace.Slot) *life {
	if g := l.awake(slot); g != nil {
		return g
	}
	return l.wake(slot, l.gs.In(slot))
}

// wake makes a page of lives, of those asleep if there are any, and returns the one
// in a slot, of a goroutine that was in a state.
func (l *lives) wake(slot exectrace.Slot, was *sweep.Goroutine) *life {
	n := slot / lifePage
	for len(l.pages) <= int(n) {
		l.pages = append(l.pages, nil)
	}
	p := new([lifePage]life)
	for i := range p {
		g := was
		if at := n*lifePage + exectrace.Slot(i); at != slot {
			g = l.gs.In(at)
		}
		if asleep(g) {
			l.rise(&p[i], g)
		}
	}
	l.pages[n] = p
	return &p[slot%lifePage]
}

// rise makes g what a sleeper has become.
func (l *lives) rise(g *life, z *sweep.Goroutine) {
	l.begin(g, z.Since)
	g.reason = l.reason(z)
	l.blocked(g, g.reason, time.Duration(z.Told-z.Since))
}

// each calls f for every goroutine and the state that it is in, in the order of
// slots. Those asleep stay so: f gets a copy.
func (l *lives) each(f func(slot exectrace.Slot, g *life, now *sweep.Goroutine)) {
	var one life
	l.gs.Each(func(slot exectrace.Slot, now *sweep.Goroutine) {
		g := l.awake(slot)
		if g == nil {
			l.rise(&one, now)
			f(slot, &one, now)
		} else if g.known {
			f(slot, g, now)
		}
	})
}
