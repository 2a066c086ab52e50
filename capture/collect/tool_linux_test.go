package collect

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/recording"
)

// TestLongTool: a tool that takes longer than the bare phase is not cut, and is started
// once more for all profiles.
func TestLongTool(t *testing.T) {
	rec := record(t, "tool", Plan{Phases: phases(t, "allocs,heap,cpu:200ms,trace:100ms"), Patience: time.Minute}, "long")
	holds(t, rec, recording.CPU, recording.Allocs, recording.Heap, recording.ExecTrace)
	run, bare := rec.Target.Runs[0], rec.Phases[0]
	if run.Exit != "exit status 0" || run.Stopped {
		t.Errorf("the first run ended with %q (stopped: %v)", run.Exit, run.Stopped)
	}
	if bare.Span.Len() < 2*time.Second {
		t.Errorf("the bare phase is %v long, and the program works for two seconds", bare.Span.Len())
	}
	if len(rec.Target.Runs) < 2 || rec.Phases[1].Name != "cpu" || rec.Phases[1].Run != 1 {
		t.Errorf("%d runs, phases %+v, want the CPU profile to be the first of another run", len(rec.Target.Runs), rec.Phases)
	}
	if text := strings.Join(rec.Notes, "\n"); strings.Contains(text, "had not ended") {
		t.Error(text)
	}
}

// TestCutTool: what does not end is cut, and that is told.
func TestCutTool(t *testing.T) {
	rec := record(t, "tool", Plan{Phases: phases(t, ""), Patience: 600 * time.Millisecond}, "long")
	if run := rec.Target.Runs[0]; !run.Stopped {
		t.Errorf("the run ended with %q", run.Exit)
	}
	if text := strings.Join(rec.Notes, "\n"); !strings.Contains(text, "had not ended after 600ms of the bare phase") {
		t.Errorf("the notes are %q", text)
	}
}

// TestWaitingTool: a tool that waits for the processes that it has started, or for a time, is not cut.
func TestWaitingTool(t *testing.T) {
	for _, how := range []string{"waits", "sleeps"} {
		rec := record(t, "tool", Plan{Phases: phases(t, ""), Patience: time.Minute}, how)
		if run := rec.Target.Runs[0]; run.Stopped || run.Exit != "exit status 0" || rec.Phases[0].Span.Len() < 2*time.Second {
			t.Errorf("%s: the run ended with %q (stopped: %v) after %v", how, run.Exit, run.Stopped, rec.Phases[0].Span.Len())
		}
	}
}

