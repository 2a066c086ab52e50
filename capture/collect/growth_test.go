package collect

import (
	"testing"
	"time"
)

// TestGrowth: a tick of the kernel between two readings that follow closely is no
// rate of ten CPUs, and a sum that is told every few seconds does not grow in one of
// them.
func TestGrowth(t *testing.T) {
	var g growth
	start := time.Now()
	f := func(after time.Duration, sum, want float64, known bool) {
		t.Helper()
		if got, ok := g.add(sum, start.Add(after)); ok != known || got-want > 1e-9 || want-got > 1e-9 {
			t.Errorf("%v after %v: %v, %v, want %v, %v", sum, after, got, ok, want, known)
		}
	}
	f(0, 5, 0, false)
	f(time.Second, 6, 1, true)
	f(1001*time.Millisecond, 6.01, 1, true) // 10 CPUs, says the clock
	f(2*time.Second, 6.5, 0.5, true)
	f(2*time.Second, 6.5, 0.5, true) // the same line once more
	f(4*time.Second, 7.5, 0.5, true)
	f(5*time.Second, 1, 0, false) // another process
}
