package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loupe/recording"
)

// TestListening is what the test binary does as a server of the tests below: when a file is
// there, it listens on an address that others may share, and says so by another file.
func TestListening(t *testing.T) {
	addr, after, ready := os.Getenv("LOUPE_TEST_LISTEN"), os.Getenv("LOUPE_TEST_AFTER"), os.Getenv("LOUPE_TEST_READY")
	if addr == "" {
		return
	}
	for {
		if _, err := os.Stat(after); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	}}
	network := "tcp"
	if filepath.IsAbs(addr) {
		network = "unix"
	}
	l, err := shared.Listen(t.Context(), network, addr)
	if err == nil {
		err = os.WriteFile(ready, nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}
}

// listening is a command of the shell that listens on addr when the file after is there, and
// makes the file ready.
func listening(addr, after, ready string) string {
	return fmt.Sprintf("env LOUPE_TEST_LISTEN=%s LOUPE_TEST_AFTER=%s LOUPE_TEST_READY=%s %s -test.run=TestListening$", addr, after, ready, os.Args[0])
}

// other starts a process that listens as well, and returns its number.
func other(t *testing.T, addr, after, ready string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "exec "+listening(addr, after, ready))
	detach(cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // with which the child ends
		started <- cmd.Start()
		cmd.Wait()
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd.Process.Pid
}

// TestForeignListener: a load never goes to a process that was not started for it.
func TestForeignListener(t *testing.T) {
	foreign := func(name string, err error, pid int) {
		t.Helper()
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), fmt.Sprintf("process %d (", pid)) || !strings.Contains(err.Error(), "another port") {
			t.Errorf("%s: %v, want process %d named", name, err, pid)
		}
	}
	start := func(command, addr string) error {
		s, err := StartServer(t.Context(), command, TCP(addr), time.Minute)
		if err == nil {
			s.Stop()
		}
		return err
	}
	begun := func(name string) string { return filepath.Join(t.TempDir(), name) }
	anything := os.Args[0] // a file that is there

	addr := freeAddress(t)
	if err := start("( "+listening(addr, anything, begun("ready"))+" & wait ) & wait", addr); err != nil {
		t.Errorf("a child of a child: %v", err)
	}
	addr = freeAddress(t)
	if err := start("setsid sh -c '"+listening(addr, anything, begun("ready"))+" & echo $! > /dev/null' & sleep 600", addr); err != nil {
		t.Errorf("a daemon: %v", err)
	}
	if pid := listenerPID(TCP(addr)); pid > 0 { // it is in nobody's group
		syscall.Kill(pid, syscall.SIGKILL)
	}

	addr = freeAddress(t)
	first := begun("first")
	pid := other(t, addr, first, begun("ready"))
	foreign("another one was faster", start("touch "+first+"; sleep 600", addr), pid)

	addr = freeAddress(t)
	both, shares := begun("both"), begun("shares")
	pid = other(t, addr, both, shares)
	foreign("another one shares the port", start("touch "+both+"; "+listening(addr, shares, begun("ready")), addr), pid)

	addr = freeAddress(t)
	first = begun("program")
	pid = other(t, addr, first, begun("ready"))
	w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(w, &Program{Path: "/bin/sh", Target: recording.Target{Kind: "binary", Name: "sh"}}, RecorderOptions{Temp: t.TempDir(), Launch: LaunchOptions{Args: []string{"-c", "touch " + first + "; sleep 600"}}})
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	load := func(context.Context, Demand) error {
		asked = true
		return nil
	}
	foreign("a program that is recorded", r.Record(t.Context(), Plan{Phases: phases(t, "bare"), WaitFor: []Endpoint{TCP(addr)}, Load: load}), pid)
	if asked {
		t.Error("there was a load, on a process that it was not meant for")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestAnswering: the kernel gives a connection to the listener with the closest address.
func TestAnswering(t *testing.T) {
	f := func(ip, want string, bound ...string) {
		t.Helper()
		var all []listener
		for i, b := range bound {
			all = append(all, listener{net.ParseIP(b), 80, uint64(i)}, listener{net.ParseIP(b), 81, 99})
		}
		got := ""
		for _, l := range answering(all, net.ParseIP(ip), 80) {
			got += fmt.Sprint(" ", bound[l.inode])
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s of %v: %q, want %q", ip, bound, got, want)
		}
	}
	f("127.0.0.1", "127.0.0.1", "127.0.0.1", "0.0.0.0", "::", "::1")
	f("127.0.0.1", "0.0.0.0", "0.0.0.0", "::")
	f("127.0.0.1", "::", "::", "::1", "127.0.0.2")
	f("::1", "::", "::", "0.0.0.0", "127.0.0.1")
	f("::1", "::1 ::1", "::1", "::", "::1")
	f("::1", "", "0.0.0.0")
}

// TestReservePort: two runs of one service get a port each.
func TestReservePort(t *testing.T) {
	addr := freeAddress(t)
	first, release := ReservePort(addr)
	second, release2 := ReservePort(addr)
	defer release2()
	if first != addr || second == addr {
		t.Errorf("%s was reserved as %s and, a second time, as %s", addr, first, second)
	}
	release()
	again, release3 := ReservePort(addr)
	defer release3()
	if again != addr {
		t.Errorf("%s was given back, and %s reserved", addr, again)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken, release4 := ReservePort(l.Addr().String())
	defer release4()
	if taken == l.Addr().String() {
		t.Errorf("%s is taken, and was reserved", taken)
	}
}

// TestJustStarted: a process that another one of those who listen has just started may be about to
// become another program; whoever is older, or comes from elsewhere, is not.
func TestJustStarted(t *testing.T) {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	own, pid := os.Getpid(), child.Process.Pid
	for _, test := range []struct {
		pid  int
		of   []int
		ago  time.Duration
		want bool
	}{{pid, []int{own, pid}, time.Hour, true}, {pid, []int{own, pid}, -time.Hour, false}, {pid, []int{1, pid}, time.Hour, false}, {own, []int{own, pid}, time.Hour, false}} {
		if got := justStarted(test.pid, test.of, test.ago); got != test.want {
			t.Errorf("%d of %v within %s: %v, want %v", test.pid, test.of, test.ago, got, test.want)
		}
	}
}
