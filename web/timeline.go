package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"loupe/exectrace"
	"loupe/tiles"
	"loupe/timeline"
)

var timelineEndpoints = []endpoint{
	on("timeline/lanes", timelineLanes),
	post(raw("timeline/tiles", timelineTiles)),
	on("timeline/at", timelineAt),
	on("timeline/goroutine", timelineGoroutine),
	on("timeline/tasks", timelineTasks),
	on("timeline/tasklanes", timelineTaskLanes),
	on("timeline/task", timelineTask),
	on("timeline/stats", timelineStatsOf),
	on("timeline/find", timelineFind),
	on("timeline/runs", timelineRuns),
}

// traced is the timeline of the source's execution trace, or of as much of it
// as has been read.
type traced struct {
	*tiles.Set
	Trace *exectrace.Trace
	// Clock maps the trace's time onto the axis.
	Clock timeline.Clock
	// Whole is the trace's own time, which the set need not cover yet.
	Whole timeline.Span
	// Number tells this state of the timeline from others of the source.
	Number int
	// Done says how much of the trace is in the set: 1 is all.
	Done float64
	// Tasks counts the user's tasks that begin in it, -1 where that is not
	// known: of a timeline that was kept.
	Tasks int
}

// On returns a span of the trace's time on the axis.
func (t *traced) On(s timeline.Span) timeline.Span { return onAxis(t.Clock, s) }

func onAxis(c timeline.Clock, s timeline.Span) timeline.Span {
	return timeline.Span{Start: c.At(int64(s.Start)), End: c.At(int64(s.End))}
}

// Own returns a span of the axis in the trace's own time.
func (t *traced) Own(s timeline.Span) timeline.Span {
	return timeline.Span{Start: timeline.Time(t.Clock.Own(s.Start)), End: timeline.Time(t.Clock.Own(s.End))}
}

// traced returns the timeline of the source's trace, [session.ErrNone] when
// there is no trace.
func (s *subject) traced(ctx context.Context) (*traced, error) { return s.timeline(ctx, true) }

// timeline is traced, but need not wait for the whole of it.
func (s *subject) timeline(ctx context.Context, whole bool) (*traced, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	type placed struct {
		*build
		clock timeline.Clock
	}
	b, err := memo(ctx, s, "timeline", func(context.Context) (placed, error) {
		t, e, err := o.Session.Trace()
		if err != nil {
			return placed{}, err
		}
		clock, err := o.Session.TraceClock()
		if err != nil {
			return placed{}, err
		}
		b, err := s.buildOf(o, t, e.Path)
		return placed{b, clock}, err
	})
	if err != nil {
		return nil, err
	}
	if !b.from.keep(ctx) {
		return nil, &refusal{http.StatusConflict, "the source has changed meanwhile: ask again"}
	}
	t, err := b.get(ctx, whole)
	if err != nil {
		return nil, err
	}
	t.Clock = b.clock
	return &t, nil
}

// build makes the timeline of a trace, for as long as somebody wants it.
type build struct {
	s     *subject
	from  *edition // whose trace it is: held until another build takes the place
	trace *exectrace.Trace
	entry string
	key   tiles.Key
	whole timeline.Span
	index Index
	first int // number of the set of version 0

	mu      sync.Mutex
	now     *traced       // what there is, nil for nothing
	err     error         // why there will be no more
	more    chan struct{} // closed when there is more
	waiting int
	left    time.Time // when the last one left who waited
	running bool

	// Of the goroutine that runs.
	reader  *exectrace.Reader
	builder *tiles.Builder
	tasks   int // of the user's that have begun, -1 where that is not known
	progress
}

const (
	// worthKeeping is the size of a trace from which its timeline is kept: that
	// of a smaller one is made faster than anybody notices.
	worthKeeping = 4 << 20
	// patience is for how long a timeline is made when nobody waits: who has
	// seen a part of it comes back for more.
	patience = 2 * time.Second
	// versionBits are those of a set's version in the number of a state.
	versionBits = 20
)

