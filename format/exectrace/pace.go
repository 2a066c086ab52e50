package exectrace

import (
	"fmt"
	"math"

	"loupe/value/timeline"
)

const maxTime = timeline.Time(math.MaxInt64)

// pace lets time pass: no two events have the same.
type pace struct {
	last    timeline.Time
	horizon timeline.Time // no event of the generation can be later
	late    bool          // a time beyond the horizon was told
}

// begin is the begin of a generation.
func (t *pace) begin(horizon timeline.Time) { t.horizon, t.late = horizon, false }

// stamp makes the time of an event later than that of the one before.
func (t *pace) stamp(e *Event, p *problems) bool {
	if at := e.Time; at <= t.last || at > t.horizon {
		t.move(e, p)
	}
	t.last = e.Time
	return p.err == nil
}

// move gives an event another time. One whose time cannot be is put right behind
// the one before: without that one damaged byte would move all later events of the
// trace.
func (t *pace) move(e *Event, p *problems) {
	if e.Time > t.last && !t.late {
		t.late = true
		p.tell(-1, fmt.Sprintf("an event of thread %d at %v, which is long after the end of its generation; it is told right after the one before", e.M, e.Time))
	}
	e.Time = t.last + 1
}
