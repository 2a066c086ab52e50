package collect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/godebug"
	"loupe/recording"
)

// record builds the test program of a folder below testdata, works through
// the phases and opens the recording.
func record(t *testing.T, program string, plan Plan, args ...string) *recording.Recording {
	t.Helper()
	temp := t.TempDir()
	prog, err := Build(t.Context(), BuildOptions{Target: "./testdata/" + program, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: program, Host: HostFacts()})
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	r, err := NewRecorder(w, prog, RecorderOptions{
		Temp: temp, Interval: 50 * time.Millisecond,
		Launch:   LaunchOptions{Args: args, GODEBUG: RuntimeDebug, Stderr: &stderr},
		Progress: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Record(t.Context(), plan); err != nil {
		t.Errorf("Record: %v\n%s", err, stderr.String())
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	rec, err := recording.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

func phases(t *testing.T, list string) []Phase {
	t.Helper()
	p, err := ParsePhases(list, 300*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// holds checks that the recording has whole entries of the kinds.
func holds(t *testing.T, rec *recording.Recording, kinds ...recording.Kind) {
	t.Helper()
	for _, kind := range kinds {
		found := rec.Of(kind)
		if len(found) == 0 {
			t.Errorf("the recording has no %s", kind)
			continue
		}
		for _, e := range found {
			if data, err := rec.ReadFile(e.Path, 1<<30); err != nil || int64(len(data)) != e.Bytes || e.Partial || e.Bytes == 0 {
				t.Errorf("%s: %d bytes read, %v; the manifest says %+v", e.Path, len(data), err, e)
			}
		}
	}
}

// TestServer records a program that runs until it is stopped.
func TestServer(t *testing.T) {
	rec := record(t, "server", Plan{Phases: phases(t, "cpu:200ms,allocs,heap,block:100ms,mutex:100ms,goroutine,threadcreate,trace:100ms")})
	holds(t, rec, recording.CPU, recording.Allocs, recording.Heap, recording.Block, recording.Mutex,
		recording.Goroutine, recording.ThreadCreate, recording.ExecTrace, recording.Stderr, recording.StderrTimes,
		recording.OS, recording.Metrics, recording.BuildInfo, recording.Source)
	if !rec.Complete || len(rec.Phases) != 9 || rec.Phases[0].Name != "bare" {
		t.Errorf("phases are %+v", rec.Phases)
	}
	for i, p := range rec.Phases {
		if p.Error != "" || p.Span.Len() <= 0 || i > 0 && p.Span.Start < rec.Phases[i-1].Span.End {
			t.Errorf("phase %+v", p)
		}
	}
	if run := rec.Target.Runs[0]; !run.Stopped || run.MaxRSS == 0 || run.User+run.System == 0 || run.Exit == "" {
		t.Errorf("the run is %+v", run)
	}
	text, err := rec.ReadFile("stderr.log", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	// The program may end while the runtime prints a line, which it does in several
	// writes.
	lines := bytes.Count(text, []byte("\n"))
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if len(whole) < len(text) {
		lines++
	}
	log := godebug.Parse(whole)
	if len(log.Cycles) == 0 || log.Stats.Malformed != 0 {
		t.Errorf("stderr.log has %d cycles and %d malformed lines:\n%s", len(log.Cycles), log.Stats.Malformed, text)
	}
	times, _ := rec.ReadFile("stderr.log.times", 1<<20)
	if n := bytes.Count(times, []byte("\n")); n != lines {
		t.Errorf("%d lines have %d arrival times", lines, n)
	}
}

// TestTool records a program that ends by itself: every profile covers one
// whole run.
func TestTool(t *testing.T) {
	for _, how := range []string{"return", "exit"} {
		t.Run(how, func(t *testing.T) {
			rec := record(t, "tool", Plan{Phases: phases(t, "bare:1m,cpu,allocs,heap,trace")}, how)
			holds(t, rec, recording.CPU, recording.Allocs, recording.Heap, recording.ExecTrace)
			lives := 0 // more than one where the CPU profile of one has too little
			for _, p := range rec.Phases {
				if lives += max(1, p.Lives); p.Lives > 1 && p.Name != "cpu" {
					t.Errorf("phase %s has %d runs", p.Name, p.Lives)
				}
			}
			if len(rec.Target.Runs) != lives || lives < 5 {
				t.Errorf("%d runs, and %d in the phases: %+v", len(rec.Target.Runs), lives, rec.Target.Runs)
			}
			want := map[string]string{"return": "exit status 0", "exit": "exit status 7"}[how]
			for _, run := range rec.Target.Runs {
				if run.Exit != want || run.Stopped {
					t.Errorf("a run ended with %q (stopped: %v), want %q", run.Exit, run.Stopped, want)
				}
			}
		})
	}
}

// freeAddress returns an address that nothing listens on. Its port lies below
// those that the system gives to connections, so that none of them takes it.
func freeAddress(t *testing.T) string {
	t.Helper()
	for port := 20000 + os.Getpid()%10000; port < 32768; port++ {
		address := fmt.Sprint("127.0.0.1:", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestLoad checks that every profiler's phase is under load and that the
// program's port is waited for.
func TestLoad(t *testing.T) {
	address := freeAddress(t)
	var asked []string
	load := func(ctx context.Context, d Demand) error {
		asked = append(asked, fmt.Sprint(d.Phase, " ", d.UntilCancelled))
		if d.Boundary != nil {
			d.Boundary()
			defer d.Boundary()
		}
		resp, err := http.Get("http://" + address + "/")
		if err != nil {
			return err
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if d.UntilCancelled {
			<-ctx.Done()
		}
		return nil
	}
	record(t, "server", Plan{Phases: phases(t, "allocs,cpu:100ms"), Load: load, WaitFor: []Endpoint{TCP(address)}}, address)
	if got := strings.Join(asked, ", "); got != "bare false, cpu true" {
		t.Errorf("load was asked for %s", got)
	}
}

func TestDiesBeforeItListens(t *testing.T) {
	temp := t.TempDir()
	prog, err := Build(t.Context(), BuildOptions{Target: "./testdata/tool", Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(w, prog, RecorderOptions{Temp: temp, Launch: LaunchOptions{Args: []string{"exit"}, GODEBUG: RuntimeDebug}})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Record(t.Context(), Plan{Phases: phases(t, "bare"), WaitFor: []Endpoint{TCP(freeAddress(t))}})
	if err == nil || !strings.Contains(err.Error(), "ended before it listened") || !strings.Contains(err.Error(), "tool says goodbye") {
		t.Errorf("Record = %v, want the program's last words", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestStdin checks that a file as input is there for every run, and that a
// pipe is read once.
func TestStdin(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !replayable(f) {
		t.Error("a file is not replayable")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if replayable(r) {
		t.Error("a pipe is replayable")
	}
}

// TestParsePhases: of a phase that "all" names too, the length that was given holds.
func TestParsePhases(t *testing.T) {
	for _, list := range []string{"all,cpu:300ms", "cpu:300ms,all", "cpu,cpu:300ms"} {
		phases, err := ParsePhases(list, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var cpu []time.Duration
		for _, p := range phases {
			if p.Name == "cpu" {
				cpu = append(cpu, p.For)
			}
		}
		if want := []time.Duration{300 * time.Millisecond}; !slices.Equal(cpu, want) {
			t.Errorf("%s: CPU phases of %v, want %v", list, cpu, want)
		}
	}
}
