package sched

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"time"

	"loupe/value/timeline"
)

// MMUCurve answers which part of the machine the program has at least, in any
// window of a given length: the minimum mutator utilisation (Cheng and
// Blelloch, "A parallel, real-time garbage collector", 2001). Its figures are
// those of internal/trace.MMUCurve, digit by digit.
//
// The mean utilisation of a window, as the window slides, is piecewise linear,
// and bends only where one of the window's edges meets a step. To look at all
// of these places is slow, so that each series is cut into bands. Of a band is
// known in no time below what no window that begins in it can fall; the bands
// are looked at from the lowest such bound up, until none can change the
// answer.
type MMUCurve struct {
	// Compat makes the answers those of internal/trace where it is wrong: MUD
	// leaves its search before it has looked at the distribution, so that every
	// quantile is the minimum; and as the bands together are up to a
	// microsecond longer than the trace, a window may reach beyond its end,
	// where nothing is left to the program.
	Compat bool

	series []mmuSeries
	fine   []mmuSeries // the same with more bands, see [fineBands]
	levels []utilLevel
}

// mmuSeries is one utilisation over time with its bands.
type mmuSeries struct {
	steps   []UtilStep
	sums    []float64 // by step: utilisation up to it, in ns
	bands   []mmuBand // one more than there are, for the sum at the end
	bandLen int64     // ns
}

// mmuBand sums up one band.
type mmuBand struct {
	low float64 // the lowest utilisation in it
	sum float64 // utilisation up to its left edge, in ns
	pos int     // the step at its left edge
}

const mmuBands = 1000

// fineBands is how many steps a band has where a distribution is asked for: nearly every
// hundredth of a trace has a stop of the world, so that of larger bands none can be left
// out. There are at most maxFineBands.
//
// Note: MMU and Examples keep to mmuBands, whose ties decide which examples are shown.
const (
	fineBands    = 16
	maxFineBands = 1 << 15
)

// NewMMUCurve prepares the curve of these utilisations, see [Mutator.Steps].
func NewMMUCurve(series [][]UtilStep) *MMUCurve {
	c := &MMUCurve{}
	for _, s := range series {
		if len(s) > 0 && s[len(s)-1].Time > s[0].Time { // else no window fits
			all := newMMUSeries(s)
			c.series = append(c.series, all.cut(mmuBands))
			c.fine = append(c.fine, all.cut(min(max(mmuBands, len(s)/fineBands), maxFineBands)))
		}
	}
	c.levels = utilLevels(c.series)
	return c
}

// newMMUSeries returns a series without bands.
func newMMUSeries(steps []UtilStep) mmuSeries {
	s := mmuSeries{steps: steps, sums: make([]float64, len(steps))}
	var before UtilStep
	var sum float64
	for i, step := range steps {
		sum += float64(before.Util * float64(step.Time-before.Time))
		s.sums[i] = sum
		before = step
	}
	return s
}

// cut returns the series with so many bands.
func (s mmuSeries) cut(bands int) mmuSeries {
	steps := s.steps
	n := min(bands, len(steps)) // more bands than steps know nothing more
	s.bandLen = max(1, (int64(s.length())+int64(n)-1)/int64(n))
	s.bands = make([]mmuBand, n+1)
	left := utilSum{s: &s}
	for i := range s.bands {
		from, to := s.edges(i)
		b := &s.bands[i]
		b.sum = left.upTo(from)
		b.pos = left.pos
		b.low = 1
		for _, step := range steps[b.pos:] {
			if step.Time >= to {
				break
			}
			b.low = min(b.low, step.Util)
		}
	}
	return s
}

// length is the time between the first step and the last one.
func (s *mmuSeries) length() time.Duration {
	return s.steps[len(s.steps)-1].Time.Sub(s.steps[0].Time)
}

// edges are where a band begins and ends.
func (s *mmuSeries) edges(band int) (from, to timeline.Time) {
	from = s.steps[0].Time + timeline.Time(int64(band)*s.bandLen)
	return from, from + timeline.Time(s.bandLen)
}

