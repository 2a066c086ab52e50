package exectrace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"loupe/stack"
	"loupe/timeline"
)

const maxTime = timeline.Time(math.MaxInt64)

// Reader gives the events of a trace in order. Many readers may read one
// trace at the same time, each from its own goroutine.
type Reader struct {
	t  *Trace
	ev Event
	// The numbers in the generation of the event's stacks, or 0.
	stackRef, subjectRef uint64

	// The program as the events so far have it.
	gs        *goroutines
	procs     []proc
	machines  map[ThreadID]*machine
	tasks     taskTable
	collector collector
	gcSeq     uint64
	firstGen  uint32 // the generation in which states may be news; 0 for the next

	// The generation that is being read.
	next     int // index of the following one
	until    int // index behind the last one to read; 0 for all
	g        *generation
	gen      uint32 // counts the generations read
	buf      []byte
	tables   tables
	frontier frontier
	limit    timeline.Time // the first cursor is first up to here
	storm    *storm        // nil at most times
	// The first cursor when it was blocked last, and where in its data: see
	// storm.go.
	stalled          *cursor
	stalledAt        int
	stalls, patience int
	lastStorm        *storm
	samples          []sample
	queue            []Event // events that come before those of the frontier
	queued           int     // how many of them have been given

	last            timeline.Time
	horizon         timeline.Time // no event of the generation can be later
	syncs           uint64
	late            bool    // a time beyond the horizon was told
	forced, skipped int     // events of the generation: see force.go
	bridges         []Event // scratch
	lossy           bool    // events of the generation are lost: its states are not what follows begins with
	reset           bool    // the states were forgotten since the last sync
	done            bool
	err             error

	names    *names
	stwNames map[NameID]NameID
	stacks   *stack.Table
	roots    []NameID // by stack, as far as somebody has asked
	wrong    string
	missed   bool // a missing stack or string of this generation was told
	problems []*Problem
	old      *oldReader // formats before 1.22
}

// sample is one sample of the CPU profiler.
type sample struct {
	time  timeline.Time
	m     ThreadID
	p     ProcID
	g     GoID
	stack uint64
}

// Reader returns a reader of the whole trace.
func (t *Trace) Reader() *Reader { return t.ReaderAt(0) }

// ReaderAt returns a reader that begins at generation i, counted from 0. What
// it says is what [Trace.Reader] says of these generations, but that states
// begin Undetermined, and that an event which falls together with one of an
// earlier generation may differ by nanoseconds.
func (t *Trace) ReaderAt(i int) *Reader {
	r := &Reader{
		t:        t,
		names:    newNames(),
		stacks:   new(stack.Table),
		stwNames: make(map[NameID]NameID),
		next:     i,
		horizon:  maxTime / 2,
	}
	r.forget()
	if t.old != nil {
		r.old = newOldReader(r)
	}
	return r
}

// forget drops all that is known of the program.
func (r *Reader) forget() {
	if r.gs == nil || len(r.gs.blocks) > minBlocks {
		r.gs = newGoroutines()
	}
	r.gs.reset()
	r.procs = r.procs[:0]
	r.machines = make(map[ThreadID]*machine)
	r.tasks = newTaskTable()
	r.collector, r.gcSeq, r.firstGen = collectorUnknown, 0, 0
}

// Next goes on to the following event and says whether there is one. At the
// end, see [Reader.Err].
func (r *Reader) Next() bool {
	if r.queued < len(r.queue) {
		r.popQueue()
		return r.stamp()
	}
	for len(r.frontier) > 0 {
		c := r.frontier[0].c
		if c.time > r.limit {
			if c = r.sift(); c == nil {
				return r.takeSample()
			}
		}
		if out := r.advance(c); out != advanced {
			if r.hindered(c, out) {
				return r.err == nil && r.stamp()
			}
			if r.err != nil {
				return false
			}
			continue
		}
		if r.storm != nil {
			r.calm()
		}
		if !c.next(r.g, &r.tables) {
			r.endCursor(0)
		}
		return r.stamp()
	}
	return r.nextBare()
}

// nextBare is Next when no M has anything more to say in this generation.
func (r *Reader) nextBare() bool {
	switch {
	case r.old != nil:
		return r.old.next() && r.stamp()
	case len(r.samples) > 0:
		return r.takeSample()
	}
	return r.nextGeneration() && r.stamp()
}

// hindered is what follows when the event of c, which is first, did not happen.
// It returns whether another has.
func (r *Reader) hindered(c *cursor, out outcome) bool {
	if out == blocked {
		return r.advanceAnother()
	}
	if r.storm != nil {
		r.calm()
	}
	r.drop(0, r.wrong)
	return false
}

