package sched

import (
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Stats says what a goroutine did with a stretch of time, as
// internal/trace.GoroutineExecStats does. All but Total and Ranges exclude
// each other.
type Stats struct {
	Exec         time.Duration // running
	SchedWait    time.Duration // runnable: from creation or wake-up to start
	Syscall      time.Duration // in a system call, with a P
	SyscallBlock time.Duration // in a system call, after its P was taken away
	Total        time.Duration // present in the trace
	Blocked      Times         // waiting, by reason
	Ranges       Times         // in mark assists, sweeps, stop-the-worlds, by name
}

// Unknown returns the time that is in Total and in nothing else.
func (s *Stats) Unknown() time.Duration {
	return max(0, s.Total-s.Exec-s.SchedWait-s.Syscall-s.SyscallBlock-s.Blocked.Sum())
}

// Goroutine is the life of one goroutine as far as the trace saw it.
type Goroutine struct {
	ID exectrace.GoID
	// Name is the function that it began with; empty when no event of it has
	// had a stack.
	Name exectrace.NameID
	// Creator is where the go statement stands, empty for a goroutine older
	// than the trace. Origin is where that of the goroutine with this go statement
	// stands.
	Creator, Origin stack.ID
	// Created is its first appearance. Started is when it first ran, Ended
	// when it exited; 0 when the trace has not seen that.
	Created, Started, Ended timeline.Time
	// State is the last one: where a goroutine that has not ended was left.
	// Since tells since when, Reason and Stack why and where, if it waits.
	State  exectrace.State
	Since  timeline.Time
	Reason exectrace.NameID
	Stack  stack.ID
	Stats
}

// Region is one user region, or with an empty name the inheritance of a task:
// a goroutine that was created inside of a region belongs to its task.
type Region struct {
	G    exectrace.GoID
	Task exectrace.TaskID
	Name exectrace.NameID
	// Start and End are 0 for a region that the trace has not seen begin or
	// end.
	Start, End timeline.Time
	// Stack is where it began.
	Stack stack.ID
	Stats
}

// Sink takes what a [Summarizer] has finished. The pointers are valid during
// the call. Functions that are nil are not called.
type Sink struct {
	Goroutine func(*Goroutine)
	Region    func(*Region)
	Task      func(*Task)
}

// Options say how to summarise.
type SummaryOptions struct {
	// Compat makes the figures those of go tool trace where it is wrong:
	// a system call that is still blocked when the trace ends counts as
	// system call in whole, and again as waiting for a P; and when a goroutine
	// returns from a system call whose P was taken away, the system call that
	// another goroutine has begun on that P meanwhile is not seen to block.
	// Waits for the collector have the reason of locks, as the runtime says.
	Compat bool
	// KeepTasks keeps every task until the end of the trace. Otherwise a task
	// is finished when 4096 others have ended after it; a mention later than
	// that makes a second task with the same id.
	KeepTasks bool
}

// Summarizer adds up what each goroutine, region and task did with its time.
// Feed it every event of one pass, in order, and call Finish. What it holds
// grows with what lives at one time, not with the length of the trace.
type Summarizer struct {
	opts SummaryOptions
	sink Sink
	r    *exectrace.Reader
	gs   *sweep.Goroutines

	lives   lives
	procs   procLives
	tasks   tasks
	regions regions
	last    timeline.Time

	begin mark      // of every goroutine: zero
	done  Goroutine // what the sink gets; here so that it is not allocated
}

// procLife is what is known of a P: the goroutine in a system call on it, and
// the one that has begun to sweep on it.
type procLife struct {
	syscall, sweep exectrace.Slot
	sweeper        exectrace.GoID
}

// procLives are those of all Ps.
type procLives []procLife

// NewSummarizer returns a summarizer of the events that a table of goroutines follows.
func NewSummarizer(gs *sweep.Goroutines, sink Sink, opts SummaryOptions) *Summarizer {
	s := &Summarizer{opts: opts, sink: sink, r: gs.Reader(), gs: gs, tasks: newTasks(opts.KeepTasks, sink.Task)}
	s.lives.gs, s.lives.reason = gs, s.reason
	s.regions = regions{gs: gs, lives: &s.lives, tasks: &s.tasks, sink: sink.Region, compat: opts.Compat}
	return s
}

// Kinds implements [sweep.Listener].
func (s *Summarizer) Kinds() sweep.Kinds {
	return sweep.Of(exectrace.KindSync, exectrace.KindGoTransition, exectrace.KindProcTransition,
		exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd, exectrace.KindRegionBegin, exectrace.KindRegionEnd,
		exectrace.KindTaskBegin, exectrace.KindTaskEnd, exectrace.KindLog)
}

// Event takes the reader's current event.
func (s *Summarizer) Event(e *exectrace.Event) {
	s.last = e.Time
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.From != e.To {
			s.transition(e)
		}
	case exectrace.KindProcTransition:
		if e.To == exectrace.Idle && e.From != exectrace.Idle {
			s.procIdles(e)
		}
	case exectrace.KindSync:
		if e.Reset() {
			s.finishAll()
		}
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		s.rangeEvent(e)
	case exectrace.KindRegionBegin:
		s.regions.begin(e)
	case exectrace.KindRegionEnd:
		s.regions.end(e)
	case exectrace.KindTaskBegin, exectrace.KindTaskEnd:
		s.tasks.event(e)
	case exectrace.KindLog:
		s.tasks.log(e)
	}
}

