package compare

import (
	"math"
	"testing"
)

// The expected values are those of printed tables, or of sums that fit on a
// line.
func TestDistributions(t *testing.T) {
	f := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-4*math.Abs(want) {
			t.Errorf("%s is %.8g, want %.8g", what, got, want)
		}
	}
	f("I(0.5; 2, 3)", betaShare(0.5, 2, 3), 0.6875)
	f("I(0.9; 2, 3)", betaShare(0.9, 2, 3), 0.9963)
	f("I(0.5; 500, 500)", betaShare(0.5, 500, 500), 0.5)
	f("t(10) at 95 %", studentQuantile(0.95, 10), 2.228139)
	f("t(1) at 95 %", studentQuantile(0.95, 1), 12.7062)
	f("t(1000) at 95 %", studentQuantile(0.95, 1000), 1.962339)
	f("p of t(4) = 2.776445", studentP(2.776445, 4), 0.05)
	// 8 of 10 at one half: 2·(P(X>8) + P(X=8)/2) = 2·(11 + 22.5)/1024.
	f("8 of 10", middleP(8, 10, 0.5), 2*(11+22.5)/1024)
	f("2 of 10", middleP(2, 10, 0.5), 2*(11+22.5)/1024)
	f("5 of 10", middleP(5, 10, 0.5), 1)
	f("0 of 10", middleP(0, 10, 0.5), 1.0/1024)
	f("10 of 10", middleP(10, 10, 0.5), 1.0/1024)
	f("0 of 0", middleP(0, 0, 0.5), 1)
	f("digamma(1)", digamma(1), -0.5772156649)
	f("digamma(2.5)", digamma(2.5), 0.7031566406)
	f("trigamma(1)", trigamma(1), math.Pi*math.Pi/6)
	f("trigamma(0.5)", trigamma(0.5), math.Pi*math.Pi/2)
	f("inverse trigamma", inverseTrigamma(trigamma(3.7)), 3.7)
}

func TestCountDifference(t *testing.T) {
	// 100 and 140 observations of 10 each.
	i, p := countDifference(estimate{value: 1000, variance: 1e4}, estimate{value: 1400, variance: 1.4e4})
	if i.Estimate != 400 || i.Low < 85 || i.Low > 105 || i.High < 695 || i.High > 715 {
		t.Errorf("100 and 140: %+v, want 400 with about ±304", i)
	}
	if p < 0.008 || p > 0.012 {
		t.Errorf("100 and 140: p = %g, want about 0.01", p)
	}
	// Nothing and 20 observations: the other side bounds what was missed.
	i, p = countDifference(estimate{weight: 10}, estimate{value: 200, variance: 2000})
	if i.Low < 100 || i.Low > 160 || p > 1e-5 {
		t.Errorf("0 and 20: %+v, p = %g", i, p)
	}
	i, p = countDifference(estimate{}, estimate{})
	if i.Estimate != 0 || i.Low != 0 || i.High != 0 || p != 1 {
		t.Errorf("nothing and nothing: %+v, p = %g", i, p)
	}
}

func TestShareDifference(t *testing.T) {
	share := func(k, n float64) estimate {
		s := k / n
		return estimate{value: s, variance: s * (1 - s) / n, weight: 1 / n}
	}
	// Newcombe (1998), method 10: 56/70 and 48/80.
	i, _ := shareDifference(share(48, 80), share(56, 70))
	if math.Abs(i.Low-0.0524) > 2e-4 || math.Abs(i.High-0.3339) > 2e-4 {
		t.Errorf("56/70 - 48/80: %+v, want 0.0524 to 0.3339", i)
	}
	if _, p := shareDifference(share(80, 80), share(70, 70)); p != 1 {
		t.Errorf("all and all: p = %g, want 1", p)
	}
	if i, p := shareDifference(share(0, 100), share(30, 100)); p > 1e-6 || i.Low < 0.2 {
		t.Errorf("0/100 and 30/100: %+v, p = %g", i, p)
	}
}

func TestRunsDifference(t *testing.T) {
	// The variances of the means are 5/12 and 4/3, so that t is 11.5/√1.75 with
	// 1.75²/((5/12)²/3+(4/3)²/2) = 3.2347 degrees of freedom.
	i, p := runsDifference([]float64{1, 2, 3, 4}, []float64{12, 14, 16}, 0, 0)
	half := studentQuantile(0.95, 3.234708) * math.Sqrt(1.75)
	if i.Estimate != 11.5 || math.Abs(i.Low-(11.5-half)) > 1e-4 || math.Abs(p-studentP(11.5/math.Sqrt(1.75), 3.234708)) > 1e-6 {
		t.Errorf("%+v, p = %g", i, p)
	}
	// The floor is the variance of the mean that sampling alone makes.
	wide, _ := runsDifference([]float64{10, 10, 10}, []float64{12, 12, 12}, 1, 1)
	if wide.Contains(0) == false {
		t.Errorf("runs that are alike by luck: %+v, want an interval with 0", wide)
	}
	if _, p := runsDifference([]float64{10, 10, 10}, []float64{12, 12, 12}, 0, 0); math.Abs(p-0.1) > 1e-9 {
		t.Errorf("no spread at all: p = %g, want 0.1 of the ranks", p)
	}
	if _, p := runsDifference([]float64{10, 10}, []float64{10, 10}, 0, 0); p != 1 {
		t.Errorf("the same: p = %g, want 1", p)
	}
}
