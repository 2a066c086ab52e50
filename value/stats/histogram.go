package stats

import (
	"math"
	"math/bits"
	"slices"
)

// subBits is the precision of a [Histogram]: every power of two is split into
// 2^subBits buckets.
const subBits = 7

// Histogram counts values of at least 0 in buckets whose width grows with the
// value: below 256 each value has a bucket of its own, above that a bucket is at
// most 1/128 of its values wide, so that a quantile is at most 0.4 % off (the
// middle of a bucket is reported). The zero value is empty and ready.
//
// Adding costs some nanoseconds and allocates only where a power of two is met
// for the first time. Histograms of several goroutines or seconds add up
// exactly; percentiles of percentiles do not (HdrHistogram has the same idea).
type Histogram struct {
	pages [64 - subBits][]uint64
	count uint64
	sum   float64
	min   int64
	max   int64
}

// bucket returns the page and the place in it of a value.
func bucket(v int64) (page, slot int) {
	u := uint64(v)
	if u < 2<<subBits {
		return int(u >> subBits), int(u & (1<<subBits - 1))
	}
	shift := bits.Len64(u) - subBits - 1
	return shift + 1, int(u>>shift) & (1<<subBits - 1)
}

// bounds returns the smallest value of a bucket and how many it spans.
func bounds(page, slot int) (low, width int64) {
	if page < 2 {
		return int64(page<<subBits | slot), 1
	}
	shift := page - 1
	return int64(1<<subBits|slot) << shift, 1 << shift
}

// Add counts v; a negative v counts as 0.
func (h *Histogram) Add(v int64) {
	v = max(v, 0)
	page, slot := bucket(v)
	if h.pages[page] == nil {
		h.pages[page] = make([]uint64, 1<<subBits)
	}
	h.pages[page][slot]++
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.count++
	h.sum += float64(v)
}

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	for i, page := range o.pages {
		if page == nil {
			continue
		}
		if h.pages[i] == nil {
			h.pages[i] = slices.Clone(page)
			continue
		}
		for slot, n := range page {
			h.pages[i][slot] += n
		}
	}
	if h.count == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.count += o.count
	h.sum += o.sum
}

// Reset empties the histogram and keeps its memory.
func (h *Histogram) Reset() {
	for _, page := range h.pages {
		clear(page)
	}
	h.count, h.sum, h.min, h.max = 0, 0, 0, 0
}

// Count returns how many values were added.
func (h *Histogram) Count() uint64 { return h.count }

// Min returns the smallest value, exactly; 0 when there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the largest value, exactly; 0 when there is none.
func (h *Histogram) Max() int64 { return h.max }

// Mean returns the mean, exactly but for rounding; NaN when there is no value.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return math.NaN()
	}
	return h.sum / float64(h.count)
}

// Quantile returns the value below which a share q of the values lies, from 0
// to 1, by the nearest rank: the middle of that value's bucket, within Min and
// Max. It is 0 when there is no value.
func (h *Histogram) Quantile(q float64) int64 {
	if h.count == 0 {
		return 0
	}
	return h.at(Rank(q, h.count))
}

// QuantileBefore is [Histogram.Quantile] of the values and of so many others
// beyond, all of which are larger; ok is false where it is one of those.
func (h *Histogram) QuantileBefore(q float64, beyond uint64) (v int64, ok bool) {
	rank := Rank(q, h.count+beyond)
	if rank == 0 || rank > h.count {
		return 0, rank == 0
	}
	return h.at(rank), true
}

// Rank is the rank of the q-quantile among n values, counted from 1, by the
// nearest rank; 0 when there are none.
func Rank(q float64, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return min(max(uint64(math.Ceil(q*float64(n)-1e-9)), 1), n)
}

// at returns the middle of the bucket of a rank.
func (h *Histogram) at(rank uint64) int64 {
	switch rank {
	case 1:
		return h.min
	case h.count:
		return h.max
	}
	low, width, _ := h.find(rank)
	return min(max(low+width/2, h.min), h.max)
}

// find returns the bucket of the value of a rank, counted from 1, and how many
// values lie in the buckets before it.
func (h *Histogram) find(rank uint64) (low, width int64, before uint64) {
	for i, page := range h.pages {
		for slot, n := range page {
			if before+n >= rank {
				low, width = bounds(i, slot)
				return low, width, before
			}
			before += n
		}
	}
	return h.max, 1, h.count
}

// Range is the half-open range of values that share a bucket.
type Range struct{ Low, High int64 }

// rangeOf makes a range that does not run over the end of int64.
func rangeOf(low, width int64) Range {
	if low > math.MaxInt64-width {
		return Range{low, math.MaxInt64}
	}
	return Range{low, low + width}
}

// Bucket returns the bucket of the value of a rank, counted from 1, and how
// many values lie below it. Whoever has the values still can find the exact one
// with a second look at those in the bucket alone.
func (h *Histogram) Bucket(rank uint64) (r Range, below uint64) {
	low, width, below := h.find(rank)
	return rangeOf(low, width), below
}

// Buckets calls yield with every bucket that holds something, in ascending
// order, and how many values it holds.
func (h *Histogram) Buckets(yield func(Range, uint64) bool) {
	for i, page := range h.pages {
		for slot, n := range page {
			if n == 0 {
				continue
			}
			low, width := bounds(i, slot)
			if !yield(rangeOf(low, width), n) {
				return
			}
		}
	}
}
