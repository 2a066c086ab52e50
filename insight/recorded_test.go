package insight

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// drama is the text of a trace in which a test lets threads act: the rules see
// it through all that reads and adds up a real one.
type drama struct {
	threads []*actor
	seq     map[int]int // by goroutine, of the events that have one
}

// actor is one thread, which has a P.
type actor struct {
	d    *drama
	m    int
	at   time.Duration
	acts int
	text strings.Builder
}

func newDrama() *drama { return &drama{seq: map[int]int{}} }

// thread adds one that runs a goroutine from the begin on, on a P of its own.
func (d *drama) thread(g int) *actor {
	a := &actor{d: d, m: len(d.threads) + 1, at: time.Millisecond}
	d.threads = append(d.threads, a)
	a.act(us, "ProcStatus", "p=%d pstatus=running", a.m-1)
	a.act(us, "GoStatus", "g=%d m=%d gstatus=running", g, a.m)
	if a.m == 1 {
		a.act(us, "ProcsChange", "procs_value=4")
	}
	return a
}

// act writes an event some time after the one before.
func (a *actor) act(after time.Duration, event, args string, values ...any) {
	if a.acts%1000 == 0 { // a batch has at most 64 KB
		fmt.Fprintf(&a.text, "EventBatch m=%d time=%d\n", a.m, a.at)
	}
	a.acts++
	a.at += after
	fmt.Fprintf(&a.text, "%s dt=%d %s\n", event, after, fmt.Sprintf(args, values...))
}

// create starts a goroutine with a function, FUNC@FILE:LINE.
func (a *actor) create(after time.Duration, g int, function, from string) {
	a.act(after, "GoCreate", "new_g=%d new_stack=%s stack=%s", g, function, from)
}

// run lets a goroutine run that was ready.
func (a *actor) run(after time.Duration, g int) {
	a.d.seq[g]++
	a.act(after, "GoStart", "g=%d g_seq=%d", g, a.d.seq[g])
}

// wake makes a goroutine ready.
func (a *actor) wake(after time.Duration, g int, stack string) {
	a.d.seq[g]++
	args := fmt.Sprintf("g=%d g_seq=%d", g, a.d.seq[g])
	if stack != "" {
		args += " stack=" + stack
	}
	a.act(after, "GoUnblock", "%s", args)
}

// block lets the goroutine that runs wait.
func (a *actor) block(after time.Duration, reason, stack string) {
	a.act(after, "GoBlock", "reason_string=%q stack=%s", reason, stack)
}

// trace is the bytes of the trace.
func (d *drama) trace(t *testing.T) []byte {
	t.Helper()
	text := "Trace Go1.26\n"
	for _, a := range d.threads {
		text += a.text.String()
	}
	return fixture.Trace(t, text)
}

// expect records the trace and checks what a rule says.
func (d *drama) expect(t *testing.T, id string, state State, words ...string) Finding {
	t.Helper()
	r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\nphase trace 10s..20s profiler=trace\n")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, d.trace(t))
	in := NewInput(session.New(r.Open()))
	if err := in.trace().Err; err != nil {
		t.Fatal(err)
	}
	if problems := in.trace().Info.Problems; len(problems) > 0 {
		t.Fatalf("the trace of the test is not one: %v", problems[0])
	}
	for _, f := range Run(in) {
		if f.Rule != id {
			continue
		}
		if f.State != state {
			t.Errorf("%s is %q (%s), want %q", id, f.State, f.Summary, state)
		}
		said := f.Summary
		for _, e := range f.Evidence {
			said += "\n" + e.Text
			if e.Function != "" && len(e.Stack) == 0 {
				t.Errorf("%s: evidence at %s has no stack", id, e.Function)
			}
		}
		for _, w := range words {
			if !strings.Contains(said, w) {
				t.Errorf("%s says %q, want %q in it", id, said, w)
			}
		}
		return f
	}
	t.Fatalf("%s is silent", id)
	return Finding{}
}

// roughly checks an impact that the begin and the end of a trace blur.
func roughly(t *testing.T, f Finding, want float64) {
	t.Helper()
	if f.Impact == nil || math.Abs(f.Impact.Value-want) > 0.03*want {
		t.Errorf("impact of %s = %+v, want about %v", f.Rule, f.Impact, want)
	}
}

