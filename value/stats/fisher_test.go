package stats

import (
	"math"
	"testing"
)

func TestFisher(t *testing.T) {
	f := func(k, drawn, marked, all int, want float64) {
		t.Helper()
		if got := Fisher(k, drawn, marked, all); math.Abs(got-want) > 1e-9*max(1, want) {
			t.Errorf("Fisher(%d, %d, %d, %d) = %v, want %v", k, drawn, marked, all, got, want)
		}
	}
	f(0, 5, 5, 10, 1)
	f(3, 4, 4, 8, 17.0/70) // the lady that tastes tea
	f(4, 4, 4, 8, 1.0/70)
	f(5, 4, 4, 8, 0)
	f(2, 9, 3, 10, 1) // fewer cannot be
	f(1, 1, 1, 1_000_000, 1e-6)
}
