package exectrace

import (
	"testing"

	"loupe/value/timeline"
)

// TestPace wants each time later than the one before, and no damaged time to move
// those behind it.
func TestPace(t *testing.T) {
	var told problems
	p := pace{last: 10, horizon: 100}
	for _, step := range []struct{ at, want timeline.Time }{{11, 11}, {11, 12}, {5, 13}, {101, 14}, {1 << 50, 15}, {20, 20}} {
		e := Event{Time: step.at}
		if !p.stamp(&e, &told) || e.Time != step.want {
			t.Errorf("an event at %d is told at %d, want %d", step.at, e.Time, step.want)
		}
	}
	if len(told.list) != 1 {
		t.Errorf("%d problems, want one for both times that cannot be", len(told.list))
	}
	strict := problems{strict: true}
	if p.begin(50); p.stamp(&Event{Time: 51}, &strict) || strict.err == nil {
		t.Error("a strict reading goes on behind a time that cannot be")
	}
}

// TestBridges wants a wake-up to be possible of a goroutine that was never seen.
func TestBridges(t *testing.T) {
	var told problems
	s := newSymbols(&told)
	o := output{symbols: &s, ev: new(Event)}
	var w program
	w.forget()
	w.begin()
	c := &cursor{op: evGoUnblock, args: [maxArgs]uint64{7, 3}, m: w.machines.of(1)}
	if got := w.advance(&o, c); got != blocked {
		t.Fatalf("waking goroutine 7, which is not known: %v", got)
	}
	var b bridges
	b.build(&w, c)
	if len(b) != 1 || b[0].Goroutine() != 7 || b[0].To != Waiting || !b[0].Bridged() {
		t.Fatalf("bridges %v", b)
	}
	if got := w.advance(&o, c); got != advanced || o.ev.To != Runnable {
		t.Fatalf("behind the bridge: %v, to %v", got, o.ev.To)
	}
}
