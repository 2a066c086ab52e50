package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
)

// traceOf has a goroutine that goes to and fro n times, and as many messages.
func traceOf(t *testing.T, n int) *exectrace.Trace {
	t.Helper()
	var b strings.Builder
	b.WriteString("Trace Go1.22\nEventBatch gen=1 m=0 time=1000\nProcStatus dt=0 p=0 pstatus=running\nGoStatus dt=0 g=1 m=0 gstatus=running\n")
	for i := range n {
		if i > 0 && i%1000 == 0 { // a batch has a bound
			fmt.Fprintf(&b, "EventBatch gen=1 m=0 time=%d\n", 1000+30*i)
		}
		fmt.Fprintf(&b, "UserLog dt=10 task=0 key_string=k value_string=v stack=main.main@m.go:1\nGoStop dt=10 reason_string=preempted stack=main.main@m.go:2\nGoStart dt=10 g=1 g_seq=%d\n", i+1)
	}
	trace, err := exectrace.Open(fixture.Trace(t, b.String()), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// counter counts events, and calls each on the way.
type counter struct {
	kinds Kinds
	n     int
	each  func(n int)
}

func (c *counter) Kinds() Kinds { return c.kinds }

func (c *counter) Event(*exectrace.Event) {
	if c.n++; c.each != nil {
		c.each(c.n)
	}
}

// counting wants to know how many events there are.
func counting(key string, kinds Kinds, each func(n int)) Want[int] {
	return Want[int]{Key: key, Begin: func(p *Pass) (func() (int, error), error) {
		c := &counter{kinds: kinds, each: each}
		p.Join(c)
		return func() (int, error) { return c.n, nil }, nil
	}}
}

func TestPass(t *testing.T) {
	p := New(traceOf(t, 5))
	all, logs := &counter{kinds: Every}, &counter{kinds: Of(exectrace.KindLog)}
	few := &counter{kinds: Of(exectrace.KindLog, exectrace.KindSync)}
	few.each = func(n int) {
		if n == 3 {
			p.Leave(few)
		}
	}
	for _, l := range []Listener{all, few, logs} {
		p.Join(l)
	}
	if err := p.Run(nil); err != nil {
		t.Fatal(err)
	}
	if logs.n != 5 || few.n != 3 || int64(all.n) != p.Events() || all.n < 17 {
		t.Errorf("%d messages of 5, %d of the first 3, %d events of %d", logs.n, few.n, all.n, p.Events())
	}
}

// TestPassEnds: a pass that nobody listens to any more reads no further.
func TestPassEnds(t *testing.T) {
	p := New(traceOf(t, 5))
	c := &counter{kinds: Of(exectrace.KindLog)}
	c.each = func(int) { p.Leave(c) }
	p.Join(c)
	if err := p.Run(nil); err != nil || p.Events() > 5 {
		t.Errorf("%v after %d events", err, p.Events())
	}
	if err := p.Run(nil); err != nil || c.n != 1 {
		t.Errorf("%v, %d events", err, c.n)
	}
}

// ways are those in which a pass may read.
var ways = []func(*Pass){func(*Pass) {}, (*Pass).InBatches, (*Pass).Ahead}

// TestPassStops: a pass that was stopped goes on where it was, also when it has read
// ahead.
func TestPassStops(t *testing.T) {
	for _, way := range ways {
		p, c := New(traceOf(t, 50_000)), &counter{kinds: Every}
		way(p)
		p.Join(c)
		if err := p.Run(func() bool { return true }); !errors.Is(err, ErrStopped) || c.n != checkEvery {
			t.Errorf("%v after %d events", err, c.n)
		}
		if done := p.Done(); done <= 0 || done >= 1 {
			t.Errorf("%v is done", done)
		}
		if err := p.Run(nil); err != nil || c.n < 150_000 {
			t.Errorf("%v after %d events", err, c.n)
		}
	}
}

// generations is a trace of several generations in which goroutines come and go, and
// messages have a category of their own in each.
func generations(t *testing.T, n int) *exectrace.Trace {
	t.Helper()
	var b strings.Builder
	b.WriteString("Trace Go1.22\n")
	for gen := 1; gen <= n; gen++ {
		fmt.Fprintf(&b, "EventBatch gen=%d m=0 time=%d\nProcStatus dt=0 p=0 pstatus=running\nGoStatus dt=0 g=1 m=0 gstatus=running\n", gen, gen*100_000)
		for i := range 300 {
			fmt.Fprintf(&b, "UserLog dt=1 task=0 key_string=k%d value_string=v stack=main.log%d@m.go:1\n", i*gen, i)
			fmt.Fprintf(&b, "GoCreate dt=1 new_g=%d new_stack=main.f%d@m.go:%d stack=main.main@m.go:%d\n", 10+i+1000*gen, i%7, gen, i)
			fmt.Fprintf(&b, "GoStop dt=1 reason_string=r%d stack=main.main@m.go:2\nGoStart dt=1 g=%d g_seq=1\nGoDestroy dt=1\nGoStart dt=1 g=1 g_seq=%d\n", i%5, 10+i+1000*gen, i+1)
		}
	}
	trace, err := exectrace.Open(fixture.Trace(t, b.String()), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// told is all that the events of a pass tell, stopping it often.
func told(t *testing.T, trace *exectrace.Trace, way func(*Pass), until int64) []string {
	t.Helper()
	p := New(trace)
	r, gs := p.Reader(), p.Goroutines()
	var out []string
	p.Join(On(Every, func(e *exectrace.Event) {
		line := fmt.Sprintf("%+v %s", *e, r.Name(e.Name))
		if e.Kind == exectrace.KindGoTransition {
			line += fmt.Sprintf(" %+v %s", *gs.Is, r.Name(gs.Is.Name))
		}
		if e.Stack != 0 {
			line += r.Name(r.Root(e.Stack))
		}
		if out = append(out, line); p.Events() == until {
			p.End()
		}
	}))
	way(p)
	if err := p.Run(nil); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWarm: to load what events will need changes nothing, however many goroutines there
// are, and whatever slots a damaged trace names.
func TestWarm(t *testing.T) {
	p := New(generations(t, 1))
	gs := p.Goroutines()
	gs.grow(manyPages * goPage)
	gs.In(5).ID, gs.In(5).State = 40, exectrace.Waiting
	w := &warming{}
	p.Join(w)
	events := []exectrace.Event{
		{Kind: exectrace.KindGoTransition, SubjectSlot: 5}, {Kind: exectrace.KindGoTransition, SubjectSlot: exectrace.NoSlot},
		{Kind: exectrace.KindGoTransition, SubjectSlot: 1 << 30}, {Kind: exectrace.KindSync, SubjectSlot: 5},
	}
	p.warmers.warm(gs, events)
	if want := 40 + uint64(exectrace.Waiting) + 4; p.warmers.read != want || w.n != 1 {
		t.Errorf("%d was read in %d calls, want %d in one", p.warmers.read, w.n, want)
	}
	p.Leave(w)
	p.warmers.warm(gs, events)
	p.warmers.warm(nil, events)
	if w.n != 1 {
		t.Error("who has left is asked")
	}
}

type warming struct{ n int }

func (w *warming) Kinds() Kinds           { return Every }
func (w *warming) Event(*exectrace.Event) {}
func (w *warming) Warm(events []exectrace.Event) uint64 {
	w.n++
	return uint64(len(events))
}

// TestPassAhead: who reads ahead, or in batches, sees the same events with the same names and stacks,
// and reads no more generations than it has to.
func TestPassAhead(t *testing.T) {
	trace := generations(t, 5)
	for _, until := range []int64{1 << 62, 700, 2500} {
		want := told(t, trace, ways[0], until)
		for _, way := range ways[1:] {
			_, before := trace.Reads()
			got := told(t, trace, way, until)
			_, after := trace.Reads()
			if !slices.Equal(got, want) {
				t.Errorf("until %d: %d events, and %d without reading ahead, or others", until, len(got), len(want))
			}
			if most := int64(len(want)/1803 + 1); after-before > most {
				t.Errorf("until %d: %d generations were read, want at most %d", until, after-before, most)
			}
		}
	}
}

// TestPassAheadPanics: a mistake of a listener ends the goroutine that reads ahead.
func TestPassAheadPanics(t *testing.T) {
	p := New(traceOf(t, 50_000))
	p.Ahead()
	c := &counter{kinds: Every, each: func(n int) {
		if n == 10 {
			panic("a mistake")
		}
	}}
	p.Join(c)
	func() {
		defer func() {
			if recover() != "a mistake" {
				t.Error("the panic was swallowed")
			}
		}()
		_ = p.Run(nil)
	}()
	p.Leave(c)
	if err := p.Run(nil); err != nil {
		t.Error(err)
	}
}

// TestDesk: what is asked for together is found out in one pass, and what is known
// in none.
func TestDesk(t *testing.T) {
	trace := traceOf(t, 5)
	d := NewDesk(trace)
	logs, syncs := counting("logs", Of(exectrace.KindLog), nil), counting("syncs", Of(exectrace.KindSync), nil)
	if n, err := Get(t.Context(), d, nil, logs, syncs); n != 5 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
	if n, err := Get(t.Context(), d, nil, syncs); n != 2 || err != nil {
		t.Errorf("%d synchronisations, %v", n, err)
	}
	if readers, generations := trace.Reads(); readers != 1 || generations != 1 {
		t.Errorf("%d readers have read %d generations", readers, generations)
	}
}

// TestDeskHandsOver: when the one who reads has to go, another one who waits goes
// on, from there.
func TestDeskHandsOver(t *testing.T) {
	trace := traceOf(t, 50_000)
	d := NewDesk(trace)
	ctx, cancel := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	other := counting("other", Of(exectrace.KindLog), nil)
	first := counting("first", Every, func(n int) {
		if n == 1 { // now there is a pass to wait for
			waits.Go(func() {
				if n, err := Get(t.Context(), d, nil, other); n != 50_000 || err != nil {
					t.Errorf("who has waited is told %d, %v", n, err)
				}
			})
		}
		if n == 1000 {
			cancel()
		}
	})
	if _, err := Get(ctx, d, nil, first, other); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone is told %v", err)
	}
	waits.Wait()
	if n, err := Get(t.Context(), d, nil, first); n < 150_000 || err != nil {
		t.Errorf("%d events, %v", n, err)
	}
	if readers, _ := trace.Reads(); readers != 1 {
		t.Errorf("%d readers", readers)
	}
}

// TestDeskPanics: a mistake of one listener keeps nobody waiting, and the next one
// who asks begins anew.
func TestDeskPanics(t *testing.T) {
	d := NewDesk(traceOf(t, 5))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = Get(t.Context(), d, nil, counting("x", Every, func(int) { panic("x") }))
	}()
	if n, err := Get(t.Context(), d, nil, counting("x", Of(exectrace.KindLog), nil)); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestFewTransitions: who wants the begin of lives alone, or some goroutines, gets no other
// transition, and who wants all gets each once.
func TestFewTransitions(t *testing.T) {
	trace, err := exectrace.Open(fixture.Trace(t, `Trace Go1.22
EventBatch gen=1 m=0 time=1000
ProcStatus dt=0 p=0 pstatus=running
GoStatus dt=0 g=1 m=0 gstatus=running
GoCreate dt=10 new_g=2 new_stack=main.f@m.go:1 stack=main.main@m.go:2
GoCreate dt=10 new_g=3 new_stack=main.f@m.go:1 stack=main.main@m.go:2
GoStop dt=10 reason_string=preempted stack=main.main@m.go:2
GoStart dt=10 g=2 g_seq=1
GoDestroy dt=10
GoStart dt=10 g=3 g_seq=1
GoStop dt=10 reason_string=preempted stack=main.f@m.go:1
GoStart dt=10 g=1 g_seq=1
GoCreate dt=10 new_g=4 new_stack=main.f@m.go:1 stack=main.main@m.go:2
`), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	p := New(trace)
	gs := p.Goroutines()
	list := func(kinds Kinds, follow exectrace.GoID) func() string {
		var all []string
		p.Join(On(kinds, func(e *exectrace.Event) {
			if e.Kind == exectrace.KindSync {
				return
			}
			all = append(all, fmt.Sprint(e.Goroutine(), e.To))
			if e.Goroutine() == follow && e.From <= exectrace.NotExist {
				gs.Follow(e.SubjectSlot)
			}
		}))
		return func() string { return strings.Join(all, " ") }
	}
	every := list(Of(exectrace.KindGoTransition)|Begun|Followed, 0)
	begun, followed := list(Begun, 2), list(Followed, 0)
	if err := p.Run(nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, got, want string }{
		{"all", every(), "1 Running 2 Runnable 3 Runnable 1 Runnable 2 Running 2 NotExist 3 Running 3 Runnable 1 Running 4 Runnable"},
		{"begun", begun(), "1 Running 2 Runnable 3 Runnable 4 Runnable"},
		{"followed", followed(), "2 Running 2 NotExist"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
	}
}

// TestUnfollow: a goroutine is followed for as long as somebody follows it.
func TestUnfollow(t *testing.T) {
	trace, err := exectrace.Open(fixture.Trace(t, `Trace Go1.22
EventBatch gen=1 m=0 time=1000
ProcStatus dt=0 p=0 pstatus=running
GoStatus dt=0 g=1 m=0 gstatus=running
GoStop dt=10 reason_string=preempted stack=main.main@m.go:2
GoStart dt=10 g=1 g_seq=1
GoStop dt=10 reason_string=preempted stack=main.main@m.go:2
GoStart dt=10 g=1 g_seq=2
`), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for followers, want := range []string{"", "Runnable", "Runnable Running", "Runnable Running Runnable"} {
		p := New(trace)
		gs := p.Goroutines()
		var got []string
		p.Join(On(Begun, func(e *exectrace.Event) {
			for range followers {
				gs.Follow(e.SubjectSlot)
			}
			gs.Unfollow(e.SubjectSlot + 1000) // nobody
		}))
		p.Join(On(Followed, func(e *exectrace.Event) {
			got = append(got, e.To.String())
			gs.Unfollow(e.SubjectSlot)
		}))
		if err := p.Run(nil); err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with %d followers: %v, want %s", followers, got, want)
		}
	}
}
