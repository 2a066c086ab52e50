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
// instant have happened. Those who no longer want to know say so by stop, which
// may be nil: then there are fewer moments than instants.
//
// Note: every generation tells all states anew, so that a reader could begin
// with that of the instant; but it would not know why and since when they wait.
func Moments(t *exectrace.Trace, at []timeline.Time, stop func() bool) (*exectrace.Reader, [][]Living, error) {
	r := t.Reader()
	var out [][]Living
	var all []Living // by slot; the state NotExist marks an empty one
	snap := func() {
		var now []Living
		for i := range all {
			if all[i].State != exectrace.NotExist {
				now = append(now, all[i])
			}
		}
		out = append(out, now)
	}
	for n := 0; len(out) < len(at) && r.Next(); n++ {
		if n&0xffff == 0xffff && stop != nil && stop() {
			return r, out, nil
		}
		e := r.Event()
		for len(out) < len(at) && e.Time > at[len(out)] {
			snap()
		}
		if e.Kind != exectrace.KindGoTransition || e.SubjectSlot == exectrace.NoSlot {
			continue
		}
		for int(e.SubjectSlot) >= len(all) {
			all = append(all, Living{State: exectrace.NotExist})
		}
		all[e.SubjectSlot].follow(r, e)
	}
	if err := r.Err(); err != nil {
		return r, nil, err
	}
	for len(out) < len(at) {
		snap()
	}
	return r, out, nil
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
