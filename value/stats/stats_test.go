package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tol)
	}
}

func TestQuantile(t *testing.T) {
	v := []float64{1, 2, 3, 4}
	near(t, "min", Quantile(v, 0), 1, 0)
	near(t, "median", Quantile(v, 0.5), 2.5, 0)
	near(t, "p90", Quantile(v, 0.9), 3.7, 1e-12)
	near(t, "max", Quantile(v, 1), 4, 0)
	near(t, "beyond", Quantile(v, 2), 4, 0)
	near(t, "unsorted median", Median([]float64{9, 1, 5}), 5, 0)
	if !math.IsNaN(Quantile(nil, 0.5)) {
		t.Error("the quantile of nothing is a number")
	}
}

func TestWilson(t *testing.T) {
	// Newcombe 1998, table I: 81 of 263, 15 of 148 and 0 of 20.
	i := Wilson(81, 263, 0.95)
	near(t, "low", i.Low, 0.2553, 5e-5)
	near(t, "high", i.High, 0.3662, 5e-5)
	i = Wilson(15, 148, 0.95)
	near(t, "low", i.Low, 0.0624, 5e-5)
	near(t, "high", i.High, 0.1605, 5e-5)
	i = Wilson(0, 20, 0.95)
	near(t, "low", i.Low, 0, 1e-12)
	near(t, "high", i.High, 0.1611, 5e-5)
	for n := 1.0; n < 2000; n++ {
		if all, none := Wilson(n, n, 0.95), Wilson(0, n, 0.95); all.High != 1 || none.Low != 0 {
			t.Fatalf("%g of %g are at most %v, 0 of them at least %v", n, n, all.High, none.Low)
		}
	}
	if i = Wilson(0, 0, 0.95); i.Low != 0 || i.High != 1 {
		t.Errorf("no trials give %v, want the whole range", i)
	}
}

func TestUDistribution(t *testing.T) {
	// Mann and Whitney 1947, table I, n = m = 5 and n = 3, m = 4.
	d := uDistribution(5, 5)
	near(t, "P(U<=0), 5 5", d[0], 0.004, 5e-4)
	near(t, "P(U<=2), 5 5", d[2], 0.016, 5e-4)
	near(t, "P(U<=12), 5 5", d[12], 0.500, 5e-4)
	near(t, "P(U<=25), 5 5", d[25], 1, 1e-12)
	d = uDistribution(3, 4)
	near(t, "P(U<=0), 3 4", d[0], 0.028, 1e-3)
	near(t, "P(U<=3), 3 4", d[3], 0.200, 1e-3)
}

func TestByRanks(t *testing.T) {
	slow := []float64{100, 101, 99, 102, 98}
	fast := []float64{200, 202, 198, 204, 196}
	r := Compare(Side{Values: slow}, Side{Values: fast}, 0.95)
	near(t, "ratio", r.Estimate, 2, 1e-9)
	near(t, "p", r.P, 2.0/252, 1e-9)
	near(t, "confidence", r.Confidence, 1-2*4.0/252, 1e-9)
	if r.Low < 1.9 || r.High > 2.1 || r.Low >= r.High {
		t.Errorf("interval [%v, %v], want a narrow one about 2", r.Low, r.High)
	}
	r = Compare(Side{Values: slow[:2]}, Side{Values: fast[:2]}, 0.95)
	near(t, "confidence with two runs a side", r.Confidence, 1-2.0/6, 1e-9)
	r = Compare(Side{Values: slow}, Side{Values: slow}, 0.95)
	near(t, "ratio to itself", r.Estimate, 1, 1e-12)
	if r.P < 0.9 {
		t.Errorf("p of a set against itself = %v, want about 1", r.P)
	}
	if r = Compare(Side{Values: nil}, Side{Values: fast}, 0.95); r.P != 1 || !math.IsNaN(r.Estimate) {
		t.Errorf("comparing nothing gives %+v", r)
	}
}

// TestByRanksCoverage draws both sides from one distribution and counts
// how often the interval misses 1: no more often than it promises.
func TestByRanksCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4, 5, 8, 45} {
		missed, alarms := 0, 0
		const rounds = 4000
		confidence := 0.0
		for range rounds {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i], b[i] = math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64())
			}
			r := Compare(Side{Values: a}, Side{Values: b}, 0.95)
			confidence = r.Confidence
			if !r.Contains(1) {
				missed++
			}
			if r.P < 0.05 {
				alarms++
			}
		}
		// Four standard errors of a share of 5 % in 4,000.
		if got := float64(missed) / rounds; got > 1-confidence+0.014 {
			t.Errorf("n=%d: the interval misses in %.3f of rounds, promised %.3f", n, got, 1-confidence)
		}
		if got := float64(alarms) / rounds; got > 0.05+0.014 {
			t.Errorf("n=%d: %.3f false alarms at 0.05", n, got)
		}
	}
}

func TestMannKendall(t *testing.T) {
	tau, p := MannKendall([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	near(t, "tau", tau, 1, 0)
	near(t, "p", p, 8.3e-5, 1e-5)
	tau, p = MannKendall([]float64{5, 5, 5, 5, 5})
	near(t, "tau of a constant", tau, 0, 0)
	near(t, "p of a constant", p, 1, 0)
	if _, p = MannKendall([]float64{1, 9}); p != 1 {
		t.Errorf("two values give p = %v, want 1", p)
	}
}

func TestTheilSen(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	y := []float64{1, 3, 5, 7, 900, 11, 13, 15, 17, 19} // one outlier
	s := TheilSen(x, y, 0.95)
	near(t, "slope", s.Estimate, 2, 1e-12)
	if !s.Contains(2) {
		t.Errorf("interval %v does not hold the slope", s)
	}
	if s = TheilSen([]float64{1, 1}, []float64{2, 3}, 0.95); !math.IsNaN(s.Estimate) {
		t.Errorf("slope over one x = %v, want NaN", s.Estimate)
	}
	long := make([]float64, 20000)
	for i := range long {
		long[i] = float64(i)
	}
	near(t, "slope of a long series", TheilSen(long, long, 0.95).Estimate, 1, 1e-12)
}

func ExampleCompare() {
	slow := []float64{1880, 1905, 1863, 1892, 1871}
	fixed := []float64{3631, 3598, 3660, 3615, 3642}
	r := Compare(Side{Values: slow}, Side{Values: fixed}, 0.95)
	fmt.Printf("×%.2f [%.2f, %.2f] at %.0f%%, p=%.3f\n", r.Estimate, r.Low, r.High, 100*r.Confidence, r.P)
	// Output: ×1.93 [1.90, 1.95] at 97%, p=0.008
}
