package facts

import (
	"slices"

	"loupe/format/metrics"
	"loupe/value/timeline"
)

// HeapSeries returns, of samples of the runtime, the size of the heap in a span, the live heap
// each time it was another one, in bytes, and how many collections ran.
func HeapSeries(set *metrics.Set, bare timeline.Span) (size timeline.Series, live []float64, cycles float64) {
	for _, name := range []string{"/memory/classes/heap/objects:bytes", "memstats.HeapAlloc"} {
		if size = set.Series(name).In(bare); len(size.Values) > 0 {
			break
		}
	}
	values, share := set.Series("/gc/heap/live:bytes").In(bare).Values, 1.0
	if len(values) == 0 {
		goals := set.Series("memstats.NextGC").In(bare)
		values, share = goals.Values, liveShare(goals, size)
	}
	for _, v := range values {
		if v *= share; v > 0 && (len(live) == 0 || v != live[len(live)-1]) {
			live = append(live, v)
		}
	}
	for _, name := range []string{"/gc/cycles/total:gc-cycles", "memstats.NumGC"} {
		if n := set.Delta(name, bare); n > 0 {
			cycles = n
		}
	}
	return size, live, cycles
}

// liveShare returns which share of its goal the live heap is, where only the goal is
// told: it follows the live heap by GOGC, which is not told either. Right after a
// collection the heap is little more than what lives, so that the smallest share
// that was seen is it, or nearly. Goals below half of the largest have no say, since a
// small heap may grow to 4 MiB whatever lives.
func liveShare(goals, size timeline.Series) float64 {
	if len(goals.Values) == 0 {
		return 1
	}
	share, enough := 1.0, slices.Max(goals.Values)/2
	for i, at := range goals.Times {
		k, ok := slices.BinarySearch(size.Times, at)
		if ok && goals.Values[i] >= enough && size.Values[k] > 0 {
			share = min(share, size.Values[k]/goals.Values[i])
		}
	}
	return share
}
