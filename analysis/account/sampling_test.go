package account

import (
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/format/exectrace/sweep"
)

// sampleOf makes the account of a program in which after some requests one in ten is
// divided; none of them is all.
func sampleOf(t *testing.T, p *accounttest.Program, first int64) *Account {
	t.Helper()
	tr, err := exectrace.Open(fixture.Trace(t, p.Text()), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	pass := sweep.New(tr)
	b := NewBuilder(pass.Goroutines(), Options{Sample: true})
	b.units.first, b.units.requests, b.units.stretch = first, first, 10
	pass.Join(b)
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	a := b.Finish()
	Check(t, "sample", a)
	return a
}

// TestSample: of many requests some are divided; all are counted and measured, and the
// shares are those of all. One that goes on when its stretch is over is divided to its end.
func TestSample(t *testing.T) {
	const ms = time.Millisecond
	p := accounttest.New()
	p.Connect(5)
	p.Connect(6)
	p.Arrive(6) // begins among the first, and lasts until long after them
	p.Block("sleep", accounttest.In("time.Sleep@sleep.go:1", "main.slow@main.go:70"))
	for i := range 2000 {
		p.Arrive(5)
		p.Pass(2 * ms)
		p.Block("sleep", accounttest.In("time.Sleep@sleep.go:1", "main.handle@main.go:7"))
		p.Pass(time.Duration(5+i%7) * ms)
		if i == 1000 {
			p.Wake(6, "")
			p.Start(6)
			p.Respond(6)
		}
		p.Wake(5, "")
		p.Start(5)
		p.Respond(5)
	}
	all, some := sampleOf(t, p, 1<<40), sampleOf(t, p, 100)
	if all.Undivided != 0 || len(all.Groups) != 3 {
		t.Fatalf("without a sample %d units are not divided, in %d groups", all.Undivided, len(all.Groups))
	}
	if len(some.Groups) != 2 || some.Undivided < 1000 || some.Cut != all.Cut {
		t.Fatalf("%d units are not divided, in %d groups, %d cut", some.Undivided, len(some.Groups), some.Cut)
	}
	for i, g := range some.Groups {
		if whole := all.Groups[i]; g.Name != whole.Name || g.Seen != whole.Wall || whole.Seen != whole.Wall {
			t.Errorf("%d units of %s, want %d of %s", g.Seen.Count, g.Name, whole.Wall.Count, whole.Name)
		}
	}
	handle, slow := some.Groups[0], some.Groups[1]
	if handle.Name != "main.handle" || handle.Wall.Count < 100+80 || handle.Wall.Count > 100+1000 {
		t.Errorf("%d of %s are divided", handle.Wall.Count, handle.Name)
	}
	if slow.Name != "main.slow" || slow.Wall.Count != 1 || slow.All.Rows[0].Kind != Sleep || slow.All.Share(slow.All.Rows[0].Time) < 0.99 {
		t.Errorf("the long one is divided into %+v", slow.All.Rows)
	}
	for i := range handle.All.Rows[:2] {
		one, whole := &handle.All.Rows[i], &all.Groups[0].All.Rows[i]
		if d := handle.All.Share(one.Time) - all.Groups[0].All.Share(whole.Time); one.Kind != whole.Kind || one.Site.Frame != whole.Site.Frame || d < -0.02 || d > 0.02 {
			t.Errorf("%v at %v is %v of it, want %v", one.Kind, one.Site.Frame, handle.All.Share(one.Time), all.Groups[0].All.Share(whole.Time))
		}
	}
	// Those of a sample have the ids that they have without one.
	ids := map[int64]time.Duration{}
	for i := range all.Groups[0].Slowest {
		ids[all.Groups[0].Slowest[i].ID] = all.Groups[0].Slowest[i].Span.Len()
	}
	for _, one := range handle.Slowest {
		if d := ids[one.ID]; d != 0 && d != one.Span.Len() {
			t.Errorf("unit %d took %v, and %v without a sample", one.ID, one.Span.Len(), d)
		}
	}
}

// TestSampleRests: between stretches nothing is kept of what goroutines do, which is what
// a sample is for.
func TestSampleRests(t *testing.T) {
	s := newSampler(true)
	s.first, s.requests, s.stretch = 4, 2, 3
	b := &Builder{}
	b.units.sampler = s
	one := func(kind Unit) {
		u := &open{unit: kind}
		u.undivided = b.units.opens(kind)
		b.units.ends(u)
		b.units.frees(u.undivided)
		b.sample(1)
	}
	want := func(what string, resting bool) {
		t.Helper()
		if b.units.resting != resting {
			t.Errorf("%s: it rests: %v, want %v", what, b.units.resting, resting)
		}
	}
	one(Request)
	for range 8 {
		one(Task)
	}
	want("many tasks and one request", false)
	one(Request)
	want("enough of both", true)
	for range betweenUnits*s.stretch - 1 {
		one(Request)
	}
	want("before the next stretch", true)
	one(Request)
	want("within the next stretch", false)
	b.units.opens(Request) // goes on
	for range s.stretch {
		one(Request)
	}
	want("as long as one of it goes on", false)
}

// TestNoTurnStays: once requests alone count, no goroutine goes on with a turn of its loop,
// which would keep a sample from resting.
func TestNoTurnStays(t *testing.T) {
	const jobs = "runtime.chanrecv1@chan.go:1;main.worker@worker.go:42"
	p := accounttest.New()
	p.Connect(5)
	p.Arrive(5)
	p.Create(7, "main.worker", accounttest.In("main.handle@main.go:6"))
	p.Respond(5)
	p.Start(7)
	for range manyServed + 20 {
		p.Block("chan receive", jobs)
		p.Arrive(5)
		p.Wake(7, accounttest.In("main.handle@main.go:7"))
		p.Respond(5)
		p.Start(7)
	}
	tr, err := exectrace.Open(fixture.Trace(t, p.Text()), exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	pass := sweep.New(tr)
	b := NewBuilder(pass.Goroutines(), Options{Sample: true})
	pass.Join(b)
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	for i := range b.tracks {
		if b.tracks[i].turn.unit != nil {
			t.Errorf("goroutine %d is in a turn that began when there were few requests", b.tracks[i].id)
		}
	}
}
