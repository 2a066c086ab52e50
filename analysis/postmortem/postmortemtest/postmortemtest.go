//go:build linux && (amd64 || arm64)

// Package postmortemtest makes cores of a program that is known, for tests.
package postmortemtest

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"loupe/analysis/postmortem"
	"loupe/capture/live"
	"loupe/format/core"
	"loupe/format/symbol"
)

//go:embed held/main.go
var source string

// Build builds the program in a folder, with flags such as -ldflags=-w.
func Build(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	exe := filepath.Join(dir, "held")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-pgo=off", "-gcflags=-N -l", "-o", exe}, flags...), "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return exe
}

// Open opens a core for as long as the test lasts.
func Open(t testing.TB, name string) *core.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := core.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Join opens a core with a program.
func Join(t testing.TB, name, exe string) (*postmortem.Core, error) {
	t.Helper()
	file := Open(t, name)
	image, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	bin, err := symbol.Open(image, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return postmortem.Join(name, file, exe, bin, image)
}

// Process is the program while it runs.
type Process struct {
	t   testing.TB
	cmd *exec.Cmd
	out *bufio.Reader
}

// Start starts it and waits until it is ready.
func Start(t testing.TB, exe string, args ...string) *Process {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Env = append(os.Environ(), "GOTRACEBACK=crash")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// A failing program stands still at its first word of why.
	full, err := fullPipe(t)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = full
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	p := &Process{t, cmd, bufio.NewReader(out)}
	p.wait("ready")
	return p
}

// fullPipe is a pipe that takes nothing more.
func fullPipe(t testing.TB) (*os.File, error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	r, w := os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe")
	t.Cleanup(func() { r.Close(); w.Close() })
	if err := syscall.SetNonblock(ends[1], true); err != nil {
		return nil, err
	}
	for {
		if _, err := syscall.Write(ends[1], make([]byte, 4096)); errors.Is(err, syscall.EAGAIN) {
			return w, syscall.SetNonblock(ends[1], false)
		} else if err != nil {
			return nil, err
		}
	}
}

func (p *Process) wait(word string) {
	p.t.Helper()
	if line, err := p.out.ReadString('\n'); err != nil || line != word+"\n" {
		p.t.Fatalf("it says %q and not %q: %v", line, word, err)
	}
}

// Grow makes it keep 3,000 sessions more.
func (p *Process) Grow() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		p.t.Fatal(err)
	}
	p.wait("more")
}

// Failing waits until it has begun to say why it fails.
func (p *Process) Failing() {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.cmd.Process.Pid))
		for _, name := range tasks {
			text, err := os.ReadFile(name)
			if err == nil && len(strings.Fields(string(text))) > 2 && strings.Fields(string(text))[1] == "0x2" && (strings.HasPrefix(string(text), "1 ") || strings.HasPrefix(string(text), "64 ")) {
				return
			}
		}
	}
	p.t.Fatal("it does not fail")
}

// Capture copies its memory into a file. It skips the test where the kernel lets no
// process look into another.
func (p *Process) Capture(name string) {
	p.t.Helper()
	f, err := os.Create(name)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	c, err := live.Capture(p.t.Context(), p.cmd.Process.Pid, f)
	if errors.Is(err, live.ErrNotPermitted) || errors.Is(err, fs.ErrPermission) {
		p.t.Skip(err)
	}
	if err != nil || c.Cut != nil {
		p.t.Fatal(errors.Join(err, c.Cut))
	}
}
