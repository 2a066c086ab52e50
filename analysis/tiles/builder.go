package tiles

import (
	"strings"

	"loupe/exectrace"
	"loupe/timeline"
)

// Builder makes a [Set] out of the events of one reader. Feed it every event,
// in order, and call Finish. What it holds is what the set will have, and
// about 130 bytes for each living goroutine.
type Builder struct {
	r    *exectrace.Reader
	opts Options

	origin   timeline.Time // of the ticks; a whole number of grains
	started  bool
	now      tick // of the last event
	lastSync tick

	lives   lives
	procs   []*proc
	threads map[exectrace.ThreadID]*thread
	gc      gcLane
	groups  []*counts // the first one is of goroutines without a name
	byName  []uint32  // the group of a function, 0 for none
	waits   []uint8   // the class of a wait, plus one, by its reason

	states            *gauges
	heap, goal        counter
	maxProcs          counter
	busyProcs, busyMs counter
	latency           *latencies

	short   archive
	scratch []byte
	long    []*longLife
	gens    []tick // where each generation begins
	shed    shedder

	versions []tick // where the snapshots end
	snapshot bool   // it is the copy that one is made of

	older map[exectrace.GoID]uint32 // those who count already, and in which group
}

// life is a goroutine that lives. What an event touches lies together, in one
// line of the processor's cache.
type life struct {
	count *counts // of its group
	group uint32
	state exectrace.State
	flags uint8
	column
	id exectrace.GoID
	_  [8]byte
}

// What is known of a goroutine beside its state.
const (
	flagWorker uint8 = 1 << iota // it works for the collector and nobody else
	flagAssist
	flagSTW
)

// longLife is a goroutine that has ended and has a pyramid.
type longLife struct {
	column
	id    exectrace.GoID
	group uint32
}

// lives are in pages by the slot that the reader lends a goroutine.
type lives struct{ pages []*[lifePage]life }

const lifePage = 256

func (l *lives) at(slot exectrace.Slot) *life {
	if page := uint(slot) / lifePage; page < uint(len(l.pages)) {
		return &l.pages[page][slot%lifePage]
	}
	return l.grow(slot)
}

func (l *lives) grow(slot exectrace.Slot) *life {
	for len(l.pages) <= int(slot/lifePage) {
		l.pages = append(l.pages, new([lifePage]life))
	}
	return &l.pages[slot/lifePage][slot%lifePage]
}

// NewBuilder returns a builder for the events of r.
func NewBuilder(r *exectrace.Reader, opts Options) *Builder {
	b := &Builder{r: r, opts: opts, threads: make(map[exectrace.ThreadID]*thread)}
	b.heap.name, b.goal.name, b.maxProcs.name = "heap", "heap goal", "GOMAXPROCS"
	b.busyProcs.name, b.busyMs.name = "Ps used", "threads with a P"
	return b
}

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
		b.procTransition(e)
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		b.rangeEvent(e)
	case exectrace.KindMetric:
		b.metric(e)
	case exectrace.KindLabel:
		b.label(e)
	case exectrace.KindSync:
		b.sync(e)
	}
	if b.shed.events++; b.shed.events >= b.shed.next {
		b.checkMemory()
	}
}

func (b *Builder) begin(at timeline.Time) {
	b.started, b.origin = true, at&^(Grain-1)
	b.groups = []*counts{newCounts(exectrace.NameNone, 0)}
	b.states = newGauges(0)
	b.latency = newLatencies()
	b.gc.begin(0, uint8(ClassRest))
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
	b.eachLife(func(g *life) { b.end(g, b.now) })
	for _, p := range b.procs {
		if p != nil {
			p.idle(b.now)
		}
	}
	for _, m := range b.threads {
		m.turn(b.now, uint8(ClassRest))
	}
	b.busyProcs.set(b.now, 0)
	b.busyMs.set(b.now, 0)
	b.gc.marks, b.gc.stops, b.gc.sweeps = false, 0, 0
	b.gc.turn(b.now, b.gc.classify())
}

// transition takes a goroutine from one state to another. This is the hot
// path, and what is rare is elsewhere.
func (b *Builder) transition(e *exectrace.Event) {
	g := b.lives.at(e.SubjectSlot)
	if e.From <= exectrace.NotExist || e.To == exectrace.NotExist || g.state == exectrace.Undetermined || g.group == 0 {
		if g = b.rare(g, e); g == nil {
			return
		}
	}
	at, was := b.now, g.class
	class := b.classOf(g, e)
	b.states.move(at, g.state, e.To)
	g.state = e.To
	g.count.move(at, was, class)
	ready := g.since
	if class != was {
		g.push(at)
		g.class = class
	}
	switch {
	case e.From == exectrace.Runnable && e.To == exectrace.Running:
		b.latency.start(at, ready)
		if p := b.proc(e.P); p != nil && p.runs && !p.sweeps && g.flags == 0 {
			p.runner, p.syscall, p.fresh = g, false, false
			p.turn(at, uint8(ProcRuns))
			return
		}
		b.enter(g, e)
	case e.To == exectrace.Running || e.To == exectrace.Syscall:
		b.enter(g, e)
	case e.From == exectrace.Running || e.From == exectrace.Syscall:
		b.leave(g, e)
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
		b.leave(g, e)
		b.end(g, b.now)
		return nil
	}
	return g
}

