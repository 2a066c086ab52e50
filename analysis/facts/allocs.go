package facts

import (
	"math"

	"loupe/format/metrics"
	"loupe/value/timeline"
)

// cycleCounts are the names under which collections are counted.
var cycleCounts = []string{"/gc/cycles/total:gc-cycles", "memstats.NumGC"}

// collections returns how many collections ended within a span, to within one
// sample on either side.
func collections(set *metrics.Set, span timeline.Span) float64 {
	for _, name := range cycleCounts {
		if n := set.Delta(name, span); !math.IsNaN(n) {
			return n
		}
	}
	return math.NaN()
}

// everCollected tells whether there was any collection at all since the start.
func everCollected(set *metrics.Set) bool {
	for _, name := range cycleCounts {
		if v := set.Series(name).Values; len(v) > 0 && v[len(v)-1] > 0 {
			return true
		}
	}
	return false
}

// allocRate returns the bytes allocated a second within a span: from
// runtime/metrics, or from the memory statistics in /debug/vars.
func allocRate(set *metrics.Set, span timeline.Span) float64 {
	for _, name := range allocatedBytes {
		if rate := rateOf(set, name, span); !math.IsNaN(rate) {
			return rate
		}
	}
	return math.NaN()
}

// allocatedBytes are the names under which allocated bytes are counted.
var allocatedBytes = []string{"/gc/heap/allocs:bytes", "memstats.TotalAlloc"}

// rateOf is by how much a counter grows in a second of a span; NaN where fewer than two
// samples tell of it.
func rateOf(set *metrics.Set, name string, span timeline.Span) float64 {
	s := set.Series(name).In(span)
	if n := len(s.Values); n >= 2 && s.Times[n-1] > s.Times[0] {
		return (s.Values[n-1] - s.Values[0]) / s.Times[n-1].Sub(s.Times[0]).Seconds()
	}
	return math.NaN()
}
