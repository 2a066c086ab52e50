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

// allocRate returns the bytes allocated in a second of the work: from
// runtime/metrics, or from the memory statistics in /debug/vars.
func allocRate(set *metrics.Set, work worked) float64 {
	for _, name := range allocatedBytes {
		if rate := work.rate(set, name); !math.IsNaN(rate) {
			return rate
		}
	}
	return math.NaN()
}

// allocatedBytes are the names under which allocated bytes are counted.
var allocatedBytes = []string{"/gc/heap/allocs:bytes", "memstats.TotalAlloc"}