// buildOf returns the build of a trace: the last one, if it is of the same,
// as when a recording that grows is opened anew.
func (s *subject) buildOf(o *Opened, t *exectrace.Trace, entry string) (*build, error) {
	key, err := tiles.Identify(t, t.Size())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	b := s.build
	s.mu.Unlock()
	if b != nil && b.key == key && b.entry == entry {
		return b, nil
	}
	whole, err := t.Span()
	if err != nil {
		return nil, err
	}
	b = &build{s: s, from: s.editionOf(o), trace: t, entry: entry, key: key, whole: whole, more: make(chan struct{})}
	if b.from == nil || !b.from.take() {
		return nil, &refusal{http.StatusConflict, "the source has changed meanwhile: ask again"}
	}
	if t.Size() >= worthKeeping {
		b.index = o.Index
	}
	s.mu.Lock()
	s.builds++
	b.first = s.builds << versionBits
	before := s.build
	s.build = b
	s.mu.Unlock()
	if before != nil {
		_ = before.from.drop() // read only
	}
	if b.index != nil {
		if set := b.index.Find(entry, key); set != nil {
			b.tasks = -1
			b.publish(set, b.first, 1)
		}
	}
	return b, nil
}

// publish makes a state of the timeline the one that is given out.
func (b *build) publish(set *tiles.Set, number int, done float64) {
	b.mu.Lock()
	covers := set.Span()
	whole := timeline.Span{Start: min(b.whole.Start, covers.Start), End: max(b.whole.End, covers.End)}
	b.now = &traced{Set: set, Trace: b.trace, Whole: whole, Number: number, Done: done, Tasks: b.tasks}
	close(b.more)
	b.more = make(chan struct{})
	b.mu.Unlock()
}

// get returns the timeline, and makes it go on.
func (b *build) get(ctx context.Context, whole bool) (traced, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
	defer func() { b.waiting, b.left = b.waiting-1, time.Now() }()
	for {
		switch {
		case b.err != nil:
			return traced{}, b.err
		case b.now != nil && b.now.Done == 1:
			return *b.now, nil
		}
		if !b.running && b.from.take() {
			b.running = true
			go b.run()
		}
		if b.now != nil && !whole {
			return *b.now, nil
		}
		more := b.more
		b.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-more:
		}
		b.mu.Lock()
		if err := ctx.Err(); err != nil {
			return traced{}, err
		}
	}
}

// abandoned says that nobody waits any more, and ends the run then. It goes on
// where it was when somebody comes back.
func (b *build) abandoned() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.s.ctx.Err() == nil && (b.waiting > 0 || time.Since(b.left) < patience) {
		return false
	}
	b.running = false
	return true
}

