package tiles

import (
	"math"
	"strings"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// Builder makes a [Set] out of the events of one reader. Feed it every event,
// in order, and call Finish. What it holds is what the set will have, and
// about 130 bytes for each living goroutine.
// It has more methods than most because it is a listener of a sweep as well.
type Builder struct {
	r    *exectrace.Reader
	opts Options

	origin   timeline.Time // of the ticks; a whole number of grains
	started  bool
	now      tick // of the last event
	lastSync tick

	gens []tick // where each generation begins

	lanes lanes
	waits waits
	older map[exectrace.GoID]uint32 // those who count already, and in which group
	shed  shedder

	events int64 // taken
	look   int64 // with so many, to tell [Options.Look]
	next   int64 // with so many, to do something else than taking them

	versions []tick // where the snapshots end
	snapshot bool   // it is the copy that one is made of
}

// NewBuilder returns a builder for the events of r.
func NewBuilder(r *exectrace.Reader, opts Options) *Builder {
	b := &Builder{r: r, opts: opts, lanes: newLanes(&opts), look: lookEvery}
	if opts.Look == nil {
		b.look = math.MaxInt64
	}
	return b
}

// Kinds implements [sweep.Listener]: every event moves the time on.
func (b *Builder) Kinds() sweep.Kinds { return sweep.Every }

// Event takes the reader's current event.
func (b *Builder) Event(e *exectrace.Event) {
	if !b.started {
		b.begin(e.Time)
	}
	if now := tick(e.Time-b.origin) >> grainShift; now > b.now {
		b.now = min(now, maxTick/2) // a broken clock must not make it overflow
	}
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.From != e.To {
			b.transition(e)
		}
	case exectrace.KindProcTransition:
		b.lanes.machines.transition(e, b.now, b.lastSync)
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		b.rangeEvent(e)
	case exectrace.KindMetric:
		b.lanes.values.set(e, b.now)
	case exectrace.KindLabel:
		b.label(e)
	case exectrace.KindSync:
		b.sync(e)
	}
	if b.events++; b.events >= b.next {
		b.pause()
	}
}

// pause does what is to be done from time to time.
func (b *Builder) pause() {
	if b.events >= b.shed.next {
		b.shed.check(b.events, &b.lanes, b.opts.Memory)
	}
	if b.events >= b.look {
		b.look += lookEvery
		b.opts.Look()
	}
	b.next = min(b.shed.next, b.look)
}

func (b *Builder) begin(at timeline.Time) {
	b.started, b.origin = true, at&^(Grain-1)
	b.lanes.begin()
	b.beginOlder()
}

// sync begins a generation. After what could not be read, nothing is known.
func (b *Builder) sync(e *exectrace.Event) {
	if e.Reset() {
		b.forget()
	}
	b.lastSync = b.now
	b.gens = append(b.gens, b.now)
}

// forget ends all that is going on.
func (b *Builder) forget() {
	b.lanes.lives.each(func(g *life) { b.lanes.end(g, b.now) })
	b.lanes.machines.forget(b.now)
	b.lanes.gc.forget(b.now)
}

// transition takes a goroutine from one state to another. This is the hot
// path, and what is rare is elsewhere.
func (b *Builder) transition(e *exectrace.Event) {
	g := b.lanes.lives.at(e.SubjectSlot)
	if e.From <= exectrace.NotExist || e.To == exectrace.NotExist || g.state == exectrace.Undetermined || g.group == 0 {
		if g = b.rare(g, e); g == nil {
			return
		}
	}
	at, was := b.now, g.class
	class := b.waits.of(b.r, g, e)
	b.lanes.states.move(at, g.state, e.To)
	g.state = e.To
	g.count.move(at, was, class)
	ready := g.since
	if class != was {
		g.push(at)
		g.class = class
	}
	switch {
	case e.From == exectrace.Runnable && e.To == exectrace.Running:
		b.lanes.latency.start(at, ready)
		if p := b.lanes.machines.proc(e.P); p != nil && p.runs && !p.sweeps && g.flags == 0 {
			p.runner, p.syscall, p.fresh = g, false, false
			p.turn(at, uint8(ProcRuns))
			return
		}
		b.lanes.machines.enter(g, e, b.now)
	case e.To == exectrace.Running || e.To == exectrace.Syscall:
		b.lanes.machines.enter(g, e, b.now)
	case e.From == exectrace.Running || e.From == exectrace.Syscall:
		b.lanes.machines.leave(g, e, b.now)
	}
}