// Finish hands over what has not ended with the trace.
func (s *Summarizer) Finish() {
	s.finishAll()
	s.tasks.finish()
}

func (s *Summarizer) finishAll() {
	s.lives.each(func(slot exectrace.Slot, g *life, now *sweep.Goroutine) { s.finish(slot, g, now, s.last, 0) })
	s.lives.pages = s.lives.pages[:0]
	clear(s.procs)
}

// transition moves a goroutine from one state to another.
func (s *Summarizer) transition(e *exectrace.Event) {
	was, now := &s.gs.Was, s.gs.Is
	if asleep(now) && !asleep(was) && s.lives.page(e.SubjectSlot) == nil {
		return
	}
	g := s.lives.awake(e.SubjectSlot)
	if g == nil {
		g = s.lives.wake(e.SubjectSlot, was)
	}
	switch e.From {
	case exectrace.Running:
		g.exec += e.Time - was.Told
	case exectrace.Waiting:
		if g.known {
			s.lives.blocked(g, g.reason, time.Duration(e.Time-was.Told))
		}
	case exectrace.Runnable:
		g.schedWait += e.Time - was.Told
	case exectrace.Syscall:
		s.leaveSyscall(g, was, e)
	case exectrace.NotExist:
		s.create(g, e)
	case exectrace.Undetermined:
		s.discover(g, now)
	}
	switch e.To {
	case exectrace.Running:
		if g.started == 0 {
			g.started = e.Time
		}
	case exectrace.Waiting:
		g.reason = s.reason(now)
		if e.Name == exectrace.NameForever { // as good as dead
			s.finish(e.SubjectSlot, g, now, e.Time, e.Time)
		}
	case exectrace.NotExist:
		s.finish(e.SubjectSlot, g, now, e.Time, e.Time)
	case exectrace.Syscall:
		g.syscallBlockedAt = 0
		if p := s.procs.of(e.P); p != nil {
			p.syscall = e.SubjectSlot + 1
		}
	}
}

// reason is why a goroutine begins to wait.
func (s *Summarizer) reason(g *sweep.Goroutine) exectrace.NameID {
	if s.opts.Compat {
		return g.Reason
	}
	if s.lives.waits.Is(s.r.Stacks(), g.Stack, g.Reason) {
		return exectrace.NameCollector
	}
	return g.Reason
}

// create begins the life of a goroutine.
func (s *Summarizer) create(g *life, e *exectrace.Event) {
	s.lives.begin(g, e.Time)
	// A goroutine inherits the task of the region in which it was created.
	if e.GSlot == exectrace.NoSlot || e.To == exectrace.Syscall && e.GSlot == e.SubjectSlot {
		return
	}
	if by := s.lives.had(s.lives.at(e.GSlot)); by != nil && len(by.regions) > 0 {
		top := by.regions[len(by.regions)-1]
		m := s.lives.extra(g)
		m.regions = append(m.regions, openRegion{task: top.task, start: e.Time})
	}
}

