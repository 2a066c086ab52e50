package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loupe/format/loadlog/loadlogtest"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// shop is a small whole recording.
func shop() *recordingtest.Recording {
	r := recordingtest.New(`
		title shop
		target package ./shop module=example.com/shop go=go1.26.1
		run 5ms..10s pid=7 exit="exit status 0" stopped
		phase bare 1s..5s user=2s
		phase broken 5s..6s error="nothing listens"
		phase cpu 6s..8s profiler=cpu user=1s
		phase bare-2 8s..9s user=500ms
		clock stderr.log 5ms error=20ms
		clock load-bare.requests 1s
		-- stderr.log stderr --
		1.0085s | gc 1 @1.001s 0%: 0.02+0.46+0.02 ms clock, 0.04+0/0/0+0.04 ms cpu, 4->4->2 MB, 4 MB goal, 2 P
		1.5s    | listening on :5000
		2.0076s | gc 2 @2.000s 0%: 0.02+0.46+0.02 ms clock, 0.04+0/0/0+0.04 ms cpu, 4->4->2 MB, 4 MB goal, 2 P
		2.05s   | SCHED 2040ms: gomaxprocs=2 idleprocs=1 threads=5 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=0 [ 0 0 ] schedticks=[ 5 9 ]
		-- os.ndjson os --
		t_ns  pid  user_ns  busy_ns  idle_ns
		1s    7    0s       1s       1s
		2s    7    500ms    2s       2s
		-- metrics.ndjson metrics --
		t_ns  /gc/heap/allocs:bytes
		1s    1000
		2s    3000
		-- source/main.go source from=/src/shop/main.go --
		package main
	`)
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("main.main  main.main\nmain.sell  main.buy\n= 30 70"))
	r.Put(recording.Entry{Path: "load-bare.requests", Kind: recording.Load, Phase: "bare"}, loadlogtest.Encode(loadlogtest.Steady(40, 4*time.Second, time.Millisecond)))
	return r
}

func TestReadsEntries(t *testing.T) {
	s := session.New(shop().Open())
	p, e, err := s.Profile(recording.CPU)
	if err != nil || p.Len() != 2 || p.Total(0) != 100 || e.Phase != "cpu" {
		t.Errorf("Profile = %v, %+v, %v", p, e, err)
	}
	l, err := s.Load("bare")
	if err != nil || l.Len() != 40 || l.Elapsed != 4*time.Second {
		t.Errorf("Load = %v, %v", l, err)
	}
	samples, err := s.OS()
	if err != nil || len(samples) != 2 || samples[1].At != timeline.Time(2*time.Second) || samples[1].User != 500*time.Millisecond {
		t.Errorf("OS = %v, %v", samples, err)
	}
	set, err := s.Metrics(0)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Delta("/gc/heap/allocs:bytes", timeline.Span{End: timeline.Time(3 * time.Second)}); got != 2000 {
		t.Errorf("Delta = %v, want 2000", got)
	}
	text, err := s.Source("/src/shop/main.go")
	if err != nil || !strings.Contains(string(text), "package main") {
		t.Errorf("Source = %q, %v", text, err)
	}
	if !s.Scope().IsUser(frame("example.com/shop/cart.Add")) || s.Scope().IsUser(frame("example.com/other.F")) {
		t.Error("the scope is not the module of the target")
	}
}

