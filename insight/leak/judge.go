package leak

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Shape is what became of a quantity over the time that it was measured.
type Shape string

// The shapes.
const (
	// Grows: it rises, and as fast at the end as before.
	Grows Shape = "grows"
	// Levelled: it rose and has stopped, as a cache that is full and data that is loaded.
	Levelled Shape = "levelled off"
	// Returned: it rose and came back.
	Returned Shape = "returned"
	// Falls: there is less of it at the end, by more than what counts.
	Falls Shape = "falls"
	// Steady: it does not rise, or by less than can be told from chance.
	Steady Shape = "steady"
	// Slowing: it still rises, but more slowly than before.
	Slowing Shape = "slowing"
	// Stepped: it rises in steps, as a slice, map or buffer does that is reallocated when it is
	// full, and the next step may be yet to come.
	Stepped Shape = "rises in steps"
	// Late: it began to rise towards the end, or in one step.
	Late Shape = "late"
	// WithLoad: it rises no more than the load does.
	WithLoad Shape = "follows the load"
	// WithHeap: it rises by no more than the memory of Go itself moves, which shows in it.
	WithHeap Shape = "moves with the heap"
	// Slight: it rises all the time, but by so little that it may be noise.
	Slight Shape = "rises slightly"
	// Short: there are too few measurements, or they cover too little time.
	Short Shape = "too short"
	// Unordered: nobody knows in which order it was measured, and the answer depends on it.
	Unordered Shape = "order unknown"
)

// judged tells that there is enough to say what became of it.
func (s Shape) judged() bool { return s != Short && s != Unordered }

// rises tells that there is more of it at the end, whatever that means.
func (s Shape) rises() bool {
	return s == Grows || s == Slowing || s == Late || s == WithLoad || s == Stepped
}

// What is asked of a series, chosen unless said otherwise.
const (
	fewest = facts.FewestLooks
	// chance is the p of a trend (research: Mann–Kendall, as for GC08).
	chance = 0.01
	// back is how much of its rise a quantity must lose to have returned (as for GC09).
	back = 0.5
	// loadGrew is how much more load there must be at the end for it to explain a rise.
	loadGrew = 1.25
	// nearly allows for looks that came a little early.
	nearly = 0.95
	// binsMost bounds the points that a series is judged by: medians of equal parts of the time.
	binsMost = 240
)

// Quantity is one thing that was measured again and again.
type Quantity struct {
	// Times are in seconds, in order.
	Times, Values []float64
	// Untimed tells that Times only count the looks.
	Untimed bool
	// Least is the rise below which it is taken for steady.
	Least float64
	// Load is what the program had to do per second, at the same times; empty where that is not known.
	Load []float64
	// Counted tells that each one of it is counted: goroutines and descriptors, and no bytes.
	Counted bool
	// Same tells that all of them are known to be of one process.
	Same bool
	// Sampling is what the sampling of a heap profile does to it; zero of what is counted.
	Sampling sampling
}