// stamp makes the time of the event later than that of the one before.
func (r *Reader) stamp() bool {
	if t := r.ev.Time; t <= r.last || t > r.horizon {
		r.move()
	}
	r.last = r.ev.Time
	return r.err == nil
}

// move gives the event another time.
func (r *Reader) move() {
	if r.ev.Time <= r.last {
		r.ev.Time = r.last + 1
	} else {
		r.tooLate()
	}
}

// tooLate puts an event right behind the one before, because its time cannot
// be. Without that one damaged byte would move all later events of the trace.
func (r *Reader) tooLate() {
	if !r.late {
		r.late = true
		r.problem(-1, fmt.Sprintf("an event of thread %d at %v, which is long after the end of its generation; it is told right after the one before", r.ev.M, r.ev.Time))
	}
	r.ev.Time = r.last + 1
}

// sift puts the first cursor, which has moved on, where it belongs, and sets
// the limit up to which the one that is first now stays first. It returns that
// one, or nil if a sample comes before it.
func (r *Reader) sift() *cursor {
	f := r.frontier
	f[0].time = f[0].c.time
	f.down(0)
	r.limit = f.second()
	if len(r.samples) > 0 {
		r.limit = min(r.limit, r.samples[0].time)
		if r.samples[0].time < f[0].time {
			return nil
		}
	}
	return f[0].c
}

// resift is sift after any other change of the frontier.
func (r *Reader) resift() {
	r.limit = math.MinInt64
	if len(r.frontier) > 0 {
		r.frontier[0].time = r.frontier[0].c.time
	}
}

// advanceAnother lets another M than the first go on, in the order of time. It
// returns false when none can, which it has told then.
func (r *Reader) advanceAnother() bool {
	f := r.frontier
	f[0].time = f[0].c.time
	if r.storm == nil {
		// A sorted heap is a heap. The sort must break ties as that of
		// internal/trace does: the same function on the same order.
		slices.SortFunc(f, func(a, b front) int { return cmp.Compare(a.time, b.time) })
		r.gathers()
	} else {
		r.storm.changed = false // all are sorted
	}
	r.limit = math.MinInt64
	for i := 1; i < len(f); i++ {
		if r.storm != nil {
			if i = r.storm.free(i); i == len(f) {
				break
			}
		}
		c := f[i].c
		switch r.advanceStormy(c, i) {
		case advanced:
			r.goneOn(i)
			return true
		case broken:
			r.endStorm()
			r.drop(i, r.wrong)
			return false
		}
	}
	r.endStorm()
	c := f[0].c
	if r.t.opts.Strict {
		r.abandon(c, fmt.Sprintf("%s: goroutine, P or collection %d never gets where this event needs it", specs[c.op].name, c.args[0]))
		return false
	}
	r.lossy = true
	r.force(c)
	if !c.next(r.g, &r.tables) {
		r.endCursor(0)
	}
	return r.popQueue()
}

// advanceStormy is advance, which in a storm says what it has done.
func (r *Reader) advanceStormy(c *cursor, i int) outcome {
	if r.storm == nil {
		return r.advance(c)
	}
	op, arg, g, p := c.op, c.args[0], c.m.g, c.m.p
	out := r.advance(c)
	switch out {
	case advanced:
		r.wake(c, op, arg, g, p)
	case blocked:
		r.storm.stick(i, c)
	}
	return out
}

// goneOn is what follows the event of the cursor at i, which is not the first.
func (r *Reader) goneOn(i int) {
	more := r.frontier[i].c.next(r.g, &r.tables)
	switch {
	case more && r.storm != nil:
		r.moved(i)
	case more:
		r.frontier.update(i)
	case r.storm != nil:
		r.gone(i)
	default:
		r.endCursor(i)
	}
}

// popQueue makes the first queued event the current one, if there is one.
func (r *Reader) popQueue() bool {
	if r.queued >= len(r.queue) {
		return false
	}
	r.ev, r.stackRef, r.subjectRef = r.queue[r.queued], 0, 0
	if r.queued++; r.queued == len(r.queue) {
		r.queue, r.queued = r.queue[:0], 0
	}
	return true
}

// endCursor takes the cursor at i out of the frontier, at its end or because
// what follows is damaged.
func (r *Reader) endCursor(i int) {
	r.damaged(r.frontier[i].c)
	r.frontier.remove(i)
	r.resift()
}

// damaged tells what c has lost, if it has.
func (r *Reader) damaged(c *cursor) {
	if c.wrong != "" {
		r.lose(c, fmt.Sprintf("thread %d: %s", c.thread, c.wrong), c.left())
	}
}

