package account

import (
	"cmp"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Builder makes an [Account] of the events of one pass. It is a [sweep.Listener]; when
// the pass is over, call Finish.
type Builder struct {
	follower
	o     Options
	r     *exectrace.Reader
	roots roots
	loops loops
	tasks map[exectrace.TaskID]*open
	last  timeline.Time
	begin timeline.Time
}

// track is what is known of the goroutine in a slot. What every event looks at comes first:
// of many goroutines it is two lines of the cache.
type track struct {
	history history
	// units are those that it works on, request among them.
	units   *open
	request *open
	id      exectrace.GoID
	turn    turn
	// idle is until when it last had nothing to do.
	idle timeline.Time
	sent uint32 // writes to connections since it last waited for one
	// at is where the connection that it serves is in its loop.
	at    position
	lives bool
	// assists and stops tell that it helps the collector, or has stopped the world;
	// why is the name of that stop.
	assists, stops bool
	timed          bool // a timer has made it (time.AfterFunc, the end of a context)
	rootKnown      bool // it is known whether it is a worker
	fanned         bool // it is of a fan
	why            exectrace.NameID
	inside         stack.ID // where either began
	asked          pathID   // and 1, of the call whose request was sent and whose answer it waits for; 0 for none
	// creator and maker are the slot and the goroutine that made it, at made.
	creator exectrace.Slot
	made    stack.ID
	maker   exectrace.GoID
	root    string // the function that it begins with, of a worker
	born    timeline.Time
	trying  trying // connections that it has tried to make
	// gate is the one that it has waited at and is inside of.
	gate *gate
	// gave is when it last ended a wait of a unit, on goroutine gaveTo.
	gave   timeline.Time
	gaveTo exectrace.GoID
	// fans are the goroutines that it has made, by where.
	fans []fan
	// before stands for its wait since before the trace; see [beforehand].
	before siteID
}

// NewBuilder returns a builder for the events that a table of goroutines follows.
func NewBuilder(gs *sweep.Goroutines, o Options) *Builder {
	r := gs.Reader()
	w := newWords(r, o.Scope)
	b := &Builder{follower: follower{gs: gs, w: w, places: places{w: w}}, o: o, r: r, roots: roots{r: r}, loops: loops{w: w, knows: o.Serves}, tasks: map[exectrace.TaskID]*open{}}
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
	if b.units.news {
		b.sample(e.Time)
	}
}

// transition ends what a goroutine did, and looks where it and who changed it are.
func (b *Builder) transition(e *exectrace.Event) {
	if e.GSlot != e.SubjectSlot && e.Stack != 0 {
		b.look(e.GSlot, e.Stack, e.Time)
	}
	t := b.track(e.SubjectSlot)
	was, is := &b.gs.Was, b.gs.Is
	if t.lives && !t.rootKnown {
		b.beginWorker(t, cmp.Or(e.SubjectStack, was.Stack))
	}
	switch e.From {
	case exectrace.Undetermined, exectrace.NotExist:
		b.start(t, e, is)
	case exectrace.Running:
		b.ran(t, e.SubjectStack, was.Waited, e.Time)
		if e.SubjectStack != 0 {
			b.look(e.SubjectSlot, e.SubjectStack, e.Time)
		}
		if e.To == exectrace.Waiting {
			turnEnds(b, t, is, e.Time)
		}
	case exectrace.Runnable:
		if !b.units.resting {
			b.ready(t, was.Waited, e.Time)
		}
	case exectrace.Syscall:
		if !b.units.resting {
			b.call(t, was.Stack, e.Time)
		}
	case exectrace.Waiting:
		if !b.units.resting {
			b.waited(t, was, e)
		}
		if e.To == exectrace.Runnable {
			turnBegins(b, t, was, e)
		}
	}
	if t.request != nil && t.at == waits && e.To == exectrace.Waiting {
		b.units.drop(t) // it goes on waiting for a request
	}
	switch {
	case e.To == exectrace.NotExist:
		b.ended(t, e.Time)
	case t.request == nil && t.at == waits && (e.From == exectrace.Waiting && e.To == exectrace.Runnable || e.To == exectrace.Syscall):
		b.units.await(t, e.Time)
	}
}

// start begins a life, or what the trace has of it.
func (b *Builder) start(t *track, e *exectrace.Event, is *sweep.Goroutine) {
	b.units.abandonAll(t)
	b.leave(t)
	from := is.Since
	h := t.history
	*t = track{id: e.Goroutine(), born: from, lives: true, maker: exectrace.NoGoroutine, history: h}
	b.blocks -= len(h.blocks)
	t.history.reset(from)
	created := e.From == exectrace.NotExist
	if created {
		t.creator, t.maker, t.made = e.GSlot, e.G, e.Stack
		t.timed = e.GSlot == exectrace.NoSlot
		if by := b.living(e.GSlot); by != nil {
			t.turn.accepted = by.turn.accepts
		}
		if by := b.living(e.GSlot); by != nil && by.units != nil && !b.units.resting {
			b.madeBy(t, by, e.Stack, from)
		}
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
	if t.rootKnown = kind < units; !t.rootKnown {
		b.beginWorker(t, e.SubjectStack)
	}
	if e.To == exectrace.Waiting && !created {
		t.turn.accepts = b.loops.view(is.Reason, e.SubjectStack).accepts
	}
	if e.SubjectStack != 0 && !created {
		b.look(e.SubjectSlot, e.SubjectStack, e.Time)
	}
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
		b.units.done(t, at)
		b.leave(t)
	case pl.at == begins && before == ends: // the next one came right behind
		b.ran(t, id, 0, at)
		b.units.done(t, at)
		b.leave(t)
		b.units.await(t, at)
		t.request.real = true
		t.request.named(pl)
	case pl.at >= begins:
		t.request.real = true
	}
}

// ended is the end of a goroutine, and of what it is.
func (b *Builder) ended(t *track, at timeline.Time) {
	b.units.dropTurn(t) // its loop is over
	b.finished(t, at)
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
	b.leave(t)
}

// lose forgets everything: the trace has a gap.
func (b *Builder) lose() {
	b.restAll()
	for i := range b.tracks {
		b.units.abandonAll(&b.tracks[i])
		b.tracks[i].lives = false
		b.leave(&b.tracks[i])
	}
	clear(b.tasks)
	b.stops.open = b.stops.open[:0]
}