// rare takes the transitions that begin a life or end one, and those of
// goroutines without a name. It returns the goroutine when there is more to do.
func (b *Builder) rare(g *life, e *exectrace.Event) *life {
	switch {
	case e.From <= exectrace.NotExist:
		b.create(g, e)
		return nil
	case g.state == exectrace.Undetermined:
		return nil // a damaged trace
	}
	if g.group == 0 && e.SubjectStack != 0 {
		b.name(g, e)
	}
	if e.To == exectrace.NotExist {
		b.lanes.machines.leave(g, e, b.now)
		b.lanes.end(g, b.now)
		return nil
	}
	return g
}

// create begins the life of a goroutine. One that is older than the trace is
// taken to have been in its state since the last sync.
func (b *Builder) create(g *life, e *exectrace.Event) {
	if g.state != exectrace.Undetermined {
		b.lanes.end(g, b.now) // a damaged trace
	}
	if e.To == exectrace.NotExist {
		return
	}
	at := b.now
	if e.From == exectrace.Undetermined {
		at = b.lastSync
	}
	g.id, g.flags, g.group, g.count = e.Goroutine(), 0, 0, b.lanes.groups.list[0]
	counted := false
	if e.From == exectrace.Undetermined {
		if g.group, counted = b.older[g.id]; counted {
			b.lanes.groups.belong(g)
			delete(b.older, g.id)
		}
	}
	if g.group == 0 && e.SubjectStack != 0 && !counted {
		b.lanes.groups.join(b.r, g, e.SubjectStack, b.now)
	}
	g.fold = b.lanes.fold
	g.begin(at, b.waits.of(b.r, g, e))
	if b.opts.Goroutines != nil && !b.opts.Goroutines(g.id) {
		g.mute, g.words = true, nil
	}
	g.count.members++
	if !counted {
		g.count.change(b.now, g.class, +1)
		b.lanes.states.change(b.now, e.To, +1)
	}
	g.state = e.To
	if e.To == exectrace.Running || e.To == exectrace.Syscall {
		b.lanes.machines.enter(g, e, b.now)
	}
}

// name puts a goroutine into its group when its first stack comes.
func (b *Builder) name(g *life, e *exectrace.Event) {
	if b.lanes.groups.join(b.r, g, e.SubjectStack, b.now); g.group != 0 {
		b.lanes.groups.list[0].change(b.now, g.class, -1)
		b.lanes.groups.list[0].members--
		g.count.change(b.now, g.class, +1)
		g.count.members++
	}
}

// label is a mark worker that says so.
func (b *Builder) label(e *exectrace.Event) {
	if e.GSlot != exectrace.NoSlot && strings.HasPrefix(b.r.Name(e.Name), "GC ") {
		b.flag(e, e.GSlot, flagWorker, true)
	}
}

// flag notes something of a goroutine, which may change the class of it and
// of its P. It says whether that is news.
func (b *Builder) flag(e *exectrace.Event, slot exectrace.Slot, flag uint8, on bool) bool {
	g := b.lanes.lives.at(slot)
	if g.state == exectrace.Undetermined || on == (g.flags&flag != 0) {
		return false
	}
	g.flags ^= flag
	if g.state == exectrace.Running {
		was := g.class
		g.turn(b.now, g.runs())
		g.count.move(b.now, was, g.class)
	}
	if p := b.lanes.machines.proc(e.P); p != nil && p.runner == g {
		p.retell(b.now)
	}
	return true
}

// rangeEvent is the begin or the end of something that the collector does. An
// active range repeats at each generation what is known already.
func (b *Builder) rangeEvent(e *exectrace.Event) {
	on := e.Kind != exectrace.KindRangeEnd
	d := -1
	if on {
		d = +1
	}
	switch {
	case e.Name == exectrace.NameMarkPhase:
		b.lanes.gc.marks = on
	case e.Name == exectrace.NameSweep:
		p := b.lanes.machines.proc(e.Proc())
		if p == nil || p.sweeps == on {
			return
		}
		p.sweeps = on
		b.lanes.gc.sweeps += d
		p.retell(b.now)
	case e.SubjectSlot == exectrace.NoSlot:
		return
	case e.Name == exectrace.NameMarkAssist:
		b.flag(e, e.SubjectSlot, flagAssist, on)
	case e.Scope() == exectrace.ScopeGoroutine: // stop-the-world (KIND)
		if b.flag(e, e.SubjectSlot, flagSTW, on) {
			b.lanes.gc.stops += d
		}
	}
	b.lanes.gc.turn(b.now, b.lanes.gc.classify())
}
