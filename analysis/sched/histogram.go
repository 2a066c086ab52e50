package sched

import (
	"math/bits"
	"time"
)

// Histogram counts durations in classes that grow by a quarter of a power of
// two, so that a quantile is right within 19 %.
type Histogram struct {
	Count int64
	Sum   time.Duration
	Min   time.Duration // 0 when there are none
	Max   time.Duration
	class [256]uint32
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	if h.Count == 0 || d < h.Min {
		h.Min = d
	}
	h.Count++
	h.Sum += d
	h.Max = max(h.Max, d)
	h.class[classOf(d)]++
}

// Merge adds what another histogram has counted.
func (h *Histogram) Merge(o *Histogram) {
	if h.Count == 0 || o.Count > 0 && o.Min < h.Min {
		h.Min = o.Min
	}
	h.Count += o.Count
	h.Sum += o.Sum
	h.Max = max(h.Max, o.Max)
	for c, n := range o.class {
		h.class[c] += n
	}
}

// Class is the number of the class that a duration is counted in: longer ones have
// higher numbers.
func Class(d time.Duration) int { return classOf(max(d, 0)) }

// classOf is four classes for each power of two: below 4 ns each nanosecond.
func classOf(d time.Duration) int {
	v := uint64(d)
	if v < 4 {
		return int(v)
	}
	n := bits.Len64(v) - 1
	return 4*(n-1) + int(v>>(n-2)&3)
}

// lower is the shortest duration of a class.
func lower(class int) time.Duration {
	if class < 4 {
		return time.Duration(class)
	}
	n := class/4 + 1
	return time.Duration(uint64(4+class%4) << (n - 2))
}

// Quantile returns the duration below which the share q of all lie: the middle
// of its class, within the shortest and the longest. The first and the last of all
// are exact, and with them every quantile of one or two durations.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count == 0 {
		return 0
	}
	rank := int64(q * float64(h.Count))
	switch {
	case rank <= 0:
		return h.Min
	case rank >= h.Count-1:
		return h.Max
	}
	for c, n := range h.class {
		if rank -= int64(n); rank < 0 {
			return max(h.Min, min(h.Max, lower(c)+(lower(c+1)-lower(c))/2))
		}
	}
	return h.Max
}

// Mean returns the mean duration.
func (h *Histogram) Mean() time.Duration {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.Count)
}

// Below returns the share of the durations that are shorter than d.
func (h *Histogram) Below(d time.Duration) float64 {
	if h.Count == 0 {
		return 0
	}
	var n int64
	for _, k := range h.class[:classOf(d)] {
		n += int64(k)
	}
	return float64(n) / float64(h.Count)
}

// Classes iterates over the classes that hold anything: the shortest duration
// of the class, the shortest of the next one, and how many are in it.
func (h *Histogram) Classes() func(yield func(from, to time.Duration, n int) bool) {
	return func(yield func(from, to time.Duration, n int) bool) {
		for c, n := range h.class {
			if n > 0 && !yield(lower(c), lower(c+1), int(n)) {
				return
			}
		}
	}
}
