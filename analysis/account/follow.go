package account

import (
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// maxMakers is how far back the goroutines are followed that made one another.
const maxMakers = 8

// follow ends a wait that a goroutine has ended: it is divided by what that one did
// meanwhile, whose own waits have been divided so before.
func (b *Builder) follow(t, by *track, k keyID, where stack.ID, e *exectrace.Event) {
	from, to := t.history.end(), e.Time
	if from >= to {
		return
	}
	b.cut = b.cut[:0]
	if to = b.between(by, e.Stack, from, to); from < to {
		own := b.w.keys[k]
		b.cut = append(b.cut, amount{b.w.id(key{kind: own.kind, site: own.site, cause: Unknown}) | isOwn, to - from})
	}
	b.divide(t, b.w.keys[k], where, e)
}

// between appends to the cut what a goroutine, which is at a stack at the end of the
// time, did in it, the latest first; and before it was made, what the one did that made
// it. It returns from when on that is known.
func (b *Builder) between(t *track, at stack.ID, from, to timeline.Time) timeline.Time {
	for range maxMakers {
		if open := max(t.history.end(), from); open < to { // what it does right now
			b.cut = append(b.cut, amount{b.w.at(plainRunning, at), to - open})
			to = open
		}
		b.cut, to = t.history.within(from, to, b.cut)
		maker := b.living(t.creator)
		if from >= to || t.maker == exectrace.NoGoroutine || maker == nil || maker.id != t.maker {
			break
		}
		at, t = t.made, maker
	}
	return to
}

// isOwn marks keys that are of the wait itself already.
const isOwn = keyID(1 << 31)

// divide puts the pieces of a wait in place of it, the earliest first.
func (b *Builder) divide(t *track, own key, where stack.ID, e *exectrace.Event) {
	fn := ""
	if own.kind == Lock {
		fn = b.w.locker(e.Stack)
	}
	if own.kind == Channel && b.w.waits[where].pool && b.w.view(e.Stack).has(givers...) {
		own.kind = Pool
	}
	longest := 0
	for i := range b.cut {
		c := &b.cut[i]
		if c.key&isOwn != 0 {
			c.key &^= isOwn
		} else {
			c.key = b.caused(own, c.key, fn, e.Stack)
		}
		if c.d > b.cut[longest].d {
			longest = i
		}
	}
	at := t.history.end()
	for i := len(b.cut) - 1; i >= 0; i-- {
		c := b.cut[i]
		if c.d <= 0 {
			continue
		}
		b.blocks += t.history.push(b.w, at+c.d, c.key, b.blocks)
		for u := t.units; u != nil; u = u.next {
			n := int64(0)
			if i == longest {
				n = 1
			}
			d := at + c.d - max(at, u.start)
			u.add(c.key, d, n)
			u.step(max(at, u.start), at+c.d, c.key)
			b.units.draw(u, c.key, where, d)
		}
		at += c.d
	}
}

// caused is the key of a part of a wait, in which the goroutine that ended it did what
// another key says.
func (b *Builder) caused(own key, did keyID, fn string, ended stack.ID) keyID {
	d := b.w.keys[did]
	kind, at := d.kind, d.site
	if d.cause != None && d.kind != Stopped {
		kind, at = d.cause, d.at
	}
	out := key{kind: own.kind, site: own.site, cause: kind, at: at}
	switch {
	case own.kind == Lock && kind != Unknown && d.cause == None && !b.w.within(d.site, fn):
		// What it did before it took the lock held up nobody: all that is known is
		// where the lock was let go.
		out.cause, out.at = Unknown, b.w.site(ended)
	case kind == Stopped:
		out.kind, out.cause, out.at, out.what = Stopped, Running, d.at, d.what
	case !b.w.user(at) && own.kind != Lock && own.kind != Pool && kind != Unknown:
		// A goroutine of a library works on behalf of this line, or waits for the world
		// outside.
		if out.cause, out.at = None, 0; !kind.followed() {
			out.kind = kind
		}
	}
	return b.w.id(out)
}

// stop is one stop of the world.
type stop struct {
	start, end timeline.Time
	what       exectrace.NameID
	site       siteID // of who stopped it, where that is the user's
}

// stops are the latest stops of the world, those that go on apart.
type stops struct {
	ring [32]stop
	n    int
	open []stop
	last timeline.Time // end of the last one; far away while one goes on
}

// within visits what lies in from..to, in order.
func (s *stops) within(from, to timeline.Time, visit func(s *stop, start, end timeline.Time)) {
	at := from
	take := func(x *stop, end timeline.Time) {
		if start := max(x.start, at); start < min(end, to) {
			at = min(end, to)
			visit(x, start, at)
		}
	}
	for i := max(0, s.n-len(s.ring)); i < s.n; i++ {
		x := &s.ring[i%len(s.ring)]
		take(x, x.end)
	}
	for i := range s.open {
		take(&s.open[i], to)
	}
}

// rangeEvent begins or ends an assist or a stop of the world.
func (b *Builder) rangeEvent(e *exectrace.Event) {
	if e.Scope() != exectrace.ScopeGoroutine {
		return
	}
	t := b.living(e.SubjectSlot)
	begins := e.Kind != exectrace.KindRangeEnd
	if t != nil && e.Kind != exectrace.KindRangeActive {
		b.ran(t, e.Stack, b.gs.In(e.SubjectSlot).Waited, e.Time)
	}
	if e.Name == exectrace.NameMarkAssist {
		if t != nil {
			t.assists = begins
		}
		return
	}
	if t != nil {
		t.stops, t.why = begins, e.Name
	}
	if !begins {
		for i := range b.stops.open {
			b.stops.open[i].end = e.Time
			b.stops.ring[b.stops.n%len(b.stops.ring)] = b.stops.open[i]
			b.stops.n++
		}
		b.stops.open, b.stops.last = b.stops.open[:0], e.Time
		return
	}
	s := stop{start: e.Time, what: e.Name}
	if site := b.w.site(e.Stack); b.w.user(site) {
		s.site = site
	}
	b.stops.open, b.stops.last = append(b.stops.open[:0], s), 1<<63-1
}