// TestBarePhases leaves out profilers and what failed.
func TestBarePhases(t *testing.T) {
	var names []string
	for _, p := range session.New(shop().Open()).BarePhases() {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "bare bare-2" {
		t.Errorf("BarePhases = %s", got)
	}
}

// TestLastProfile takes the profile of the last phase, which saw most of the
// program's life.
func TestLastProfile(t *testing.T) {
	r := shop()
	r.Put(recording.Entry{Path: "cpu-2.pb.gz", Kind: recording.CPU, Phase: "cpu-2"}, profiletest.Profile("main.main"))
	p, e, err := session.New(r.Open()).Profile(recording.CPU)
	if err != nil || p.Len() != 1 || e.Path != "cpu-2.pb.gz" {
		t.Errorf("Profile = %d samples of %s, %v", p.Len(), e.Path, err)
	}
}

func TestMissing(t *testing.T) {
	s := session.New(recordingtest.New("title empty").Open())
	f := func(what, want string, err error) {
		t.Helper()
		if !errors.Is(err, session.ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %v, want ErrNone with %q", what, err, want)
		}
	}
	_, _, err := s.Profile(recording.CPU)
	f("Profile", "pprof.cpu", err)
	_, err = s.Load("bare")
	f("Load", "phase bare", err)
	_, err = s.Runtime(0)
	f("Runtime", "process 1", err)
	_, err = s.OS()
	f("OS", "operating system", err)
	_, err = s.Metrics(1)
	f("Metrics", "process 2", err)
	_, err = s.Source("main.go")
	f("Source", "main.go", err)
}

// TestDamaged says what is broken in which file, and never calls it absent.
func TestDamaged(t *testing.T) {
	r := shop()
	r.Files["cpu.pb.gz"].Data = r.Files["cpu.pb.gz"].Data[:40]
	r.Files["load-bare.requests"].Data = []byte("garbage")
	r.Files["os.ndjson"].Data = []byte("{\"t_ns\":1}\nnonsense\n{\"t_ns\":2}\n{\"t_ns\":")
	r.Files["metrics.ndjson"].Data = []byte("\x00\xff\n[]\n")
	r.Files["stderr.log"].Data = []byte("gc 1 @1.001s 0%: 0.02+\x00\xff")
	s := session.New(r.Open())
	f := func(what, want string, err error) {
		t.Helper()
		if err == nil || errors.Is(err, session.ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s = %v, want an error with %q", what, err, want)
		}
	}
	_, _, err := s.Profile(recording.CPU)
	f("Profile", "cpu.pb.gz", err)
	_, err = s.Load("bare")
	f("Load", "load-bare.requests", err)
	if samples, err := s.OS(); err != nil || len(samples) != 2 {
		t.Errorf("OS = %v, %v, want the two whole lines", samples, err)
	}
	if set, err := s.Metrics(0); err != nil || set.Bad != 2 {
		t.Errorf("Metrics = %v, %v, want two bad lines", set, err)
	}
	if l, err := s.Runtime(0); err != nil || len(l.Cycles) != 0 || l.Stats.Malformed != 1 {
		t.Errorf("Runtime = %+v, %v, want one malformed line", l, err)
	}
}

// TestListedButGone is a file that the manifest names and nobody has.
func TestListedButGone(t *testing.T) {
	r := shop()
	for _, name := range []string{"cpu.pb.gz", "load-bare.requests", "os.ndjson", "metrics.ndjson", "stderr.log", "source/main.go"} {
		delete(r.Files, name)
	}
	s := session.New(r.Open())
	for what, read := range map[string]func() error{
		"Profile": func() error { _, _, err := s.Profile(recording.CPU); return err },
		"Load":    func() error { _, err := s.Load("bare"); return err },
		"OS":      func() error { _, err := s.OS(); return err },
		"Metrics": func() error { _, err := s.Metrics(0); return err },
		"Runtime": func() error { _, err := s.Runtime(0); return err },
		"Source":  func() error { _, err := s.Source("/src/shop/main.go"); return err },
	} {
		if err := read(); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, session.ErrNone) {
			t.Errorf("%s = %v, want that the file does not exist", what, err)
		}
	}
}

// TestClock works the offset out by hand: the line of gc 1 came at 1008.5 ms
// and tells of 1001 ms + 0.5 ms, which leaves 7 ms; that of gc 2 leaves
// 2007.6 − 2000.5 = 7.1 ms. No line can come early, so the zero lies at 7 ms.
func TestClock(t *testing.T) {
	l, err := session.New(shop().Open()).Runtime(0)
	if err != nil {
		t.Fatal(err)
	}
	if want := (timeline.Clock{Offset: timeline.Time(7 * time.Millisecond), Error: 3 * time.Millisecond}); l.Clock != want {
		t.Errorf("clock = %+v, want %+v", l.Clock, want)
	}
	from, to := l.Window(timeline.Span{Start: timeline.Time(time.Second), End: timeline.Time(5 * time.Second)})
	if from != 993*time.Millisecond || to != 4993*time.Millisecond {
		t.Errorf("Window = %v, %v", from, to)
	}
	if at, ok := l.ArrivedAt(l.Cycles[1].Position); !ok || at != timeline.Time(2007600*time.Microsecond) {
		t.Errorf("ArrivedAt(gc 2) = %v, %v", at, ok)
	}
	if at, ok := l.ArrivedAt(l.Samples[0].Position); !ok || at != timeline.Time(2050*time.Millisecond) {
		t.Errorf("ArrivedAt(SCHED) = %v, %v", at, ok)
	}
}