// bandAt returns the band that an instant is in, the last one for what is behind all.
func (s *mmuSeries) bandAt(at timeline.Time) *mmuBand {
	return &s.bands[min(int(int64(at-s.steps[0].Time)/s.bandLen), len(s.bands)-1)]
}

// utilSum adds up the utilisation from the beginning to a moment that only
// moves on.
type utilSum struct {
	s   *mmuSeries
	pos int // the last step that is not later than the moment
}

// upTo moves to a time and returns the utilisation up to it, in ns.
func (u *utilSum) upTo(at timeline.Time) float64 {
	if next := u.pos + 1; next < len(u.s.steps) && u.s.steps[next].Time <= at {
		u.move(at)
	}
	step := &u.s.steps[u.pos]
	return u.s.sums[u.pos] + float64(step.Util*float64(at-step.Time))
}

// move goes on to the last step that is not later than a time: the place is nearby most
// of the time, but may be anywhere, so that it doubles its stride until it is too far.
func (u *utilSum) move(at timeline.Time) {
	steps := u.s.steps[u.pos:]
	low, high := 1, 2 // low is not later
	for high < len(steps) && steps[high].Time <= at {
		low, high = high, 2*high
	}
	for high = min(high, len(steps)); high-low > 1; {
		if middle := (low + high) / 2; steps[middle].Time <= at {
			low = middle
		} else {
			high = middle
		}
	}
	u.pos += low
}

// next returns when the first step after the moment is.
func (u *utilSum) next() timeline.Time {
	if next := u.pos + 1; next < len(u.s.steps) {
		return u.s.steps[next].Time
	}
	return math.MaxInt64
}

// UtilWindow is one window: where it begins, and its mean utilisation.
type UtilWindow struct {
	Time timeline.Time
	Util float64
}

// MMU returns the lowest mean utilisation of any window of this length. A
// window that is longer than the trace is as long as the trace.
func (c *MMUCurve) MMU(window time.Duration) float64 {
	acc := mmuSearch{min: 1, bound: 1, overrun: c.Compat}
	search(c.series, window, &acc)
	return acc.min
}

// Examples returns up to n windows of this length with the lowest utilisation,
// worst first, that do not overlap.
func (c *MMUCurve) Examples(window time.Duration, n int) []UtilWindow {
	if n <= 0 {
		return nil
	}
	acc := mmuSearch{min: 1, bound: 1, overrun: c.Compat, examples: n}
	search(c.series, window, &acc)
	slices.SortFunc(acc.worst, func(a, b UtilWindow) int {
		return cmp.Or(cmp.Compare(a.Util, b.Util), cmp.Compare(a.Time, b.Time))
	})
	return acc.worst
}

// MUD returns quantiles of the utilisation of all windows of this length: that
// for 0.01 is the utilisation below which one window in a hundred stays. The
// quantile 0 is [MMUCurve.MMU], which is faster.
func (c *MMUCurve) MUD(window time.Duration, quantiles []float64) []float64 {
	_, out := c.MinAndMUD(window, quantiles)
	return out
}

// MinAndMUD returns what [MMUCurve.MMU] and [MMUCurve.MUD] do, in one search.
func (c *MMUCurve) MinAndMUD(window time.Duration, quantiles []float64) (lowest float64, mud []float64) {
	if len(quantiles) == 0 {
		return c.MMU(window), []float64{}
	}
	// A window may begin anywhere in this time.
	var room int64
	for i := range c.series {
		room += max(0, int64(c.series[i].length()-window))
	}
	if c.Compat || window <= 0 || room == 0 || len(c.levels) == 0 {
		return c.searchMUD(window, float64(room), quantiles)
	}
	mud = make([]float64, len(quantiles))
	lowest = math.Inf(1)
	var open []int // quantiles that need a search
	for i, q := range quantiles {
		level, exact := levelOf(c.levels, window, float64(room)*q)
		switch {
		case q == 0: // the minimum
		case !exact:
			open = append(open, i)
		case level == c.levels[0].util:
			lowest = level
		}
		mud[i] = level
	}
	switch {
	case len(open) > 0:
		lowest = c.searchLevels(window, float64(room), quantiles, open, mud)
	case math.IsInf(lowest, 1):
		lowest = c.MMU(window)
	}
	for i, q := range quantiles {
		if q == 0 {
			mud[i] = lowest
		}
	}
	return lowest, mud
}

