package account

import (
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// maxMakers is how far back the goroutines are followed that made one another.
const maxMakers = 8

// follower follows all goroutines: it divides what each did.
type follower struct {
	gs     *sweep.Goroutines
	w      *words
	places places
	tracks []track // by slot
	stops  stops
	units  collector
	blocks int   // of all histories
	calls  int64 // of clients of net/http
	gates  map[gateKey]*gate
	tried  map[pathID]*triesTally
	peers  map[pathID]*peerTally
	cut    []amount // reused: see [follower.follow]
}

// track returns what is kept of the goroutine in a slot.
func (f *follower) track(slot exectrace.Slot) *track {
	if int(slot) >= len(f.tracks) {
		f.tracks = grown(f.tracks, int(slot))
	}
	return &f.tracks[slot]
}

// living returns what is kept of a goroutine that has been told of, or nil.
func (f *follower) living(slot exectrace.Slot) *track {
	if slot == exectrace.NoSlot || int(slot) >= len(f.tracks) || !f.tracks[slot].lives {
		return nil
	}
	return &f.tracks[slot]
}

// put ends a stretch at an instant.
func (f *follower) put(t *track, at timeline.Time, k keyID, id stack.ID) {
	putAs(f, t, at, k, k, id)
}

// putAs is put of a stretch that is something else to those who wait for the goroutine.
func putAs(f *follower, t *track, at timeline.Time, k, others keyID, id stack.ID) {
	from := t.history.end()
	if at <= from || f.units.resting {
		return
	}
	f.blocks += t.history.push(f.w, at, others, f.blocks)
	for u := t.units; u != nil; u = u.next {
		if u.undivided {
			continue
		}
		u.add(k, at-max(from, u.start), 1, 0)
		u.step(max(from, u.start), at, k)
		f.units.draw(u, k, id, at-max(from, u.start))
	}
}

// ran ends a run at a stack; where that has no code of the user, the one where the run
// began is as good.
func (f *follower) ran(t *track, end, begin stack.ID, at timeline.Time) {
	if f.units.resting || at <= t.history.end() {
		return
	}
	id := end
	if !f.w.user(f.w.site(end)) && f.w.user(f.w.site(begin)) || end == 0 {
		id = begin
	}
	state := plainRunning
	if t.assists {
		state = plainAssist
	}
	k := f.w.at(state, id)
	if t.at == begins && state == plainRunning && !f.w.user(f.w.site(id)) && f.places.of(end).at == ends {
		k = f.w.id(key{kind: Running, site: inHandler}) // the handler has done it, without an event
	}
	if t.stops {
		k = f.w.id(key{kind: Stopped, site: f.w.site(id), what: t.why})
	}
	f.put(t, at, k, id)
}

// call ends a system call.
func (f *follower) call(t *track, id stack.ID, at timeline.Time) {
	k := f.w.at(plainCall, id)
	f.wrote(t, id)
	if id != 0 && f.w.out(id).connects {
		f.tries(t, id, at)
	}
	f.outside(t, f.w.keys[k].kind, id, at-t.history.end(), at, false)
	f.put(t, at, k, id)
}

// ready ends a wait for a P, in which the world may have been stopped.
func (f *follower) ready(t *track, where stack.ID, at timeline.Time) {
	from := t.history.end()
	k, others := f.w.at(plainReady, where), f.w.at(plainLetGo, where)
	if at > from && f.stops.last >= from {
		f.stops.within(from, at, func(s *stop, start, end timeline.Time) {
			putAs(f, t, start, k, others, where)
			f.put(t, end, f.w.id(key{kind: Stopped, site: f.w.site(where), cause: Running, at: s.site, what: s.what}), where)
		})
	}
	putAs(f, t, at, k, others, where)
}

// briefly is up to how long a wait of a goroutine without a unit is not followed: most
// waits are such, and a chain of them says no more than its last one.
const briefly = timeline.Time(20 * time.Microsecond)

// waited ends a wait: where a goroutine has ended it, with what that one did meanwhile.
func (f *follower) waited(t *track, was *sweep.Goroutine, e *exectrace.Event) {
	kind, k := f.w.wait(was.Reason, was.Stack)
	by := f.living(e.GSlot)
	switch {
	case t.assists:
		k = f.w.at(plainAssist, was.Stack)
	case t.at == waits && kind >= Dial && kind <= Client:
		k = f.w.id(key{kind: Idle, site: f.w.keys[k].site})
	case kind == Channel && e.GSlot == exectrace.NoSlot:
		k = f.w.id(key{kind: f.w.timed(was.Stack, kind), site: f.w.keys[k].site})
	case !t.works() && e.Time-t.history.end() < briefly:
		f.idled(t, kind, was.Stack, e) // nobody will miss what it was for
	case kind.followed() && by != nil && by != t && e.To == exectrace.Runnable:
		f.follow(t, by, k, was.Stack, e)
		return
	}
	if t.id == 1 && was.Reason == exectrace.NameNone && was.Stack == 0 && e.GSlot == exectrace.NoSlot && t.units != nil && t.history.end() == t.born {
		t.units.older = e.Time - t.born
	}
	if !t.works() {
		f.idled(t, f.w.keys[k].kind, was.Stack, e)
	}
	d := e.Time - t.history.end()
	f.outside(t, f.w.keys[k].kind, was.Stack, d, e.Time, false)
	f.put(t, e.Time, k, was.Stack)
	noteBefore(f, t, was, e, k, d)
}

// follow ends a wait that a goroutine has ended: it is divided by what that one did
// meanwhile, whose own waits have been divided so before.
func (f *follower) follow(t, by *track, k keyID, where stack.ID, e *exectrace.Event) {
	from, to := t.history.end(), e.Time
	if from >= to {
		return
	}
	if !t.works() {
		f.idled(t, f.w.keys[k].kind, where, e)
	}
	switch v := &f.w.waits[where]; {
	case v.asks:
		t.trying.n = 0
		if f.w.answers(e.Stack) {
			f.calls++
			answered(f, t, by.id, where, e.Time)
		}
	case v.pool:
		f.tries(t, where, e.Time) // that a connection was there it is told by what comes next
	}
	f.cut = f.cut[:0]
	if to = f.between(by, e.Stack, from, to); from < to {
		own := f.w.keys[k]
		rest := key{kind: own.kind, site: own.site, cause: Unknown}
		if by.timed {
			rest.kind, rest.cause = f.w.timed(where, own.kind), None
		}
		f.cut = append(f.cut, amount{f.w.id(rest) | isOwn, to - from})
	}
	own := f.w.keys[k]
	if own.kind == Channel && f.w.waits[where].pool && f.w.view(e.Stack).has(givers...) {
		own.kind = Pool
	}
	queue := queued(t, by, own.kind, f.w.waits[where].reason == exectrace.NameChanSend, timeline.Span{Start: from, End: e.Time})
	if queue.Len() > 0 {
		f.pass(t, by, own, f.w.site(e.Stack))
	}
	if t.units != nil {
		f.straggles(t, by, own.site, e)
	}
	if t.works() {
		by.gave, by.gaveTo = e.Time, t.id
	}
	f.divide(t, own, where, e, queue)
}

// between appends to the cut what a goroutine, which is at a stack at the end of the
// time, did in it, the latest first; and before it was made, what the one did that made
// it. It returns from when on that is known.
func (f *follower) between(t *track, at stack.ID, from, to timeline.Time) timeline.Time {
	for range maxMakers {
		if open := max(t.history.end(), from); open < to { // what it does right now
			f.cut = append(f.cut, amount{f.w.at(plainRunning, at), to - open})
			to = open
		}
		f.cut, to = t.history.within(from, to, f.cut)
		maker := f.living(t.creator)
		if from >= to || t.maker == exectrace.NoGoroutine || maker == nil || maker.id != t.maker {
			break
		}
		at, t = t.made, maker
	}
	return to
}

// isOwn marks keys that are of the wait itself already.
const isOwn = keyID(1 << 31)

// manyCuts is into how many pieces a wait may be divided in a history. In one of more, as in a queue for a lock where each
// wait has the pieces of those before it, what is shorter than that part of the wait is counted to the piece before:
// else one such wait would be all that a history remembers in order. The account of the unit itself has them all.
const manyCuts = 64

// divide puts the pieces of a wait in place of it, the earliest first.
func (f *follower) divide(t *track, own key, where stack.ID, e *exectrace.Event, queue timeline.Span) {
	fn := ""
	if own.kind == Lock {
		fn = f.w.locker(e.Stack)
	}
	longest, before, holds := 0, false, own.kind == Lock && f.w.waited(f.cut, own.site)
	for i := range f.cut {
		c := &f.cut[i]
		if c.key&isOwn == 0 && own.kind == Lock && f.w.waitsAt(c.key, Lock, own.site) {
			before, holds = false, false // both waited for the same then
		}
		if before = before || c.key&isOwn == 0 && f.w.idle(c.key); before {
			// The one that ended the wait had nothing to do with it yet.
			c.key = f.w.id(key{kind: own.kind, site: own.site, cause: Unknown})
		} else if c.key&isOwn != 0 {
			c.key &^= isOwn
		} else {
			c.key = f.caused(own, c.key, fn, holds, e.Stack)
		}
		if c.d > f.cut[longest].d {
			longest = i
		}
	}
	f.outsideOf(t, where, e.Stack, e.Time)
	at := t.history.end()
	brief, last := timeline.Time(0), keyID(0)
	if len(f.cut) > manyCuts {
		brief = (e.Time - at) / manyCuts
	}
	for i := len(f.cut) - 1; i >= 0; i-- {
		c := f.cut[i]
		if c.d <= 0 {
			continue
		}
		if last == 0 || c.d >= brief {
			last = c.key
		}
		f.blocks += t.history.push(f.w, at+c.d, last, f.blocks)
		for u := t.units; u != nil; u = u.next {
			if u.undivided {
				continue
			}
			n := int64(0)
			if i == longest {
				n = 1
			}
			d := at + c.d - max(at, u.start)
			u.add(c.key, d, n, max(0, min(at+c.d, queue.End)-max(at, u.start, queue.Start)))
			u.step(max(at, u.start), at+c.d, c.key)
			f.units.draw(u, c.key, where, d)
		}
		at += c.d
	}
}

// caused is the key of a part of a wait, in which the goroutine that ended it did what
// another key says; holds tells that it certainly held the lock meanwhile, if it is one.
func (f *follower) caused(own key, did keyID, fn string, holds bool, ended stack.ID) keyID {
	d := f.w.keys[did]
	kind, at := d.kind, d.site
	if d.cause != None && d.kind != Stopped {
		kind, at = d.cause, d.at
	}
	out := key{kind: own.kind, site: own.site, cause: kind, at: at}
	through := siteID(0)
	if own.kind == Lock && kind != Unknown && d.cause == None && (holds || f.w.past[d.site] != fn) {
		if through = f.w.through(d.site, fn, ended); through != 0 {
			out.at = through
		}
	}
	if own.kind == Lock {
		out.by, out.byAt = heldBy(f.w, d, fn, holds, ended)
	}
	switch {
	case own.kind == Lock && !holds && kind != Unknown && d.cause == None && through == 0:
		// What it did before it took the lock held up nobody: all that is known is
		// where the lock was let go.
		out.cause, out.at = Unknown, f.w.site(ended)
	case kind == Stopped:
		out.kind, out.cause, out.at, out.what = Stopped, Running, d.at, d.what
	case !f.w.user(at) && own.kind != Lock && own.kind != Pool && kind != Unknown:
		// A goroutine of a library works on behalf of this line, or waits for the world
		// outside.
		if out.cause, out.at = None, 0; !kind.followed() {
			out.kind = kind
		}
	}
	return f.w.id(out)
}

// heldBy is what the one that holds a lock does that others wait for, where it waits for another goroutine: by what the goroutine did, meanwhile,
// that let the lock go. If that waited for a lock, it was one of the queue, and knows from its own wait who held it.
func heldBy(w *words, did key, fn string, holds bool, ended stack.ID) (Kind, siteID) {
	switch {
	case did.kind == Lock:
		return did.by, did.byAt
	case did.cause == None || !did.kind.followed():
		return None, 0
	}
	if at := w.through(did.site, fn, ended); at != 0 {
		return did.kind, at
	}
	if holds {
		return did.kind, did.site
	}
	return None, 0
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
func (f *follower) rangeEvent(e *exectrace.Event) {
	if e.Scope() != exectrace.ScopeGoroutine {
		return
	}
	t := f.living(e.SubjectSlot)
	begins := e.Kind != exectrace.KindRangeEnd
	if t != nil && e.Kind != exectrace.KindRangeActive {
		at := e.Stack
		if at == 0 { // the end of a range does not say where
			at = t.inside
		}
		f.ran(t, at, f.gs.In(e.SubjectSlot).Waited, e.Time)
	}
	if t != nil {
		t.inside = e.Stack
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
		for i := range f.stops.open {
			f.stops.open[i].end = e.Time
			f.stops.ring[f.stops.n%len(f.stops.ring)] = f.stops.open[i]
			f.stops.n++
		}
		f.stops.open, f.stops.last = f.stops.open[:0], e.Time
		return
	}
	s := stop{start: e.Time, what: e.Name}
	if site := f.w.site(e.Stack); f.w.user(site) {
		s.site = site
	}
	f.stops.open, f.stops.last = append(f.stops.open[:0], s), 1<<63-1
}
