package stats

import (
	"math"
	"testing"
)

func TestBinomialTail(t *testing.T) {
	f := func(k, n int, p, want float64) {
		t.Helper()
		if got := BinomialTail(k, n, p); math.Abs(got-want) > 1e-9 {
			t.Errorf("BinomialTail(%d, %d, %v) = %v, want %v", k, n, p, got, want)
		}
	}
	f(0, 10, 0.5, 1)
	f(1, 1, 0.25, 0.25)
	f(2, 2, 0.5, 0.25)
	f(1, 2, 0.5, 0.75)
	f(8, 10, 0.5, 56.0/1024)
	f(1, 200, 0.01, 1-math.Pow(0.99, 200))
	f(3, 2, 0.5, 0)
	f(1, 5, 0, 0)
	f(5, 5, 1, 1)
}
