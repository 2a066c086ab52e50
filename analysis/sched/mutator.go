package sched

import (
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// Losses are the ways in which the garbage collector takes time away from the
// program, as a set.
type Losses uint8

// The losses.
const (
	LossSTW        Losses = 1 << iota // the world is stopped for a collection
	LossBackground                    // a worker marks on a P of its own
	LossAssist                        // a goroutine must help to mark
	LossSweep                         // a goroutine must sweep first

	// CommonLosses are those that go tool trace counts until asked otherwise.
	CommonLosses = LossSTW | LossBackground | LossAssist
)

// MutatorOptions say what a [Mutator] counts.
type MutatorOptions struct {
	// Count are the losses; the zero value is CommonLosses.
	Count Losses
	// PerProc gives every P a utilisation of its own instead of a share in
	// that of the program. It tells what one goroutine feels, and so leaves
	// out the workers that have a P all to themselves.
	PerProc bool
	// Compat makes the figures those of go tool trace where it is wrong:
	//   - A goroutine that was a mark worker once counts as one whenever it
	//     runs, and twice when it says so again, of which one is never taken
	//     back: after a few collections every P is lost for good. The same
	//     holds for one that the runtime labels by mistake, which a system call
	//     betrays.
	//   - A utilisation that ends at 0 ends when it gets there. Together with
	//     the above, the curve knows the time up to the first collections only.
	//   - Who is in an assist or a sweep when the trace begins is charged to
	//     the P that tells so, even if it does not run or is elsewhere; and its
	//     own P has been free until then, with PerProc.
	Compat bool
}

// UtilStep is a change of the mutator utilisation: the part of the Ps that is
// left to the program from this time on.
type UtilStep struct {
	Time timeline.Time
	Util float64 // from 0 to 1
}

// MutatorSteps is what [Mutator.Steps] returns of a whole trace, with the options'
// zero value.
var MutatorSteps = sweep.Want[[][]UtilStep]{Key: "mutator", Begin: func(p *sweep.Pass) (func() ([][]UtilStep, error), error) {
	m := NewMutator(p.Goroutines(), MutatorOptions{})
	p.Join(m)
	return func() ([][]UtilStep, error) { return m.Steps(), nil }, nil
}}

// Mutator follows how much of the machine the garbage collector leaves to the
// program, by the rules of internal/trace.MutatorUtilizationV2. Feed it every
// event of one pass, in order. It holds a byte for each goroutine, and the
// steps: 16 bytes for each change, of which there is none between two
// collections.
type Mutator struct {
	opts MutatorOptions
	gs   *sweep.Goroutines

	roles    gcRoles
	procs    []mutatorProc
	busy     int // how many of procs have work > 0
	stw      int // stop-the-worlds in progress
	history  []procCount
	steps    [][]UtilStep
	names    []nameClass // by name, as far as they were asked for
	early    bool        // in the first generation, where states are news
	earliest timeline.Time
	last     timeline.Time
}

// gcRole is what one goroutine does for the collector.
type gcRole uint8

const (
	roleAssist gcRole = 1 << iota // it is in an assist, running or not
	roleWorker                    // it is a mark worker
)

// mutatorProc is a P.
type mutatorProc struct {
	work   int // things done for the collector
	series int // its index in steps
}

// procCount is a change of GOMAXPROCS.
type procCount struct {
	time timeline.Time
	n    int
}

// maxProcs is more than any machine has. A damaged trace may say more.
const maxProcs = 1 << 16

// nameClass is what a name means here.
type nameClass uint8

const (
	nameUnknown nameClass = iota
	nameOther
	nameSTW       // a stop-the-world for a collection
	nameWorker    // the label of a worker that takes part of a P
	nameDedicated // the label of a worker that takes all of it
)

// NewMutator returns a mutator of the events that a table of goroutines follows.
func NewMutator(gs *sweep.Goroutines, opts MutatorOptions) *Mutator {
	if opts.Count == 0 {
		opts.Count = CommonLosses
	}
	return &Mutator{opts: opts, gs: gs}
}

// Kinds implements [sweep.Listener].
func (m *Mutator) Kinds() sweep.Kinds {
	return sweep.Begun | sweep.Followed | sweep.Of(exectrace.KindSync, exectrace.KindMetric, exectrace.KindLabel,
		exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd)
}

// Event takes the reader's current event.
func (m *Mutator) Event(e *exectrace.Event) {
	m.last = e.Time
	switch {
	case e.Kind == exectrace.KindGoTransition:
		if m.roles.of(e.SubjectSlot) == 0 {
			return // it has nothing to do with the collector
		}
	case e.Kind == exectrace.KindSync:
		m.sync(e)
	case e.Kind == exectrace.KindMetric && e.Name == exectrace.NameGOMAXPROCS:
		if e.Value() <= maxProcs {
			m.resize(int(e.Value()), e.Time)
		}
	}
	if len(m.procs) == 0 {
		return // nobody knows yet what a P's share is
	}
	switch e.Kind {
	case exectrace.KindGoTransition:
		m.transition(e)
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		m.rangeEvent(e)
	case exectrace.KindLabel:
		m.label(e)
	}
}

// sync is the begin of a generation. Only in the first one do active ranges
// tell anything new; in the others they repeat what is known.
func (m *Mutator) sync(e *exectrace.Event) {
	m.early = e.Value() == 1 || e.Reset()
	if !e.Reset() {
		return
	}
	m.earliest = e.Time
	m.stw, m.busy = 0, 0
	clear(m.roles)
	for i := range m.procs {
		m.procs[i].work = 0
	}
	m.step(e.Time)
}

// resize is a change of GOMAXPROCS, or the first word of it.
func (m *Mutator) resize(n int, at timeline.Time) {
	for len(m.procs) > n {
		p := m.procs[len(m.procs)-1]
		m.procs = m.procs[:len(m.procs)-1]
		if p.work > 0 {
			m.busy--
		}
		if m.opts.PerProc {
			m.steps[p.series] = m.end(m.steps[p.series], at)
		}
	}
	for len(m.procs) < n {
		series := 0
		if m.opts.PerProc || len(m.steps) == 0 {
			series = len(m.steps)
			m.steps = append(m.steps, []UtilStep{{at, 1}})
		}
		m.procs = append(m.procs, mutatorProc{series: series})
	}
	if k := len(m.history); n > 0 && (k == 0 || m.history[k-1].n != n) {
		m.history = append(m.history, procCount{at, n})
	}
	m.step(at)
}

// transition follows those who do something for the collector: hardly anybody.
func (m *Mutator) transition(e *exectrace.Event) {
	role := &m.roles[e.SubjectSlot]
	if e.From == exectrace.NotExist || e.From == exectrace.Undetermined {
		*role = 0 // a new life in the slot
		return
	}
	ran, runs := m.executes(e.From), m.executes(e.To)
	switch {
	case runs && !ran:
		m.work(e.P, 1, e.Time)
	case ran && !runs:
		m.work(e.P, -1, e.Time)
		if !m.opts.Compat {
			m.become(e.SubjectSlot, *role&^roleWorker) // whoever starts as a worker says so again
		}
	}
}

// executes says whether a goroutine in this state can work for the collector,
// which never makes a system call.
func (m *Mutator) executes(s exectrace.State) bool {
	return s == exectrace.Running || s == exectrace.Syscall && m.opts.Compat
}

// gcRoles are those of goroutines by slot, as far as any has one.
type gcRoles []gcRole

// of returns what the goroutine in a slot does.
func (r gcRoles) of(slot exectrace.Slot) gcRole {
	if uint(slot) < uint(len(r)) {
		return r[slot]
	}
	return 0
}

// become notes what the goroutine in a slot does from now on. It is followed for as long as
// that is something.
func (m *Mutator) become(slot exectrace.Slot, role gcRole) {
	if int(slot) >= len(m.roles) {
		m.roles = append(m.roles, make([]gcRole, int(slot)+1-len(m.roles))...)
	}
	was := m.roles[slot]
	m.roles[slot] = role
	switch {
	case was == 0 && role != 0:
		m.gs.Follow(slot)
	case was != 0 && role == 0:
		m.gs.Unfollow(slot)
	}
}

// label is a worker that has started and says so.
func (m *Mutator) label(e *exectrace.Event) {
	if m.opts.Count&LossBackground == 0 || e.GSlot == exectrace.NoSlot {
		return
	}
	if class := m.class(e.Name); class == nameWorker || class == nameDedicated && !m.opts.PerProc {
		m.become(e.GSlot, m.roles.of(e.GSlot)|roleWorker)
		m.work(e.P, 1, e.Time)
	}
}

func (m *Mutator) rangeEvent(e *exectrace.Event) {
	if e.Kind == exectrace.KindRangeActive && !m.early {
		return
	}
	d := 1
	if e.Kind == exectrace.KindRangeEnd {
		d = -1
	}
	switch {
	case e.Name == exectrace.NameMarkAssist:
		if m.opts.Count&LossAssist != 0 {
			m.assist(e, d)
		}
	case e.Name == exectrace.NameSweep:
		if m.opts.Count&LossSweep != 0 {
			m.sweep(e, d)
		}
	case m.opts.Count&LossSTW != 0 && m.class(e.Name) == nameSTW:
		m.stw += d
		m.step(e.Time)
	}
}

// assist is the begin (d = 1) or the end (d = -1) of an assist.
func (m *Mutator) assist(e *exectrace.Event, d int) {
	if e.SubjectSlot == exectrace.NoSlot { // a damaged trace: nobody knows whose it is
		return
	}
	here := true // the goroutine is on the P that tells
	if e.Kind == exectrace.KindRangeActive {
		runs := e.GSlot != exectrace.NoSlot && m.executes(m.gs.In(e.GSlot).State)
		here = e.GSlot == e.SubjectSlot && runs
		if here || m.opts.Compat && runs {
			m.backdate(e.P)
		}
	}
	role := m.roles.of(e.SubjectSlot) &^ roleAssist
	if d > 0 {
		role |= roleAssist
	}
	m.become(e.SubjectSlot, role)
	if here || m.opts.Compat {
		m.work(e.P, d, e.Time)
	}
}

// sweep is the begin or the end of a P's sweeping.
func (m *Mutator) sweep(e *exectrace.Event, d int) {
	p := e.Proc()
	if m.opts.Compat {
		p = e.P
	}
	if e.Kind == exectrace.KindRangeActive {
		m.backdate(p)
	}
	m.work(p, d, e.Time)
}

// backdate takes the share of a P away from the beginning on: what it is found
// doing now, it has been doing all the time.
func (m *Mutator) backdate(p exectrace.ProcID) {
	if m.opts.PerProc {
		if p < 0 || int(p) >= len(m.procs) || m.opts.Compat {
			return
		}
		if s := m.steps[m.procs[p].series]; len(s) == 1 { // it was not heard of yet
			s[0].Util = 0
		}
		return
	}
	h := m.history
	for i := range m.steps[0] {
		s := &m.steps[0][i]
		for len(h) > 1 && h[1].time < s.Time {
			h = h[1:]
		}
		if s.Time >= m.earliest {
			s.Util = max(0, s.Util-float64(1)/float64(h[0].n))
		}
	}
}

// work adds to what a P does for the collector.
func (m *Mutator) work(id exectrace.ProcID, d int, at timeline.Time) {
	if id < 0 || int(id) >= len(m.procs) { // a damaged trace
		return
	}
	p := &m.procs[id]
	was := p.work > 0
	p.work += d
	if !m.opts.Compat {
		p.work = max(0, p.work)
	}
	switch is := p.work > 0; {
	case is && !was:
		m.busy++
	case was && !is:
		m.busy--
	}
	m.step(at)
}

// step notes what is left to the program now.
func (m *Mutator) step(at timeline.Time) {
	if len(m.procs) == 0 {
		return
	}
	if !m.opts.PerProc {
		busy := m.busy
		if m.stw > 0 {
			busy = len(m.procs)
		}
		m.steps[0] = addStep(m.steps[0], at, 1-float64(busy)/float64(len(m.procs)))
		return
	}
	for _, p := range m.procs {
		util := 1.0
		if m.stw > 0 || p.work > 0 {
			util = 0
		}
		m.steps[p.series] = addStep(m.steps[p.series], at, util)
	}
}

// addStep appends a step unless nothing changes by it. Of two at one instant
// the lower one stays.
func addStep(s []UtilStep, at timeline.Time, util float64) []UtilStep {
	if last := len(s) - 1; last >= 0 {
		if util == s[last].Util {
			return s
		}
		if at == s[last].Time {
			s[last].Util = min(s[last].Util, util)
			return s
		}
	}
	return append(s, UtilStep{at, util})
}

// end closes a series by a step to 0.
func (m *Mutator) end(s []UtilStep, at timeline.Time) []UtilStep {
	if m.opts.Compat || s[len(s)-1].Time == at {
		return addStep(s, at, 0)
	}
	return append(s, UtilStep{at, 0})
}

// Steps returns the utilisation so far: one series for the program, or one for
// each P and each time that it came anew. The last step of a series is 0 and
// marks its end.
func (m *Mutator) Steps() [][]UtilStep {
	out := make([][]UtilStep, len(m.steps))
	for i, s := range m.steps {
		out[i] = slices.Clone(s)
	}
	for _, p := range m.procs {
		out[p.series] = m.end(out[p.series], m.last)
	}
	return out
}

// Curve returns the minimum mutator utilisation of what was seen so far.
func (m *Mutator) Curve() *MMUCurve {
	c := NewMMUCurve(m.Steps())
	c.Compat = m.opts.Compat
	return c
}

// class returns what a name means.
func (m *Mutator) class(id exectrace.NameID) nameClass {
	for int(id) >= len(m.names) {
		m.names = append(m.names, make([]nameClass, m.gs.Reader().Names()-len(m.names))...)
	}
	if m.names[id] == nameUnknown {
		m.names[id] = classify(m.gs.Reader().Name(id))
	}
	return m.names[id]
}

func classify(name string) nameClass {
	switch {
	case strings.HasPrefix(name, "stop-the-world") && strings.Contains(name, "GC"):
		return nameSTW
	case name == "GC (dedicated)":
		return nameDedicated
	case strings.HasPrefix(name, "GC ") && name != "GC (idle)":
		return nameWorker
	}
	return nameOther
}