// TestClockKept has nothing better than the start of the process to go by:
// without times of arrival, and when the log was held up for a second.
func TestClockKept(t *testing.T) {
	f := func(lines string, want time.Duration) {
		t.Helper()
		r := recordingtest.New("title x\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n" + lines)
		l, err := session.New(r.Open()).Runtime(0)
		if err != nil || l.Clock.Offset != timeline.Time(want) {
			t.Errorf("clock = %+v, %v, want an offset of %v", l.Clock, err, want)
		}
	}
	cycle := recordingtest.Cycle{N: 1, At: time.Second, Mark: 460 * time.Microsecond}.String() + "\n"
	f(cycle, 5*time.Millisecond)
	f("2.5s | "+cycle, 5*time.Millisecond)
	f("1.0105s | "+cycle, 10*time.Millisecond)
}

// TestClockEnded reads all lines only when the process has ended: none of them
// tells of a time after that.
func TestClockEnded(t *testing.T) {
	r := recordingtest.New("title x\nclock stderr.log 5ms error=200ms\n-- stderr.log stderr --\n" +
		"150ms | " + recordingtest.Cycle{N: 1, At: 10 * time.Millisecond, Mark: time.Millisecond}.String() + "\n" +
		"150ms | " + recordingtest.Cycle{N: 2, At: 30 * time.Millisecond, Mark: time.Millisecond}.String() + "\n")
	r.Manifest.Target.Runs = []recording.Run{{Span: timeline.Span{Start: timeline.Time(5 * time.Millisecond), End: timeline.Time(40 * time.Millisecond)}, Exit: "exit 0"}}
	l, err := session.New(r.Open()).Runtime(0)
	if err != nil {
		t.Fatal(err)
	}
	last := l.Cycles[1]
	if end := l.Clock.At(int64(last.At + last.Clock())); end != timeline.Time(40*time.Millisecond) {
		t.Errorf("the last collection ended at %v, want the end of the process", time.Duration(end))
	}
}

// TestChildren has a Go program that the target has started print into the
// same log; its collections are on another clock.
func TestChildren(t *testing.T) {
	line := func(arrived time.Duration, c recordingtest.Cycle) string { return fmt.Sprintf("%v | %v\n", arrived, c) }
	var b strings.Builder
	b.WriteString("title x\nclock stderr.log 5ms error=20ms\n-- stderr.log stderr --\n")
	for i := range 30 {
		at := time.Duration(i+1) * time.Second
		b.WriteString(line(at+10*time.Millisecond, recordingtest.Cycle{N: i + 1, At: at}))
		if i == 19 {
			b.WriteString(line(at+20*time.Millisecond, recordingtest.Cycle{N: 1, At: 4 * time.Millisecond}))
		}
	}
	l, err := session.New(recordingtest.New(b.String()).Open()).Runtime(0)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range l.Cycles {
		if c.N != int64(i+1) || c.At != time.Duration(i+1)*time.Second {
			t.Errorf("collection %d at %v is in the place of %d", c.N, c.At, i+1)
		}
	}
	if len(l.Cycles) != 30 || l.Stats.Runs != 2 {
		t.Errorf("%d collections of %d runs, want those of the target alone", len(l.Cycles), l.Stats.Runs)
	}
	if l.Clock.Offset < timeline.Time(9*time.Millisecond) || l.Clock.Offset > timeline.Time(10*time.Millisecond) {
		t.Errorf("offset = %v, want that of the target's lines", time.Duration(l.Clock.Offset))
	}
}

// TestTimesCutOff has fewer times than lines, as after a kill.
func TestTimesCutOff(t *testing.T) {
	r := shop()
	r.Files["stderr.log.times"].Data = []byte("1008500000\n15000")
	l, err := session.New(r.Open()).Runtime(0)
	if err != nil || len(l.Arrived) != 2 {
		t.Fatalf("Runtime = %d times, %v", len(l.Arrived), err)
	}
	if _, ok := l.ArrivedAt(l.Cycles[1].Position); ok {
		t.Error("a line without a time has arrived")
	}
}

// TestVars reads /debug/vars where there is nothing better, of a process that
// loupe did not start.
func TestVars(t *testing.T) {
	r := recordingtest.New(`
		title service
		phase bare 0s..10s run=-1
		-- vars.ndjson vars --
		{"t_ns":1000000000,"vars":{"memstats":{"TotalAlloc":100}}}
		{"t_ns":2000000000,"vars":{"memstats":{"TotalAlloc":400}}}
	`)
	s := session.New(r.Open())
	set, err := s.Metrics(s.BarePhases()[0].Run)
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Delta("memstats.TotalAlloc", timeline.Span{End: timeline.Time(10 * time.Second)}); got != 300 {
		t.Errorf("Delta = %v, want 300", got)
	}
}

