package sched

import (
	"time"

	"loupe/exectrace"
	"loupe/stack"
	"loupe/timeline"
)

// sleepers are the goroutines of one page of slots that the trace has found
// waiting, and of which nothing more was heard: a program with a hundred
// thousand idle connections has as many. When something is heard of one of
// them, the page becomes one of lives.
//
// Note: a life has 128 bytes and a sleeper 32. Most are never woken up.
type sleepers struct {
	all   [lifePage]sleeper
	known [lifePage]bool
}

// sleeper is a goroutine that waits.
type sleeper struct {
	id             exectrace.GoID
	created, since timeline.Time
	reason         exectrace.NameID
	stack          stack.ID
}

// sleep puts down a goroutine that is found waiting, if it can be a sleeper.
func (s *Summarizer) sleep(e *exectrace.Event) bool {
	if e.Name == exectrace.NameForever {
		return false
	}
	l, slot := &s.lives, e.SubjectSlot
	l.grow(slot)
	page := slot / lifePage
	if l.pages[page] != nil {
		return false
	}
	if l.asleep[page] == nil {
		l.asleep[page] = new(sleepers)
	}
	p := l.asleep[page]
	if p.known[slot%lifePage] { // a damaged trace
		return false
	}
	p.known[slot%lifePage] = true
	z := &p.all[slot%lifePage]
	z.id, z.created, z.since = e.Goroutine(), s.lastSync, e.Time
	z.reason, z.stack = e.Name, e.SubjectStack
	return true
}

// wake makes a page of lives, of those asleep if there are any, and returns
// the one in a slot.
func (l *lives) wake(slot exectrace.Slot) *life {
	l.grow(slot)
	page := slot / lifePage
	p := new([lifePage]life)
	if z := l.asleep[page]; z != nil {
		for i := range z.all {
			if z.known[i] {
				l.rise(&p[i], &z.all[i])
			}
		}
	}
	l.pages[page], l.asleep[page] = p, nil
	return &p[slot%lifePage]
}

// rise makes g what a sleeper has become.
func (l *lives) rise(g *life, z *sleeper) {
	l.begin(g, z.id, z.created)
	l.blocked(g, z.reason, time.Duration(z.since-z.created))
	g.state, g.since, g.reason, g.stack = exectrace.Waiting, z.since, z.reason, z.stack
	if z.stack != 0 {
		g.name = l.root(z.stack)
	}
}

// each calls f for every goroutine, in the order of slots. Those asleep stay
// so: f gets a copy.
func (l *lives) each(f func(*life)) {
	var one life
	for i, p := range l.pages {
		if p != nil {
			for k := range p {
				if g := &p[k]; g.known {
					f(g)
				}
			}
		}
		if z := l.asleep[i]; z != nil {
			for k := range z.all {
				if z.known[k] {
					l.rise(&one, &z.all[k])
					f(&one)
				}
			}
		}
	}
}
