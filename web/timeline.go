package web

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
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
func (t *traced) On(s timeline.Span) timeline.Span { return t.Clock.Span(s) }

// Own returns a span of the axis in the trace's own time.
func (t *traced) Own(s timeline.Span) timeline.Span {
	return timeline.Span{Start: timeline.Time(t.Clock.Own(s.Start)), End: timeline.Time(t.Clock.Own(s.End))}
}

// traced returns the timeline of the source's trace, [session.ErrNone] when
// there is no trace.
func (s *subject) traced(ctx context.Context) (*traced, error) { return s.timeline(ctx, true) }

// placed is a timeline in the making, and its clock.
type placed struct {
	*build
	clock timeline.Clock
}

// timeline is traced, but need not wait for the whole of it.
func (s *subject) timeline(ctx context.Context, whole bool) (*traced, error) {
	b, err := s.building(ctx)
	if err != nil {
		return nil, err
	}
	t, err := b.get(ctx, whole)
	if err != nil {
		return nil, err
	}
	t.Clock = b.clock
	return &t, nil
}

// building returns the timeline in the making. Nobody need make it.
func (s *subject) building(ctx context.Context) (*placed, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	b, err := once(ctx, s, "timeline", func(context.Context) (placed, error) {
		clock, err := o.Session.TraceClock()
		if err != nil {
			return placed{}, err
		}
		b, err := s.buildOf(o)
		return placed{b, clock}, err
	})
	if err != nil {
		return nil, err
	}
	if !b.from.keep(ctx) {
		return nil, &refusal{http.StatusConflict, "the source has changed meanwhile: ask again"}
	}
	return &b, nil
}

// build makes the timeline of a trace, for as long as somebody wants it.
type build struct {
	s     *subject
	from  *edition // whose trace it is: held until another build takes the place
	desk  *sweep.Desk
	entry string
	key   tiles.Key
	whole timeline.Span
	index Index
	first int         // number of the set of version 0
	fold  *tiles.Fold // nil for all of it

	mu      sync.Mutex
	now     *traced       // what there is, nil for nothing
	err     error         // why there will be no more
	more    chan struct{} // closed when there is more
	waiting int
	parts   bool      // somebody takes what there is before the whole
	left    time.Time // when the last one left who waited
	running bool

	cancel context.CancelFunc // of who runs

	// Of who reads.
	maker *maker     // nil when it is not being made
	made  *tiles.Set // until run has it
	tasks int        // of the user's that have begun, -1 where that is not known
}

const (
	// worthKeeping is the size of a trace from which its timeline is kept: that
	// of a smaller one is made faster than anybody notices.
	worthKeeping = 4 << 20
	// worthSaving is the size of a trace from which its timeline is so large that memory
	// is saved while it is made.
	worthSaving = 32 << 20
	// patience is for how long a timeline is made when nobody waits: who has
	// seen a part of it comes back for more.
	patience = 2 * time.Second
	// versionBits are those of a set's version in the number of a state.
	versionBits = 20
)

