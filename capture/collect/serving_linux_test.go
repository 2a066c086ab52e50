package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/recording"
)

// recorded runs a command of the shell under a load and returns what became of it.
func recorded(t *testing.T, command string, at Endpoint, load Load) (recording.Manifest, error) {
	t.Helper()
	return recordedIn(t, "bare", command, at, load)
}

// recordedIn is the same with these phases.
func recordedIn(t *testing.T, list, command string, at Endpoint, load Load) (recording.Manifest, error) {
	t.Helper()
	w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(w, &Program{Path: "/bin/sh", Target: recording.Target{Kind: "binary", Name: "sh"}}, RecorderOptions{Temp: t.TempDir(), Launch: LaunchOptions{Args: []string{"-c", command}}})
	if err != nil {
		t.Fatal(err)
	}
	result := r.Record(t.Context(), Plan{Phases: phases(t, list), WaitFor: []Endpoint{at}, Wait: time.Minute, Load: load})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return w.Manifest(), result
}

// fileThere waits for a file.
func fileThere(name string) {
	for {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// noted tells whether one of the notes of a recording has a text.
func noted(m recording.Manifest, text string) bool {
	return strings.Contains(strings.Join(m.Notes, "\n"), text)
}

// TestForeignDuringLoad: what others have answered, who came while the load ran, is not taken for
// the program's.
func TestForeignDuringLoad(t *testing.T) {
	anything := os.Args[0] // a file that is there
	for name, wait := range map[string]func(ctx context.Context){
		"as soon as it is seen": func(ctx context.Context) { <-ctx.Done() },
		"at the end":            func(context.Context) {},
	} {
		dir := t.TempDir()
		addr, both, shares := freeAddress(t), filepath.Join(dir, "both"), filepath.Join(dir, "shares")
		pid := other(t, addr, both, shares)
		m, err := recorded(t, "exec "+listening(addr, anything, filepath.Join(dir, "ready")), TCP(addr), func(ctx context.Context, d Demand) error {
			if err := os.WriteFile(both, nil, 0o600); err != nil {
				return err
			}
			fileThere(shares)
			wait(ctx)
			if err := d.Ours(); !errors.Is(err, ErrForeign) {
				t.Errorf("%s: the requests are to be kept: %v", name, err)
			}
			return nil
		})
		want := fmt.Sprintf("process %d (", pid)
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if len(m.Phases) != 1 || !strings.Contains(m.Phases[0].Error, want) || !m.Phases[0].Elsewhere || !noted(m, want) {
			t.Errorf("%s: the recording does not say it: %+v, %q", name, m.Phases, m.Notes)
		}
	}
}

// TestTakenOver: somebody else listens on the path of the program's socket.
func TestTakenOver(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "socket")
	kept := func(load Load) (recording.Manifest, error) {
		os.Remove(path)
		return recorded(t, "exec "+listening(path, os.Args[0], filepath.Join(dir, "ready")), Endpoint{"unix", path}, load)
	}
	if m, err := kept(func(_ context.Context, d Demand) error { return d.Ours() }); err != nil || m.Phases[0].Elsewhere {
		t.Errorf("a Unix socket: %v, %+v", err, m.Phases)
	}
	_, err := kept(func(_ context.Context, d Demand) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		defer l.Close()
		return d.Ours()
	})
	if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", os.Getpid())) {
		t.Errorf("the path was taken over: %v", err)
	}
}

// TestStoppedListening: the recording says that a program did not listen all the time.
func TestStoppedListening(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "socket")
	m, err := recorded(t, "exec "+listening(path, os.Args[0], filepath.Join(dir, "ready")), Endpoint{"unix", path}, func(_ context.Context, d Demand) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return d.Ours()
	})
	if err != nil || !noted(m, "did not listen on "+path+" all the time in the phase bare") {
		t.Errorf("%v, %q", err, m.Notes)
	}
}

