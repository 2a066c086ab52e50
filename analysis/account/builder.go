package account

import (
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Builder makes an [Account] of the events of one pass. It is a [sweep.Listener]; when
// the pass is over, call Finish.
type Builder struct {
	o      Options
	r      *exectrace.Reader
	gs     *sweep.Goroutines
	w      *words
	places places
	roots  roots
	tracks []track // by slot
	tasks  map[exectrace.TaskID]*open
	stops  stops
	units  collector
	blocks int // of all histories
	last   timeline.Time
	begin  timeline.Time

	cut []amount // reused: see [Builder.follow]
}

// track is what is known of the goroutine in a slot.
type track struct {
	id   exectrace.GoID
	born timeline.Time
	// creator and maker are the slot and the goroutine that made it, at made.
	creator exectrace.Slot
	maker   exectrace.GoID
	made    stack.ID
	history history
	// at is where the connection that it serves is in its loop.
	at position
	// assists and stops tell that it helps the collector, or has stopped the world;
	// why is the name of that stop.
	assists, stops bool
	why            exectrace.NameID
	lives          bool
	// units are those that it works on, request among them.
	units   *open
	request *open
}

// NewBuilder returns a builder for the events that a table of goroutines follows.
func NewBuilder(gs *sweep.Goroutines, o Options) *Builder {
	r := gs.Reader()
	w := newWords(r, o.Scope)
	b := &Builder{o: o, r: r, gs: gs, w: w, places: places{w: w}, roots: roots{r: r}, tasks: map[exectrace.TaskID]*open{}}
	b.units.init(w, o)
	return b
}

// Kinds implements [sweep.Listener].
func (b *Builder) Kinds() sweep.Kinds {
	return sweep.Of(exectrace.KindSync, exectrace.KindGoTransition, exectrace.KindStackSample, exectrace.KindRangeBegin,
		exectrace.KindRangeActive, exectrace.KindRangeEnd, exectrace.KindTaskBegin, exectrace.KindTaskEnd)
}

// Event takes the reader's current event.
func (b *Builder) Event(e *exectrace.Event) {
	b.last = e.Time
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.From != e.To {
			b.transition(e)
		}
	case exectrace.KindStackSample:
		if t := b.living(e.GSlot); t != nil && t.units != nil {
			for u := t.units; u != nil; u = u.next {
				u.sample(e.Stack)
			}
		}
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		b.rangeEvent(e)
	case exectrace.KindTaskBegin:
		b.taskBegin(e)
	case exectrace.KindTaskEnd:
		b.taskEnd(e)
	case exectrace.KindSync:
		if b.begin == 0 {
			b.begin = e.Time
		}
		if e.Reset() {
			b.lose()
		}
	}
}

// track returns what is kept of the goroutine in a slot.
func (b *Builder) track(slot exectrace.Slot) *track {
	if int(slot) >= len(b.tracks) {
		b.tracks = grown(b.tracks, int(slot))
	}
	return &b.tracks[slot]
}

// living returns what is kept of a goroutine that has been told of, or nil.
func (b *Builder) living(slot exectrace.Slot) *track {
	if slot == exectrace.NoSlot || int(slot) >= len(b.tracks) || !b.tracks[slot].lives {
		return nil
	}
	return &b.tracks[slot]
}

// transition ends what a goroutine did, and looks where it and who changed it are.
func (b *Builder) transition(e *exectrace.Event) {
	if e.GSlot != e.SubjectSlot && e.Stack != 0 {
		b.look(e.GSlot, e.Stack, e.Time)
	}
	t := b.track(e.SubjectSlot)
	was, is := &b.gs.Was, b.gs.Is
	switch e.From {
	case exectrace.Undetermined, exectrace.NotExist:
		b.start(t, e, is)
	case exectrace.Running:
		b.ran(t, e.SubjectStack, was.Waited, e.Time)
		if e.SubjectStack != 0 {
			b.look(e.SubjectSlot, e.SubjectStack, e.Time)
		}
	case exectrace.Runnable:
		b.ready(t, was.Waited, e.Time)
	case exectrace.Syscall:
		b.put(t, e.Time, b.w.at(plainCall, was.Stack), was.Stack)
	case exectrace.Waiting:
		b.waited(t, was, e)
	}
	if t.request != nil && t.at == waits && e.To == exectrace.Waiting {
		b.drop(t) // it goes on waiting for a request
	}
	switch {
	case e.To == exectrace.NotExist:
		b.ended(t, e.Time)
	case t.request == nil && t.at == waits && (e.From == exectrace.Waiting && e.To == exectrace.Runnable || e.To == exectrace.Syscall):
		b.await(t, e.Time)
	}
}

// start begins a life, or what the trace has of it.
func (b *Builder) start(t *track, e *exectrace.Event, is *sweep.Goroutine) {
	b.abandon(t)
	from := is.Since
	h := t.history
	*t = track{id: e.Goroutine(), born: from, lives: true, maker: exectrace.NoGoroutine, history: h}
	b.blocks -= len(h.blocks)
	t.history.reset(from)
	created := e.From == exectrace.NotExist
	if created {
		t.creator, t.maker, t.made = e.GSlot, e.G, e.Stack
	}
	kind := b.roots.of(is.Name)
	if t.id == 1 {
		kind = Main
	}
	if kind == Main || kind < units && created {
		u := b.units.open(kind, from, t.id)
		u.real = true
		u.next, t.units = t.units, u
	}
	if e.SubjectStack != 0 && !created {
		b.look(e.SubjectSlot, e.SubjectStack, e.Time)
	}
}

