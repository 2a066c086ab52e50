package sched

import (
	"loupe/exectrace"
	"loupe/stack"
	"loupe/timeline"
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
	m := moments{r: t.Reader(), at: at}
	for n := 0; !m.done && m.r.Next(); n++ {
		if n&0xffff == 0xffff && stop != nil && stop() {
			return m.r, m.out, nil
		}
		m.event(m.r.Event())
	}
	if err := m.r.Err(); err != nil {
		return m.r, nil, err
	}
	for len(m.out) < len(at) {
		m.snap()
	}
	return m.r, m.out, nil
}

// moments collects what goroutines do at instants.
type moments struct {
	r   *exectrace.Reader
	at  []timeline.Time
	out [][]Living
	all []Living // by slot; the state NotExist marks an empty one
	// begin is that of the generation, and first the first moment in it. Most of
	// a trace's goroutines are told of only when they do something, or at the end of
	// the generation: they have been there all the same.
	begin timeline.Time
	first int
	begun bool
	done  bool
}

func (m *moments) snap() {
	var now []Living
	for i := range m.all {
		if m.all[i].State != exectrace.NotExist {
			now = append(now, m.all[i])
		}
	}
	m.out = append(m.out, now)
}

func (m *moments) event(e *exectrace.Event) {
	if !m.begun {
		m.begun, m.begin = true, e.Time
	}
	for len(m.out) < len(m.at) && e.Time > max(m.at[len(m.out)], m.begin) {
		m.snap()
	}
	if e.Kind == exectrace.KindSync {
		m.done = len(m.at) == len(m.out)
		m.begin, m.first = e.Time, len(m.out)
	}
	if m.done || e.Kind != exectrace.KindGoTransition || e.SubjectSlot == exectrace.NoSlot {
		return
	}
	for int(e.SubjectSlot) >= len(m.all) {
		m.all = append(m.all, Living{State: exectrace.NotExist})
	}
	l := &m.all[e.SubjectSlot]
	l.follow(m.r, e)
	if e.From != exectrace.Undetermined {
		return
	}
	l.Since = m.begin
	if e.To == exectrace.NotExist {
		return
	}
	for i := m.first; i < len(m.out); i++ {
		m.out[i] = append(m.out[i], *l)
	}
}

// follow takes a goroutine into its next state.
func (l *Living) follow(r *exectrace.Reader, e *exectrace.Event) {
	switch e.From {
	case exectrace.Undetermined:
		*l = Living{ID: e.Goroutine(), Parent: exectrace.NoGoroutine, Older: true}
	case exectrace.NotExist:
		*l = Living{ID: e.Goroutine(), Parent: e.G, Creator: e.Stack}
	case e.To:
		if e.SubjectStack != 0 { // a new generation tells what is known, and where
			l.Stack = e.SubjectStack
		}
		return
	default:
		l.Older = false
	}
	if l.Name == exectrace.NameNone && e.SubjectStack != 0 {
		l.Name = r.Root(e.SubjectStack)
	}
	l.State, l.Since, l.Reason = e.To, e.Time, e.Name
	switch {
	case e.To == exectrace.Running:
		l.Stack = 0
	case e.SubjectStack != 0:
		l.Stack = e.SubjectStack
	}
}