// run reads the trace.
func (b *build) run() {
	defer b.from.drop()
	debug.SetPanicOnFault(true) // see api
	defer func() {
		if p := recover(); p != nil {
			b.fail(fmt.Errorf("loupe has a mistake here: %v", p))
		}
	}()
	tell := b.s.job("reading the trace")
	defer tell(1)
	// What the builder holds has few pointers: to collect more often costs
	// little, and saves a half of the timeline's size.
	defer frugal()()
	if b.reader == nil {
		older, err := tiles.FindOlder(b.trace)
		if err != nil {
			b.fail(err)
			return
		}
		b.reader = b.trace.Reader()
		b.builder = tiles.NewBuilder(b.reader, tiles.Options{Key: b.key, Memory: room(b.trace.Size()), Older: older})
		b.progress.generations = b.trace.Generations()
	}
	began, from := time.Now(), b.progress.done()
	next := began.Add(firstSnapshot)
	for n := 1; b.reader.Next(); n++ {
		e := b.reader.Event()
		b.builder.Event(e)
		switch e.Kind {
		case exectrace.KindSync:
			b.progress.sync()
		case exectrace.KindTaskBegin:
			b.tasks++
		}
		if n&0xffff != 0 {
			continue
		}
		if b.abandoned() {
			return
		}
		b.progress.events += 0x10000
		done := b.progress.done()
		tell(done)
		// What is whole within a second needs no part of it: the pages would ask
		// for everything twice.
		left := time.Duration(float64(time.Since(began)) * (1 - done) / max(done-from, 1e-3))
		if now := time.Now(); now.After(next) && (left > time.Second || !b.seen()) {
			set := b.builder.Snapshot()
			b.publish(set, b.first+set.Version(), done)
			b.tell()
			next = time.Now().Add(max(nextSnapshot, snapshotShare*time.Since(now)))
		}
	}
	if err := b.reader.Err(); err != nil {
		b.fail(err)
		return
	}
	set := b.builder.Finish()
	b.reader, b.builder = nil, nil
	number := b.first + set.Version()
	if b.index != nil {
		if kept := b.index.Keep(b.entry, set); kept != nil {
			set = kept
		}
	}
	b.publish(set, number, 1)
	b.tell()
	set = nil
	debug.FreeOSMemory() // all that was taken is free again
}

// thrift is how many builds run, and what the garbage collector did before.
var thrift struct {
	sync.Mutex
	builds, percent int
}

// frugal has garbage collected more often until what it returns is called.
func frugal() (done func()) {
	const percent = 25
	thrift.Lock()
	defer thrift.Unlock()
	if thrift.builds++; thrift.builds == 1 {
		thrift.percent = debug.SetGCPercent(percent)
	}
	return func() {
		thrift.Lock()
		defer thrift.Unlock()
		if thrift.builds--; thrift.builds == 0 {
			debug.SetGCPercent(thrift.percent)
		}
	}
}

// room returns how large the timeline of a trace may be. It is taken while it
// is made, and mapped then. Two thirds of the trace have been enough for
// all that there is to show; of a large trace the lanes of goroutines with few
// spans go first.
func room(trace int64) int64 { return max(trace/4, min(8<<20+trace*2/3, 256<<20)) }

// When a part of the timeline is shown: soon, and then so rarely that it
// costs at most a tenth of the time.
const (
	firstSnapshot = 150 * time.Millisecond
	nextSnapshot  = 400 * time.Millisecond
	snapshotShare = 9
)

// seen says whether there is something to see.
func (b *build) seen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now != nil
}

// tell tells the pages that there is more, unless there was nothing to see
// before.
func (b *build) tell() {
	b.mu.Lock()
	n := notice{Kind: "timeline", Source: b.s.id, Version: b.now.Number, Done: b.now.Done}
	b.mu.Unlock()
	b.s.hub.send(n)
}

func (b *build) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.running = err, false
	close(b.more)
	b.more = make(chan struct{})
}

// progress estimates how much of a trace is read: its generations say how many
// bytes they have, but a reader not where in them it is.
type progress struct {
	generations []exectrace.GenerationInfo
	begun       int
	bytes       int64 // of the generations before
	events      int64
	before      int64 // events of the generations before
}

// sync says that another generation begins.
func (p *progress) sync() {
	if p.begun > 0 && p.begun <= len(p.generations) {
		p.bytes += p.generations[p.begun-1].Bytes
		p.before = p.events
	}
	p.begun++
}

func (p *progress) done() float64 {
	total := int64(1)
	for _, g := range p.generations {
		total += g.Bytes
	}
	if p.begun == 0 || p.begun > len(p.generations) {
		return 0
	}
	each := 6.0 // bytes of an event
	if p.before > 0 {
		each = float64(p.bytes) / float64(p.before)
	}
	within := min(each*float64(p.events-p.before), float64(p.generations[p.begun-1].Bytes))
	return min(0.99, (float64(p.bytes)+within)/float64(total))
}