// drop gives up the rest of what the thread at i has written, because its next
// event cannot happen. The other threads go on.
func (r *Reader) drop(i int, wrong string) {
	c := r.frontier[i].c
	if r.lossy && !r.t.opts.Strict { // it may be for what is lost: only this event
		r.skipped++
		if c.next(r.g, &r.tables) {
			r.frontier.update(i)
			r.limit = math.MinInt64
		} else {
			r.endCursor(i)
		}
		return
	}
	r.lose(c, fmt.Sprintf("thread %d: %s", c.thread, wrong), c.left())
	r.frontier.remove(i)
	r.resift()
}

// abandon gives up the rest of a generation because no thread can go on; c is
// the one whose turn it was.
func (r *Reader) abandon(c *cursor, wrong string) {
	var left int64
	for _, f := range r.frontier {
		left += f.c.left()
	}
	r.lose(c, fmt.Sprintf("%s; %d threads cannot go on", wrong, len(r.frontier)), left)
	r.frontier = r.frontier[:0]
	r.resift()
}

// lose tells that events are lost. The following generation begins with new
// states.
func (r *Reader) lose(c *cursor, why string, bytes int64) {
	r.lossy = true
	r.problem(c.at+int64(c.off), fmt.Sprintf("%s; %d bytes of events (%.1f%% of the file) are lost", why, bytes, r.t.share(bytes)))
}

// nextGeneration installs the following generation; r.ev becomes the sync
// event in front of it, or the last one.
func (r *Reader) nextGeneration() bool {
	if r.done || r.err != nil {
		return false
	}
	r.tellForced()
	gens := r.t.gens
	if r.until > 0 {
		gens = gens[:min(r.until, len(gens))]
	}
	if r.next >= len(gens) || r.t.opts.Live && !gens[r.next].complete {
		if r.t.opts.Live {
			return false
		}
		r.done = true
		r.reset = r.reset || r.lossy
		r.g, r.tables.snap = nil, nil
		r.sync(r.last)
		return true
	}
	if (r.lossy || gens[r.next].torn) && r.gen > 0 {
		r.forget()
		r.reset = true
	}
	r.g = gens[r.next]
	r.next++
	r.gen++
	if r.firstGen == 0 {
		r.firstGen = r.gen
	}
	r.missed, r.late, r.lossy = false, false, r.g.damaged || r.g.torn
	data, err := r.t.load(r.g, r.buf)
	if err != nil {
		r.err = err
		return false
	}
	if r.t.data.at != nil {
		r.buf = data
	}
	if n := r.g.bytes - int64(len(data)); n > 0 {
		r.lossy = true
		r.problem(r.g.start+int64(len(data)), fmt.Sprintf("the file has become shorter since it was opened; %d bytes of the generation are lost", n))
	}
	r.tables.read(r.g, data, r.t.Version, r.names, r.stacks, r.problem)
	r.horizon = r.t.horizon(r.next-1, r.tables.clock)
	r.readSamples(data)
	for i := range r.g.threads {
		th := &r.g.threads[i]
		if len(th.batches) == 0 {
			continue
		}
		c := &cursor{thread: th.id, batches: th.batches, m: r.machine(th.id)}
		if c.next(r.g, &r.tables) {
			r.frontier.insert(c)
		}
		r.damaged(c)
	}
	r.resift()
	r.sync(r.tables.clock.ns(r.g.minTime))
	return r.err == nil
}

// machine returns the state of a thread. That of no thread is never changed.
func (r *Reader) machine(id ThreadID) *machine {
	m := r.machines[id]
	if m == nil {
		idle := idleMachine
		m = &idle
		if id != NoThread {
			r.machines[id] = m
		}
	}
	return m
}

// sync makes r.ev a sync event.
func (r *Reader) sync(at timeline.Time) {
	r.syncs++
	r.stackRef, r.subjectRef = 0, 0
	r.ev = Event{Time: at, Kind: KindSync, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread, SubjectSlot: NoSlot, Args: [3]uint64{r.syncs}}
	if r.reset {
		r.ev.Args[1], r.reset = 1, false
	}
}

