package sched

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// ProfileKind says of what a [StateProfile] is.
type ProfileKind uint8

// The kinds. The first four are those of go tool trace -pprof: time in a
// state, by the stack of the event that began it. Of a goroutine that waits to
// run that is whoever has created it or woken it up.
const (
	ProfileNet     ProfileKind = iota // waiting for the network
	ProfileSync                       // waiting for a channel, a select or a lock
	ProfileSyscall                    // in a system call
	ProfileSched                      // ready to run, waiting for a P
	// ProfileOffCPU is all time in which a goroutine does not run, by the
	// goroutine's own stack, with the reason as a leaf: "[chan receive]",
	// "[syscall]", "[runnable]".
	ProfileOffCPU
	// ProfileCPU counts the samples of the CPU profiler, if it ran beside the
	// trace. They have no time.
	ProfileCPU
	// ProfileRunning is the time that goroutines ran, by where each run ended:
	// at what the goroutine waited for then, or where it was preempted. A run
	// that ended with its goroutine counts where it began.
	ProfileRunning

	profileKinds
	noProfile = profileKinds // of waiting for something else

	// ProfileWall is all time of units of work, running and waiting: package account
	// makes it, and nothing here does.
	ProfileWall = profileKinds + 1
)

var profileNames = [profileKinds]string{"net", "sync", "syscall", "sched", "offcpu", "cpu", "running"}

// String returns the kind's name: "net".
func (k ProfileKind) String() string {
	if k == ProfileWall {
		return "wall"
	}
	if k >= profileKinds {
		return fmt.Sprintf("ProfileKind(%d)", uint8(k))
	}
	return profileNames[k]
}

// StateProfileOptions say what a [StateProfiler] takes in. The zero value is
// everything.
type StateProfileOptions struct {
	// Goroutine chooses goroutines. It is asked once for each.
	Goroutine func(exectrace.GoID) bool
	// Span, unless it is empty, and Regions, unless it is nil, choose times:
	// what begins or ends outside of them counts for the part inside.
	Span    timeline.Span
	Regions *RegionSpans
	// Compat makes the figures those of go tool trace where it leaves out
	// time: between the creation of a goroutine and its first start, and all
	// else before the first start that the trace has seen; from a state that is
	// older than the trace what is before its first mention; and every state
	// that lasts until the trace ends. Waits for the collector that the runtime calls
	// "sync" are then in the profile of that name.
	Compat bool
}

// Spent is a number of times and how long they were together.
type Spent struct {
	Count int64
	Time  time.Duration
}

func (s *Spent) add(d time.Duration) {
	s.Count++
	s.Time += d
}

// StateProfiler adds up by stack the time that goroutines spend in each state,
// for all kinds of profiles in one pass. Feed it every event of one pass, in
// order, call Finish and then Profile. It holds a few bytes for each goroutine
// and 16 for each stack, reason of waiting and kind.
// It has more methods than most because it is a listener of a sweep as well.
type StateProfiler struct {
	opts  StateProfileOptions
	picky bool // some time or goroutine is not wanted
	plain bool // all of every stay counts, and nobody takes them one by one
	r     *exectrace.Reader

	gs       *sweep.Goroutines
	profiled []profiled // by slot
	ends     stay       // the one that ends; here so that it is not allocated
	last     timeline.Time
	lost     timeline.Time // when the table forgot all goroutines

	causes  []cause
	causeOf []uint16 // by name: its index in causes, plus one
	// collector is the index in causes of waits for the collector, plus one.
	collector uint16
	waits     exectrace.CollectorWaits
	sched     []Spent // by stack
	samples   []Spent // by stack
	open      [profileKinds]Spent
	// each, if set, takes every stay instead of the columns, and every sample.
	each stayTaker

	// clips says that what a goroutine does before it first runs counts only if
	// it never runs. Until that is known it is in early.
	clips bool
	early map[exectrace.Slot][]earlyStay
}

// stayTaker is who takes stays one by one: [StaysBuilder].
type stayTaker interface {
	take(s *stay, end timeline.Time, unfinished bool)
	takeSample(at timeline.Time, id stack.ID)
}

// stay is a goroutine in a state.
type stay struct {
	id    exectrace.GoID
	since timeline.Time
	stack stack.ID // of the event that began it
	own   stack.ID // of the goroutine
	cause uint16
	skip  bool // the goroutine was not chosen
}

// profiled is what is known of the goroutine in a slot beside what the table knows.
type profiled struct {
	skip bool // the goroutine was not chosen
	ran  bool // the goroutine has run already
}

type earlyStay struct {
	stay stay
	d    time.Duration
}

// cause is why a goroutine does not run.
type cause struct {
	leaf string
	kind ProfileKind
	by   []Spent // by the goroutine's own stack
}

