package insight

import (
	"fmt"
	"math"
	"time"

	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// A short trace sees what comes, and may be too short to see it go: a connection that is idle for
// its timeout, a goroutine that waits for a timer. How many there are was counted for longer under
// the same load; where their number does not grow as the trace says, they go.

// counts is how many there were of something, sample by sample, while the program was under load.
type counts struct {
	what, phase string
	times       []timeline.Time
	values      []float64
}

// What a series needs to say more than a trace: chosen.
const (
	countsLonger = 2    // times the length of the trace
	countsFew    = 6    // samples
	countsGrown  = 0.25 // of the growth by the trace; more is not clearly another
)

// blockCountsOf are the goroutines of the program, or its open files, in the bare phases under load, after the first quarter
// of each; those of the load itself are left out.
func countsOf(in *Input, files bool) (all []counts) {
	for _, l := range in.Facts.Loads() {
		if files {
			d := in.Facts.OpenFiles(&l)
			all = append(all, counts{"open files", l.Phase.Name, d.Times, d.Open})
			continue
		}
		set, err := in.Session.Metrics(l.Phase.Run)
		if err != nil {
			continue
		}
		s := set.Series("/sched/goroutines:goroutines").In(timeline.Span{Start: l.Start.Add(l.Log.Elapsed / 4), End: l.Start.Add(l.Log.Elapsed)})
		all = append(all, counts{"goroutines", l.Phase.Name, s.Times, s.Values})
	}
	return all
}

// level tells whether what becomes more by a rate a second in a trace of some length does not in the series, which is
// longer: it would have to be seen among the ups and downs of it.
func (c *counts) level(rate float64, trace time.Duration) bool {
	n := len(c.values)
	if n < countsFew || c.times[n-1].Sub(c.times[0]) < countsLonger*trace {
		return false
	}
	third := n / 3
	first, last := c.values[:third], c.values[n-third:]
	apart := c.times[n-1-third/2].Sub(c.times[third/2]).Seconds()
	expected := rate * apart
	_, p := stats.MannKendall(c.values)
	grown := stats.Mean(last) - stats.Mean(first)
	if grown > 0 && p < 0.01 { // more and more, if slowly
		return false
	}
	return expected > 0 && grown < countsGrown*expected && expected >= countsSpread(c.values)
}

// countsSpread is the standard deviation of values.
func countsSpread(values []float64) float64 {
	mean, sum := stats.Mean(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(max(1, len(values))))
}

// levelUnderLoad finds a series of what becomes more in a trace that lasts longer and does not grow, and says so; empty
// where there is none, or where the trace itself saw their number grow.
func levelUnderLoad(in *Input, t *traced, files bool, rate float64) string {
	for _, c := range countsOf(in, files) {
		if c.level(rate, t.Length()) && !grewIn(in, t, files, rate) {
			n := len(c.values)
			return fmt.Sprintf("in %s of phase %s, under load for longer than the trace, there were %s %s at first and %s at the end",
				unit.Duration(c.times[n-1].Sub(c.times[0])), c.phase, unit.Number(c.values[0]), c.what, unit.Number(c.values[n-1]))
		}
	}
	return ""
}

// grewIn tells whether their number grew while the trace was taken, by at least half of what the trace says: then
// something has changed since the longer series.
func grewIn(in *Input, t *traced, files bool, rate float64) bool {
	phase, ok := in.Session.Manifest().PhaseNamed(t.Entry.Phase)
	if !ok {
		return false
	}
	var s timeline.Series
	if files {
		samples, err := in.Session.OS()
		if err != nil {
			return false
		}
		for _, x := range samples {
			if x.FDs > 0 {
				s.Append(x.At, float64(x.FDs))
			}
		}
	} else if set, err := in.Session.Metrics(phase.Run); err == nil {
		s = set.Series("/sched/goroutines:goroutines")
	}
	s = s.In(phase.Span)
	n := len(s.Values)
	if n < 2 {
		return false
	}
	seconds := s.Times[n-1].Sub(s.Times[0]).Seconds()
	return seconds > 0 && s.Values[n-1]-s.Values[0] >= rate*seconds/2
}
