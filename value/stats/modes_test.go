package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTwoModes(t *testing.T) {
	f := func(values []float64, low, high int) {
		t.Helper()
		a, b, ok := TwoModes(values)
		if ok != (low > 0) || len(a) != low || len(b) != high {
			t.Errorf("TwoModes(%v) = %v, %v, %v; want %d and %d", values, a, b, ok, low, high)
		}
	}
	f([]float64{10, 20, 10.1, 20.2, 10.2, 20.1, 10, 20, 10.1, 20}, 5, 5)
	f([]float64{10, 10.1, 10.2, 10, 10.1, 20, 20.1, 20.2}, 5, 3)
	f([]float64{10, 10.1, 10.2, 10, 10.1, 10, 10.1, 20}, 0, 0) // one outlier
	f([]float64{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, 0, 0)
	f([]float64{10, 10, 10, 10, 10, 10.1, 10.1, 10.1, 10.1, 10.1}, 0, 0) // 1% apart
	f([]float64{5, 5, 5, 5, 5, 5, 5, 5}, 0, 0)
	f([]float64{10, 20, 10, 20}, 0, 0)
	f(nil, 0, 0)
}

// TestTwoModesChance holds how often it finds two modes where there is one.
func TestTwoModesChance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() float64{
		"normal":      func() float64 { return 100 + 10*rnd.NormFloat64() },
		"uniform":     func() float64 { return 100 + 10*rnd.Float64() },
		"exponential": func() float64 { return 100 + 10*rnd.ExpFloat64() },
		"log-normal":  func() float64 { return 100 * math.Exp(rnd.NormFloat64()) },
	} {
		for _, n := range []int{8, 10, 20, 40} {
			const sets = 20000
			found := 0
			values := make([]float64, n)
			for range sets {
				for i := range values {
					values[i] = draw()
				}
				if _, _, ok := TwoModes(values); ok {
					found++
				}
			}
			t.Logf("%s, %d values: %d of %d", name, n, found, sets)
			if limit := sets * 2 / 1000; found > limit {
				t.Errorf("%s, %d values: two modes in %d of %d sets, want at most %d", name, n, found, sets, limit)
			}
		}
	}
}