// buildOf returns the build of a trace: the last one, if it is of the same,
// as when a recording that grows is opened anew.
func (s *subject) buildOf(o *Opened) (*build, error) {
	t, e, err := o.Session.Trace()
	if err != nil {
		return nil, err
	}
	key, err := tiles.Identify(t, t.Size())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	b := s.build
	s.mu.Unlock()
	if b != nil && b.key == key && b.entry == e.Path {
		return b, nil
	}
	whole, err := o.Session.TraceSpan()
	if err != nil {
		return nil, err
	}
	desk, err := o.Session.Sweep()
	if err != nil {
		return nil, err
	}
	b = &build{s: s, from: o.edition, desk: desk, entry: e.Path, key: key, whole: whole, more: make(chan struct{})}
	if b.from == nil || !b.from.take() {
		return nil, &refusal{http.StatusConflict, "the source has changed meanwhile: ask again"}
	}
	if t.Size() >= worthKeeping {
		b.index = o.Index
	}
	if s.folds {
		b.fold = &tiles.Fold{Level: tiles.Finest(whole.Len(), exportWidth), Lanes: exportLanes}
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
		if set := b.index.Find(e.Path, key); set != nil {
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
	b.now = &traced{Set: set, Trace: b.desk.Trace(), Whole: whole, Number: number, Done: done, Tasks: b.tasks}
	close(b.more)
	b.more = make(chan struct{})
	b.mu.Unlock()
}

// get returns the timeline, and makes it go on.
func (b *build) get(ctx context.Context, whole bool) (traced, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting++
	b.parts = b.parts || !whole
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
			work, cancel := context.WithCancel(b.s.ctx)
			b.cancel = cancel
			go b.run(work)
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

// leave ends the run when nobody waits any more, and tells whether it has. It goes on
// where it was when somebody comes back.
func (b *build) leave() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running && b.waiting == 0 && time.Since(b.left) >= patience {
		b.running = false
		b.cancel()
		return true
	}
	return false
}

// run waits for the timeline, and reads the trace unless somebody else does.
func (b *build) run(ctx context.Context) {
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
	// little, and saves a half of the timeline's size. That of a small trace is nothing to
	// save, and all else would be collected again and again.
	if b.desk.Trace().Size() >= worthSaving && b.fold == nil {
		defer frugal()()
	}
	// Hardly anybody looks at the timeline alone.
	_, err := sweep.Get(ctx, b.desk, tell, b.want(), sched.Whole)
	if ctx.Err() != nil {
		return // leave has said so, or the server ends
	}
	if err != nil {
		b.fail(err)
		return
	}
	set := b.made
	b.made = nil // the index may have it instead
	number := b.first + set.Version()
	if b.index != nil && b.fold == nil { // a picture is no use to anybody else
		if kept := b.index.Keep(b.entry, set); kept != nil {
			set = kept
		}
	}
	b.publish(set, number, 1)
	b.tell()
	set = nil
	debug.FreeOSMemory() // all that was taken is free again
}

// unmade says that not all of the timeline is there.
func (b *build) unmade() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err == nil && (b.now == nil || b.now.Done < 1)
}

// want is the timeline, which is left in made. Parts of it are published while it is
// made. The desk knows that it was made for as long as the build is there: it is not
// made again for a page that asks when it is done.
func (b *build) want() sweep.Want[struct{}] {
	key := fmt.Sprintf("timeline %d", b.first)
	return sweep.Want[struct{}]{Key: key, Begin: func(p *sweep.Pass) (func() (struct{}, error), error) {
		older, err := tiles.FindOlder(p.Trace())
		if err != nil {
			return nil, err
		}
		now := time.Now()
		m := &maker{build: b, pass: p, began: now, next: now.Add(firstSnapshot)}
		m.builder = tiles.NewBuilder(p.Reader(), tiles.Options{
			Key: b.key, Memory: room(p.Trace().Size()), Older: older, Fold: b.fold, Look: m.look,
		})
		p.Join(m.builder)
		p.Join(sweep.On(sweep.Of(exectrace.KindTaskBegin), func(*exectrace.Event) { m.tasks++ }))
		b.maker = m
		return func() (struct{}, error) {
			b.maker, b.made = nil, m.builder.Finish()
			return struct{}{}, nil
		}, nil
	}}
}

// maker makes a timeline in a pass over the trace.
type maker struct {
	*build
	pass    *sweep.Pass
	builder *tiles.Builder
	began   time.Time
	next    time.Time // of the snapshots
}

// look publishes what there is from time to time, and says when nobody waits.
func (m *maker) look() {
	if m.leave() {
		return
	}
	done := m.pass.Done()
	// What is whole within a second needs no part of it: the pages would ask
	// for everything twice.
	left := time.Duration(float64(time.Since(m.began)) * (1 - done) / max(done, 1e-3))
	if now := time.Now(); now.After(m.next) && m.partsWanted() && (left > time.Second || !m.seen()) {
		set := m.builder.Snapshot()
		m.publish(set, m.first+set.Version(), done)
		m.build.tell()
		m.next = time.Now().Add(max(nextSnapshot, snapshotShare*time.Since(now)))
	}
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

// partsWanted says whether anybody has asked who takes what there is: a file or another
// page wants the whole, and a part costs as much as a twentieth of it.
func (b *build) partsWanted() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.parts
}

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
