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
	for _, name := range []string{"/gc/heap/allocs:bytes", "memstats.TotalAlloc"} {
		s := set.Series(name).In(span)
		if n := len(s.Values); n >= 2 && s.Times[n-1] > s.Times[0] {
			return (s.Values[n-1] - s.Values[0]) / s.Times[n-1].Sub(s.Times[0]).Seconds()
		}
	}
	return math.NaN()
}
