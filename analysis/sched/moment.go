package sched

import (
	"math"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Living is a goroutine at one instant.
type Living struct {
	ID exectrace.GoID
	// Parent is the goroutine that made it and Creator where, both none for one
	// that is older than the trace.
	Parent  exectrace.GoID
	Creator stack.ID
	// Name is the function that it began with, where the trace tells.
	Name exectrace.NameID
	// State is what it does, Reason why it waits, Since from when on. One that
	// is Older has been in the state since before the trace began, so that
	// Since is only when the trace did.
	State  exectrace.State
	Reason exectrace.NameID
	Since  timeline.Time
	Older  bool
	// Stack is where it is; that of a running one is not known.
	Stack stack.ID
}

// Moments returns what goroutines did at instants of a trace, in its own time
// and in order, and the reader that has the names and stacks. Events at an
// instant have happened, and one before the trace is its begin. Those who no
// longer want to know say so by stop, which may be nil: then there are fewer
// moments than instants.
//
// Note: every generation tells all states anew, so that a reader could begin
// with that of the instant; but it would not know why and since when they wait.
func Moments(t *exectrace.Trace, at []timeline.Time, stop func() bool) (*exectrace.Reader, [][]Living, error) {
	m, pass := joinMoments(sweep.New(t), at)
	if err := pass.Run(stop); err == sweep.ErrStopped {
		return pass.Reader(), m.out, nil
	} else if err != nil {
		return pass.Reader(), nil, err
	}
	return pass.Reader(), m.finish(), nil
}

// LastMoment is what goroutines do when a trace ends, as [Moments] says.
var LastMoment = sweep.Want[*Moment]{Key: "last moment", Begin: func(p *sweep.Pass) (func() (*Moment, error), error) {
	m, _ := joinMoments(p, []timeline.Time{math.MaxInt64})
	return func() (*Moment, error) { return &Moment{p.Reader(), m.last, m.finish()[0]}, nil }, nil
}}

// Moment is what goroutines do at one instant.
type Moment struct {
	// Reader has the names and stacks.
	Reader *exectrace.Reader
	// Last is when the last event happened.
	Last   timeline.Time
	Living []Living
}

// joinMoments lets a pass tell what goroutines do at instants.
func joinMoments(p *sweep.Pass, at []timeline.Time) (*moments, *sweep.Pass) {
	m := &moments{pass: p, gs: p.Goroutines(), at: at, end: len(at) == 1 && at[0] == math.MaxInt64}
	p.Join(m)
	return m, p
}

// moments collects what goroutines do at instants.
type moments struct {
	pass    *sweep.Pass
	gs      *sweep.Goroutines
	at      []timeline.Time
	out     [][]Living
	parents []exectrace.GoID // by slot
	// begin is that of the generation, and first the first moment in it. Most of
	// a trace's goroutines are told of only when they do something, or at the end of
	// the generation: they have been there all the same.
	begin timeline.Time
	first int
	begun bool
	end   bool // only the end is asked for
	last  timeline.Time
	next  timeline.Time // up to when nothing is to be taken; before the first event, none
}

// finish takes the instants that lie behind the last event.
func (m *moments) finish() [][]Living {
	for len(m.out) < len(m.at) {
		m.snap(nil)
	}
	return m.out
}

// Kinds implements [sweep.Listener].
func (m *moments) Kinds() sweep.Kinds {
	if m.end {
		return sweep.Begun | sweep.Of(exectrace.KindSync)
	}
	return sweep.Of(exectrace.KindSync, exectrace.KindGoTransition)
}

// snap takes the goroutines as they were before an event, or are when it is nil.
func (m *moments) snap(e *exectrace.Event) {
	var now []Living
	m.gs.EachBefore(e, func(slot exectrace.Slot, g *sweep.Goroutine) { now = append(now, m.living(slot, g)) })
	m.out = append(m.out, now)
}

// living is a goroutine as it is.
func (m *moments) living(slot exectrace.Slot, g *sweep.Goroutine) Living {
	return Living{
		ID: g.ID, Parent: m.parents[slot], Creator: g.Creator, Name: g.Name,
		State: g.State, Reason: g.Reason, Since: g.Since, Older: g.Older && g.First, Stack: g.Last,
	}
}

// Event implements [sweep.Listener].
func (m *moments) Event(e *exectrace.Event) {
	m.last = e.Time
	if e.Kind == exectrace.KindGoTransition && e.From > exectrace.NotExist && e.Time <= m.next {
		return // most
	}
	if !m.begun {
		m.begun, m.begin = true, e.Time
	}
	for len(m.out) < len(m.at) && e.Time > max(m.at[len(m.out)], m.begin) {
		m.snap(e)
	}
	if m.next = math.MaxInt64; len(m.out) < len(m.at) {
		m.next = m.at[len(m.out)]
	}
	if e.Kind == exectrace.KindSync {
		if len(m.at) == len(m.out) {
			m.pass.Leave(m)
			return
		}
		m.begin, m.first = e.Time, len(m.out)
	}
	if e.Kind != exectrace.KindGoTransition || e.From > exectrace.NotExist {
		return
	}
	for int(e.SubjectSlot) >= len(m.parents) {
		m.parents = append(m.parents, exectrace.NoGoroutine)
	}
	m.parents[e.SubjectSlot] = exectrace.NoGoroutine
	if e.From == exectrace.NotExist {
		m.parents[e.SubjectSlot] = e.G
		return
	}
	if !m.gs.Is.Alive() {
		return
	}
	for i := m.first; i < len(m.out); i++ {
		m.out[i] = append(m.out[i], m.living(e.SubjectSlot, m.gs.Is))
	}
}