// TestServedByChild: the figures are those of the process that answers.
func TestServedByChild(t *testing.T) {
	dir := t.TempDir()
	addr := freeAddress(t)
	child := 0
	m, err := recordedIn(t, "bare,trace", listening(addr, os.Args[0], filepath.Join(dir, "ready"))+" & wait", TCP(addr), func(context.Context, Demand) error {
		child = listenerPID(TCP(addr))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	run := m.Target.Runs[0]
	if child == 0 || run.Server != child || run.PID == child || m.Phases[0].Elsewhere || m.Phases[0].MaxRSS == 0 {
		t.Errorf("child %d, %+v, %+v", child, run, m.Phases[0])
	}
	if !noted(m, "in another process than the one that was started (sh)") {
		t.Errorf("%q", m.Notes)
	}
	if len(m.Missed) != 1 || m.Missed[0].Profiler != "trace" || !strings.Contains(m.Missed[0].Reason, "serves no /debug/pprof") {
		t.Errorf("the trace was asked for and is not there: %+v", m.Missed)
	}
}

// TestServedBySeveral: where several processes answer, no figure of one is taken for all.
func TestServedBySeveral(t *testing.T) {
	dir := t.TempDir()
	addr, second := freeAddress(t), filepath.Join(dir, "second")
	command := listening(addr, os.Args[0], filepath.Join(dir, "first")) + " & " + listening(addr, filepath.Join(dir, "first"), second) + " & wait"
	m, err := recorded(t, command, TCP(addr), func(_ context.Context, d Demand) error {
		fileThere(second)
		return d.Ours()
	})
	if p := m.Phases[0]; err != nil || !p.Elsewhere || p.User+p.System != 0 || p.MaxRSS != 0 {
		t.Errorf("%v, %+v", err, p)
	}
	if !noted(m, "no CPU time, memory") {
		t.Errorf("%q", m.Notes)
	}
}

// TestDaemon: a program that goes into the background is told what to do, and nothing stays behind.
func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	addr := freeAddress(t)
	_, err := recorded(t, "setsid "+listening(addr, filepath.Join(dir, "never"), filepath.Join(dir, "ready"))+" < /dev/null > /dev/null 2>&1 & exit 0", TCP(addr), func(context.Context, Demand) error {
		t.Error("there was a load")
		return nil
	})
	left := regexp.MustCompile(`exit status 0; it has left process (\d+) \(.*foreground`).FindStringSubmatch(fmt.Sprint(err))
	if left == nil {
		t.Fatal(err)
	}
	if pid, _ := strconv.Atoi(left[1]); ProcessExists(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// TestServerOurs: a load on a server that loupe has started is not kept where somebody else has
// answered too.
func TestServerOurs(t *testing.T) {
	dir := t.TempDir()
	addr, both, shares := freeAddress(t), filepath.Join(dir, "both"), filepath.Join(dir, "shares")
	pid := other(t, addr, both, shares)
	s, err := StartServer(t.Context(), listening(addr, os.Args[0], filepath.Join(dir, "ready")), TCP(addr), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if err := os.WriteFile(both, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fileThere(shares)
	if err := s.Ours(); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", pid)) {
		t.Errorf("%v", err)
	}
}

// TestWithNumber: a process without a name is told by its number, once.
func TestWithNumber(t *testing.T) {
	const nobody = 1 << 30
	if got := withNumber(nobody); got != "process 1073741824" {
		t.Errorf("%q", got)
	}
}

// TestLookPause: however long a look takes, another one follows soon.
func TestLookPause(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{0: lookEvery, time.Millisecond: lookEvery, 5 * time.Millisecond: 500 * time.Millisecond, time.Minute: lookAtLeast} {
		if got := lookPause(took); got != want {
			t.Errorf("after %v: %v, want %v", took, got, want)
		}
	}
}

// TestPeakOfItsOwn: the peak memory of a program is not that of a child that it has waited for.
func TestPeakOfItsOwn(t *testing.T) {
	m := stoppedShell(t, "trap 'exit 0' INT; dd if=/dev/zero of=/dev/null bs=256M count=1 2>/dev/null; touch READY; while :; do sleep 0.01; done", time.Hour)
	if run := m.Target.Runs[0]; run.MaxRSS == 0 || run.MaxRSS > 128<<20 {
		t.Errorf("%d bytes", run.MaxRSS)
	}
}

// stoppedShell is the recording of a shell that is asked to end when it has made the file READY.
func stoppedShell(t *testing.T, command string, wait time.Duration) recording.Manifest {
	t.Helper()
	w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(t.TempDir(), "ready")
	launch := LaunchOptions{Args: []string{"-c", strings.ReplaceAll(command, "READY", ready)}, StopWait: wait}
	r, err := NewRecorder(w, &Program{Path: "/bin/sh", Target: recording.Target{Kind: "binary", Name: "sh"}}, RecorderOptions{Temp: t.TempDir(), Launch: launch})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.start(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	fileThere(ready)
	if err := errors.Join(r.stop(), r.Close()); err != nil {
		t.Error(err)
	}
	return w.Manifest()
}

// TestKilledAtItsEnd: the recording says that a program did not end when it was asked to, and nothing of one that did.
func TestKilledAtItsEnd(t *testing.T) {
	m := stoppedShell(t, "trap '' INT TERM; touch READY; while :; do sleep 1; done", time.Millisecond)
	if run := m.Target.Runs[0]; !noted(m, "sh did not end within ") || !noted(m, "was killed") || !noted(m, "-stop-wait") || run.Exit != "signal: killed" || !run.Stopped {
		t.Errorf("what ignores signals: %q, %+v", m.Notes, run)
	}
	m = stoppedShell(t, "trap '' INT; touch READY; while :; do sleep 1; done", time.Millisecond)
	if run := m.Target.Runs[0]; !noted(m, "sh did not end within ") || !noted(m, "SIGTERM ended it at once") || run.Exit != "signal: terminated" || !run.Stopped {
		t.Errorf("what ignores the interrupt alone: %q, %+v", m.Notes, run)
	}
	m = stoppedShell(t, "trap '' INT; trap 'exit 0' TERM; touch READY; while :; do sleep 0.01; done", time.Millisecond)
	if run := m.Target.Runs[0]; len(m.Notes) > 0 || run.Exit != "exit status 0" || !run.Stopped {
		t.Errorf("what ends by itself at SIGTERM: %q, %+v", m.Notes, run)
	}
	m = stoppedShell(t, "trap 'exit 0' INT; touch READY; while :; do sleep 0.01; done", time.Hour)
	if run := m.Target.Runs[0]; len(m.Notes) > 0 || run.Exit != "exit status 0" || !run.Stopped {
		t.Errorf("what ends: %q, %+v", m.Notes, run)
	}
}
