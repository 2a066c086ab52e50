package godebug

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAssembleLive runs a program whose threads log at full speed while it
// collects garbage, and takes its standard error apart.
func TestAssembleLive(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs a program")
	}
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "churn")
	if out, err := exec.Command("go", "build", "-o", bin, "./testdata/churn").CombinedOutput(); err != nil {
		t.Fatalf("cannot build: %v\n%s", err, out)
	}
	for _, env := range []string{"gctrace=1", "schedtrace=5", "gctrace=1,schedtrace=5",
		"gctrace=2,schedtrace=20,scheddetail=1",
		"gctrace=1,inittrace=1,gcpacertrace=1",
		// Never with another: see trap 8 in docs/formats/godebug.md.
		"scavtrace=1"} {
		t.Run(env, func(t *testing.T) { testLive(t, bin, env) })
	}
}

func testLive(t *testing.T, bin, env string) {
	a := record(false)
	writes := runSeqpacket(t, a, bin, env)
	var starts, cycles, scheds, detail int
	for _, w := range writes {
		switch w {
		case "gc ":
			starts++
		case "SCHED ":
			scheds++
		}
	}
	last := 0
	for _, line := range a.lines {
		l := Parse([]byte(line))
		if l.Stats.Malformed != 0 || !strings.HasSuffix(line, "\n") {
			t.Errorf("malformed line %q", line)
		}
		for _, y := range l.Cycles {
			cycles++
			if int(y.N) != last+1 {
				t.Errorf("collection %d follows %d", y.N, last)
			}
			last = int(y.N)
		}
		detail += len(l.Samples)
	}
	if cycles != starts {
		t.Errorf("%d gctrace lines of %d recovered", cycles, starts)
	}
	if strings.Contains(env, "schedtrace") && detail < scheds-1 { // the last may be cut by the exit
		t.Errorf("%d SCHED lines of %d recovered", detail, scheds)
	}
	stats := a.Stats()
	checkProgram(t, a.prog)
	t.Logf("%d writes, %d runtime lines, %d of them gctrace, %+v", len(writes), len(a.lines), cycles, stats)
}

// checkProgram demands every write of every thread, whole and in order.
func checkProgram(t *testing.T, prog []string) {
	t.Helper()
	re := regexp.MustCompile(`^w(\d) (?:2025/01/01 12:00:00 some log line of the program|no newline|two\nlines) #(\d+)[\n#]$`)
	next := map[string]int{}
	for i, p := range prog {
		m := re.FindStringSubmatch(p)
		if m == nil {
			// The program may exit in the midst of a runtime line.
			if i < len(prog)-60 {
				t.Fatalf("program write %d of %d is %q", i, len(prog), p)
			}
			continue
		}
		if n, _ := strconv.Atoi(m[2]); n != next[m[1]] {
			t.Errorf("write %d of thread %s follows %d", n, m[1], next[m[1]]-1)
		}
		next[m[1]]++
	}
	if len(next) != 4 {
		t.Errorf("output of %d threads, want 4", len(next))
	}
}

// runSeqpacket runs bin with a socket that keeps the bounds of writes as
// standard error, feeds a, and returns all writes.
func runSeqpacket(t *testing.T, a *recorder, bin, env string) (writes []string) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no SOCK_SEQPACKET: %v", err)
	}
	defer syscall.Close(fds[0])
	child := os.NewFile(uintptr(fds[1]), "stderr")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.Command(bin, "400ms")
	cmd.Stderr = child
	cmd.Env = append(os.Environ(), "GODEBUG="+env)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child.Close()
	// A program that hangs must not hang the test: Read below returns when
	// the program, and with it the other end, is gone.
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	buf := make([]byte, 1<<18)
	for {
		n, err := syscall.Read(fds[0], buf)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			break
		}
		a.Feed(buf[:n])
		writes = append(writes, string(buf[:n]))
	}
	// The program may exit in the midst of a line: these pieces are not lost
	// by the Assembler.
	for i := range a.making.count {
		head := string(a.making.open[i].buf[:a.making.open[i].cuts[0]])
		writes[slices.Index(writes, head)] = "cut by the exit"
	}
	a.Flush()
	if err := cmd.Wait(); err != nil {
		t.Fatal(fmt.Errorf("churn: %w", err))
	}
	return writes
}