// Judgement is what a series shows.
type Judgement struct {
	Shape Shape `json:"shape"`
	// Points is how many measurements there are, Seconds how long they cover.
	Points  int     `json:"points"`
	Seconds float64 `json:"seconds,omitempty"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	// Slope is the rise per second, with an interval of 95 %; per look where the times are not
	// known. It is Theil and Sen's, and of a sampled heap that of sampledRise.
	Slope stats.Interval `json:"-"`
	// P is that of no trend (Mann and Kendall).
	P float64 `json:"p"`
	// Why says what the shape was told by.
	Why string `json:"why"`
}

// judge says what became of a quantity. Least is the shortest time, in seconds, that can
// show a leak.
func judge(q Quantity, least float64) Judgement {
	n := len(q.Values)
	j := Judgement{Shape: Short, Points: n}
	if n == 0 {
		return j
	}
	j.From, j.To = q.Values[0], q.Values[n-1]
	if !q.Untimed {
		j.Seconds = q.Times[n-1] - q.Times[0]
	}
	times, values, load := q.Times, q.Values, q.Load
	if n > binsMost {
		times, values, load = bins(q)
	}
	edge := max(1, len(values)/10)
	j.From, j.To = stats.Median(values[:edge]), stats.Median(values[len(values)-edge:])
	_, j.P = stats.MannKendall(values)
	j.Slope = stats.TheilSen(times, values, 0.95)
	if q.Sampling.noise > 0 {
		r := q.Sampling.rise
		j.Slope = stats.Interval{Low: r[0], Estimate: r[1], High: r[2]}
		q.Least = max(q.Least, normal99*q.Sampling.noise)
	}
	switch {
	case n < fewest:
		j.Why = fmt.Sprintf("%s; %d are needed", unit.Plural(int64(n), "measurement"), fewest)
		return j
	case !q.Untimed && j.Seconds < nearly*least:
		j.Why = fmt.Sprintf("it covers %s; %s are needed", seconds(j.Seconds), seconds(least))
		return j
	}
	top := slices.Max(values)
	switch rise := j.To - j.From; {
	case top-j.From >= q.Least && top-j.To >= back*(top-j.From):
		j.cameBack(q, values)
		if until, grew := fell(q, times, values, least); grew {
			j.Shape, j.Why = Late, fmt.Sprintf("it grew all the time until %s, and then fell in one step: it was started anew, or emptied", until)
		}
	case rise < q.Least:
		j.notMore(q)
		if s, _ := course(times, values); s == Grows && rise >= q.slight() && j.P < chance && j.Slope.Low > 0 {
			j.Shape, j.Why = Slight, "it rises all the time, but by less than what noise may do"
		}
	case j.P >= chance || j.Slope.Low <= 0:
		j.Shape, j.Why = j.withoutTrend(times, values)
	default:
		j.Shape, j.Why = course(times, values)
		if j.Shape == Levelled || j.Shape == Slowing {
			j.afterStart(q, times, values, least)
		}
		if j.Shape == Grows && explained(values, load) {
			j.Shape, j.Why = WithLoad, "the load rises as much as it does"
		}
	}
	if (j.Shape == Grows || j.Shape == Late) && !q.Same && j.To-j.From > 0 && top-j.To < back*(top-j.From) {
		if until, grew := fell(q, times, values, least); grew {
			j.Shape, j.Why = Late, fmt.Sprintf("it grew all the time until %s, fell in one step and grows again: it was started anew, or emptied", until)
		}
	}
	if j.Shape == Levelled {
		if why := inSteps(times, values, j.To-j.From); why != "" && !q.Untimed {
			j.Shape, j.Why = Stepped, why
		}
	}
	return j
}

// slight is the rise from which on what rises all the time is told, though it does not count by itself.
func (q *Quantity) slight() float64 {
	if q.Counted {
		return q.Least / 8
	}
	return q.Least / 4
}

// notMore is the judgement of what has no more at the end than what counts.
func (j *Judgement) notMore(q Quantity) {
	j.Shape, j.Why = Steady, "it rises by less than what counts"
	if j.From-j.To >= q.Least {
		j.Shape, j.Why = Falls, "there is less at the end"
	}
}

// swing is the rise, as a part of what was there before, below which what goes up and down is
// steady: chosen.
const swing = 0.1

// cameBack is the judgement of what was more in between than at the end. It came back only if it
// rose before: to its top from what was least until then, by more than it swings, and by what
// counts beside how much less there is at the end than at the beginning.
func (j *Judgement) cameBack(q Quantity, values []float64) {
	top := 0
	for i, v := range values {
		if v > values[top] {
			top = i
		}
	}
	rose := values[top] - min(slices.Min(values[:top+1]), j.From)
	if top == 0 || rose < swing*j.From || rose < back*(j.From-j.To) {
		j.notMore(q)
		return
	}
	j.Shape, j.Why = Returned, "it rose and came back"
}

// What makes a rise one in steps, chosen: a step has a tenth of the rise, all of them have four
// fifths, and two of three measurements bring none. What is reallocated doubles at most
// (doubles, with what little else has come). At an even rate of growth the next step is then
// up to twice as long in coming as the last one was; what has been flat for longer than
// patience times that has stopped.
const (
	stepShare, stepsShare = 0.1, 0.8
	doubles, patience     = 2.2, 2.5
)

// inSteps says of what has levelled off that it may be between two steps, and why; it
// returns nothing where it has stopped.
func inSteps(times, values []float64, rise float64) string {
	var steps []int
	sum := 0.0
	for i := 1; i < len(values); i++ {
		if by := values[i] - values[i-1]; by >= stepShare*rise {
			steps, sum = append(steps, i), sum+by
		}
	}
	n := len(steps)
	if n == 0 || sum < stepsShare*rise || 3*n > len(values)-1 {
		return ""
	}
	last, before := steps[n-1], 0
	if n > 1 {
		before = steps[n-2]
	}
	since, came := times[len(times)-1]-times[last], times[last]-times[before]
	if values[last] > doubles*values[last-1] || since > patience*came {
		return ""
	}
	return fmt.Sprintf("%s, the last one %s after %s and %s before the end", unit.Plural(int64(n), "step"), seconds(came), map[bool]string{true: "the one before", false: "the first measurement"}[n > 1], seconds(since))
}

// even is how steep the second half must be, of the first, for a rise without any slowing.
const even = 0.8

// starts are the eighths of the time after which a start may be over.
var starts = []float64{2, 3, 4, 5}

// afterStart looks at what comes after the start alone: a program that has loaded its data, or
// whose pool of workers is full, and has leaked since, rises evenly there. A cache that fills
// slows down all the time.
func (j *Judgement) afterStart(q Quantity, times, values []float64, least float64) {
	first, last := times[0], times[len(times)-1]
	for i, eighth := range starts {
		from := sort.SearchFloat64s(times, first+(last-first)*eighth/8)
		// One of several rises by chance: the others are asked for more.
		most := chance
		if i > 0 {
			most /= float64(len(starts))
		}
		if j.since(q, times[from:], values[from:], least, most); j.Shape == Grows {
			return
		}
	}
}

// sinceStart is the reason of what grows evenly after its start.
const sinceStart = "it rose quickly at first, and rises evenly since"

// since looks at one end of the time, in which no trend may be as likely as most.
func (j *Judgement) since(q Quantity, times, values []float64, least, most float64) {
	if len(values) < fewest || !q.Untimed && times[len(times)-1]-times[0] < least/2 {
		return
	}
	n := len(values) - 1
	level := func(i int) float64 { return facts.LevelAt(times, values, times[0]+(times[n]-times[0])*float64(i)/2) }
	_, p := stats.MannKendall(values)
	slope := stats.TheilSen(times, values, 0.95)
	rise, early, late := level(2)-level(0), level(1)-level(0), level(2)-level(1)
	if shape, _ := course(times, values); shape != Grows || rise < q.Least || p >= most || slope.Low <= 0 || late < even*early {
		return
	}
	j.Shape, j.Slope, j.P = Grows, slope, p
	j.Why = sinceStart
}

// fell tells of what came back that it did so in one step, after which too little is seen to
// judge, and that it grew until then: a process that was started anew looks so.
func fell(q Quantity, times, values []float64, least float64) (until string, grew bool) {
	drops, at := 0, 0
	all := slices.Max(values) - slices.Min(values)
	for i := 1; i < len(values); i++ {
		if values[i-1]-values[i] >= back/2*all {
			drops, at = drops+1, i
		}
	}
	if drops != 1 || at < fewest {
		return "", false
	}
	before := Quantity{Times: times[:at], Values: values[:at], Untimed: q.Untimed, Least: q.Least}
	if judge(before, least/2).Shape != Grows {
		return "", false
	}
	if q.Untimed {
		return fmt.Sprintf("look %d", at), true
	}
	return seconds(times[at-1]-times[0]) + " after the first measurement", true
}

// withoutTrend is the shape of what has more in the end, but goes up and down: one step
// early on has settled.
func (j *Judgement) withoutTrend(times, values []float64) (Shape, string) {
	if s, why := course(times, values); s == Levelled {
		return s, why
	}
	if j.P < chance {
		return Late, "it has more at the end, but its rise is so uneven that an even one is not shown"
	}
	return Late, fmt.Sprintf("it has more at the end, which may be chance (p = %.2g)", j.P)
}

// courses are the shapes of what rises.
var courses = map[facts.Course]Shape{facts.NoRise: Steady, facts.Evenly: Grows, facts.Slower: Slowing, facts.Unevenly: Late, facts.LevelOff: Levelled}

// course tells by the rise of each quarter of the time whether it has stopped.
func course(times, values []float64) (Shape, string) {
	c, quarter := facts.CourseOf(times, values)
	if c == facts.NoRise {
		return Steady, "the middle of its values does not rise"
	}
	return courses[c], fmt.Sprintf("of its rise, the quarters of the time have %s", shares(quarter[:]))
}

// shares prints parts of an average as percentages of the whole.
func shares(quarter []float64) string {
	text := ""
	for i, q := range quarter {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.0f", max(0, 100*q/4))
	}
	return text + " %"
}

// explained tells whether the load has grown, and by at least as large a factor.
func explained(values, load []float64) bool {
	n := len(load)
	if n < fewest || n != len(values) {
		return false
	}
	third := n / 3
	grew := func(of []float64) float64 { return stats.Median(of[n-third:]) / max(stats.Median(of[:third]), 1e-9) }
	more := grew(load)
	return stats.Median(load[:third]) > 0 && more >= loadGrew && grew(values) <= loadGrew*more
}

// bins makes of a long series the medians of equal parts of its time.
func bins(q Quantity) (times, values, load []float64) {
	first, last := q.Times[0], q.Times[len(q.Times)-1]
	width := (last - first) / binsMost
	for i := 0; i < len(q.Times); {
		end := first + width*(math.Floor((q.Times[i]-first)/max(width, 1e-9))+1)
		k := i + 1
		for k < len(q.Times) && q.Times[k] < end {
			k++
		}
		times = append(times, stats.Median(q.Times[i:k]))
		values = append(values, stats.Median(q.Values[i:k]))
		if len(q.Load) == len(q.Times) {
			load = append(load, stats.Median(q.Load[i:k]))
		}
		i = k
	}
	return times, values, load
}
