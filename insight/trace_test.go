package insight

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// scene is what a trace might have shown, made by hand: two seconds on four
// Ps, from which a test takes and to which it adds.
type scene struct {
	t *testing.T
	*sched.Analysis
	// manifest are further lines of the recording, such as a phase with a
	// load.
	manifest string
	// beside are further files of the recording.
	beside []func(r *recordingtest.Recording)
}

// emptyTrace has a header and nothing else.
var emptyTrace = []byte("go 1.26 trace\x00\x00\x00")

func newScene(t *testing.T) *scene {
	t.Helper()
	trace, err := exectrace.Open(emptyTrace, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, Analysis: &sched.Analysis{Reader: trace.Reader()}}
	s.Info.Span = timeline.Span{Start: 1e9, End: 3e9}
	s.Covers = s.Info.Span
	s.Parallel.Procs = 4
	return s
}

// stack is a stack of frames FUNCTION:FILE:LINE, the leaf first.
func (s *scene) stack(frames ...string) stack.ID {
	table := s.Reader.Stacks()
	var ids []stack.FrameID
	for _, f := range frames {
		part := strings.Split(f, ":")
		frame := stack.Frame{Func: part[0]}
		if len(part) == 3 {
			frame.File = part[1]
			frame.Line, _ = strconv.Atoi(part[2])
		}
		ids = append(ids, table.InternFrame(frame))
	}
	return table.Intern(ids)
}

// name is the id of a function's name.
func (s *scene) name(function string) exectrace.NameID {
	return s.Reader.Root(s.stack(function))
}

// times is a distribution of n equal durations.
func times(n int, d time.Duration) (h sched.Histogram) {
	for range n {
		h.Add(d)
	}
	return h
}

// group adds goroutines that begin with a function.
func (s *scene) group(function string, count, peak int, exec, wait time.Duration) *sched.Group {
	g := &sched.Group{Name: s.name(function), Count: int64(count), Peak: int64(peak)}
	g.Exec, g.SchedWait = exec, wait
	s.Groups = append(s.Groups, g)
	return g
}

// block adds n waits of a goroutine at the first place, ended from the second.
func (s *scene) block(function string, reason exectrace.NameID, n int, wait time.Duration, at, by stack.ID) *sched.Block {
	b := &sched.Block{State: exectrace.Waiting, Reason: reason, Stack: at, Wait: times(n, wait)}
	b.Worst = sched.Interval{Name: s.name(function), Stack: at, Start: 1e9, End: timeline.Time(1e9).Add(wait)}
	if by != 0 {
		b.Wakers = []sched.Waker{{Stack: by, Count: int64(n), Time: b.Wait.Sum}}
	}
	s.Blocks = append(s.Blocks, b)
	return b
}

// input is a recording with the scene in place of its trace, which begins ten
// seconds after the recording.
func (s *scene) input() *Input {
	r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\nphase bare 0s..10s\nphase trace 10s..12s profiler=trace\n" + s.manifest)
	entry := recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}
	r.Put(entry, emptyTrace)
	for _, add := range s.beside {
		add(r)
	}
	in := NewInput(session.New(r.Open()))
	in.Facts.Trace = func() *facts.Trace {
		return &facts.Trace{Analysis: s.Analysis, Entry: entry, Clock: timeline.Clock{Offset: 9e9}, Scope: in.Session.Scope()}
	}
	return in
}

// expect checks the state of a rule's first answer and words of it.
func (s *scene) expect(id string, state State, words ...string) Finding {
	s.t.Helper()
	for _, f := range Run(s.input()) {
		if f.Rule != id {
			continue
		}
		if f.State != state {
			s.t.Errorf("%s is %q (%s), want %q", id, f.State, f.Summary, state)
		}
		said := f.Summary
		for _, e := range f.Evidence {
			said += "\n" + e.Text
			if ofSource := e.Span == nil && e.Source != ""; !ofSource && (e.Span == nil || e.Span[0] < 10e9 || e.Span[1] > 12e9) {
				s.t.Errorf("%s: evidence %q is of %v, which is not in the trace", id, e.Text, e.Span)
			}
		}
		for _, w := range words {
			if !strings.Contains(said, w) {
				s.t.Errorf("%s says %q, want %q in it", id, said, w)
			}
		}
		if f.State == Found && (f.Impact == nil || f.Severity == "" || f.Advice == "" || f.Verify == "" || len(f.Evidence) == 0) {
			s.t.Errorf("%s: the finding is not whole: %+v", id, f)
		}
		return f
	}
	s.t.Fatalf("%s is silent", id)
	return Finding{}
}

