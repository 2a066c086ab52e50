package report

import (
	"strings"
	"time"

	"loupe/analysis/sched"
)

// TraceMMU is the curve of the minimum mutator utilisation: the share of the
// machine that the program had at least, in any window of a length.
func TraceMMU(c *sched.MMUCurve, steps [][]sched.UtilStep, count sched.Losses) *Trace {
	var what []string
	for _, l := range []struct {
		loss sched.Losses
		name string
	}{{sched.LossSTW, "stop-the-worlds"}, {sched.LossBackground, "mark workers"}, {sched.LossAssist, "assists"}, {sched.LossSweep, "sweeps"}} {
		if count&l.loss != 0 {
			what = append(what, l.name)
		}
	}
	s := &Sheet{Key: "mmu", Title: "Minimum mutator utilisation: what the collector leaves to the program, at least", Columns: []Column{
		{"window_ns", "in any"}, {"mmu", "minimum"}, {"p99_9", "99.9 % have"}, {"p99", "99 %"}, {"p95", "95 %"}, {"worst_at_ns", "worst at"},
	}}
	var start, end time.Duration
	known := false
	for _, series := range steps {
		if len(series) > 0 {
			start, end, known = time.Duration(series[0].Time), time.Duration(series[len(series)-1].Time), true
		}
	}
	if !known {
		s.Notes = append(s.Notes, "The trace has no collection, or does not say GOMAXPROCS: no time is known to be lost.")
		return &Trace{Sheets: []*Sheet{s}}
	}
	for _, window := range []time.Duration{10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, time.Second, 10 * time.Second} {
		if window > end-start {
			break
		}
		least, q := c.MinAndMUD(window, []float64{0.001, 0.01, 0.05}) // of the windows from the worst
		var at any
		if worst := c.Examples(window, 1); len(worst) > 0 {
			at = time.Duration(worst[0].Time) - start
		}
		row := []any{window, Share(least)}
		for _, v := range q {
			row = append(row, Share(v))
		}
		s.Rows = append(s.Rows, append(row, at))
	}
	s.Notes = append(s.Notes, "Counted as lost: "+strings.Join(what, ", ")+".")
	return &Trace{Sheets: []*Sheet{s}}
}
