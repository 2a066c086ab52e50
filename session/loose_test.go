package session_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"loupe/format/exectrace/fixture"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/session"
	"loupe/value/timeline"
)

const looseLog = `listening
gc 1 @1.001s 0%: 0.02+0.46+0.02 ms clock, 0.04+0/0/0+0.04 ms cpu, 4->4->2 MB, 4 MB goal, 2 P
gc 2 @2.000s 0%: 1.00+8.00+1.00 ms clock, 0.04+0/0/0+0.04 ms cpu, 4->4->2 MB, 4 MB goal, 2 P
SCHED 1040ms: gomaxprocs=2 idleprocs=1 threads=5 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=0 [ 0 0 ] schedticks=[ 5 9 ]
`

// loose is a file of every kind, with names that say nothing.
func loose(t *testing.T) fstest.MapFS {
	t.Helper()
	taken := time.Date(2026, time.May, 1, 9, 0, 0, 0, time.UTC)
	of := func(picture string, opt profiletest.Options) *fstest.MapFile {
		opt.Binary = "/usr/bin/shop"
		return &fstest.MapFile{Data: profiletest.Encode(picture, opt)}
	}
	heap := []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}
	delay := []string{"contentions/count", "delay/nanoseconds"}
	return fstest.MapFS{
		"a": of("main.main:/src/shop/main.go:3  main.main:/src/shop/main.go:3\nmain.sell:/src/shop/sell.go:7\n= 1 2\n= 10 20",
			profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Time: taken, Duration: 3 * time.Second}),
		"b":   of("main.main\n= 1\n= 10\n= 0\n= 0", profiletest.Options{Types: heap, Default: "alloc_space", Period: 512 << 10, Time: taken.Add(-time.Hour)}),
		"c":   of("main.main\n= 1\n= 10\n= 0\n= 0", profiletest.Options{Types: heap, Default: "inuse_space", Period: 512 << 10}),
		"d":   of("main.main\nsync.(*Mutex).Lock\n= 1\n= 10", profiletest.Options{Types: delay}),
		"e":   of("main.main  main.main\nsync.(*Mutex).Unlock  sync.(*RWMutex).RUnlock\n= 1 1\n= 10 10", profiletest.Options{Types: delay}),
		"f":   of("main.main", profiletest.Options{Types: []string{"goroutine/count"}}),
		"g":   of("nest.fly", profiletest.Options{Types: []string{"birds/count"}}),
		"h":   {Data: fixture.Trace(t, "Trace Go1.26\nEventBatch m=1 time=1000\nProcStatus dt=1 p=0 pstatus=running\nGoStatus dt=1 g=1 m=1 gstatus=running\nGoStop dt=1000000000 reason_string=preempted stack=main.main@/src/shop/main.go:3\n")},
		"i":   {Data: []byte(looseLog)},
		"bad": {Data: []byte("module x\n")},
		"cut": {Data: []byte{0x1f, 0x8b, 8}},

		"source/abs/src/shop/main.go": {Data: []byte("package main\n")},
		"source/abs/etc/passwd":       {Data: []byte("root")},
	}
}

