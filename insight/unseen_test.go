package insight

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// withSource adds a source to the recordings of a scene.
func (s *scene) withSource(file, text string) {
	s.beside = append(s.beside, func(r *recordingtest.Recording) {
		r.Put(recording.Entry{Path: "source" + file, Kind: recording.Source, Source: file}, []byte(text))
	})
}

// TestSC19: a goroutine that has a thread of its own and locks itself to it by its source is
// told of where it is put there often and does little.
func TestSC19(t *testing.T) {
	const locks = "package engine\n\nimport \"runtime\"\n\nfunc (e *engine) serve() {\n\truntime.LockOSThread()\n\tfor fn := range e.calls {\n\t\tfn()\n\t}\n}\n"
	of := func(starts int64, run time.Duration) *scene {
		s := newScene(t)
		s.group("shop/engine.(*engine).serve", 1, 1, time.Second, 0).Run = times(int(min(starts, 1000)), run)
		s.Wired = []sched.Wired{{G: 7, Name: s.name("shop/engine.(*engine).serve"), Starts: starts}}
		s.withSource("/src/engine/engine.go", locks)
		return s
	}
	f := of(40_000, 5*us).expect("SC19", Found, "a goroutine of engine.(*engine).serve is locked to its own thread", "40,000 times, 20,000 a second", "for 5.00 µs each time", "locks itself to its thread here")
	severity(t, "often", f, Warning)
	if e := f.Evidence[0]; e.File != "/src/engine/engine.go" || e.Line != 6 {
		t.Errorf("it is seen at %s:%d", e.File, e.Line)
	}
	severity(t, "less often", of(6_000, 5*us).expect("SC19", Found), Info)
	of(3_000, 5*us).expect("SC19", Fine)
	of(40_000, ms).expect("SC19", Fine)
	s := of(40_000, 5*us)
	s.beside = nil
	s.withSource("/src/engine/engine.go", strings.Replace(locks, "runtime.LockOSThread()", "", 1))
	s.expect("SC19", Fine, "that calls runtime.LockOSThread in its source")
	newScene(t).expect("SC19", Fine, "no goroutine was repeatedly scheduled on a thread of its own")

	// What follows from it stands under it.
	s = of(40_000, 2*us)
	b := s.block("shop/engine.(*engine).serve", exectrace.NameChanReceive, 400_000, 3*us, s.stack("shop/engine.(*engine).serve:/src/engine/engine.go:7"), s.stack("main.ask:/src/main.go:3"))
	b.Worst.G = 7
	s.group("main.ask", 1, 1, time.Second, 0).Run = times(400_000, us)
	in := s.input()
	all := Run(in)
	if got := drawn(all, Cards(in, all)); !strings.Contains(got, "SC19(") || !strings.Contains(got, "SC03") || strings.Contains(got, " SC03") {
		t.Errorf("the cards are %s", got)
	}
}

// TestBE11: the program's own block profiler is told of where its source switches it on, and
// not in a phase of loupe's that takes such a profile.
func TestBE11(t *testing.T) {
	of := func(profiler, source string, block string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=" + profiler)
		if source != "" {
			r.Put(recording.Entry{Path: "source/debug.go", Kind: recording.Source, Source: "/src/debug.go"}, []byte("package debug\n\nimport \"runtime\"\n\nfunc Setup() {\n"+source+"\n}\n"))
		}
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.f:/src/a.go:6 shop.f:/src/a.go:7\nruntime.chanrecv1\nruntime.blockevent\nruntime.saveblockevent\n= "+block+"\n"))
	}
	f := expect(t, "on", of("cpu", "runtime.SetBlockProfileRate(1)", "30 70"), "BE11", Found, "took 30.0% of the CPU time")
	severity(t, "on", f, Warning)
	if e := f.Evidence[0]; e.File != "/src/debug.go" || e.Line != 6 {
		t.Errorf("it is seen at %s:%d", e.File, e.Line)
	}
	expect(t, "cheap", of("cpu", "runtime.SetBlockProfileRate(1)", "1 99"), "BE11", Fine)
	expect(t, "loupe's own", of("block", "runtime.SetBlockProfileRate(1)", "30 70"), "BE11", Fine, "in a phase that takes one")
	expect(t, "sampled", of("cpu", "runtime.SetBlockProfileRate(100_000_000)", "30 70"), "BE11", TooLittle, "no source")
	expect(t, "off", of("cpu", "runtime.SetBlockProfileRate(0)", "30 70"), "BE11", TooLittle)
	expect(t, "by somebody", of("cpu", "", "30 70"), "BE11", TooLittle)
}

// TestCP21: errors of failed attempts are told with who tries, and dates from numbers.
func TestCP21(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.parse:/src/dates.go:9 shop.parse:/src/dates.go:9 shop.other:/src/a.go:1\ntime.Parse                 time.Parse\ntime.parse                 time.parse\ntime.newParseError\n= 200                      500                        300\n"))
	f := expect(t, "dates", r, "CP21", Found, "20.0% of the CPU time went into errors of failed attempts: dates.go:9 in shop.parse, calling time.Parse")
	severity(t, "dates", f, Warning)
	if !strings.Contains(f.Advice, "one layout after another") {
		t.Errorf("advice %q", f.Advice)
	}
	// What is to be had is all of the tries, and not their errors alone.
	in := NewInput(session.New(r.Open()))
	all := Run(in)
	if card := Cards(in, all)[0]; all[card.Finding].Rule != "CP21" || card.Gain == nil || card.Gain.Share < 0.69 || card.Gain.Share > 0.71 {
		t.Errorf("the first card is %s with %+v", all[card.Finding].Rule, card.Gain)
	}
	r = recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.parse:/src/dates.go:9 shop.other:/src/a.go:1\nstrconv.Atoi\nstrconv.toError\n= 20 80\n"))
	if f := expect(t, "numbers", r, "CP21", Found, "calling strconv.Atoi"); !strings.Contains(f.Advice, "the first byte distinguishes") {
		t.Errorf("advice %q", f.Advice)
	}
	r = recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.parse:/src/dates.go:9 shop.other:/src/a.go:1\ntime.Parse\ntime.parse\n= 70 30\n"))
	expect(t, "all fit", r, "CP21", Fine)
}