// The causes that are states; the others are reasons of waiting.
const (
	causeRunnable = iota
	causeSyscall
	causeRunning
	firstReason
)

// NewStateProfiler returns a profiler of the events that a table of goroutines follows.
func NewStateProfiler(gs *sweep.Goroutines, opts StateProfileOptions) *StateProfiler {
	return &StateProfiler{
		opts:  opts,
		plain: opts.Goroutine == nil && opts.Span.Len() == 0 && opts.Regions == nil && !opts.Compat,
		r:     gs.Reader(),
		gs:    gs,
		causes: []cause{
			causeRunnable: {leaf: "[runnable]", kind: ProfileSched},
			causeSyscall:  {leaf: "[syscall]", kind: ProfileSyscall},
			causeRunning:  {kind: ProfileRunning},
		},
		picky: opts.Goroutine != nil || opts.Span.Len() > 0 || opts.Regions != nil,
		clips: opts.Compat && opts.Regions == nil, // go tool trace does not clip those of regions
		early: make(map[exectrace.Slot][]earlyStay),
	}
}

// Kinds implements [sweep.Listener].
func (p *StateProfiler) Kinds() sweep.Kinds {
	return sweep.Of(exectrace.KindSync, exectrace.KindStackSample, exectrace.KindGoTransition)
}

// Event takes the reader's current event.
func (p *StateProfiler) Event(e *exectrace.Event) {
	p.last = e.Time
	switch e.Kind {
	case exectrace.KindGoTransition:
		if e.From != e.To {
			p.transition(e)
		}
	case exectrace.KindStackSample:
		p.sample(e)
	case exectrace.KindSync:
		if e.Reset() {
			p.finishAll()
			p.lost = e.Time
		}
	}
}

// Finish takes in the states that last until the end of the trace.
func (p *StateProfiler) Finish() {
	if p.last != p.lost { // the table forgets when the next event comes
		p.finishAll()
	}
}

// transition ends a stay.
func (p *StateProfiler) transition(e *exectrace.Event) {
	if p.plain {
		if e.From > exectrace.NotExist {
			p.spend(e)
		}
		return
	}
	s, was := p.at(e.SubjectSlot), &p.gs.Was
	if e.From <= exectrace.NotExist {
		p.begin(s, e)
	} else if cause, counts := p.causeIn(was); counts {
		p.stayOf(s, cause, was)
		if e.From == exectrace.Running && e.SubjectStack != 0 {
			p.ends.own = e.SubjectStack
		}
		p.leave(s, &p.ends, e)
	}
	switch e.To {
	case exectrace.Running:
		s.ran = true
	case exectrace.NotExist:
		if p.clips {
			p.commit(e.SubjectSlot)
		}
	}
}

// causeIn returns why a goroutine is in its state, and whether that counts.
func (p *StateProfiler) causeIn(g *sweep.Goroutine) (cause uint16, counts bool) {
	switch g.State {
	case exectrace.Runnable:
		return causeRunnable, true
	case exectrace.Running:
		return causeRunning, true
	case exectrace.Syscall:
		return causeSyscall, true
	case exectrace.Waiting:
		if !p.opts.Compat && p.waits.Is(p.r.Stacks(), g.By, g.Reason) {
			cause = p.collecting()
		} else {
			cause = p.reason(g.Reason)
		}
		return cause, g.Reason != exectrace.NameForever // which is as good as dead
	}
	return 0, false
}

// spend counts a stay that e ends where all of every stay counts.
func (p *StateProfiler) spend(e *exectrace.Event) {
	was := &p.gs.Was
	d := time.Duration(e.Time - was.Since)
	if d <= 0 {
		return
	}
	own, cause := was.Own, uint16(0)
	switch was.State { // as in causeIn, without a call for most
	case exectrace.Runnable:
		spentAt(&p.sched, was.By).add(d)
		cause = causeRunnable
	case exectrace.Running:
		if e.SubjectStack != 0 {
			own = e.SubjectStack
		}
		cause = causeRunning
	default:
		var counts bool
		if cause, counts = p.causeIn(was); !counts {
			return
		}
	}
	spentAt(&p.causes[cause].by, own).add(d)
}

// stayOf makes the stay that a goroutine was in, for a cause, the one that ends.
func (p *StateProfiler) stayOf(s *profiled, cause uint16, was *sweep.Goroutine) {
	out := &p.ends
	out.id, out.since, out.stack, out.own = was.ID, was.Since, was.By, was.Own
	out.cause, out.skip = cause, s.skip
	if p.opts.Compat { // a state counts from its first mention
		out.since = was.Told
		if was.Late {
			out.own = 0
		}
	}
}