// takeTurns is a trace in which two goroutines of one P hand something to and
// fro: each runs for some time, and starts late after that.
func takeTurns(n int, run, late time.Duration) *drama {
	d := newDrama()
	a := d.thread(1)
	a.create(us, 2, "shop/paint.consume@/src/paint/modes.go:60", "shop/paint.produce@/src/paint/modes.go:50;main.main@/src/cmd/shop/main.go:5")
	a.block(us, "chan receive", "runtime.chanrecv1@/go/chan.go:506;shop/paint.produce@/src/paint/modes.go:64;main.main@/src/cmd/shop/main.go:5")
	a.run(us, 2)
	for i := range n {
		me, other, line := 2, 1, 71
		if i%2 == 1 {
			me, other, line = 1, 2, 72
		}
		function := map[int]string{1: "produce", 2: "consume"}[me]
		a.wake(run/2, other, fmt.Sprintf("runtime.chansend1@/go/chan.go:161;shop/paint.%s@/src/paint/modes.go:%d;main.main@/src/cmd/shop/main.go:5", function, line))
		a.block(run-run/2, "chan receive", fmt.Sprintf("runtime.chanrecv1@/go/chan.go:506;shop/paint.%s@/src/paint/modes.go:64;main.main@/src/cmd/shop/main.go:5", function))
		a.run(late, other)
	}
	a.act(us, "GoStop", "reason_string=preempted stack=shop/paint.produce@/src/paint/modes.go:65")
	return d
}

func TestSC03Recorded(t *testing.T) {
	f := takeTurns(11_000, 2*us, 8*us).expect(t, "SC03", Found, "hand-offs", "between paint.", "100% of all wake-ups", "take turns", "waits at this chan receive")
	severity(t, "ping-pong", f, Warning)
	if e := f.Evidence[0]; e.Line != 64 || len(e.Stack) != 3 || e.Stack[0].Function != "runtime.chanrecv1" || e.Stack[2].Function != "main.main" {
		t.Errorf("evidence = %+v", e)
	}
	takeTurns(11_000, 8*us, 2*us).expect(t, "SC03", Fine, "on average in between")
	takeTurns(1_000, 2*us, 100*us).expect(t, "SC03", Fine, "hand-offs a second")
}

// TestSC06Recorded: three of four Ps are idle while a goroutine waits.
func TestSC06Recorded(t *testing.T) {
	f := takeTurns(40, 10*ms, us).expect(t, "SC06", Found, "the longest took")
	severity(t, "long", f, Warning)
	takeTurns(6_000, 20*us, us).expect(t, "SC06", Fine)
}

func TestSC07Recorded(t *testing.T) {
	f := takeTurns(60, us, 20*ms).expect(t, "SC07", Found, "1% of", "waited here for 20.0 ms")
	severity(t, "long, and nothing tells that anybody waited", f, Info)
	takeTurns(1_000, 100*us, us).expect(t, "SC07", Fine, "99% of")
	takeTurns(20, us, 20*ms).expect(t, "SC07", TooLittle, "50 are needed")
}

// leak is a trace in which goroutines are started that wait until the end, or
// until the following one comes.
func leak(n int, every time.Duration, end bool) *drama {
	d := newDrama()
	a := d.thread(1)
	for i := range n {
		g := 10 + i
		a.create(us, g, "shop/feed.fetch.func1@/src/feed/x.go:30", "shop/feed.fetch@/src/feed/x.go:20")
		a.block(us, "sleep", "time.Sleep@/go/sleep.go:1;main.main@/src/cmd/shop/main.go:9")
		a.run(us, g)
		a.block(us, "chan send", "runtime.chansend1@/go/chan.go:161;shop/feed.fetch.func1@/src/feed/x.go:31")
		a.wake(every, 1, "") // a timer
		a.run(us, 1)
		if end {
			a.wake(us, g, "shop/feed.fetch@/src/feed/x.go:25")
			a.block(us, "sleep", "time.Sleep@/go/sleep.go:1;main.main@/src/cmd/shop/main.go:9")
			a.run(us, g)
			a.act(us, "GoDestroy", "")
			a.wake(us, 1, "")
			a.run(us, 1)
		}
	}
	return d
}

func TestSC10Recorded(t *testing.T) {
	f := leak(160, 10*ms, false).expect(t, "SC10", Found, "160 goroutines of feed.fetch.func1 wait at feed.fetch.func1 at x.go:31", "chan send", "[40 40 40 40]")
	severity(t, "a leak", f, Warning)
	leak(160, 10*ms, true).expect(t, "SC10", Fine)
	leak(80, 10*ms, false).expect(t, "SC10", Fine)
}

