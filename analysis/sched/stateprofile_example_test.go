package sched_test

import (
	"io"

	"loupe/exectrace"
	"loupe/profile"
	"loupe/sched"
)

// How to turn a trace into a profile for go tool pprof.
func ExampleStateProfile() {
	write := func(data []byte, w io.Writer) error {
		t, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			return err
		}
		r := t.Reader()
		p := sched.NewStateProfiler(r, sched.StateProfileOptions{})
		for r.Next() {
			p.Event(r.Event())
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
