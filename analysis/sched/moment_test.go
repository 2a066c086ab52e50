package sched

import (
	"maps"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/value/timeline"
)

const threeGoroutines = `Trace Go1.26
EventBatch m=1 time=1000
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
GoCreate dt=1000 new_g=7 new_stack=main.work@f.go:3 stack=main.main@f.go:9
GoCreate dt=1000 new_g=8 new_stack=main.work@f.go:3 stack=main.main@f.go:9
GoBlock dt=1000 reason_string="chan receive" stack=main.main@f.go:12
GoStart dt=1000 g=7 g_seq=1
GoBlock dt=1000 reason_string="sync" stack=main.lock@f.go:5;main.work@f.go:4
GoStart dt=1000 g=8 g_seq=1
GoDestroy dt=1000
`

// TestMoments follows the goroutines of a trace through its instants.
func TestMoments(t *testing.T) {
	tr, err := exectrace.Open(fixture.Trace(t, threeGoroutines), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var times []timeline.Time
	for r := tr.Reader(); r.Next(); {
		times = append(times, r.Event().Time)
	}
	end := times[len(times)-1]
	r, all, err := Moments(tr, append(times, end+1), nil)
	if err != nil || len(all) != len(times)+1 {
		t.Fatalf("%d moments of %d: %v", len(all), len(times)+1, err)
	}
	last := all[len(all)-1]
	if len(last) != 2 {
		t.Fatalf("at the end there are %d goroutines, want 2: %+v", len(last), last)
	}
	for _, l := range last {
		switch l.ID {
		case 1:
			if l.State != exectrace.Waiting || r.Name(l.Reason) != "chan receive" || l.Older {
				t.Errorf("goroutine 1 is %+v", l)
			}
		case 7:
			if l.State != exectrace.Waiting || r.Name(l.Reason) != "sync" || l.Parent != 1 || r.Name(l.Name) != "main.work" || l.Creator == 0 || l.Stack == 0 {
				t.Errorf("goroutine 7 is %+v", l)
			}
		default:
			t.Errorf("there is a goroutine %d", l.ID)
		}
	}
	most := 0
	for _, now := range all {
		most = max(most, len(now))
	}
	if most != 3 {
		t.Errorf("at most %d goroutines at a time, want 3", most)
	}
}

// TestMomentsAgree holds moments against the stays of the analysis.
func TestMomentsAgree(t *testing.T) {
	tr, err := exectrace.Open(fixture.Trace(t, threeGoroutines), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stays []Interval
	a, err := Analyze(tr, AnalyzeOptions{Each: func(_ *exectrace.Reader, i *Interval) { stays = append(stays, *i) }})
	if err != nil {
		t.Fatal(err)
	}
	middle := a.Info.Span.Start + (a.Info.Span.End-a.Info.Span.Start)/2
	_, all, err := Moments(tr, []timeline.Time{middle}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all[0] {
		found := false
		for _, i := range stays {
			found = found || i.G == l.ID && i.State == l.State && i.Start == l.Since && i.End > middle
		}
		if !found {
			t.Errorf("no stay is %+v", l)
		}
	}
}

// TestMomentsBegin: who is told of late has been there from the begin on.
func TestMomentsBegin(t *testing.T) {
	tr, err := exectrace.Open(fixture.Trace(t, `Trace Go1.26
EventBatch m=1 time=1000
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
GoCreate dt=1000 new_g=7 new_stack=main.work@f.go:3 stack=main.main@f.go:9
GoStatus dt=1000 g=5 m=18446744073709551615 gstatus=waiting
GoUnblock dt=1 g=5 g_seq=1 stack=main.main@f.go:10
GoBlock dt=1000 reason_string="chan receive" stack=main.main@f.go:12
`), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var times []timeline.Time
	for r := tr.Reader(); r.Next(); {
		times = append(times, r.Event().Time)
	}
	begin, end := times[0], times[len(times)-1]
	_, all, err := Moments(tr, []timeline.Time{begin - 1, begin, end}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[exectrace.GoID]exectrace.State{
		{1: exectrace.Running, 5: exectrace.Waiting},
		{1: exectrace.Running, 5: exectrace.Waiting},
		{1: exectrace.Waiting, 5: exectrace.Runnable, 7: exectrace.Runnable},
	} {
		got := map[exectrace.GoID]exectrace.State{}
		for _, l := range all[i] {
			got[l.ID] = l.State
			if l.Since < begin {
				t.Errorf("moment %d: goroutine %d since %v, which is before the trace", i, l.ID, l.Since)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("moment %d: %v, want %v", i, got, want)
		}
	}
}
