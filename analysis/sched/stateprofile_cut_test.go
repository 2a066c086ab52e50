package sched_test

import (
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/format/exectrace/sweep"
)

// TestStateProfileCut: where the file ends inside of a batch all is forgotten, and what
// goroutines were in then counts once.
func TestStateProfileCut(t *testing.T) {
	whole := fixture.Trace(t, `Trace Go1.22
EventBatch gen=1 m=0 time=1000
ProcStatus dt=0 p=0 pstatus=running
GoStatus dt=0 g=1 m=0 gstatus=running
GoCreate dt=10 new_g=2 new_stack=main.f@m.go:1 stack=main.main@m.go:2
GoCreate dt=10 new_g=3 new_stack=main.f@m.go:1 stack=main.main@m.go:2
GoStop dt=10 reason_string=preempted stack=main.main@m.go:2
GoStart dt=10 g=2 g_seq=1
`)
	for _, c := range []struct {
		what string
		data []byte
	}{{"whole", whole}, {"cut", append(append([]byte{}, whole...), 1, 1)}} {
		tr, err := exectrace.Open(c.data, exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pass := sweep.New(tr)
		p := sched.NewStateProfiler(pass.Goroutines(), sched.StateProfileOptions{})
		pass.Join(p)
		resets := 0
		pass.Join(sweep.On(sweep.Of(exectrace.KindSync), func(e *exectrace.Event) {
			if e.Reset() {
				resets++
			}
		}))
		if err := pass.Run(nil); err != nil {
			t.Fatal(err)
		}
		p.Finish()
		if cut := len(c.data) > len(whole); cut != (resets > 0) {
			t.Fatalf("%s: %d resets", c.what, resets)
		}
		if runs, waits := p.Profile(sched.ProfileRunning).Unfinished, p.Profile(sched.ProfileSched).Unfinished; runs.Count != 1 || waits.Count != 2 {
			t.Errorf("%s: %d run and %d wait at the end, want 1 and 2", c.what, runs.Count, waits.Count)
		}
	}
}
