package insight

import (
	"testing"

	"loupe/analysis/facts"
)

// TestTakenByOthers: a machine that others had most of is no place to judge how long collections take; one that the program itself keeps busy is, and one
// with CPUs to spare.
func TestTakenByOthers(t *testing.T) {
	for want, noise := range map[bool][]facts.Noise{
		true:  {{Busy: 0.98, Competing: 0.7, Own: 0.25}},
		false: {{Busy: 0.98, Competing: 0.1, Own: 0.85}, {Busy: 0.7, Competing: 0.6, Own: 0.1}, {}},
	} {
		for _, n := range noise {
			if got := takenByOthers(&n); got != want {
				t.Errorf("%+v: %v", n, got)
			}
		}
	}
}
