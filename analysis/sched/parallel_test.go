package sched

import (
	"testing"

	"loupe/value/timeline"
)

// TestInForce: GOMAXPROCS is what held for most of the time that is judged, and
// a P that was taken away is not idle.
func TestInForce(t *testing.T) {
	p := &parallelism{}
	p.start(0)
	set := func(at timeline.Time, n int) {
		p.changeMax(at, n)
		p.out.Procs = max(p.out.Procs, n)
	}
	set(0, 2)
	p.procs = 1
	set(1000, 1)
	p.runnable(2000, &track{system: true}, +1)
	p.end(1_000_000)
	if p.out.InForce != 1 || p.out.Procs != 2 {
		t.Errorf("in force %d, most %d, want 1 and 2", p.out.InForce, p.out.Procs)
	}
	if p.out.IdleWhileQueued != 0 {
		t.Errorf("a P that does not exist was idle for %v", p.out.IdleWhileQueued)
	}
}