// traceRules are the rules that look at nothing but the trace.
var traceRules = []string{"GC02", "GC05", "SC02", "SC03", "SC04", "SC05", "SC06", "SC07", "SC10", "SC14", "SC15", "SC17", "LK01", "LK04"}

// TestTraceUnreadable: every rule says why it says nothing.
func TestTraceUnreadable(t *testing.T) {
	r := recordingtest.New("title x\nphase trace 0s..1s profiler=trace")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, []byte("no trace"))
	for _, id := range append([]string{"SC01"}, traceRules...) {
		expect(t, "garbage", r, id, TooLittle, "not a trace")
	}
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, emptyTrace)
	for _, id := range traceRules {
		expect(t, "nothing in it", r, id, TooLittle, "the trace covers 0")
	}
}

// TestTraceEmpty: nothing happened in two seconds. No rule finds anything, and
// none fails.
func TestTraceEmpty(t *testing.T) {
	for _, f := range Run(newScene(t).input()) {
		if f.State == Found {
			t.Errorf("%s finds %s", f.Rule, f.Summary)
		}
	}
}

// TestSite: of a stack the user's own code is shown, then that of others, and
// the file as the module has it.
func TestSite(t *testing.T) {
	s := newScene(t)
	tr := s.input().trace()
	f := func(want, short string, frames ...string) {
		t.Helper()
		got := tr.Site(s.stack(frames...))
		if place(got) != want || tr.short(got) != short {
			t.Errorf("site = %s, %q, want %s, %q", place(got), tr.short(got), want, short)
		}
	}
	f("cart.add at cart.go:7", "cart/cart.go", "runtime.chansend1:/go/chan.go:1", "sync.(*Mutex).Lock:/go/mutex.go:2", "shop/cart.add:/src/cart/cart.go:7", "shop.Run:/src/shop.go:9")
	f("main.run at run.go:3", "cmd/shop/run.go", "runtime.gopark:/go/proc.go:1", "main.run:/src/cmd/shop/run.go:3")
	f("x.F at f.go:4", "", "runtime.gopark:/go/proc.go:1", "github.com/y/x.F:/mod/f.go:4", "net/http.(*conn).serve:/go/server.go:8")
	f("http.(*conn).serve at server.go:8", "", "runtime.gopark:/go/proc.go:1", "net/http.(*conn).serve:/go/server.go:8")
	f("runtime.gopark at proc.go:1", "", "runtime.gopark:/go/proc.go:1")
	f("a place without a stack", "")
}

// TestTraceDoubts: what speaks against a trace is said.
func TestTraceDoubts(t *testing.T) {
	s := newScene(t)
	s.Info.Span.End = timeline.Time(1500e6)
	s.Covers = s.Info.Span
	s.Info.Problems = []*exectrace.Problem{{Offset: 9, Generation: 2, Text: "a batch is cut"}}
	in := s.input()
	got := strings.Join(in.traceDoubts(in.trace(), "and more"), "\n")
	for _, want := range []string{"at byte 9, generation 2: a batch is cut", "the trace is short, 500 ms", "and more"} {
		if !strings.Contains(got, want) {
			t.Errorf("doubts = %s, want %q", got, want)
		}
	}
}

// TestInUse: the program is said to keep all CPUs busy only where most of their time was its own.
func TestInUse(t *testing.T) {
	in := NewInput(session.New(recordingtest.New("title x").Open()))
	for want, n := range map[string]*facts.Noise{
		"the program kept all CPUs busy": {Busy: 0.97, Own: 0.9, Competing: 0.02},
		"all CPUs were busy, 57.0% of them with the program, the rest with the recording and others": {Busy: 0.95, Own: 0.57, Competing: 0.15},
		"all CPUs were busy, 40.0% of them with other programs":                                      {Busy: 0.95, Own: 0.5, Competing: 0.4},
	} {
		if got := inUse(in, n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