// discover begins to watch a goroutine that is older than the trace: it is
// taken to have been in its state since the last sync.
func (s *Summarizer) discover(g *life, now *sweep.Goroutine) {
	if g.known { // a damaged trace
		s.finish(exectrace.NoSlot, g, &s.gs.Was, s.last, 0)
	}
	s.lives.begin(g, now.Since)
	d := now.Told - now.Since
	switch now.State {
	case exectrace.Running:
		g.exec += d
	case exectrace.Waiting:
		s.lives.blocked(g, s.reason(now), time.Duration(d))
	case exectrace.Runnable:
		g.schedWait += d
	case exectrace.Syscall:
		if now.P == exectrace.NoProc {
			g.syscallBlock += d
		} else {
			g.syscall += d
		}
	}
}

// leaveSyscall splits the time in a system call at the loss of its P.
func (s *Summarizer) leaveSyscall(g *life, was *sweep.Goroutine, e *exectrace.Event) {
	if at := g.syscallBlockedAt; at != 0 {
		g.syscallBlock += e.Time - at
		g.syscall += at - was.Told
	} else {
		g.syscall += e.Time - was.Told
	}
	g.syscallBlockedAt = 0
	if p := s.procs.of(was.P); p != nil && (s.opts.Compat || p.syscall == e.SubjectSlot+1) {
		p.syscall = 0
	}
}

// procIdles is a P that was taken away, maybe from a system call.
func (s *Summarizer) procIdles(e *exectrace.Event) {
	p := s.procs.of(e.Proc())
	if p == nil || p.syscall == 0 {
		return
	}
	s.lives.at(p.syscall - 1).syscallBlockedAt = e.Time
	p.syscall = 0
}

// of returns what is known of a P; nil for no P.
func (p *procLives) of(id exectrace.ProcID) *procLife {
	if id < 0 {
		return nil
	}
	for len(*p) <= int(id) {
		*p = append(*p, procLife{})
	}
	return &(*p)[id]
}

// finish hands over g, of a slot, which is now in a state. It has ended at end, or not if that
// is 0.
func (s *Summarizer) finish(slot exectrace.Slot, g *life, now *sweep.Goroutine, at, end timeline.Time) {
	if !g.known {
		return
	}
	m := s.lives.had(g)
	if s.sink.Goroutine != nil || m != nil && len(m.regions) > 0 {
		pending := now
		if end != 0 {
			pending = nil // it spends no time in the state that ends it
		}
		d := &s.done
		d.ID, d.Name, d.Creator, d.Origin = now.ID, now.Name, now.Creator, s.gs.Origin(slot)
		d.Created, d.Started, d.Ended = g.created, g.started, end
		d.State, d.Since, d.Reason, d.Stack = now.State, 0, g.reason, now.Stack
		if pending != nil {
			d.Since = now.Told
		}
		s.regions.stats(g, pending, at, &s.begin, &d.Stats)
		s.regions.finish(g, now, pending, at, end)
		if s.sink.Goroutine != nil {
			s.sink.Goroutine(&s.done)
		}
	}
	s.lives.end(g)
}

// IsSystem says whether a goroutine that began with this function belongs to
// the runtime, as internal/trace.IsSystemGoroutine does. The main goroutine
// never does: where the program is still in its init functions when a trace
// begins, or has nothing but these on the stacks that it shows, its first
// function is the one that runs them.
func IsSystem(function string) bool {
	return isSystemGoroutine(function) && function != "runtime.doInit1" && function != "runtime.doInit"
}

// isSystemGoroutine is internal/trace.IsSystemGoroutine.
func isSystemGoroutine(function string) bool {
	const runtime = "runtime."
	return function == "" || function != "runtime.main" && len(function) >= len(runtime) && function[:len(runtime)] == runtime
}