// at returns what the goroutine in a slot does.
func (p *StateProfiler) at(slot exectrace.Slot) *profiled {
	if int(slot) >= len(p.profiled) {
		p.profiled = append(p.profiled, make([]profiled, int(slot)+1-len(p.profiled))...)
	}
	return &p.profiled[slot]
}

// begin is a goroutine's first appearance.
func (p *StateProfiler) begin(s *profiled, e *exectrace.Event) {
	*s = profiled{}
	if p.opts.Goroutine != nil {
		s.skip = !p.opts.Goroutine(e.Goroutine())
	}
	if p.clips {
		delete(p.early, e.SubjectSlot)
	}
}

// reason returns the cause for a reason of waiting.
func (p *StateProfiler) reason(id exectrace.NameID) uint16 {
	for int(id) >= len(p.causeOf) {
		p.causeOf = append(p.causeOf, make([]uint16, p.r.Names()-len(p.causeOf))...)
	}
	if p.causeOf[id] == 0 {
		name := p.r.Name(id)
		c := cause{leaf: "[" + name + "]", kind: noProfile}
		switch {
		case name == "":
			c.leaf = "[waiting]" // since before the trace, which does not say why
		case name == "network":
			c.kind = ProfileNet
		case strings.Contains(name, "chan") || strings.Contains(name, "sync") || strings.Contains(name, "select"):
			c.kind = ProfileSync
		}
		if len(p.causes) == 1<<16-2 { // no runtime has so many; a damaged trace may
			return firstReason
		}
		p.causes = append(p.causes, c)
		p.causeOf[id] = uint16(len(p.causes))
	}
	return p.causeOf[id] - 1
}

// collecting returns the cause for a wait that is the collector's, which is none of
// the program's locks.
func (p *StateProfiler) collecting() uint16 {
	if p.collector == 0 {
		if len(p.causes) == 1<<16-2 {
			return firstReason
		}
		p.causes = append(p.causes, cause{leaf: "[" + exectrace.CollectorReason + "]", kind: noProfile})
		p.collector = uint16(len(p.causes))
	}
	return p.collector - 1
}

// leave is the end of a stay.
func (p *StateProfiler) leave(g *profiled, s *stay, e *exectrace.Event) {
	if p.each != nil {
		p.each.take(s, e.Time, false)
		return
	}
	d := p.inside(s, s.since, e.Time)
	switch {
	case g.ran || !p.clips:
		if d > 0 {
			p.count(s, d)
		}
	case e.To == exectrace.Running:
		delete(p.early, e.SubjectSlot)
	case d > 0:
		p.early[e.SubjectSlot] = append(p.early[e.SubjectSlot], earlyStay{*s, d})
	}
}

// commit counts what a goroutine has done that never ran.
func (p *StateProfiler) commit(slot exectrace.Slot) {
	for _, one := range p.early[slot] {
		p.count(&one.stay, one.d)
	}
	delete(p.early, slot)
}

// count adds a stay to the profiles.
func (p *StateProfiler) count(s *stay, d time.Duration) {
	c := &p.causes[s.cause]
	if s.cause == causeRunnable {
		spentAt(&p.sched, s.stack).add(d)
	}
	spentAt(&c.by, s.own).add(d)
}

// spentAt returns the entry of a stack.
func spentAt(by *[]Spent, id stack.ID) *Spent {
	if list := *by; uint(id) < uint(len(list)) {
		return &list[id]
	}
	*by = append(*by, make([]Spent, int(id)+1-len(*by))...)
	return &(*by)[id]
}

// inside returns how much of a time counts: most often all of it, and then no
// call is made.
func (p *StateProfiler) inside(s *stay, from, to timeline.Time) time.Duration {
	if !p.picky {
		return time.Duration(to - from)
	}
	return p.chosen(s, from, to)
}

func (p *StateProfiler) chosen(s *stay, from, to timeline.Time) time.Duration {
	if s.skip {
		return 0
	}
	if p.opts.Span.Len() > 0 {
		from, to = max(from, p.opts.Span.Start), min(to, p.opts.Span.End)
	}
	if p.opts.Regions != nil && from < to {
		return p.opts.Regions.overlap(s.id, timeline.Span{Start: from, End: to})
	}
	return to.Sub(from)
}

// sample counts a sample of the CPU profiler.
func (p *StateProfiler) sample(e *exectrace.Event) {
	if p.each != nil {
		p.each.takeSample(e.Time, e.Stack)
		return
	}
	s := stay{id: e.G}
	if e.GSlot != exectrace.NoSlot {
		s.skip = p.at(e.GSlot).skip
	} else if p.opts.Goroutine != nil {
		s.skip = !p.opts.Goroutine(e.G)
	}
	if p.inside(&s, e.Time, e.Time+1) > 0 {
		spentAt(&p.samples, e.Stack).add(0)
	}
}