// TestUnnamedEmpty: goroutines of which a profile has no stack are not functions without a name.
func TestUnnamedEmpty(t *testing.T) {
	r := recordingtest.New("title x\nphase goroutine 0s..1s")
	r.Put(recording.Entry{Path: "goroutine.pb.gz", Kind: recording.Goroutine, Phase: "goroutine"}, profiletest.Encode("main.f\n= 3\n", profiletest.Options{Types: []string{"goroutine/count"}}))
	if got := NewInput(session.New(r.Open())).Incomplete(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	stacks := &stack.Table{}
	rest := stacks.InternFrame(stack.Frame{Address: beforeZero})
	started := stacks.InternFrame(stack.Frame{Func: "runtime.newm", Address: 0x457304})
	nameless := stacks.InternFrame(stack.Frame{Address: 0x400000})
	p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "threadcreate", Unit: "count"}}, Stacks: stacks, Values: [][]int64{{11, 3, 1}}}
	p.StackIDs = []stack.ID{stacks.Intern([]stack.FrameID{rest, rest}), stacks.Intern([]stack.FrameID{started, rest}), stacks.Intern([]stack.FrameID{nameless})}
	if got := named(p); got != 0.75 {
		t.Errorf("of 11 threads without a stack, 3 with names and 1 without: %v", got)
	}
}

// TestForgottenTimers: timers that nothing stops hold what is kept, before a map from which entries are
// deleted; where the source may stop them, the map is named.
func TestForgottenTimers(t *testing.T) {
	const source = `package main

func (c *caller) call(b []byte) {
	cl := &call{body: bytes.Clone(b)}
	START
	c.pending[cl.id] = cl
}
func (c *caller) reply(m message) {
	cl := c.pending[m.id]
	delete(c.pending, m.id)
	MORE
}
`
	const stop = "Stop the timer that a.go:5 starts (time.AfterFunc)"
	const inMap = "It goes into c.pending, from which entries are deleted"
	for _, one := range []struct{ start, more, want string }{
		{"cl.timer = time.AfterFunc(c.limit, func() { c.expire(cl) })", "cl.done <- m", stop},
		{"time.AfterFunc(c.limit, func() { c.expire(cl) })", "cl.done <- m", stop},
		{"cl.timer = time.AfterFunc(c.limit, func() { c.expire(cl) })", "if cl.timer != nil { cl.done <- m }", stop},
		{"cl.timer = time.AfterFunc(c.limit, func() { c.expire(cl) })", "cl.timer.Stop()", inMap},
		{"cl.timer = time.AfterFunc(c.limit, func() { c.expire(cl) })", "finish(cl.timer)", inMap},
		{"t := time.AfterFunc(c.limit, func() { c.expire(cl) }); defer t.Stop()", "", inMap},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase heap 0s..1s")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(strings.NewReplacer("START", one.start, "MORE", one.more).Replace(source)))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, profiletest.Encode(
			"shop.call:a.go:4 shop.call:a.go:5\nbytes.Clone      time.AfterFunc\n= 6000           9000\n", profiletest.Options{Types: []string{"inuse_objects/count"}}))
		f, at := Finding{}, stack.Frame{Func: "shop.call", File: "a.go", Line: 4}
		tellHolder(NewInput(session.New(r.Open())), &f, at, []stack.Frame{at}, "otherwise")
		if timers := f.expires.File != ""; !strings.HasPrefix(f.Advice, one.want) || timers != (one.want != inMap) {
			t.Errorf("%s, %s: %s (timers %v)", one.start, one.more, f.Advice, timers)
		}
	}
}

// TestRegistered: a line that registers as often as another one allocates what is kept is
// named as what holds it; one that has registered little is not.
func TestRegistered(t *testing.T) {
	for count, want := range map[string]bool{"5000": true, "500": false, "1200": false, "net/http.setRequestCancel context.AfterFunc": false} {
		with := "context.AfterFunc"
		if strings.HasPrefix(count, "net/http") { // a library's own
			with, count = count, "5000"
		}
		r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase heap 0s..1s")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, profiletest.Encode(
			picture(column{"shop.next:/src/a.go:9 make", []int64{6000}}, column{"shop.pull:/src/a.go:5 " + with, []int64{int64(n)}}), profiletest.Options{Types: []string{"inuse_objects/count"}}))
		h, ok := registered(NewInput(session.New(r.Open())), stack.Frame{Func: "shop.next", File: "/src/a.go", Line: 9})
		if ok != want || ok && (!strings.Contains(h.advice, "a.go:5 registers with context.AfterFunc") || h.shows[0].Line != 5) {
			t.Errorf("%s: %v %+v", count, ok, h)
		}
	}
}