// TestEndsInTrace: the trace of a program that ends while it is traced is whole.
func TestEndsInTrace(t *testing.T) {
	for _, how := range []string{"long", "longexit"} {
		rec := record(t, "tool", Plan{Phases: phases(t, "trace:1m")}, how)
		if len(rec.Target.Runs) != 1 || rec.Target.Runs[0].Stopped {
			t.Errorf("%s: the runs are %+v, want the trace of the first", how, rec.Target.Runs)
		}
		data, err := rec.ReadFile("trace.out", 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pass := sweep.New(trace)
		if err := pass.Run(nil); err != nil || pass.Events() == 0 {
			t.Errorf("%s: %d events and %v", how, pass.Events(), err)
		}
		if kept := rec.Of(recording.Source); len(kept) == 0 {
			t.Errorf("%s: the sources that the trace names are not kept", how)
		}
		if damage := pass.Reader().Problems(); len(damage) > 0 {
			t.Errorf("%s: the trace is torn: %v", how, damage)
		}
	}
}

// TestServerIsNoTool: a program that listens is not waited for, however patient the plan is.
func TestServerIsNoTool(t *testing.T) {
	rec := record(t, "server", Plan{Phases: phases(t, "allocs"), Patience: time.Hour}, "127.0.0.1:0")
	if len(rec.Target.Runs) != 1 || !rec.Target.Runs[0].Stopped {
		t.Errorf("the runs are %+v", rec.Target.Runs)
	}
	if text := strings.Join(rec.Notes, "\n"); strings.Contains(text, "had not ended") {
		t.Error(text)
	}
}

// TestOwnPeer: a tool that listens for itself alone is not cut, a service that others use, or nobody, is.
func TestOwnPeer(t *testing.T) {
	for _, how := range []string{"asks", "asksafresh"} {
		rec := record(t, "tool", Plan{Phases: phases(t, "allocs,cpu:200ms"), Patience: time.Minute}, how)
		run, bare := rec.Target.Runs[0], rec.Phases[0]
		if run.Stopped || run.Exit != "exit status 0" || bare.Span.Len() < 2*time.Second {
			t.Errorf("%s: the run ended with %q (stopped: %v) after %v", how, run.Exit, run.Stopped, bare.Span.Len())
		}
		if len(rec.Target.Runs) != 2 || rec.Phases[1].Name != "cpu" || rec.Phases[1].Run != 1 {
			t.Errorf("%s: %d runs, phases %+v, want the CPU profile to be the first of another run", how, len(rec.Target.Runs), rec.Phases)
		}
	}
	rec := record(t, "tool", Plan{Phases: phases(t, "allocs"), Patience: 800 * time.Millisecond}, "asksforever")
	if run := rec.Target.Runs[0]; len(rec.Target.Runs) != 1 || !run.Stopped || rec.Phases[0].Span.Len() > time.Minute {
		t.Errorf("what goes on for ever was recorded for %v: %+v", rec.Phases[0].Span.Len(), rec.Target.Runs)
	}
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	client := inBackground(func(context.Context) error {
		for ctx.Err() == nil {
			if c, err := net.Dial("tcp", address); err == nil {
				got, want := callersOf(listenerPID(TCP(address)), ""), callers{known: true, private: true, others: true}
				if got.before = false; got != want { // others of this machine may have had the port
					t.Errorf("a service that somebody uses: %+v, want %+v", got, want)
				}
				<-ctx.Done()
				return c.Close()
			}
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	rec = record(t, "server", Plan{Phases: phases(t, "allocs"), Patience: time.Hour}, address)
	cancel()
	client.stop()
	if len(rec.Target.Runs) != 1 || !rec.Target.Runs[0].Stopped {
		t.Errorf("a service that is used: the runs are %+v", rec.Target.Runs)
	}
}

func TestCallersOf(t *testing.T) {
	pid, own := os.Getpid(), t.TempDir()
	listen := func(network, address string) net.Listener {
		t.Helper()
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	dial := func(address string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	f := func(what string, pid int, want callers) {
		t.Helper()
		got := callersOf(pid, own)
		got.before = false // others of this machine may have had the port
		if got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	f("nothing", pid, callers{known: true, private: true, hidden: true})
	l := listen("tcp", "127.0.0.1:0")
	f("nobody", pid, callers{known: true, private: true, hidden: true})
	c := dial(l.Addr().String())
	f("not accepted yet", pid, callers{known: true, private: true, hidden: true, itself: true})
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	f("itself", pid, callers{known: true, private: true, hidden: true, itself: true})
	c.Close()
	s.Close()
	if got := callersOf(pid, own); got.itself || !got.before {
		t.Errorf("gone again: %+v", got)
	}
	any := listen("tcp", ":0") // of both versions of IP
	_, port, _ := net.SplitHostPort(any.Addr().String())
	f("for all machines", pid, callers{known: true, private: true})
	dial("127.0.0.1:" + port)
	f("itself, by a port for all machines", pid, callers{known: true, private: true, itself: true})
	fixed := freeAddress(t)
	named := listen("tcp", fixed)
	f("a port of its choice", pid, callers{known: true, private: true, itself: true})
	named.Close()
	public := listen("tcp", fixed[len("127.0.0.1"):])
	f("a service", pid, callers{known: true, itself: true})
	public.Close()
	unix := listen("unix", filepath.Join(own, "s"))
	f("a socket of loupe", pid, callers{known: true, private: true, itself: true})
	if got := callersOf(pid, filepath.Join(own, "elsewhere")); got != (callers{}) {
		t.Errorf("a socket of its own: %+v", got)
	}
	unix.Close()
	ready := filepath.Join(own, "ready")
	address := freeAddress(t)
	server := other(t, address, os.Args[0], ready)
	fileThere(ready)
	f("a service that nobody uses", server, callers{known: true, private: true})
	f("a process that is not there", 1<<30, callers{})
}

func TestListensAnywhere(t *testing.T) {
	f := func(what string, want bool, open func() (interface{ Close() error }, error), own string) {
		t.Helper()
		if open != nil {
			s, err := open()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
		if got, known := listensAnywhere(os.Getpid(), own); got != want || !known {
			t.Errorf("%s: listens %v, known %v, want %v", what, got, known, want)
		}
	}
	type socket = interface{ Close() error }
	dir := t.TempDir()
	f("nothing", false, nil, dir)
	f("TCP", true, func() (socket, error) { return net.Listen("tcp", "127.0.0.1:0") }, dir)
	f("UDP", true, func() (socket, error) { return net.ListenPacket("udp", "127.0.0.1:0") }, dir)
	f("asking over UDP", false, func() (socket, error) { return net.Dial("udp", "127.0.0.1:9") }, dir)
	at := filepath.Join(dir, "s")
	f("a socket of its own", true, func() (socket, error) { return net.Listen("unix", at) }, filepath.Join(dir, "elsewhere"))
	f("one of loupe", false, func() (socket, error) { return net.Listen("unix", at) }, dir)
	if _, known := listensAnywhere(1<<30, dir); known {
		t.Error("a process that is not there is known")
	}
}

// TestItselfAlone: a program is taken for one that listens for itself alone only if nobody else can have asked it.
func TestItselfAlone(t *testing.T) {
	for _, row := range []struct {
		what  string
		looks []callers
		want  bool
	}{
		{"nobody asks", []callers{{known: true, private: true, hidden: true}}, false},
		{"it asks itself", []callers{{known: true, private: true, hidden: true, itself: true}}, true},
		{"by a port of its choice", []callers{{known: true, private: true, itself: true}}, true},
		{"by one for all machines", []callers{{known: true, itself: true}}, false},
		{"somebody asks", []callers{{known: true, private: true, hidden: true, itself: true}, {known: true, private: true, hidden: true, others: true}, {known: true, private: true, hidden: true, itself: true}}, false},
		{"in short, where nobody knows the port", []callers{{known: true, private: true, hidden: true, before: true}}, true},
		{"in short, and its own check goes on", []callers{{known: true, private: true, itself: true}, {known: true, private: true, itself: true, before: true}}, false},
		{"in short, before its own check", []callers{{known: true, private: true, before: true}, {known: true, private: true, itself: true}}, false},
		{"nothing is known", []callers{{}}, false},
	} {
		o := &overtime{}
		for _, look := range row.looks {
			o.note(look)
		}
		if got := o.callers.itselfAlone(); got != row.want {
			t.Errorf("%s: %v", row.what, got)
		}
	}
}

// TestLooksAtCallers: who is connected is looked at rarely where a look takes long, and no more where it makes no difference.
func TestLooksAtCallers(t *testing.T) {
	for _, row := range []struct{ took, want time.Duration }{
		{0, callersEvery}, {time.Millisecond, callersEvery}, {400 * time.Millisecond, 20 * time.Second},
	} {
		if got := nextLook(row.took); got != row.want {
			t.Errorf("after %v: the next in %v, want %v", row.took, got, row.want)
		}
	}
	// This process listens nowhere: a look at it would take back what a look told before.
	r := &Recorder{running: running{pid: os.Getpid(), proc: &Process{}}}
	for _, before := range []callers{{known: true, others: true}, {known: true, itself: true}} {
		o := &overtime{r: r, plan: Plan{Patience: time.Hour}, callers: before}
		if o.look(); (o.callers == before) != before.others {
			t.Errorf("%+v: %+v after another look", before, o.callers)
		}
	}
}