// searchLevels looks for open quantiles below the level that each has in mud, and returns
// the minimum. The room is where windows may begin, in ns.
func (c *MMUCurve) searchLevels(window time.Duration, room float64, quantiles []float64, open []int, mud []float64) (lowest float64) {
	most, level := 0.0, 0.0
	for _, i := range open {
		most, level = max(most, quantiles[i]), max(level, mud[i])
	}
	d := getUtilDist(room * most)
	defer putUtilDist(d)
	d.sharp, d.highest = level, level // some windows are there, and none above counts
	acc := mmuSearch{min: level, bound: level, dist: d}
	search(c.fine, window, &acc)
	for _, i := range open {
		mud[i] = min(mud[i], d.quantile(room*quantiles[i]))
	}
	return acc.min
}

// searchMUD finds quantiles by a search alone: where there is one window or none, and
// where the bands are to be those of internal/trace.
func (c *MMUCurve) searchMUD(window time.Duration, room float64, quantiles []float64) (lowest float64, mud []float64) {
	// Bands need a closer look only until the highest quantile is certain.
	acc := mmuSearch{min: 1, bound: 1, overrun: c.Compat, dist: getUtilDist(room * slices.Max(quantiles))}
	defer putUtilDist(acc.dist)
	if c.Compat {
		search(c.series, window, &acc)
	} else {
		search(c.fine, window, &acc)
	}
	mud = make([]float64, len(quantiles))
	for i, q := range quantiles {
		mud[i] = acc.dist.quantile(room * q)
		if q == 0 || math.IsNaN(mud[i]) || c.Compat { // the last two: only one window fits, or none
			mud[i] = acc.min
		}
	}
	return acc.min, mud
}

// bandBound says of one band what no window that begins there falls below.
type bandBound struct {
	series, band int
	util         float64
}

// bandHeap has the lowest bound first. It is a heap of the standard library
// because ties are then resolved as internal/trace resolves them.
type bandHeap []bandBound

