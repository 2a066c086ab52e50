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

	roles gcRoles
	left  leftOver
	names []nameClass // by name, as far as they were asked for
	early bool        // in the first generation, where states are news
	last  timeline.Time
}

// gcRole is what one goroutine does for the collector.
type gcRole uint8

const (
	roleAssist gcRole = 1 << iota // it is in an assist, running or not
	roleWorker                    // it is a mark worker
)

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
	return &Mutator{opts: opts, gs: gs, left: leftOver{perProc: opts.PerProc, compat: opts.Compat}}
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
			m.left.resize(int(e.Value()), e.Time)
		}
	}
	if len(m.left.procs) == 0 {
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
	clear(m.roles)
	m.left.reset(e.Time)
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
		m.left.work(e.P, 1, e.Time)
	case ran && !runs:
		m.left.work(e.P, -1, e.Time)
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
		m.left.work(e.P, 1, e.Time)
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
		m.left.stop(d, e.Time)
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
			m.left.backdate(e.P)
		}
	}
	role := m.roles.of(e.SubjectSlot) &^ roleAssist
	if d > 0 {
		role |= roleAssist
	}
	m.become(e.SubjectSlot, role)
	if here || m.opts.Compat {
		m.left.work(e.P, d, e.Time)
	}
}

// sweep is the begin or the end of a P's sweeping.
func (m *Mutator) sweep(e *exectrace.Event, d int) {
	p := e.Proc()
	if m.opts.Compat {
		p = e.P
	}
	if e.Kind == exectrace.KindRangeActive {
		m.left.backdate(p)
	}
	m.left.work(p, d, e.Time)
}

// Steps returns the utilisation so far: one series for the program, or one for
// each P and each time that it came anew. The last step of a series is 0 and
// marks its end.
func (m *Mutator) Steps() [][]UtilStep {
	out := make([][]UtilStep, len(m.left.steps))
	for i, s := range m.left.steps {
		out[i] = slices.Clone(s)
	}
	for _, p := range m.left.procs {
		out[p.series] = m.left.end(out[p.series], m.last)
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
