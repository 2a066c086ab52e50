package sched

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"loupe/value/timeline"
)

// TestMUDOfAllWindows holds minima and quantiles, of which many come of lengths of
// stretches alone, against the distribution of all windows.
func TestMUDOfAllWindows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	asked := []float64{0, 0.0001, 0.001, 0.01, 0.05, 0.5, 0.99, 1}
	sharp, searched := 0, 0
	for range 400 {
		series := make([][]UtilStep, 1+rnd.IntN(3))
		for i := range series {
			series[i] = randomSteps(rnd)
		}
		c := NewMMUCurve(series)
		for window := time.Duration(1); window < 2*time.Millisecond; window *= 9 {
			quantiles := asked[rnd.IntN(len(asked)):]
			quantiles = quantiles[:1+rnd.IntN(len(quantiles))]
			least, mud := c.MinAndMUD(window, quantiles)
			all, room, wantLeast := windowsOf(c.series, window)
			if math.Abs(least-wantLeast) > 1e-9 {
				t.Fatalf("the minimum of %v is %v, want %v, of %v", window, least, wantLeast, series)
			}
			for i, q := range quantiles {
				if room == 0 || q == 0 {
					if mud[i] != least {
						t.Fatalf("the quantile %v of %v is %v, want the minimum %v, of %v", q, window, mud[i], least, series)
					}
					continue
				}
				if _, exact := levelOf(c.levels, window, room*q); exact {
					sharp++
				} else {
					searched++
				}
				// Rounding may move a value by some billionths.
				below, upTo := massUpTo(all, mud[i]-2e-9), massUpTo(all, mud[i]+2e-9)
				if below > room*q+0.01 || upTo < room*q-0.01 {
					t.Fatalf("the quantile %v of %v of %v is %v, but %v is below it and %v up to it, of %v in all, of %v",
						q, quantiles, window, mud[i], below, upTo, room, series)
				}
			}
		}
	}
	if sharp < 500 || searched < 500 {
		t.Errorf("%d quantiles came of lengths and %d of a search", sharp, searched)
	}
}

// randomSteps makes a series that keeps to some levels, some more often than others.
func randomSteps(rnd *rand.Rand) []UtilStep {
	levels, rare := 1+rnd.IntN(5), 1+rnd.IntN(100)
	longest := 1 + rnd.IntN(100_000)
	steps := []UtilStep{{Time: timeline.Time(rnd.IntN(1000)), Util: 1}}
	for range rnd.IntN(120) {
		util := 1.0
		if rnd.IntN(rare) < 3 {
			util = float64(rnd.IntN(levels)) / float64(levels)
		}
		steps = append(steps, UtilStep{steps[len(steps)-1].Time + timeline.Time(rnd.IntN(longest)), util})
	}
	return append(steps, UtilStep{Time: steps[len(steps)-1].Time + timeline.Time(rnd.IntN(longest)), Util: 0})
}

// windowsOf has the distribution of all windows: between two places where an edge of the
// window meets a step, the mean goes steadily from one value to the other.
func windowsOf(series []mmuSeries, window time.Duration) (all []stretch, room, least float64) {
	least = 1
	for _, s := range series {
		width := timeline.Time(min(window, s.length()))
		first, last := s.steps[0].Time, s.steps[len(s.steps)-1].Time-width
		room += max(0, float64(s.length()-window))
		at := []timeline.Time{first, last}
		for _, step := range s.steps {
			at = append(at, step.Time, step.Time-width)
		}
		at = slices.DeleteFunc(at, func(t timeline.Time) bool { return t < first || t > last })
		slices.Sort(at)
		before := math.NaN()
		for i, t := range at {
			sum := 0.0
			for k, step := range s.steps[:len(s.steps)-1] {
				from, to := max(step.Time, t), min(s.steps[k+1].Time, t+width)
				sum += step.Util * float64(max(0, to-from))
			}
			util := sum / float64(width)
			least = min(least, util)
			if i > 0 && t > at[i-1] {
				all = append(all, stretch{before, util, float64(t - at[i-1])})
			}
			before = util
		}
	}
	return all, room, least
}

// massUpTo adds up what the stretches have up to a utilisation.
func massUpTo(all []stretch, util float64) (mass float64) {
	for _, s := range all {
		low, high := min(s.low, s.high), max(s.low, s.high)
		switch {
		case util >= high:
			mass += s.mass
		case util > low:
			mass += s.mass * (util - low) / (high - low)
		}
	}
	return mass
}