func (h bandHeap) Len() int           { return len(h) }
func (h bandHeap) Less(i, j int) bool { return h[i].util < h[j].util }
func (h bandHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *bandHeap) Push(x any)        { *h = append(*h, x.(bandBound)) }
func (h *bandHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// sameUtil is how near utilisations are that nobody can tell apart: sums over a minute are
// rounded by as much. In a trace most windows may have the same one.
const sameUtil = 5e-10

// search shows acc every window that may matter to it.
func search(all []mmuSeries, window time.Duration, acc *mmuSearch) {
	if window <= 0 {
		acc.min = 0
		return
	}
	var bands bandHeap
	windows := make([]time.Duration, len(all))
	for i := range all {
		windows[i] = min(window, all[i].length())
		bands = all[i].appendBounds(bands, i, windows[i])
	}
	heap.Init(&bands)
	near := 0.0
	if acc.dist != nil {
		near = sameUtil
	}
	for len(bands) > 0 && bands[0].util < acc.bound-near {
		b := bands[0]
		all[b.series].look(b.band, windows[b.series], acc)
		// As heap.Pop, which would put each band into a box of its own.
		last := len(bands) - 1
		bands.Swap(0, last)
		bands = bands[:last]
		heap.Fix(&bands, 0)
	}
}

// appendBounds appends the bounds of all bands in which a window can begin.
func (s *mmuSeries) appendBounds(dst bandHeap, series int, window time.Duration) bandHeap {
	// A window touches at least few and at most many bands.
	few := int((int64(window) + s.bandLen - 1) / s.bandLen)
	many := int((int64(window) + 2*(s.bandLen-1)) / s.bandLen)
	tail := int64(window) % s.bandLen
	for i := 0; i+many <= len(s.bands); i++ {
		// Of the bands at its edges a window has a part, and the worst case is
		// that it has their lowest utilisation: the lowest band in full, the
		// second lowest for the rest.
		l, r1, r2 := s.bands[i].low, s.bands[i+few-1].low, s.bands[i+many-1].low
		low := min(l, r1, r2)
		var sum float64
		if few == 1 {
			sum += float64(low * float64(int64(window)))
		} else {
			second := 0.0
			switch low {
			case l:
				second = min(r1, r2)
			case r1:
				second = min(l, r2)
			case r2:
				second = min(l, r1)
			}
			sum += float64(low * float64(s.bandLen))
			sum += float64(second * float64(tail))
		}
		// The bands between them it has in full.
		if few > 2 {
			sum += s.bands[i+few-1].sum - s.bands[i+1].sum
		}
		dst = append(dst, bandBound{series, i, sum / float64(window)})
	}
	return dst
}

// look shows acc the windows that begin in a band, at all places where the
// mean utilisation may have a minimum.
func (s *mmuSeries) look(band int, window time.Duration, acc *mmuSearch) {
	width := timeline.Time(window)
	at, end := s.edges(band)
	left := utilSum{s: s, pos: s.bands[band].pos}
	right := utilSum{s: s, pos: s.bandAt(at + width).pos}
	end = min(end, s.steps[len(s.steps)-1].Time-width)
	if at > end && !acc.overrun {
		return
	}
	acc.jump()
	for {
		util := (right.upTo(at+width) - left.upTo(at)) / float64(window)
		if acc.add(at, util, width) || at == end {
			return
		}
		// The mean changes by 1/window in a nanosecond at most: up to soonest
		// it cannot get below the bound.
		soonest := at + timeline.Time((util-acc.bound)*float64(window))
		at = min(end, max(soonest, min(left.next(), right.next()-width)))
	}
}

// mmuSearch is shown windows and keeps what was asked for: the minimum always,
// and the worst examples or the distribution.
type mmuSearch struct {
	min float64
	// bound is the utilisation above which a window changes nothing.
	bound float64
	// overrun lets a window reach beyond the end.
	overrun bool

	examples int
	worst    windowHeap

	dist     *utilDist
	jumped   bool // the last window is not next to the following one
	lastAt   timeline.Time
	lastUtil float64
}

// jump says that the next window is not next to the last one.
func (a *mmuSearch) jump() { a.jumped = true }

// add takes one window; they come in order of time between two jumps. It says
// whether no other window can change the answer.
func (a *mmuSearch) add(at timeline.Time, util float64, width timeline.Time) bool {
	a.min = min(a.min, util)
	a.bound = a.min
	if a.examples > 0 {
		a.example(UtilWindow{at, util}, width)
		if len(a.worst) < a.examples {
			a.bound = 1
			return false
		}
		a.bound = max(a.bound, a.worst[0].Util)
		return a.worst[0].Util == 0
	}
	if a.dist == nil {
		return util == 0
	}
	if !a.jumped {
		a.dist.add(a.lastUtil, util, float64(at-a.lastAt))
	}
	a.jumped, a.lastAt, a.lastUtil = false, at, util
	a.bound = max(a.bound, a.dist.bound())
	return false
}

// example keeps w if it is one of the worst. Of two that overlap the worse one
// stays.
func (a *mmuSearch) example(w UtilWindow, width timeline.Time) {
	if len(a.worst) == a.examples && w.Util >= a.worst[0].Util {
		return
	}
	for i, o := range a.worst {
		if w.Time+width > o.Time && o.Time+width > w.Time {
			if o.Util <= w.Util {
				return
			}
			heap.Remove(&a.worst, i)
			break
		}
	}
	heap.Push(&a.worst, w)
	if len(a.worst) > a.examples {
		heap.Pop(&a.worst)
	}
}

// windowHeap has the highest utilisation first, and the latest of equal ones.
type windowHeap []UtilWindow

func (h windowHeap) Len() int      { return len(h) }
func (h windowHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h windowHeap) Less(i, j int) bool {
	if h[i].Util != h[j].Util {
		return h[i].Util > h[j].Util
	}
	return h[i].Time > h[j].Time
}
func (h *windowHeap) Push(x any) { *h = append(*h, x.(UtilWindow)) }
func (h *windowHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
