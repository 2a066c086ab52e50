package overlap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// server is the text of a trace in which two goroutines of net/http answer one
// request after the other on one P: each is woken up by the network, runs, and
// waits again. Requests of connection 7 come first in each pair; those of
// connection 9 wait for a lock, and in every fifth pair a collection marks.
func server(pairs int) (text string, r *Requests) {
	var b strings.Builder
	at := time.Millisecond
	act := func(after time.Duration, event, format string, args ...any) timeline.Time {
		at += after
		fmt.Fprintf(&b, "%s dt=%d %s\n", event, after, fmt.Sprintf(format, args...))
		return timeline.Time(at)
	}
	fmt.Fprintf(&b, "Trace Go1.26\nEventBatch m=1 time=%d\n", at)
	act(us, "ProcStatus", "p=0 pstatus=running")
	act(us, "GoStatus", "g=1 m=1 gstatus=running")
	act(us, "ProcsChange", "procs_value=4")
	const serve = "net/http.(*conn).serve@/go/server.go:1"
	seq := map[int]int{}
	run := func(after time.Duration, g int) timeline.Time {
		seq[g]++
		return act(after, "GoStart", "g=%d g_seq=%d", g, seq[g])
	}
	wake := func(after time.Duration, g int) timeline.Time {
		seq[g]++
		return act(after, "GoUnblock", "g=%d g_seq=%d", g, seq[g])
	}
	leaf := map[string]string{"network": "x", "sync": "sync.(*Mutex).Lock"}
	block := func(after time.Duration, why string) timeline.Time {
		return act(after, "GoBlock", "reason_string=%q stack=%s@/x.go:2;%s", why, leaf[why], serve)
	}
	for _, g := range []int{2, 3} {
		act(us, "GoCreate", "new_g=%d new_stack=%s stack=main.main@/m.go:1", g, serve)
	}
	act(us, "GoBlock", "reason_string=sleep stack=main.main@/m.go:1")
	for _, g := range []int{2, 3} {
		run(us, g)
		block(us, "network")
	}
	r = &Requests{}
	add := func(conn uint32, sent, end timeline.Time) {
		r.Start, r.End, r.Conn = append(r.Start, sent), append(r.End, end), append(r.Conn, conn)
		r.Late, r.Dial = append(r.Late, 0), append(r.Dial, 0)
	}
	for i := range pairs {
		gc := i%5 == 0
		sent := timeline.Time(at)
		wake(100*us, 2)
		run(10*us, 2)
		if gc {
			act(us, "GCBegin", "gc_seq=%d stack=runtime.gcStart@/go/mgc.go:1", 2*(i/5)+1)
		}
		end := block(200*us, "network").Add(20 * us)
		add(7, sent, end)
		sent = timeline.Time(at).Add(50 * us)
		wake(100*us, 3)
		run(10*us, 3)
		block(100*us, "sync")
		wake(300*us, 3)
		run(10*us, 3)
		if gc {
			act(400*us, "GCEnd", "gc_seq=%d", 2*(i/5)+2)
		}
		end = block(100*us, "network").Add(20 * us)
		add(9, sent, end)
	}
	act(time.Millisecond, "HeapAlloc", "heapalloc_value=1") // the last answer is in the trace
	return b.String(), r
}

func TestTrace(t *testing.T) {
	text, r := server(100)
	trace, err := exectrace.Open(fixture.Trace(t, text), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := sweep.Get(t.Context(), sweep.NewDesk(trace), nil, Whole)
	if err != nil || len(found.Problems) > 0 {
		t.Fatal(err, found.Problems)
	}
	table := Join(r, found.Kinds(r, us), Options{Window: found.Span})
	if table.Requests != 200 || table.Served != 1 {
		t.Fatalf("table = %+v", table)
	}
	f := func(key string, all float64, timeAll, timeSlow time.Duration) {
		t.Helper()
		row := table.Row(key)
		if row == nil {
			t.Errorf("there is no row %s", key)
			return
		}
		near := func(got, want time.Duration) bool { return (got - want).Abs() <= 3*us }
		if row.All != all || !near(row.Time, timeAll) || !near(row.Slow[1].Time, timeSlow) {
			t.Errorf("%s: met by %v, for %v, in the slowest tenth %v; want %v, %v, %v", key, row.All, row.Time, row.Slow[1].Time, all, timeAll, timeSlow)
		}
	}
	// A fifth of the requests fall into collections: the slowest ones, 20 of
	// connection 9, wholly but for the last of their answer.
	f("gc_mark", 0.2, (200*us+870*us)/10, 870*us)
	f("own_run", 1, (200*us+200*us+2*40*us)/2, 600*us)
	f("own_lock", 0.5, 150*us, 300*us)
	f("own_sched", 1, (10*us+20*us)/2, 20*us)
	f("lock", 0.5, 150*us, 300*us)
	if row := table.Row("own_chan"); row != nil {
		t.Errorf("nobody waited for a goroutine: %+v", row)
	}
	// The slowest requests are of a connection that sends too few to be found.
	for i := range r.Start {
		if r.Conn[i] == 9 && i%10 == 1 {
			r.Conn[i] = 100 + uint32(i)
		}
	}
	if row := Join(r, found.Kinds(r, us), Options{Window: found.Span}).Row("own_lock"); row == nil || !row.Slow[0].Unknown || row.Slow[0].Share != 0 {
		t.Errorf("of the slowest the goroutine is known: %+v", row)
	}
	// Clocks that are known to 10 ms tell nothing of goroutines.
	if table := Join(r, found.Kinds(r, 10*ms), Options{Window: found.Span}); table.Served != 0 || table.Row("own_run") != nil || table.Row("gc_mark").Doubt == "" {
		t.Errorf("with a clock that is 10 ms off: %+v", table)
	}
}
