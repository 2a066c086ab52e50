package sched

import (
	"testing"

	"loupe/format/exectrace"
)

// TestWired: a thread that has run one goroutine alone, often, is that one's; one that has run
// others too is nobody's.
func TestWired(t *testing.T) {
	a := &analyzer{}
	start := func(m exectrace.ThreadID, g int64, n int) {
		for range n {
			a.wires.started(&exectrace.Event{M: m, Subject: g, SubjectSlot: exectrace.Slot(g)})
		}
	}
	for range 2000 {
		start(1, 7, 1) // locked to it
		start(2, 8, 1)
		start(2, 9, 1)
	}
	start(3, 10, leastWired-1)
	got := a.wired()
	if len(got) != 1 || got[0].G != 7 || got[0].Starts != 2000 {
		t.Errorf("%+v, want goroutine 7 alone, 2000 times", got)
	}
}
