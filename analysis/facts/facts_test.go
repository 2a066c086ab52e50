package facts

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/gc"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestQuestions: every question says what it asks, and what to record is made of the
// same table as what answers.
func TestQuestions(t *testing.T) {
	for q, def := range questions {
		if def.asks == "" || len(def.from) == 0 {
			t.Errorf("%s is not whole", q)
		}
		for _, kind := range def.from {
			if files[kind].name == "" {
				t.Errorf("%s is answered by %s, which has no name", q, kind)
			}
		}
	}
	m := &recording.Manifest{}
	f := func(q Question, want string) {
		t.Helper()
		if got := q.Missing(m); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
	f(Kept, "the recording has no heap profile (record with -phases heap)")
	f(WaitTimes, "the recording has no block profile and no execution trace (record with -phases block or trace)")
	f(Locks, "the recording has no execution trace, no block profile, no mutex profile, no goroutine profile and no dump of goroutines (record with -phases trace, block, mutex, goroutine or stacks)")
	f(Requests, "the recording has no load (record with -load URL)")
	f(HeapSize, "the recording has no samples of runtime/metrics and no /debug/vars")
	m.Entries = []recording.Entry{{Kind: recording.Mutex}}
	f(Locks, "")
	f(WaitTimes, "the recording has no block profile and no execution trace (record with -phases block or trace)")
}

// TestUnrecorded: what was asked for and is not there has a reason.
func TestUnrecorded(t *testing.T) {
	m := &recording.Manifest{
		Phases:  []recording.Phase{{Name: "bare", Error: "x"}, {Name: "trace", Profiler: "trace", Error: "cannot keep trace.out: it: is gone"}, {Name: "heap", Profiler: "heap", Error: "odd: x"}, {Name: "cpu", Profiler: "cpu"}},
		Missed:  []recording.Missed{{Profiler: "allocs", Reason: "no agent"}, {Profiler: "block", Reason: "y"}},
		Entries: []recording.Entry{{Kind: recording.Block}},
	}
	for kind, want := range map[recording.Kind]string{
		recording.ExecTrace: "it: is gone", recording.Heap: "odd: x", recording.CPU: "", recording.Allocs: "no agent", recording.Block: "", recording.Load: "", recording.Mutex: "",
	} {
		if got := Unrecorded(m, kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := Kept.Missing(m); got != "the recording has no heap profile, although it was asked for (see the phases and the notes)" {
		t.Error(got)
	}
}

// TestReason reads what a stack waits for from its leaf.
func TestReason(t *testing.T) {
	f := func(frames string, want Reason) {
		t.Helper()
		var all []stack.Frame
		for name := range strings.FieldsSeq(frames) {
			all = append(all, stack.Frame{Func: name})
		}
		if got := reason(all); got != want {
			t.Errorf("%s: %q, want %q", frames, got, want)
		}
	}
	f("sync.(*Mutex).Lock main.put main.main", ForLock)
	f("runtime.gopark sync.runtime_SemacquireRWMutexR sync.(*RWMutex).RLock main.get", ForLock)
	f("sync.(*Mutex).Unlock main.put", ForLock)
	f("runtime.chansend1 main.produce", ForSend)
	f("runtime.gopark runtime.chanrecv runtime.chanrecv2 main.work", ForReceive)
	f("runtime.selectgo main.loop", ForSelect)
	f("sync.runtime_notifyListWait sync.(*Cond).Wait main.wait", ForCond)
	f("sync.runtime_SemacquireWaitGroup sync.(*WaitGroup).Wait main.main", ForGroup)
	f("internal/poll.runtime_pollWait internal/poll.(*FD).Read net.(*conn).Read main.serve", ForOutside)
	f("time.Sleep main.main", ForOutside)
	f("main.spin runtime.chansend1", ForOther) // what is above the leaf is not what it does
	f("", ForOther)
}

// waiting is a recording with a profile of waits.
func waiting(r *recordingtest.Recording, kind recording.Kind, path, picture string) *recordingtest.Recording {
	data := profiletest.Encode(picture, profiletest.Options{Types: []string{"contentions/count", "delay/nanoseconds"}})
	return r.Put(recording.Entry{Path: path, Kind: kind, Phase: "block"}, data)
}

// TestWaitsOf: a fact says which file tells it, how good it is and of what time; and
// what recorded the program is not the program.
func TestWaitsOf(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase block 10s..12s profiler=block")
	waiting(r, recording.Block, "block.pb.gz", `
main.main                         main.loupeAgent
shop/store.put:/src/store.go:23   runtime.chanrecv1
sync.(*Mutex).Lock                .
= 100 20
= 4000000000 9000000000
`)
	f := Gather(session.New(r.Open()))
	all, err := f.WaitsOf(recording.ExecTrace, recording.Block, recording.Mutex)
	if len(all) != 1 || err == nil {
		t.Fatalf("%d files, %v", len(all), err)
	}
	w := all[0]
	if w.Entry.Path != "block.pb.gz" || w.What != "block profile" || w.Precision != Sampled || w.Length != 2*time.Second || w.Time.Start.Seconds() != 10 || w.Of() != ", in 2.00 s" {
		t.Errorf("provenance %+v", w.Provenance)
	}
	places := w.Places(ForLock)
	if len(w.All) != 1 || len(places) != 1 || places[0].At.Line != 23 || !places[0].Own || places[0].Count != 100 || w.Mean(places[0].Time) != 2 {
		t.Errorf("%d waits, places %+v", len(w.All), places)
	}
	if again, _ := f.WaitsOf(recording.Block); again[0] != w {
		t.Error("the profile was read twice")
	}
	part := GatherIn(session.New(r.Open()), w.Time, nil)
	if all, _ := part.WaitsOf(recording.Block); len(all) > 0 {
		t.Error("a profile stands for a part of its time")
	}
}

// TestSettings: who tells of the Ps is known, and that another tells another number.
func TestSettings(t *testing.T) {
	r := recordingtest.New("title x\nhost cpus=8\nphase bare 0s..10s")
	f := Gather(session.New(r.Open()))
	if in := f.Settings(nil); in.Procs != 8 || in.ProcsFrom != "the number of CPUs" || in.Collector == nil || in.From != "the environment" || in.Collector.GOGC != 100 {
		t.Errorf("settings %+v", in)
	}
	f.Rounds[0].GC = &gc.Summary{Cycles: []gc.Row{{Procs: 8}, {Procs: 4}}}
	if in := f.Settings(nil); in.Procs != 4 || in.ProcsFrom != "gctrace" || in.Differ != "" {
		t.Errorf("settings %+v", in)
	}
}

// TestStillInUse: what was never let go is kept, and no garbage.
func TestStillInUse(t *testing.T) {
	types := []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}
	p := decode(t, `
main.keep main.drop
= 10 10
= 1000 1000
= 10 2
= 900 100
`, types...)
	kept := StillInUse(p)
	if !kept(0) || kept(1) {
		t.Errorf("kept %v and %v", kept(0), kept(1))
	}
	if StillInUse(decode(t, "main.keep\n= 10\n", "alloc_space/bytes"))(0) {
		t.Error("a profile that does not know it calls something kept")
	}
}

// decode reads a picture of a profile.
func decode(t *testing.T, picture string, types ...string) *profile.Profile {
	t.Helper()
	p, err := profile.Decode(profiletest.Encode(picture, profiletest.Options{Types: types}), profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
