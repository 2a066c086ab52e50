package heap

import (
	"errors"
	"testing"
)

// TestPace: what is told never falls, ends at the end, and an error ends the pass.
func TestPace(t *testing.T) {
	var told []float64
	gone := errors.New("nobody waits")
	end := 1.0
	b := &budget{step: func(done float64) error {
		told = append(told, done)
		if done >= end {
			return gone
		}
		return nil
	}}
	const all = 10 * stride
	p := b.pace(0.5, 0.9, all)
	for range all + 5*stride { // objects may be looked at twice
		if !p.next() {
			t.Fatal("it ended for no reason")
		}
	}
	for i := range told[1:] {
		if told[i+1] < told[i] {
			t.Errorf("after %g comes %g", told[i], told[i+1])
		}
	}
	if told[0] != 0.5 || told[len(told)-1] != 0.9 {
		t.Errorf("it tells %g to %g", told[0], told[len(told)-1])
	}
	end = 0.6
	p = b.pace(0.5, 0.9, all)
	n := 0
	for p.next() {
		n++
	}
	if p.err != gone || n > all/2 {
		t.Errorf("after %d objects: %v", n, p.err)
	}
	count := len(told)
	if p.next() || len(told) != count {
		t.Error("it asks again after it was told to end")
	}
}