// put ends a stretch at an instant.
func (b *Builder) put(t *track, at timeline.Time, k keyID, id stack.ID) {
	from := t.history.end()
	if at <= from {
		return
	}
	b.blocks += t.history.push(b.w, at, k, b.blocks)
	for u := t.units; u != nil; u = u.next {
		u.add(k, at-max(from, u.start), 1)
		u.step(max(from, u.start), at, k)
		b.units.draw(u, k, id, at-max(from, u.start))
	}
}

// ran ends a run at a stack; where that has no code of the user, the one where the run
// began is as good.
func (b *Builder) ran(t *track, end, begin stack.ID, at timeline.Time) {
	if at <= t.history.end() {
		return
	}
	id := end
	if !b.w.user(b.w.site(end)) && b.w.user(b.w.site(begin)) || end == 0 {
		id = begin
	}
	state := plainRunning
	if t.assists {
		state = plainAssist
	}
	k := b.w.at(state, id)
	if t.at == begins && state == plainRunning && !b.w.user(b.w.site(id)) && b.places.of(end).at == ends {
		k = b.w.id(key{kind: Running, site: inHandler}) // the handler has done it, without an event
	}
	if t.stops {
		k = b.w.id(key{kind: Stopped, site: b.w.site(id), what: t.why})
	}
	b.put(t, at, k, id)
}

// ready ends a wait for a P, in which the world may have been stopped.
func (b *Builder) ready(t *track, where stack.ID, at timeline.Time) {
	from := t.history.end()
	k := b.w.at(plainReady, where)
	if at > from && b.stops.last >= from {
		b.stops.within(from, at, func(s *stop, start, end timeline.Time) {
			b.put(t, start, k, where)
			b.put(t, end, b.w.id(key{kind: Stopped, site: b.w.site(where), cause: Running, at: s.site, what: s.what}), where)
		})
	}
	b.put(t, at, k, where)
}

// briefly is up to how long a wait of a goroutine without a unit is not followed: most
// waits are such, and a chain of them says no more than its last one.
const briefly = timeline.Time(20 * time.Microsecond)

// waited ends a wait: where a goroutine has ended it, with what that one did meanwhile.
func (b *Builder) waited(t *track, was *sweep.Goroutine, e *exectrace.Event) {
	kind, k := b.w.wait(was.Reason, was.Stack)
	by := b.living(e.GSlot)
	switch {
	case t.assists:
		k = b.w.at(plainAssist, was.Stack)
	case kind == Channel && e.GSlot == exectrace.NoSlot:
		k = b.w.id(key{kind: Timer, site: b.w.keys[k].site})
	case t.units == nil && e.Time-t.history.end() < briefly:
		// Nobody will miss what it was for.
	case kind.followed() && by != nil && by != t && e.To == exectrace.Runnable:
		b.follow(t, by, k, was.Stack, e)
		return
	}
	b.put(t, e.Time, k, was.Stack)
}

// look learns from the stack of a goroutine where it is in the loop of a connection.
func (b *Builder) look(slot exectrace.Slot, id stack.ID, at timeline.Time) {
	t := b.living(slot)
	if t == nil {
		return
	}
	pl := b.places.of(id)
	if t.units != nil && pl.handler != "" {
		for u := t.units; u != nil; u = u.next {
			u.named(pl)
		}
	}
	if pl.at == elsewhere {
		return
	}
	before := t.at
	if before == waits && pl.at == begins {
		b.ran(t, id, 0, at) // so much for reading it
	}
	t.at = pl.at
	if t.request == nil {
		if before == elsewhere && (pl.at == begins || pl.at == ends) {
			b.units.cut++ // it is older than the trace
		}
		return
	}
	switch {
	case pl.at == waits && before > waits, pl.at == over:
		b.ran(t, id, 0, at)
		b.done(t, at)
	case pl.at == begins && before == ends: // the next one came right behind
		b.ran(t, id, 0, at)
		b.done(t, at)
		b.await(t, at)
		t.request.real = true
		t.request.named(pl)
	case pl.at >= begins:
		t.request.real = true
	}
}

// await begins what will be a request when its handler is seen.
func (b *Builder) await(t *track, at timeline.Time) {
	t.request = b.units.open(Request, at, t.id)
	t.request.next, t.units = t.units, t.request
}

// drop forgets a request that has not come.
func (b *Builder) drop(t *track) {
	u := t.request
	b.unlink(t, u)
	b.units.free(u)
}

// done ends the request of a connection.
func (b *Builder) done(t *track, at timeline.Time) {
	u := t.request
	b.unlink(t, u)
	if u.real {
		b.units.end(u, at)
	} else {
		b.units.free(u)
	}
}

// unlink takes a unit from the goroutine that works on it.
func (b *Builder) unlink(t *track, u *open) {
	for at := &t.units; *at != nil; at = &(*at).next {
		if *at == u {
			*at = u.next
			break
		}
	}
	if t.request == u {
		t.request = nil
	}
	u.next = nil
}

// ended is the end of a goroutine, and of what it is.
func (b *Builder) ended(t *track, at timeline.Time) {
	for u := t.units; u != nil; {
		next := u.next
		switch {
		case u.unit == Task:
			u.next, u.lost = nil, true // another goroutine may end it
		case u.unit == Request && !u.real:
			b.units.free(u)
		default:
			b.units.end(u, at)
		}
		u = next
	}
	t.units, t.request, t.lives = nil, nil, false
}

// abandon cuts off what a goroutine works on.
func (b *Builder) abandon(t *track) {
	for u := t.units; u != nil; {
		next := u.next
		b.units.abandon(u)
		u = next
	}
	t.units, t.request = nil, nil
}

// lose forgets everything: the trace has a gap.
func (b *Builder) lose() {
	b.restAll()
	for i := range b.tracks {
		b.abandon(&b.tracks[i])
		b.tracks[i].lives = false
	}
	clear(b.tasks)
	b.stops.open = b.stops.open[:0]
}
