package sched_test

import (
	"io"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/format/profile"
)

// How to turn a trace into a profile for go tool pprof.
func ExampleStateProfile() {
	write := func(data []byte, w io.Writer) error {
		t, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			return err
		}
		pass := sweep.New(t)
		p := sched.NewStateProfiler(pass.Goroutines(), sched.StateProfileOptions{})
		pass.Join(p)
		if err := pass.Run(nil); err != nil {
			return err
		}
		p.Finish()
		return pprofOf(p.Profile(sched.ProfileOffCPU)).Encode(w)
	}
	_ = write
}

// pprofOf has the sample types of go tool trace -pprof.
func pprofOf(p *sched.StateProfile) *profile.Profile {
	return &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "trace", Unit: "count"},
		Period:      1,
		Stacks:      p.Stacks,
		StackIDs:    p.IDs,
		Values:      [][]int64{p.Counts, p.Nanos},
	}
}
