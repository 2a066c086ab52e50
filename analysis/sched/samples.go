package sched

import (
	"slices"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// CPUSamples are the samples of the CPU profiler that a trace holds where that ran
// beside the tracer.
type CPUSamples struct {
	Stacks *stack.Table
	// IDs are the stacks, Counts how many samples each has.
	IDs    []stack.ID
	Counts []int64
	// Total is the sum of them.
	Total int64
	// Length is how long the trace is.
	Length time.Duration
}

// Samples are the CPU samples of a whole trace.
var Samples = sweep.Want[*CPUSamples]{Key: "samples", Begin: func(p *sweep.Pass) (func() (*CPUSamples, error), error) {
	by := map[stack.ID]int64{}
	var first, last timeline.Time
	p.Join(sweep.On(sweep.Of(exectrace.KindStackSample, exectrace.KindSync), func(e *exectrace.Event) {
		if last = e.Time; first == 0 {
			first = e.Time
		}
		if e.Kind == exectrace.KindStackSample {
			by[e.Stack]++
		}
	}))
	return func() (*CPUSamples, error) {
		s := &CPUSamples{Stacks: p.Reader().Stacks(), Length: last.Sub(first)}
		for id := range by {
			s.IDs = append(s.IDs, id)
		}
		slices.Sort(s.IDs)
		for _, id := range s.IDs {
			s.Counts = append(s.Counts, by[id])
			s.Total += by[id]
		}
		return s, nil
	}, nil
}}
