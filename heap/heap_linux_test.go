package heap

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"loupe/symbol"
)

// procMemory is the memory of a child that stands still.
type procMemory struct{ f *os.File }

func (m procMemory) Read(addr uint64, buf []byte) error {
	_, err := m.f.ReadAt(buf, int64(addr))
	return err
}

// build builds the program whose heap is known with a version of Go.
func build(t *testing.T, goCmd string, flags ...string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "known")
	args := append([]string{"build", "-pgo=off", "-o", exe}, flags...)
	cmd := exec.Command(goCmd, append(args, "main.go")...)
	cmd.Dir = "heaptest/known"
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return exe
}

// stopped starts a program, waits for its "ready", and stops it.
func stopped(t *testing.T, exe string) (Memory, *symbol.Binary) {
	t.Helper()
	cmd := exec.Command(exe)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%s says %q: %v", exe, line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", cmd.Process.Pid))
	if err != nil {
		t.Skipf("the memory of a child may not be read here: %v", err)
	}
	t.Cleanup(func() { mem.Close() })
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	bin, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return procMemory{mem}, bin
}

func TestKnown(t *testing.T) {
	mem, bin := stopped(t, build(t, "go"))
	h, err := Open(mem, bin, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v damaged %d missing %d", h.Totals(), h.Damaged, h.Missing)
	for _, r := range h.Histogram() {
		t.Logf("%8d %10d %s", r.Count, r.Bytes, r.Type)
	}
	for _, r := range h.roots {
		if r.Kind != Global {
			t.Log(r)
		}
	}
}