// queue is a trace in which goroutines stand in line for a lock: who holds it
// lets the next one go on and stands in line again.
func queue(members, n int, hold time.Duration, method string) *drama {
	const (
		lock   = "internal/sync.(*Mutex).lockSlow@/go/mutex.go:149;sync.(*%s@/go/mutex.go:46;shop/cache.Get@/src/cache/cache.go:20;shop.serve@/src/shop.go:3"
		unlock = "sync.(*Mutex).Unlock@/go/mutex.go:65;shop/cache.Get@/src/cache/cache.go:25;shop.serve@/src/shop.go:3"
	)
	d := newDrama()
	a := d.thread(1)
	for i := range members {
		a.create(us, 10+i, "shop.serve@/src/shop.go:1", "main.main@/src/cmd/shop/main.go:5")
	}
	a.block(us, "sleep", "time.Sleep@/go/sleep.go:1;main.main@/src/cmd/shop/main.go:9")
	for i := range members {
		a.run(us, 10+i)
		if i < members-1 {
			a.block(us, "sync", fmt.Sprintf(lock, method))
		}
	}
	for i := range n {
		next := 10 + i%members
		if next == 10+(i+members-1)%members {
			break // alone
		}
		a.wake(hold, next, unlock)
		a.block(us, "sync", fmt.Sprintf(lock, method))
		a.run(us, next)
	}
	a.act(us, "GoStop", "reason_string=preempted stack=shop.serve@/src/shop.go:3")
	return d
}

func TestLK01Recorded(t *testing.T) {
	f := queue(16, 400, 500*us, "Mutex).Lock").expect(t, "LK01", Found, "for the lock at cache.Get at cache.go:20", "of them on average, with 4 Ps", "unlocked here")
	severity(t, "a lock", f, Warning)
	if len(f.Evidence) != 2 || f.Evidence[0].Line != 20 || f.Evidence[1].Line != 25 || len(f.Evidence[1].Stack) != 3 {
		t.Errorf("evidence = %+v", f.Evidence)
	}
	takeTurns(1_000, 100*us, us).expect(t, "LK01", Fine, "no goroutine waited for a mutex")
}

func TestLK04Recorded(t *testing.T) {
	f := queue(16, 400, 500*us, "Mutex).Lock").expect(t, "LK04", Found, "goroutines queued for the lock at cache.Get at cache.go:20")
	severity(t, "a queue", f, Warning)
	roughly(t, f, 15)
	queue(16, 400, 500*us, "RWMutex).RLock").expect(t, "LK04", Fine)
	queue(3, 400, 500*us, "Mutex).Lock").expect(t, "LK04", Fine)
}

// assists is a trace in which a goroutine helps the collector for a part of
// each ten milliseconds.
func assists(part time.Duration) *drama {
	d := newDrama()
	a := d.thread(1)
	a.create(us, 2, "shop.serve@/src/shop.go:1", "main.main@/src/cmd/shop/main.go:5")
	a.block(us, "sleep", "time.Sleep@/go/sleep.go:1;main.main@/src/cmd/shop/main.go:9")
	a.run(us, 2)
	for i := range 30 {
		a.act(us, "GCBegin", "gc_seq=%d stack=runtime.gcStart@/go/mgc.go:1;shop.parse@/src/shop.go:12", 2*i+1)
		a.act(ms, "GCMarkAssistBegin", "stack=runtime.gcAssistAlloc@/go/mgcmark.go:1;shop.parse@/src/shop.go:12")
		a.act(part, "GCMarkAssistEnd", "")
		a.act(ms, "GCEnd", "gc_seq=%d", 2*i+2)
		a.act(8*ms-part, "GoStop", "reason_string=preempted stack=shop.parse@/src/shop.go:13")
		a.run(us, 2)
	}
	return d
}

func TestGC05Recorded(t *testing.T) {
	f := assists(ms).expect(t, "GC05", Found, "mark assists took 30.0 ms", "for shop.serve it was", "30 assists", "30 collections")
	severity(t, "nothing tells that anybody waited", f, Info)
	roughly(t, f, 0.1)
	assists(100*us).expect(t, "GC05", Fine, "1.00%")
}
