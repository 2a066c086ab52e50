package collect

import (
	"testing"
	"time"
)

// TestDidOtherWork: user times that are far from each other tell of other work, unless both are small.
func TestDidOtherWork(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		first, later time.Duration
		want         bool
	}{
		{3000 * ms, 300 * ms, true},
		{300 * ms, 3000 * ms, true},
		{1000 * ms, 560 * ms, false},
		{152 * ms, 42 * ms, false}, // the start of the program
		{260 * ms, 0, true},
	} {
		if got := didOtherWork(c.first, c.later); got != c.want {
			t.Errorf("%v and %v: %v", c.first, c.later, got)
		}
	}
}
