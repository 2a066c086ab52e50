package sweep

import (
	"maps"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/value/stack"
)

// TestGoroutines: the table tells what a goroutine was before each event and what it is
// then: where, since when, and who it is.
func TestGoroutines(t *testing.T) {
	trace, err := exectrace.Open(fixture.Trace(t, `Trace Go1.22
EventBatch gen=1 m=0 time=100
ProcStatus dt=0 p=0 pstatus=running
GoStatus dt=10 g=1 m=0 gstatus=running
GoCreate dt=10 new_g=2 new_stack=main.work@m.go:9 stack=main.main@m.go:1
GoBlock dt=10 reason_string=chan_receive stack=main.main@m.go:2
GoStart dt=10 g=2 g_seq=1
GoUnblock dt=10 g=1 g_seq=1 stack=main.work@m.go:10
GoStop dt=10 reason_string=preempted stack=main.work@m.go:11
GoStart dt=10 g=2 g_seq=2
GoDestroy dt=10
`), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	p := New(trace)
	r, gs := p.Reader(), p.Goroutines()
	line := func(id stack.ID) int {
		f := r.Stacks().Frames(id)
		if len(f) == 0 {
			return 0
		}
		return r.Stacks().Frame(f[0]).Line
	}
	type seen struct {
		id              exectrace.GoID
		was, is         exectrace.State
		lasted          int // ns that the state before did
		name            string
		at, own, waited int // lines
	}
	var got []seen
	p.Join(On(Of(exectrace.KindGoTransition), func(e *exectrace.Event) {
		g, lasted := gs.Is, 0
		if gs.Was.Alive() {
			lasted = int(e.Time - gs.Was.Since)
		}
		got = append(got, seen{g.ID, gs.Was.State, g.State, lasted, r.Name(g.Name), line(g.At()), line(g.Own), line(g.Waited)})
		if gs.Busy() != 1 {
			t.Errorf("%d Ps run", gs.Busy())
		}
		if g.ID == 1 != g.Older || g.ID == 2 != (line(g.Creator) == 1) {
			t.Errorf("goroutine %d is older: %v, made at line %d", g.ID, g.Older, line(g.Creator))
		}
	}))
	if err := p.Run(nil); err != nil {
		t.Fatal(err)
	}
	const none, ready, runs, waits, gone = exectrace.Undetermined, exectrace.Runnable, exectrace.Running, exectrace.Waiting, exectrace.NotExist
	want := []seen{
		{1, none, runs, 0, "", 0, 0, 0},
		{2, none, ready, 0, "main.work", 1, 9, 1},
		{1, runs, waits, 30, "main.main", 2, 2, 0},
		{2, ready, runs, 20, "main.work", 0, 9, 1},
		{1, waits, ready, 20, "main.main", 2, 2, 2},
		{2, runs, ready, 20, "main.work", 11, 11, 11},
		{2, ready, runs, 10, "main.work", 0, 11, 11},
		{2, runs, gone, 10, "main.work", 0, 0, 11},
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("transition %d: %+v\nwant %+v", i, got, want)
		}
	}
	alive := 0
	gs.Each(func(exectrace.Slot, *Goroutine) { alive++ })
	if alive != 1 {
		t.Errorf("%d goroutines are left", alive)
	}
}

// TestOrigin: of a goroutine that another one has begun, the table knows who began that.
func TestOrigin(t *testing.T) {
	trace, err := exectrace.Open(fixture.Trace(t, `Trace Go1.22
EventBatch gen=1 m=0 time=100
ProcStatus dt=0 p=0 pstatus=running
GoStatus dt=10 g=1 m=0 gstatus=running
GoCreate dt=10 new_g=2 new_stack=main.dial@m.go:9 stack=main.main@m.go:1
GoBlock dt=10 reason_string=chan_receive stack=main.main@m.go:2
GoStart dt=10 g=2 g_seq=1
GoCreate dt=10 new_g=3 new_stack=main.loop@m.go:20 stack=main.dial@m.go:10
GoDestroy dt=10
GoStart dt=10 g=3 g_seq=1
GoCreate dt=10 new_g=4 new_stack=main.loop@m.go:20 stack=main.loop@m.go:21
GoBlock dt=10 reason_string=chan_receive stack=main.loop@m.go:22
`), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	p := New(trace)
	r, gs := p.Reader(), p.Goroutines()
	got := map[exectrace.GoID]int{}
	p.Join(On(Of(exectrace.KindGoTransition), func(e *exectrace.Event) {
		got[gs.Is.ID] = 0
		if f := r.Stacks().Frames(gs.Origin(e.SubjectSlot)); len(f) > 0 {
			got[gs.Is.ID] = r.Stacks().Frame(f[0]).Line
		}
	}))
	if err := p.Run(nil); err != nil {
		t.Fatal(err)
	}
	if want := map[exectrace.GoID]int{1: 0, 2: 0, 3: 1, 4: 10}; !maps.Equal(got, want) {
		t.Errorf("begun by goroutines of lines %v, want %v", got, want)
	}
}