// readSamples reads the generation's samples and sorts them by time.
func (r *Reader) readSamples(data []byte) {
	r.samples = r.samples[:0]
	for _, b := range r.g.samples {
		d := r.g.slice(data, b)
		for i := 1; i < len(d); {
			if d[i] != evCPUSample {
				r.problem(b.offset+int64(i), fmt.Sprintf("a CPU sample should begin here, but the byte is %#02x", d[i]))
				break
			}
			var f [5]uint64
			at := i
			i++
			for k := range f {
				f[k], i = uvarint(d, i)
			}
			if i == bad {
				r.problem(b.offset+int64(at), "a CPU sample is cut")
				break
			}
			s := sample{time: r.tables.clock.ns(f[0]), m: ThreadID(f[1]), p: NoProc, g: GoID(f[3]), stack: f[4]}
			if f[2] < maxProcs {
				s.p = ProcID(f[2])
			}
			if f[3] == 0 {
				s.g = NoGoroutine
			}
			r.samples = append(r.samples, s)
		}
	}
	slices.SortFunc(r.samples, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
}

// takeSample makes r.ev the next CPU sample.
func (r *Reader) takeSample() bool {
	s := r.samples[0]
	r.subjectRef = 0
	r.samples = r.samples[1:]
	r.ev = Event{Time: s.time, Kind: KindStackSample, G: s.g, GSlot: NoSlot, P: s.p, M: s.m, SubjectSlot: NoSlot, op: evCPUSample}
	if s.g != NoGoroutine {
		r.ev.GSlot = r.gs.find(s.g)
	}
	r.at(&r.ev, s.stack)
	r.resift()
	return r.err == nil && r.stamp()
}

// missing tells once in a generation that an event refers to what is not in
// the tables. A generation whose end is missing has none, and has told so.
func (r *Reader) missing(what string, id uint64) {
	if r.missed || r.tables.absent {
		return
	}
	r.missed = true
	r.problem(-1, fmt.Sprintf("an event refers to %s %d, which the generation does not have; its name is empty", what, id))
}

// maxProblems is how many problems a reader keeps.
const maxProblems = 100

// problem keeps a problem, or ends a strict reading with it.
func (r *Reader) problem(offset int64, text string) {
	p := &Problem{Offset: offset, Text: text}
	if r.g != nil {
		p.Generation = r.g.number
	}
	if len(r.problems) < maxProblems {
		r.problems = append(r.problems, p)
	}
	if r.t.opts.Strict && r.err == nil {
		r.err = p
	}
}

// Event returns the current event. It is overwritten by [Reader.Next].
func (r *Reader) Event() *Event { return &r.ev }

// Err returns what ended the reading early: a file that cannot be read, or
// with [Options.Strict] the first problem.
func (r *Reader) Err() error { return r.err }

// Problems returns what was wrong with the trace so far: at most a hundred of
// the index and a hundred of the reader.
func (r *Reader) Problems() []*Problem {
	return slices.Concat(r.t.problems, r.problems)
}

// Name returns the string of an id. It stays the same for the whole trace.
func (r *Reader) Name(id NameID) string { return r.names.list[id] }

// NameID returns the id of a string that some event so far has had, or false.
func (r *Reader) NameID(s string) (NameID, bool) {
	id, ok := r.names.ids[s]
	return id, ok
}

// Names returns how many names there are: every NameID so far is below it.
func (r *Reader) Names() int { return len(r.names.list) }

// Stacks returns the table of all stacks so far. The reader adds to it.
func (r *Reader) Stacks() *stack.Table { return r.stacks }

// Threads returns how many Ms the events so far have named.
func (r *Reader) Threads() int { return len(r.machines) }

// Root returns the name of a stack's outermost function: of a goroutine's
// stack, the function that the goroutine began with.
func (r *Reader) Root(id stack.ID) NameID {
	for len(r.roots) <= int(id) {
		n := NameNone
		if f := r.stacks.Frames(stack.ID(len(r.roots))); len(f) > 0 {
			n = r.names.intern(r.stacks.Frame(f[len(f)-1]).Func)
		}
		r.roots = append(r.roots, n)
	}
	return r.roots[id]
}

// Message returns the text of the current log event.
func (r *Reader) Message() string {
	if r.ev.Kind != KindLog {
		return ""
	}
	if o := r.old; o != nil {
		return string(o.t.data[o.message.start:o.message.end])
	}
	return r.tables.text(r.ev.Args[2], r.names)
}

// PCs appends the addresses of the current event's Stack to dst, leaf first.
func (r *Reader) PCs(dst []uint64) []uint64 {
	return r.appendPCs(dst, r.stackRef)
}

// SubjectPCs appends the addresses of the current event's SubjectStack.
func (r *Reader) SubjectPCs(dst []uint64) []uint64 {
	return r.appendPCs(dst, r.subjectRef)
}

func (r *Reader) appendPCs(dst []uint64, id uint64) []uint64 {
	if r.old != nil {
		return r.old.appendPCs(dst, id)
	}
	return r.tables.appendPCs(dst, id)
}

// Clock returns what ties the current generation's clock to others, or nil.
func (r *Reader) Clock() *ClockSnapshot { return r.tables.snap }
