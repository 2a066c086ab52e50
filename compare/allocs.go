package compare

import (
	"math"

	"loupe/metrics"
	"loupe/timeline"
)

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
