//go:build linux && (amd64 || arm64)

package live

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loupe/capture/live/livetest"
	"loupe/format/dump"
	"loupe/internal/long"
)

// build builds the program that is looked into.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	return toolchain{command: "go"}.build(t, "waiters", flags...)
}

// toolchain is a version of Go.
type toolchain struct {
	name, command string
	env           []string
}

// toolchains are those that LOUPE_TOOLCHAINS names, or the one that runs the test:
// go1.21.13,go1.23.12 are fetched (any from 1.21 on), older ones are given by their
// GOROOT: 1.18=/path.
func toolchains() (all []toolchain) {
	list := os.Getenv("LOUPE_TOOLCHAINS")
	if list == "" {
		list = runtime.Version()
	}
	for _, version := range strings.Split(list, ",") {
		name, root, isRoot := strings.Cut(version, "=")
		t := toolchain{name, "go", []string{"GOTOOLCHAIN=" + version}}
		if isRoot {
			t.command, t.env = filepath.Join(root, "bin", "go"), []string{"GOTOOLCHAIN=local", "GOROOT=" + root}
		}
		all = append(all, t)
	}
	return all
}

// build builds a program of testdata.
func (v toolchain) build(t *testing.T, program string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/" + program + "/main.go")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+program+"\n\ngo 1.18\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(v.command, slices.Concat([]string{"build", "-o", program}, flags, []string{"."})...)
	c.Dir, c.Env = dir, append(os.Environ(), append(v.env, "GOFLAGS=")...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, program)
}

// start starts it with a number of goroutines and returns where it serves.
func start(t *testing.T, bin string, n int) (pid int, address string) {
	t.Helper()
	return begin(t, exec.Command(bin, fmt.Sprint(n)))
}

// begin starts a program that prints a line when it is ready.
func begin(t *testing.T, c *exec.Cmd) (pid int, line string) {
	t.Helper()
	line, err := livetest.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { livetest.Stop(c) })
	return c.Process.Pid, line
}

// groups counts goroutines by state and stack, in words; those that serve the
// oracle's own question, and those that ran, are left out.
func groups(f *dump.File) map[string]int64 {
	out := map[string]int64{}
	for _, g := range f.Groups(nil) {
		var b strings.Builder
		state := f.State(g.Members[0])
		fmt.Fprintf(&b, "%s locked=%v\n", state.Name, state.Locked)
		for _, id := range f.Stacks.Frames(g.Stack) {
			fr := f.Stacks.Frame(id)
			fmt.Fprintf(&b, "  %s %s:%d\n", fr.Func, filepath.Base(fr.File), fr.Line)
		}
		if key := b.String(); state.Name != "running" && state.Name != "runnable" && !strings.Contains(key, "net/http.(*conn)") && !strings.Contains(key, "startBackgroundRead") {
			out[key] += g.Count
		}
	}
	return out
}

// look reads a process both ways. A goroutine may be on its way to where it
// waits, so that it looks a few times.
func look(t *testing.T, bin string, n int) {
	t.Helper()
	pid, address := start(t, bin, n)
	for again := 4; ; again-- {
		wrong := differences(t, pid, address)
		if len(wrong) == 0 {
			return
		}
		if again == 0 {
			t.Fatal(strings.Join(wrong, "\n"))
		}
	}
}

// differences are the groups in which what is read from outside differs from
// what the program says itself.
func differences(t *testing.T, pid int, address string) (wrong []string) {
	t.Helper()
	p, err := Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ours, err := p.Goroutines()
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + address + "/goroutines")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, want := groups(ours), groups(dump.Parse(text))
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			wrong = append(wrong, fmt.Sprintf("%d goroutines, Go itself tells of %d:\n%s", got[key], want[key], key))
		}
	}
	for key := range got {
		if want[key] == 0 {
			wrong = append(wrong, fmt.Sprintf("%d goroutines that Go itself does not tell of:\n%s", got[key], key))
		}
	}
	if len(want) < 14 {
		t.Errorf("only %d groups are compared", len(want))
	}
	return wrong
}

// TestGoroutines holds what is read from outside against what the program says
// itself.
func TestGoroutines(t *testing.T) {
	t.Run("plain", func(t *testing.T) { look(t, build(t), 700) })
	t.Run("without DWARF", func(t *testing.T) { look(t, build(t, "-ldflags=-w"), 70) })
}

// TestGoroutinesPIE does the same with programs that can be loaded anywhere.
func TestGoroutinesPIE(t *testing.T) {
	long.Only(t, "it builds the standard library")
	t.Run("PIE", func(t *testing.T) { look(t, build(t, "-buildmode=pie"), 70) })
	if runtime.GOARCH == "amd64" {
		t.Run("stripped", func(t *testing.T) { look(t, build(t, "-ldflags=-s -w", "-buildmode=pie"), 70) })
	}
}

// TestToolchains does the same with the programs of other versions of Go.
func TestToolchains(t *testing.T) {
	for _, v := range toolchains() {
		t.Run(v.name, func(t *testing.T) {
			look(t, v.build(t, "waiters"), 70)
			if runtime.GOARCH == "amd64" {
				look(t, v.build(t, "waiters", "-ldflags=-s -w"), 70)
			}
		})
	}
}

// TestRefusals: what cannot be read is told from what may not be.
func TestRefusals(t *testing.T) {
	if _, err := Open(1 << 30); err == nil {
		t.Error("a process that is not there is opened")
	}
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Wait()
	defer c.Process.Kill()
	if _, err := Open(c.Process.Pid); err == nil || !strings.Contains(err.Error(), ErrNotGo.Error()) {
		t.Errorf("sleep is opened: %v", err)
	}
}