// countingFS counts how often each file is opened.
type countingFS struct {
	fs.FS
	opened sync.Map
}

func (c *countingFS) Open(name string) (fs.File, error) {
	n, _ := c.opened.LoadOrStore(name, &atomic.Int64{})
	n.(*atomic.Int64).Add(1)
	return c.FS.Open(name)
}

func (c *countingFS) count(name string) int64 {
	n, ok := c.opened.Load(name)
	if !ok {
		return 0
	}
	return n.(*atomic.Int64).Load()
}

// TestLazyOnceShared lets many goroutines ask for everything: nothing is read
// before it is asked for, each file once, and all see the same value.
func TestLazyOnceShared(t *testing.T) {
	r := shop()
	r.Open() // writes the manifest
	files := &countingFS{FS: r.Files}
	rec, err := recording.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	s := session.New(rec)
	names := []string{"cpu.pb.gz", "load-bare.requests", "os.ndjson", "metrics.ndjson", "stderr.log", "stderr.log.times", "source/main.go"}
	for _, name := range names {
		if n := files.count(name); n != 0 {
			t.Errorf("%s was read before anybody asked", name)
		}
	}
	var wg sync.WaitGroup
	var logs sync.Map
	for range 16 {
		wg.Go(func() {
			s.Profile(recording.CPU)
			s.Load("bare")
			s.OS()
			s.Metrics(0)
			s.Source("/src/shop/main.go")
			l, _ := s.Runtime(0)
			logs.Store(l, true)
		})
	}
	wg.Wait()
	for _, name := range names {
		if n := files.count(name); n != 1 {
			t.Errorf("%s was read %d times", name, n)
		}
	}
	distinct := 0
	logs.Range(func(any, any) bool { distinct++; return true })
	if distinct != 1 {
		t.Errorf("%d different logs were handed out", distinct)
	}
}

// FuzzRuntime reads any text with any times of arrival.
func FuzzRuntime(f *testing.F) {
	f.Add("gc 1 @1.001s 0%: 0.02+0.46+0.02 ms clock, 0.04+0/0/0+0.04 ms cpu, 4->4->2 MB, 4 MB goal, 2 P\n", "1008500000\n")
	f.Add("SCHED 0ms: gomaxprocs=2\ngc 1 @", "9223372036854775807\n-1\nx")
	f.Fuzz(func(t *testing.T, text, times string) {
		r := recordingtest.New("title x\nclock stderr.log 5ms error=20ms")
		r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, []byte(text))
		r.Put(recording.Entry{Path: "stderr.log.times", Kind: recording.StderrTimes}, []byte(times))
		l, err := session.New(r.Open()).Runtime(0)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range l.Cycles {
			l.ArrivedAt(c.Position)
		}
		l.Window(timeline.Span{Start: 0, End: timeline.Time(time.Second)})
	})
}

func frame(function string) stack.Frame { return stack.Frame{Func: function} }

// TestScopeLocal: what was built from a folder, by a go.work or a replace, is the
// user's; a fork that was fetched is not.
func TestScopeLocal(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./app module=example.com/app")
	r.Put(recording.Entry{Path: "buildinfo.txt", Kind: recording.BuildInfo}, []byte("go\tgo1.26.1\npath\texample.com/app\nmod\texample.com/app\t(devel)\t\n"+
		"dep\texample.com/lib\tv0.0.0\n=>\t../lib\t(devel)\t\ndep\texample.com/work\t(devel)\t\ndep\texample.com/log\tv1.2.0\th1:x\n"+
		"dep\texample.com/fork\tv1.0.0\n=>\texample.com/mine\tv1.0.1\th1:y\n"))
	scope := session.New(r.Open()).Scope()
	for name, want := range map[string]stack.Origin{
		"example.com/app/x.f": stack.User, "example.com/lib.f": stack.User, "example.com/work/y.f": stack.User,
		"example.com/log.f": stack.Dependency, "example.com/fork.f": stack.Dependency,
	} {
		if got := scope.Origin(name); got != want {
			t.Errorf("%s is of %s, want %s", name, got, want)
		}
	}
}