// create begins the life of a goroutine. One that is older than the trace is
// taken to have been in its state since the last sync.
func (b *Builder) create(g *life, e *exectrace.Event) {
	if g.state != exectrace.Undetermined {
		b.end(g, b.now) // a damaged trace
	}
	if e.To == exectrace.NotExist {
		return
	}
	at := b.now
	if e.From == exectrace.Undetermined {
		at = b.lastSync
	}
	g.id, g.flags, g.group, g.count = e.Goroutine(), 0, 0, b.groups[0]
	counted := false
	if e.From == exectrace.Undetermined {
		if g.group, counted = b.older[g.id]; counted {
			b.belong(g)
			delete(b.older, g.id)
		}
	}
	if g.group == 0 && e.SubjectStack != 0 && !counted {
		b.join(g, e)
	}
	g.begin(at, b.classOf(g, e))
	if b.opts.Goroutines != nil && !b.opts.Goroutines(g.id) {
		g.mute, g.words = true, nil
	}
	g.count.members++
	if !counted {
		g.count.change(b.now, g.class, +1)
		b.states.change(b.now, e.To, +1)
	}
	g.state = e.To
	if e.To == exectrace.Running || e.To == exectrace.Syscall {
		b.enter(g, e)
	}
}

// end ends a life and files its lane.
func (b *Builder) end(g *life, at tick) {
	b.states.change(at, g.state, -1)
	g.count.change(at, g.class, -1)
	g.push(at)
	g.state = exectrace.Undetermined
	switch {
	case g.mute:
	case g.spans+uint32(len(g.words)) >= promoteAt:
		g.flush()
		b.long = append(b.long, &longLife{g.column, g.id, g.group})
		g.words = nil
	default:
		b.scratch = appendSpans(append(b.scratch[:0], g.buf...), g.words)
		b.short.add(brief{id: int64(g.id), group: g.group, first: g.first, spans: g.spans + uint32(len(g.words)), buf: b.scratch})
	}
}

// name puts a goroutine into its group when its first stack comes.
func (b *Builder) name(g *life, e *exectrace.Event) {
	if b.join(g, e); g.group != 0 {
		b.groups[0].change(b.now, g.class, -1)
		b.groups[0].members--
		g.count.change(b.now, g.class, +1)
		g.count.members++
	}
}

// join finds the group that a goroutine belongs to.
func (b *Builder) join(g *life, e *exectrace.Event) {
	g.group = b.group(b.r.Root(e.SubjectStack))
	b.belong(g)
}

// belong makes a goroutine count in its group.
func (b *Builder) belong(g *life) {
	if g.count = b.groups[g.group]; g.count.gc {
		g.flags |= flagWorker
	}
}

// maxGroups bounds the groups, for traces made up to have many. What is
// beyond goes to the group without a name.
const maxGroups = 1 << 16

// group returns the group of the goroutines that begin with a function.
func (b *Builder) group(name exectrace.NameID) uint32 {
	if int(name) < len(b.byName) && b.byName[name] != 0 {
		return b.byName[name]
	}
	if name == exectrace.NameNone || len(b.groups) >= maxGroups {
		return 0
	}
	for len(b.byName) <= int(name) {
		b.byName = append(b.byName, 0)
	}
	id := uint32(len(b.groups))
	c := newCounts(name, b.now)
	c.gc = worksForGC(b.r.Name(name))
	b.groups = append(b.groups, c)
	b.byName[name] = id
	return id
}

// worksForGC says whether goroutines that begin with a function do nothing
// but work for the collector.
func worksForGC(function string) bool {
	switch function {
	case "runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge":
		return true
	}
	return false
}

// classOf returns the class of a goroutine in the state that it goes to.
func (b *Builder) classOf(g *life, e *exectrace.Event) uint8 {
	switch e.To {
	case exectrace.Running:
		return g.runs()
	case exectrace.Runnable:
		return uint8(GoRunnable)
	case exectrace.Syscall:
		return uint8(GoSyscall)
	}
	if int(e.Name) < len(b.waits) && b.waits[e.Name] != 0 {
		return b.waits[e.Name] - 1
	}
	for len(b.waits) <= int(e.Name) {
		b.waits = append(b.waits, 0)
	}
	class := uint8(waitClass(b.r.Name(e.Name)))
	b.waits[e.Name] = class + 1
	return class
}

// runs returns the class of a goroutine that runs.
func (g *life) runs() uint8 {
	if g.flags != 0 {
		return uint8(GoGC)
	}
	return uint8(GoRuns)
}

// waitClass folds the reasons of waits. They are strings, and new releases
// have new ones.
func waitClass(reason string) Class {
	switch {
	case reason == "network":
		return GoNet
	case strings.HasPrefix(reason, "chan ") || reason == "select":
		return GoChan
	case strings.HasPrefix(reason, "sync"):
		return GoSync
	case strings.HasPrefix(reason, "GC mark assist"):
		return GoGC
	}
	return ClassRest
}

func (b *Builder) metric(e *exectrace.Event) {
	v := float64(e.Value())
	switch e.Name {
	case exectrace.NameHeapObjects:
		b.heap.set(b.now, v)
	case exectrace.NameHeapGoal:
		b.goal.set(b.now, v)
	case exectrace.NameGOMAXPROCS:
		b.maxProcs.set(b.now, v)
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
	g := b.lives.at(slot)
	if g.state == exectrace.Undetermined || on == (g.flags&flag != 0) {
		return false
	}
	g.flags ^= flag
	if g.state == exectrace.Running {
		was := g.class
		g.turn(b.now, g.runs())
		g.count.move(b.now, was, g.class)
	}
	if p := b.proc(e.P); p != nil && p.runner == g {
		b.turnProc(p)
	}
	return true
}
