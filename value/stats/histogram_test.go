package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loupe/value/stats"
)

// TestHistogram holds quantiles against those of the sorted values, for shapes
// with long tails and several modes.
func TestHistogram(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() float64{
		"small":     func() float64 { return float64(rnd.IntN(200)) },
		"lognormal": func() float64 { return math.Exp(rnd.NormFloat64()*2 + 12) },
		"bimodal": func() float64 {
			if rnd.IntN(100) == 0 {
				return 1e9 + rnd.Float64()*1e8
			}
			return 1e5 + rnd.Float64()*1e4
		},
		"huge": func() float64 { return rnd.Float64() * math.MaxInt64 },
	}
	for name, shape := range shapes {
		var whole, a, b stats.Histogram
		var values []int64
		for i := range 50000 {
			v := int64(shape())
			values = append(values, v)
			whole.Add(v)
			[]*stats.Histogram{&a, &b}[i%2].Add(v)
		}
		slices.Sort(values)
		a.Merge(&b)
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
			rank := max(1, int(math.Ceil(q*float64(len(values)))))
			want := values[rank-1]
			got := whole.Quantile(q)
			if off := math.Abs(float64(got - want)); off > 0.004*float64(want)+0.5 {
				t.Errorf("%s, %v: %d, want %d", name, q, got, want)
			}
			if a.Quantile(q) != got {
				t.Errorf("%s, %v: merged %d, whole %d", name, q, a.Quantile(q), got)
			}
			r, below := whole.Bucket(uint64(rank))
			n, _ := slices.BinarySearch(values, r.Low)
			if want < r.Low || want >= r.High || uint64(n) != below {
				t.Errorf("%s: rank %d, which is %d, is said to lie in %v with %d below", name, rank, want, r, below)
			}
		}
		if whole.Min() != values[0] || whole.Max() != values[len(values)-1] || whole.Count() != uint64(len(values)) || a.Count() != whole.Count() {
			t.Errorf("%s: %d values from %d to %d", name, whole.Count(), whole.Min(), whole.Max())
		}
		sum, last := uint64(0), int64(-1)
		for r, n := range whole.Buckets {
			if r.Low < last || r.High <= r.Low {
				t.Fatalf("%s: bucket %v after %d", name, r, last)
			}
			sum, last = sum+n, r.High
		}
		if sum != whole.Count() {
			t.Errorf("%s: the buckets hold %d of %d", name, sum, whole.Count())
		}
	}
}

func TestHistogramEmpty(t *testing.T) {
	var h stats.Histogram
	h.Merge(new(stats.Histogram))
	if h.Quantile(0.5) != 0 || !math.IsNaN(h.Mean()) || h.Max() != 0 {
		t.Error("an empty histogram has values")
	}
	h.Add(-5)
	h.Add(3)
	if h.Min() != 0 || h.Mean() != 1.5 {
		t.Errorf("from %d, mean %v", h.Min(), h.Mean())
	}
	h.Reset()
	if h.Count() != 0 || h.Quantile(1) != 0 {
		t.Error("there is something left")
	}
}

// TestHistogramAllocs: adding must not disturb what is measured.
func TestHistogramAllocs(t *testing.T) {
	var h stats.Histogram
	h.Add(1e6)
	if n := testing.AllocsPerRun(100, func() { h.Add(1e6 + 1) }); n != 0 {
		t.Errorf("Add allocates %v times, want 0", n)
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h stats.Histogram
	rnd := rand.New(rand.NewPCG(1, 2))
	values := make([]int64, 1<<12)
	for i := range values {
		values[i] = int64(math.Exp(rnd.NormFloat64() + 13))
	}
	for i := 0; b.Loop(); i++ {
		h.Add(values[i%len(values)])
	}
}
