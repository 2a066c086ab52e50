package leak

import (
	"math"
	"math/rand/v2"
	"testing"
)

// heapOf draws what a heap profile of a sample each 512 KiB shows of objects of a size: each is
// seen with a probability, when it comes, and for as long as it lives.
type heapOf struct {
	r            *rand.Rand
	size, period float64
}

func (h heapOf) seen() float64  { return -math.Expm1(-h.size / h.period) }
func (h heapOf) grain() float64 { return h.size / math.Expm1(h.size/h.period) }

// leaking are ten looks at what keeps rate bytes a second, beside base bytes that stay.
func (h heapOf) leaking(rate, length, base float64) Quantity {
	q := Quantity{Least: leastSampled}
	p := h.seen()
	sum, kept := base, 0
	for i := range 10 {
		t := length * float64(i) / 9
		for ; float64(kept)*h.size < rate*(t+1); kept++ {
			if h.r.Float64() < p {
				sum += h.size / p
			}
		}
		q.Times, q.Values = append(q.Times, t), append(q.Values, sum)
	}
	allocated := make([]float64, len(q.Values))
	for i, v := range q.Values {
		allocated[i] = v - base
	}
	q.sampled(allocated, h.grain())
	return q
}

// replacing are ten looks at a full cache of n entries, of which some are replaced from look to
// look, in turn.
func (h heapOf) replacing(n, each int) Quantity {
	q := Quantity{Least: leastSampled}
	p := h.seen()
	cache := make([]bool, n)
	in, allocated := 0, 0.0
	var all []float64
	put := func(i int) {
		if cache[i] {
			in--
		}
		if cache[i] = h.r.Float64() < p; cache[i] {
			in++
			allocated += h.size / p
		}
	}
	for i := range cache {
		put(i)
	}
	for look, next := 0, 0; look < 10; look++ {
		for range each {
			put(next % n)
			next++
		}
		q.Times, q.Values = append(q.Times, 3*float64(look)), append(q.Values, float64(in)*h.size/p)
		all = append(all, allocated)
	}
	q.sampled(all, h.grain())
	return q
}

// TestSampledInterval: the interval of a rate has the truth in it as often as it says, although
// the values of a sampled heap are a random walk.
func TestSampledInterval(t *testing.T) {
	for _, c := range []struct{ rate, length, size float64 }{
		{160 << 10, 27, 16 << 10}, {320 << 10, 27, 16 << 10}, {1 << 20, 27, 32 << 10}, {160 << 10, 120, 16 << 10}, {1 << 20, 120, 32 << 10}, {4 << 20, 60, 512 << 10},
	} {
		const draws = 200
		holds, wide := 0, 0.0
		for i := range uint64(draws) {
			q := heapOf{rand.New(rand.NewPCG(i, 7)), c.size, 512 << 10}.leaking(c.rate, c.length, 2<<20)
			r := q.Sampling.rise
			if r[0] <= c.rate && c.rate <= r[2] {
				holds++
			}
			wide += (r[2] - r[0]) / c.rate / draws
		}
		t.Logf("%.0f KiB a second for %.0f s, objects of %.0f KiB: in %.1f %% of the intervals, which are %.0f %% of it wide", c.rate/1024, c.length, c.size/1024, 100*float64(holds)/draws, 100*wide)
		if holds < draws*90/100 || holds > draws*995/1000 {
			t.Errorf("%v: %d of %d intervals hold the truth", c, holds, draws)
		}
	}
}

// TestReplacingCache: a full cache that replaces its entries does not leak, however few of them
// the profile has seen.
func TestReplacingCache(t *testing.T) {
	for _, c := range []struct {
		n, each int
		size    float64
	}{{2000, 100, 32 << 10}, {2000, 1500, 32 << 10}, {20000, 500, 32 << 10}, {100_000, 2000, 4 << 10}, {5000, 100, 256 << 10}} {
		const draws = 200
		wrong, open := 0, 0
		for i := range uint64(draws) {
			switch judge(heapOf{rand.New(rand.NewPCG(i, 11)), c.size, 512 << 10}.replacing(c.n, c.each), 10).Shape {
			case Grows:
				wrong++
			case Steady, Levelled, Returned:
			default:
				open++
			}
		}
		t.Logf("%d entries, %d of them replaced from look to look: %d grow, %d are open", c.n, c.each, wrong, open)
		if wrong > draws*2/100 || open > draws*10/100 {
			t.Errorf("%v: %d of %d grow, %d are open", c, wrong, draws, open)
		}
	}
}
