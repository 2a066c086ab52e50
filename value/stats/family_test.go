package stats

import (
	"math"
	"testing"
)

func TestFalseDiscovery(t *testing.T) {
	q := FalseDiscovery([]float64{0.01, 0.04, 0.03, 0.5}, 0)
	for i, want := range []float64{0.04, 0.16 / 3, 0.16 / 3, 0.5} {
		if math.Abs(q[i]-want) > 1e-12 {
			t.Errorf("q[%d] = %g, want %g", i, q[i], want)
		}
	}
	if q := FalseDiscovery([]float64{0.01, 0.02}, 10); q[0] != 0.1 || q[1] != 0.1 {
		t.Errorf("of ten looks: %v, want 0.1 twice", q)
	}
}

func TestHolm(t *testing.T) {
	// The example of Holm (1979) has p of 0.01, 0.04, 0.03 and 0.005.
	for i, got := range Holm([]float64{0.01, 0.04, 0.03, 0.005}) {
		near(t, "adjusted p", got, []float64{0.03, 0.06, 0.06, 0.02}[i], 1e-12)
	}
}
