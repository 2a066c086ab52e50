package tiles

import (
	"testing"

	"loupe/format/exectrace"
)

// TestMachines takes a P from one thread to another without a builder, and wants
// what is counted of them.
func TestMachines(t *testing.T) {
	l := newLanes(&Options{})
	x := &l.machines
	e := exectrace.Event{Kind: exectrace.KindProcTransition, Subject: 2, M: 7, From: exectrace.Undetermined, To: exectrace.Running}
	x.transition(&e, 10, 4)
	if x.busyProcs.value != 1 || x.busyMs.value != 1 || x.procs[2].first != 4 {
		t.Errorf("one P runs since the sync at 4: %v Ps, %v Ms, since %d", x.busyProcs.value, x.busyMs.value, x.procs[2].first)
	}
	e.From, e.To = exectrace.Running, exectrace.Idle
	x.transition(&e, 20, 4)
	e.From, e.To, e.M = exectrace.Idle, exectrace.Running, 8
	x.transition(&e, 30, 4)
	if x.busyProcs.value != 1 || len(x.threads) != 2 || x.procs[2].thread.id != 8 {
		t.Errorf("thread 8 has it: %v Ps, %d threads, %+v", x.busyProcs.value, len(x.threads), x.procs[2].thread)
	}
	c := x.clone()
	x.forget(40)
	if x.procs[2].runs || x.busyMs.value != 0 || !c.procs[2].runs {
		t.Error("to forget is to take the P away, but not in a copy")
	}
}