// TestLoose: every file is what is in it.
func TestLoose(t *testing.T) {
	s, files, err := session.Loose(loose(t), []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"})
	if err != nil {
		t.Fatal(err)
	}
	want := []recording.Kind{recording.CPU, recording.Allocs, recording.Heap, recording.Block, recording.Mutex, recording.Goroutine, session.OtherProfile, recording.ExecTrace, recording.Stderr}
	for i, f := range files {
		if f.Kind != want[i] || f.Bytes == 0 || i < 7 && f.Program != "shop" {
			t.Errorf("%s is %+v, want %s", f.Name, f, want[i])
		}
	}
	if f := files[0]; f.Length != 3*time.Second || f.Stacks != 2 || !slices.Equal(f.Types, []string{"samples/count", "cpu/nanoseconds"}) {
		t.Errorf("CPU profile = %+v", f)
	}
	if f := files[7]; f.Format != "1.26" {
		t.Errorf("trace = %+v", f)
	}
	if f := files[8]; f.Cycles != 2 || f.Samples != 1 || f.Length != 2010*time.Millisecond {
		t.Errorf("log = %+v", f)
	}

	m := s.Manifest()
	if m.Title != "a, b, c, d, e, f, g, h, i" || m.Target.Kind != "files" || !m.Start.Equal(time.Date(2026, time.May, 1, 8, 0, 0, 0, time.UTC)) || !m.Complete {
		t.Errorf("manifest = %+v", m)
	}
	if p, e, err := s.Profile(recording.CPU); err != nil || p.Len() != 2 || e.Phase != "cpu" {
		t.Errorf("Profile = %v, %+v, %v", p, e, err)
	}
	// A heap profile has the allocations too.
	if _, e, err := s.Profile(recording.Allocs); err != nil || e.Path != "c" {
		t.Errorf("Profile = %+v, %v", e, err)
	}
	if bare := s.BarePhases(); len(bare) != 1 || bare[0].Run != 0 || bare[0].Span.Len() <= 2*time.Second {
		t.Errorf("bare phases = %+v", bare)
	}
	if l, err := s.Runtime(0); err != nil || len(l.Cycles) != 2 || l.Clock.Offset != 0 {
		t.Errorf("Runtime = %+v, %v", l, err)
	}
	if clock, err := s.TraceClock(); err != nil {
		t.Error(err)
	} else if tr, _, _ := s.Trace(); tr != nil {
		r := tr.Reader()
		r.Next()
		if at := clock.At(int64(r.Event().Time)); at != timeline.Time(0) {
			t.Errorf("the trace begins at %v", at)
		}
	}
	if text, err := s.Source("/src/shop/main.go"); err != nil || string(text) != "package main\n" {
		t.Errorf("Source = %q, %v", text, err)
	}
	if _, err := s.Source("/src/shop/sell.go"); err == nil {
		t.Error("a source that is not there is read")
	}
	if n := len(m.Of(recording.Source)); n != 1 {
		t.Errorf("%d sources, want 1", n)
	}
}

// TestLooseTwice: of two logs each has a phase of its own.
func TestLooseTwice(t *testing.T) {
	files := loose(t)
	files["j"] = files["i"]
	s, _, err := session.Loose(files, []string{"i", "j"})
	if err != nil {
		t.Fatal(err)
	}
	bare := s.BarePhases()
	if len(bare) != 2 || bare[0].Name != "bare" || bare[1].Name != "bare-2" || bare[1].Run != 1 || len(s.Manifest().Target.Runs) != 2 {
		t.Errorf("phases = %+v", bare)
	}
}

// TestLooseInstead: of several files of a kind the rules look at the last one, and each
// of the others says so.
func TestLooseInstead(t *testing.T) {
	files := loose(t)
	files["h2"], files["h3"], files["i2"] = files["h"], files["h"], files["i"]
	f := func(names string, want ...string) {
		t.Helper()
		_, known, err := session.Loose(files, strings.Fields(names))
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range known {
			if k.Instead != want[i] {
				t.Errorf("%s of %s: instead of it %q is judged, want %q", k.Name, names, k.Instead, want[i])
			}
		}
	}
	f("h h2 a h3", "h3", "h3", "", "")
	f("h3 h", "h", "")
	f("i i2", "", "") // logs have a phase each
	f("c b", "", "")  // the one has all allocations too, and is the heap's
	f("b c", "c", "") // all that the first can tell is asked of the second
	f("d e f g", "", "", "", "")
}

func TestLooseWrong(t *testing.T) {
	for name, want := range map[string]string{"bad": "cannot tell what bad is", "cut": "cannot read cut", "none": "cannot read none"} {
		if _, _, err := session.Loose(loose(t), []string{"a", name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestSourcePath(t *testing.T) {
	f := func(file, want string) {
		t.Helper()
		if got := session.SourcePath(file); got != want {
			t.Errorf("SourcePath(%q) = %q, want %q", file, got, want)
		}
	}
	f("/home/x/main.go", "source/abs/home/x/main.go")
	f("/home/../etc/x.go", "source/abs/etc/x.go")
	f(`C:\x\main.go`, "source/abs/C_/x/main.go")
	f("C:/x/main.go", "source/abs/C_/x/main.go")
	f("example.com/m/main.go", "")
	f("", "")
}
