package facts

import (
	"slices"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/value/timeline"
)

// LiveReadings returns what collections in a span have found alive, in bytes: one reading of each
// collection that the samples tell apart. Where collections are not counted, those that found
// as much as the one before are not seen.
func LiveReadings(set *metrics.Set, span timeline.Span) timeline.Series {
	return eachCollection(set, span, set.Series("/gc/heap/live:bytes").In(span), 1)
}

// eachCollection takes one reading of each collection from all that were sampled, each times a share.
func eachCollection(set *metrics.Set, span timeline.Span, all timeline.Series, share float64) (live timeline.Series) {
	counts := map[timeline.Time]float64{}
	for _, name := range cycleCounts {
		s := set.Series(name).In(span)
		for i, at := range s.Times {
			counts[at] = max(counts[at], s.Values[i])
		}
	}
	last := 0.0
	for i, v := range all.Values {
		v *= share
		n, count := len(live.Values), counts[all.Times[i]]
		if v > 0 && (n == 0 || v != live.Values[n-1] || count > last) {
			live.Times, live.Values = append(live.Times, all.Times[i]), append(live.Values, v)
		}
		last = max(last, count)
	}
	return live
}

// HeapSeries returns, of samples of the runtime, the size of the heap in a span, what each
// collection has found alive, in bytes, and how many collections ran.
func HeapSeries(set *metrics.Set, bare timeline.Span) (size, live timeline.Series, cycles float64) {
	for _, name := range []string{"/memory/classes/heap/objects:bytes", "memstats.HeapAlloc"} {
		if size = set.Series(name).In(bare); len(size.Values) > 0 {
			break
		}
	}
	if live = LiveReadings(set, bare); len(live.Values) == 0 {
		goals := set.Series("memstats.NextGC").In(bare)
		live = eachCollection(set, bare, goals, liveShare(goals, size))
	}
	for _, name := range cycleCounts {
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

// LongestRun is the process that was recorded for the longest, and when.
func LongestRun(m *recording.Manifest) (run int, span timeline.Span) {
	for _, p := range m.Phases {
		one := timeline.Span{Start: p.Span.Start, End: p.Span.End}
		for _, o := range m.Phases {
			if o.Run == p.Run {
				one.Start, one.End = min(one.Start, o.Span.Start), max(one.End, o.Span.End)
			}
		}
		if one.Len() > span.Len() {
			run, span = max(0, p.Run), one
		}
	}
	return run, span
}
