package sched

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

// TestTaskIndex holds the table of tasks against a map, with ids as the
// runtime counts them and with some that differ in their high bits alone.
func TestTaskIndex(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, want := newTaskIndex(), make(map[exectrace.TaskID]*taskRecord)
	for range 100_000 {
		id := exectrace.TaskID(rnd.IntN(2000))
		if rnd.IntN(10) == 0 {
			id |= exectrace.TaskID(rnd.IntN(3)) << 32
		}
		rec := x.find(id)
		if rec != want[id] {
			t.Fatalf("find(%#x) = %p, want %p", id, rec, want[id])
		}
		if rec == nil {
			want[id] = x.add(id)
		} else if rnd.IntN(2) == 0 {
			x.remove(id)
			delete(want, id)
		}
	}
	if x.live != len(want) || len(want) < 500 {
		t.Errorf("%d tasks live, want %d", x.live, len(want))
	}
}

// nothing is the table of a trace without an event.
func nothing(t *testing.T) *sweep.Goroutines {
	tr, err := exectrace.Open([]byte("go 1.22 trace\x00\x00\x00"), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sweep.NewGoroutines(tr.Reader())
}

// TestAllocations makes tasks and regions without end: those that have ended
// make room for the others.
func TestAllocations(t *testing.T) {
	ended := 0
	gs := nothing(t)
	s := NewSummarizer(gs, Sink{Region: func(*Region) {}, Task: func(*Task) { ended++ }}, SummaryOptions{})
	at := exectrace.Event{G: 1}
	e := &exectrace.Event{Kind: exectrace.KindGoTransition, From: exectrace.NotExist, To: exectrace.Running, Time: 1, Subject: 1}
	gs.Event(e)
	s.Event(e)
	one := func() {
		at.Args[0]++
		at.Args[1] = uint64(exectrace.NoTask)
		for _, k := range []exectrace.Kind{exectrace.KindTaskBegin, exectrace.KindRegionBegin, exectrace.KindRegionBegin,
			exectrace.KindRegionEnd, exectrace.KindRegionEnd, exectrace.KindTaskEnd} {
			at.Time++
			at.Kind = k
			s.Event(&at)
		}
	}
	for range 4 * retireAfter {
		one()
	}
	if n := testing.AllocsPerRun(4*retireAfter, one); n != 0 {
		t.Errorf("a task with two regions allocates %v times, want 0", n)
	}
	if ended < 4*retireAfter {
		t.Errorf("%d tasks have ended", ended)
	}
}

// TestSleepers finds goroutines waiting that nothing more is heard of.
func TestSleepers(t *testing.T) {
	const n = 1 << 16
	slept := 0
	gs := nothing(t)
	s := NewSummarizer(gs, Sink{Goroutine: func(g *Goroutine) {
		if g.State == exectrace.Waiting && g.Total == 100 && g.Blocked.Get(exectrace.NameSelect) == 100 {
			slept++
		}
	}}, SummaryOptions{})
	event := func(e exectrace.Event) {
		gs.Event(&e)
		s.Event(&e)
	}
	event(exectrace.Event{Kind: exectrace.KindSync, Time: 100})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		event(exectrace.Event{Kind: exectrace.KindGoTransition, From: exectrace.Undetermined, To: exectrace.Waiting, Time: 150,
			Name: exectrace.NameSelect, Subject: int64(i), SubjectSlot: exectrace.Slot(i)})
	}
	runtime.ReadMemStats(&after)
	if size := float64(after.TotalAlloc-before.TotalAlloc) / n; size > 70 {
		t.Errorf("%.0f bytes for each goroutine that waits, want at most 70: those of the table", size)
	}
	// One is woken up, and those beside it are not disturbed.
	event(exectrace.Event{Kind: exectrace.KindGoTransition, From: exectrace.Waiting, To: exectrace.Runnable, Time: 170, Subject: 300, SubjectSlot: 300})
	event(exectrace.Event{Kind: exectrace.KindSync, Time: 200})
	s.Finish()
	if slept != n-1 {
		t.Errorf("%d goroutines have waited all the time, want %d", slept, n-1)
	}
}