// finishAll ends the stays of all goroutines with the trace.
func (p *StateProfiler) finishAll() {
	for slot := range p.early {
		p.commit(slot)
	}
	if !p.opts.Compat {
		p.gs.Each(func(slot exectrace.Slot, g *sweep.Goroutine) {
			if cause, counts := p.causeIn(g); counts {
				p.stayOf(p.at(slot), cause, g)
				p.cut(&p.ends)
			}
		})
	}
	clear(p.profiled)
}

// cut takes a stay that the end of the trace cuts off.
func (p *StateProfiler) cut(s *stay) {
	if p.each != nil {
		p.each.take(s, p.last, true)
		return
	}
	d := p.inside(s, s.since, p.last)
	if d <= 0 {
		return
	}
	p.count(s, d)
	if s.cause != causeRunning {
		p.open[ProfileOffCPU].add(d)
	}
	if k := p.causes[s.cause].kind; k != noProfile {
		p.open[k].add(d)
	}
}

// WholeProfiles are the profiles of a whole trace, by their kinds.
var WholeProfiles = sweep.Want[[]*StateProfile]{Key: "state profiles", Begin: func(p *sweep.Pass) (func() ([]*StateProfile, error), error) {
	x := NewStateProfiler(p.Goroutines(), StateProfileOptions{})
	p.Join(x)
	return func() (all []*StateProfile, err error) {
		x.Finish()
		for kind := range profileKinds {
			all = append(all, x.Profile(kind))
		}
		return all, nil
	}, nil
}}

// StateProfile is one profile: stacks, and how often and how long goroutines
// were there. The columns have the form of a profile.Profile, which writes them
// for go tool pprof; this package knows no formats of profiles, see the
// example.
type StateProfile struct {
	Kind ProfileKind
	// Stacks is the reader's table.
	Stacks *stack.Table
	// The columns: entry i of each belongs to stack IDs[i], and no stack comes
	// twice. Nanos is nil in a profile of kind [ProfileCPU].
	IDs    []stack.ID
	Counts []int64
	Nanos  []int64
	// Unfinished is what of it lasted until the end of the trace. It may have
	// gone on for any time.
	Unfinished Spent
}

// Profile returns a profile of what was seen so far. For [ProfileOffCPU] it
// adds stacks to the reader's table, which nobody else may use meanwhile.
func (p *StateProfiler) Profile(kind ProfileKind) *StateProfile {
	out := &StateProfile{Kind: kind, Stacks: p.r.Stacks(), Unfinished: p.open[kind]}
	switch kind {
	case ProfileSched:
		out.add(p.sched)
	case ProfileCPU:
		out.add(p.samples)
		out.Nanos = nil
	case ProfileOffCPU:
		var frames []stack.FrameID
		for _, c := range p.causes {
			if c.kind == ProfileRunning {
				continue
			}
			leaf := out.Stacks.InternFrame(stack.Frame{Func: c.leaf})
			for id, s := range c.by {
				if s.Count > 0 {
					frames = append(append(frames[:0], leaf), out.Stacks.Frames(stack.ID(id))...)
					out.append(out.Stacks.Intern(frames), s)
				}
			}
		}
	default:
		var by []Spent // different reasons may have the same stack
		for _, c := range p.causes {
			if c.kind != kind {
				continue
			}
			for id, s := range c.by {
				if s.Count > 0 {
					sum := spentAt(&by, stack.ID(id))
					sum.Count += s.Count
					sum.Time += s.Time
				}
			}
		}
		out.add(by)
	}
	return out
}

// add appends what is known by stack.
func (p *StateProfile) add(by []Spent) {
	for id, s := range by {
		if s.Count > 0 {
			p.append(stack.ID(id), s)
		}
	}
}

func (p *StateProfile) append(id stack.ID, s Spent) {
	p.IDs = append(p.IDs, id)
	p.Counts = append(p.Counts, s.Count)
	p.Nanos = append(p.Nanos, int64(s.Time))
}

// ByCount iterates over the stacks and how often goroutines were there.
func (p *StateProfile) ByCount() iter.Seq2[stack.ID, int64] { return p.column(p.Counts) }

// ByTime iterates over the stacks and the nanoseconds spent there.
func (p *StateProfile) ByTime() iter.Seq2[stack.ID, int64] { return p.column(p.Nanos) }

func (p *StateProfile) column(values []int64) iter.Seq2[stack.ID, int64] {
	return func(yield func(stack.ID, int64) bool) {
		for i, v := range values {
			if !yield(p.IDs[i], v) {
				return
			}
		}
	}
}

// Total returns the sums of the columns.
func (p *StateProfile) Total() (sum Spent) {
	for i, n := range p.Counts {
		sum.Count += n
		if p.Nanos != nil {
			sum.Time += time.Duration(p.Nanos[i])
		}
	}
	return sum
}
