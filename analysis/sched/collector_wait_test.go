package sched

import (
	"fmt"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/format/exectrace/sweep"
)

const twoSyncWaits = `Trace Go1.26
EventBatch m=1 time=1000
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
GoCreate dt=1000 new_g=7 new_stack=main.work@f.go:3 stack=main.main@f.go:9
GoCreate dt=1000 new_g=8 new_stack=main.work@f.go:3 stack=main.main@f.go:9
GoBlock dt=1000 reason_string="chan receive" stack=main.main@f.go:12
GoStart dt=1000 g=7 g_seq=1
GoBlock dt=1000 reason_string="sync" stack=sync.(*Mutex).Lock@mutex.go:45;main.work@f.go:4
GoStart dt=1000 g=8 g_seq=1
GoBlock dt=1000 reason_string="sync" stack=runtime.semacquire@sema.go:9;runtime.gcMarkDone@mgc.go:9;runtime.mallocgc@malloc.go:9;strings.ToLower@strings.go:9;main.work@f.go:7
ProcStop dt=5000
`

// TestCollectorWaitEverywhere: a wait for the collector is one for the filter, for the
// profile of locks and for a comparison too, and not one for a lock.
func TestCollectorWaitEverywhere(t *testing.T) {
	tr, err := exectrace.Open(fixture.Trace(t, twoSyncWaits), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"reason=sync":            "[7]",
		"reason~^GC":             "[8]",
		"reason!=sync g=7,8":     "[7 8 8]", // before they ran, and what 8 waits for
		"reason!~GC reason~sync": "[7]",
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []exectrace.GoID
		if _, err := Analyze(tr, AnalyzeOptions{Filter: f, Each: func(r *exectrace.Reader, i *Interval) {
			if i.State == exectrace.Waiting || i.State == exectrace.Runnable && i.G != 1 {
				got = append(got, i.G)
			}
		}}); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: goroutines %v (%v), want %s", text, got, err, want)
		}
	}
	for _, compat := range []bool{false, true} {
		pass := sweep.New(tr)
		p := NewStateProfiler(pass.Goroutines(), StateProfileOptions{Compat: compat})
		pass.Join(p)
		if err := pass.Run(nil); err != nil {
			t.Fatal(err)
		}
		p.Finish()
		var at []string
		s := p.Profile(ProfileSync)
		for _, id := range s.IDs {
			frames := pass.Reader().Stacks().Frames(id)
			at = append(at, pass.Reader().Stacks().Frame(frames[0]).Func)
		}
		// What go tool trace leaves out is all here: the waits last until the end.
		if want := map[bool]string{false: "[main.main sync.(*Mutex).Lock]", true: "[]"}[compat]; fmt.Sprint(at) != want {
			t.Errorf("compat %v: the sync profile has %v, want %s", compat, at, want)
		}
	}
}
