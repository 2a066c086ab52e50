//go:build linux && (amd64 || arm64)

package program_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"loupe/capture/live"
	"loupe/format/core"
	"loupe/format/dump"
	"loupe/format/program"
	"loupe/format/symbol"
)

// matrix tells whether the tests look at more than what runs everywhere:
// LOUPE_CORES=go1.21.13,go1.25.5 makes cores of programs of these versions, by the
// kernel, gdb and delve too, as far as these are there.
func matrix() []string {
	if list := os.Getenv("LOUPE_CORES"); list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

func build(t *testing.T, version string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/held/main.go")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "main.go"), text, 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module held\n\ngo 1.18\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", slices.Concat([]string{"build", "-o", "held"}, flags, []string{"main.go"})...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+version, "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "held")
}

// started is a program that runs, with what it prints.
type started struct {
	cmd  *exec.Cmd
	text *bytes.Buffer // standard error
}

func start(t *testing.T, bin, traceback string) *started {
	t.Helper()
	c := exec.Command(bin)
	s := &started{c, &bytes.Buffer{}}
	c.Env = append(os.Environ(), "GOTRACEBACK="+traceback)
	c.Stderr = s.text
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(out).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	return s
}

// quit makes the program print its goroutines and die.
func (s *started) quit(t *testing.T) string {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
	return s.text.String()
}

// opened is a core with what was read of it.
type opened struct {
	core    *core.File
	bin     *symbol.Binary
	program *program.Program
	threads []program.Thread
	stopped *program.Stopped
	text    string // its goroutines
}

// openCore reads a core of some size.
func openCore(bin, file io.ReaderAt, size int64) (o opened, err error) {
	if o.bin, err = symbol.Open(bin, symbol.Options{}); err != nil {
		return o, err
	}
	if o.core, err = core.Open(file, size); err != nil {
		return o, err
	}
	bias := uint64(0)
	if o.bin.PIE {
		bias = o.core.Entry - o.bin.Entry
	}
	mem := o.core.Memory()
	for _, s := range o.bin.Segments {
		mem.Back(core.Backing{Addr: s.Addr + bias, Size: s.FileSize, From: bin, Offset: int64(s.Offset)})
	}
	find := program.Open
	if !o.bin.HasSymbols() {
		find = program.Search
	}
	if o.program, err = find(mem, o.bin, bias); err != nil {
		return o, err
	}
	for _, th := range o.core.Threads {
		o.threads = append(o.threads, program.Thread{ID: th.ID, PC: th.PC, SP: th.SP, BP: th.BP, LR: th.LR})
	}
	if o.stopped, err = o.program.Stop(o.threads, o.core.Clock); err != nil {
		return o, err
	}
	var text bytes.Buffer
	err = o.stopped.WriteText(&text)
	o.text = text.String()
	return o, err
}

// read opens a core and writes its goroutines as text.
func read(t *testing.T, bin, file string) (*core.File, *program.Stopped, string) {
	t.Helper()
	open := func(name string) (*os.File, int64) {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return f, info.Size()
	}
	bf, _ := open(bin)
	cf, size := open(file)
	o, err := openCore(bf, cf, size)
	if err != nil {
		t.Fatal(err)
	}
	c := o.core
	if len(c.Odd) > 0 || c.Cut != 0 || len(c.Threads) < 3 {
		t.Errorf("%d threads, %d bytes cut, %q", len(c.Threads), c.Cut, c.Odd)
	}
	if _, id := c.BuildIDs(); id != o.bin.GoBuildID && (id != "" || c.Writer != core.Delve) {
		t.Errorf("the core says that it is of the build %q, the binary is %q", id, o.bin.GoBuildID)
	}
	if same, known := o.program.SameBuild(bf); !same && o.bin.HasSymbols() {
		t.Errorf("the program of the core is held for another (%v)", known)
	}
	beDamaged(t, o.program, o.threads, 100)
	return c, o.stopped, o.text
}

// calls are the frames of each goroutine in words, with their arguments and how far
// from its begin each function is. Frames of the runtime, which GOTRACEBACK=crash
// prints, are left out; places gives where the frames are as well.
func calls(t *testing.T, text string, places bool) map[uint64][]string {
	t.Helper()
	f := dump.Parse([]byte(text))
	out := map[uint64][]string{}
	for g, id := range f.IDs {
		if f.Flags[g]&(dump.System|dump.Again) != 0 {
			continue
		}
		list, err := f.Calls(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			line := fmt.Sprintf("%s(%s) %s:%d +%#x by %d elided %d", c.Func, c.Args, c.File, c.Line, c.Offset, c.Creator, c.Elided)
			if places {
				line += fmt.Sprintf(" fp=%#x sp=%#x pc=%#x", c.FP, c.SP, c.PC)
			}
			// Until Go 1.21 what wraps a go statement is called like a closure.
			internal := strings.HasPrefix(c.Func, "runtime.") || strings.Contains(c.Func, ".gowrap") || strings.Contains(c.Func, ".deferwrap") || strings.HasPrefix(c.Func, "main.main.func")
			// Threads that Go has interrupted print their own stacks elsewhere.
			if !internal && !c.Created || c.Created && places && len(out[id]) > 0 {
				out[id] = append(out[id], line)
			}
		}
	}
	return out
}

// TestCaptured holds what a core tells against what the same process prints
// afterwards, of the goroutines that do not move: the same words in the same
// places.
func TestCaptured(t *testing.T) {
	look := func(t *testing.T, version string, flags ...string) {
		bin := build(t, version, flags...)
		s := start(t, bin, "all")
		name := filepath.Join(t.TempDir(), "core")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		did, err := live.Capture(t.Context(), s.cmd.Process.Pid, f)
		if err != nil || did.Cut != nil || did.Unreadable > 0 {
			t.Fatalf("%+v, %v", did, err)
		}
		if did.Disk > int64(did.Written)+1<<20 {
			t.Errorf("%d bytes of memory take %d on the disk", did.Written, did.Disk)
		}
		c, st, text := read(t, bin, name)
		if c.Writer != core.Loupe || c.PID != int64(s.cmd.Process.Pid) {
			t.Errorf("the core is of process %d, by %q", c.PID, c.Writer)
		}
		if crash, ok := st.Crash(); ok {
			t.Errorf("the process has crashed: %+v", crash)
		}
		compare(t, calls(t, text, false), calls(t, s.quit(t), false), 15)
		for _, want := range []string{"main.spin(", "main.main.func"} {
			// On a busy machine one may not have begun yet.
			if !strings.Contains(text, want) && !strings.Contains(text, "[runnable]:\ncreated by main.main") {
				t.Errorf("what was running has no stack: there is no %s in\n%s", want, text)
			}
		}
	}
	t.Run("plain", func(t *testing.T) { look(t, "local") })
	t.Run("PIE without DWARF", func(t *testing.T) { look(t, "local", "-buildmode=pie", "-ldflags=-w") })
	t.Run("stripped", func(t *testing.T) { look(t, "local", "-ldflags=-s") })
	for _, v := range matrix() {
		t.Run(v, func(t *testing.T) { look(t, v) })
		t.Run(v+" PIE without DWARF", func(t *testing.T) { look(t, v, "-buildmode=pie", "-ldflags=-w") })
		t.Run(v+" stripped PIE", func(t *testing.T) { look(t, v, "-buildmode=pie", "-ldflags=-s") })
		t.Run(v+" not optimised", func(t *testing.T) { look(t, v, "-gcflags=all=-N -l") })
	}
}

// compare holds the goroutines that have not moved against what Go has printed.
func compare(t *testing.T, got, want map[uint64][]string, atLeast int) {
	t.Helper()
	n := 0
	for id, frames := range want {
		ours, ok := got[id]
		switch {
		case len(frames) == 0 || strings.HasPrefix(frames[0], "main.spin(") || strings.HasPrefix(frames[0], "time."):
			// It was running.
		case !ok:
			t.Errorf("goroutine %d is not in the core:\n%s", id, strings.Join(frames, "\n"))
		case !slices.Equal(ours, frames):
			t.Errorf("goroutine %d is in the core\n%s\nGo itself prints\n%s", id, strings.Join(ours, "\n"), strings.Join(frames, "\n"))
		default:
			n++
		}
	}
	if n < atLeast {
		t.Errorf("only %d goroutines were compared", n)
	}
}

// TestKernel does the same with a core that the kernel writes when a program dies:
// here nothing moves, so that the frame of every goroutine must be where Go prints it.
func TestKernel(t *testing.T) {
	if len(matrix()) == 0 {
		t.Skip("LOUPE_CORES is not set")
	}
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.TrimSpace(string(pattern)) != "core" {
		t.Skipf("the kernel writes no cores into files of their own: kernel.core_pattern is %q", pattern)
	}
	for _, v := range matrix() {
		for _, flags := range [][]string{nil, {"-buildmode=pie", "-ldflags=-w"}, {"-gcflags=all=-N -l"}} {
			t.Run(v+" "+strings.Join(flags, " "), func(t *testing.T) {
				bin := build(t, v, flags...)
				c := exec.Command("sh", "-c", "ulimit -c unlimited; exec "+bin+" die")
				c.Dir = t.TempDir()
				var text bytes.Buffer
				c.Stderr = &text
				c.Run()
				names, _ := filepath.Glob(filepath.Join(c.Dir, "core*"))
				if len(names) != 1 {
					t.Fatalf("the kernel has written %q", names)
				}
				file, st, ours := read(t, bin, names[0])
				if file.Writer != core.Kernel || file.Signal.Number != int(syscall.SIGABRT) {
					t.Errorf("a core by %q of signal %+v", file.Writer, file.Signal)
				}
				crash, ok := st.Crash()
				if begin, _, _ := strings.Cut(text.String(), "\n\n"); !ok || strings.TrimSpace(crash.Message) != strings.ReplaceAll(strings.TrimSpace(begin), "SIGABRT: abort", "") {
					t.Errorf("the end is told as %q, Go has printed %q", crash.Message, begin)
				}
				compare(t, calls(t, ours, true), printed(t, text.String(), ours), 15)
				if !slices.Contains(flags, "-ldflags=-w") { // delve needs DWARF
					oracle(t, bin, names[0], ours)
				}
			})
		}
	}
}

// TestKernelC: a fault in C code is told from what the kernel has told the handler.
func TestKernelC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no C compiler on this machine")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil || limit.Max < 1<<30 {
		t.Skipf("no process here may leave a core: %v, %v", limit.Max, err)
	}
	versions := matrix()
	if len(versions) == 0 {
		versions = []string{"local"}
	}
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.TrimSpace(string(pattern)) != "core" {
		t.Skipf("the kernel writes no cores into files of their own: kernel.core_pattern is %q", pattern)
	}
	for _, v := range versions {
		t.Run(v, func(t *testing.T) {
			dir := t.TempDir()
			text := "package main\n\n// static int fault(long a) { return *(int *)a; }\nimport \"C\"\n\nfunc main() { println(C.fault(24)) }\n"
			for name, text := range map[string]string{"main.go": text, "go.mod": "module c\n\ngo 1.18\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b := exec.Command("go", "build", "-o", "c", ".")
			b.Dir, b.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+v, "GOFLAGS=", "CGO_ENABLED=1")
			if out, err := b.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			c := exec.Command("sh", "-c", "ulimit -c unlimited; GOTRACEBACK=crash exec ./c")
			c.Dir = dir
			c.Run()
			names, _ := filepath.Glob(filepath.Join(dir, "core*"))
			if len(names) != 1 {
				t.Fatalf("the kernel has written %q", names)
			}
			_, st, _ := read(t, filepath.Join(dir, "c"), names[0])
			crash, ok := st.Crash()
			got := crash.Signal
			if want := (program.Signal{Number: int(syscall.SIGSEGV), Code: 1, Addr: 24, PC: got.PC, Foreign: true}); !ok || got != want || got.PC == 0 {
				t.Errorf("the signal is %+v, want %+v (%v)", got, want, ok)
			}
		})
	}
}

// printed are the frames that a program has printed with GOTRACEBACK=crash, as far as
// the core's text has the function as well.
func printed(t *testing.T, theirs, ours string) map[uint64][]string {
	all, some := calls(t, theirs, true), calls(t, ours, true)
	for id := range all {
		if some[id] == nil {
			delete(all, id) // the runtime's own
		}
	}
	return all
}

// TestWriters reads cores that gdb and delve write.
func TestWriters(t *testing.T) {
	if len(matrix()) == 0 {
		t.Skip("LOUPE_CORES is not set")
	}
	delve := buildDelve(t)
	for _, v := range matrix() {
		for _, by := range []string{"gcore", "delve", "loupe"} {
			t.Run(v+" "+by, func(t *testing.T) {
				bin := build(t, v)
				s := start(t, bin, "all")
				pid := fmt.Sprint(s.cmd.Process.Pid)
				file := filepath.Join(t.TempDir(), "core")
				want := core.Writer(by)
				switch by {
				case "gcore":
					if _, err := exec.LookPath("gcore"); err != nil {
						t.Skip("gdb is not there")
					}
					run(t, "gcore", "-o", file, pid)
					file += "." + pid
				case "delve":
					if delve == "" {
						t.Skip("delve is not there")
					}
					run(t, delve, "dump", pid, file)
				default:
					f, err := os.Create(file)
					if err == nil {
						_, err = live.Capture(t.Context(), s.cmd.Process.Pid, f)
						f.Close()
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				c, _, text := read(t, bin, file)
				if c.Writer != want {
					t.Errorf("it is said to be written by %q", c.Writer)
				}
				oracle(t, bin, file, text)
				compare(t, calls(t, text, false), calls(t, s.quit(t), false), 15)
			})
		}
	}
}

// damaged is memory in which some words are others.
type damaged struct {
	program.Memory
	seed uint64
}

func (d damaged) Read(addr uint64, buf []byte) error {
	err := d.Memory.Read(addr, buf)
	for i := 0; i+8 <= len(buf); i += 8 {
		if x := (addr + uint64(i) + d.seed) * 0x9e3779b97f4a7c15; x>>56 == 0 {
			switch x >> 54 & 3 {
			case 0:
				clear(buf[i:][:8])
			case 1:
				buf[i+int(x>>40&7)] ^= 1 << (x >> 32 & 7)
			default:
				binary.LittleEndian.PutUint64(buf[i:], x)
			}
		}
	}
	return err
}

func (d damaged) Gather(addrs []uint64, size int, buf []byte) error {
	for i, a := range addrs {
		if err := d.Read(a, buf[i*size:][:size]); err != nil {
			return err
		}
	}
	return nil
}

// beDamaged reads a core whose memory has turned to nonsense in places, in many ways:
// none may make it panic, or print without end.
func beDamaged(t *testing.T, p *program.Program, threads []program.Thread, ways int) {
	t.Helper()
	whole, read := p.Memory, 0
	for seed := range uint64(ways) {
		p.Memory = damaged{whole, seed}
		st, err := p.Stop(threads, 0)
		if err != nil {
			continue
		}
		read++
		var text bytes.Buffer
		if err := st.WriteText(&text); err != nil || text.Len() > 16<<20 {
			t.Errorf("damage %d: %d bytes, %v", seed, text.Len(), err)
		}
		st.Crash()
		for _, th := range threads {
			st.ThreadStack(th)
		}
	}
	if p.Memory = whole; read < ways/20 {
		t.Errorf("only %d of %d damaged memories were read", read, ways)
	}
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return string(out)
}

// buildDelve builds the oracle, which is a module beside package explain, and
// returns "" where delve is not in the module cache.
func buildDelve(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "delve")
	c := exec.Command("go", "build", "-o", name, ".")
	c.Dir = filepath.Join("..", "..", "analysis", "explain", "testdata", "delve")
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local", "GOPROXY=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Logf("no delve: %v\n%s", err, out)
		return ""
	}
	return name
}

// oracle holds the goroutines of a core against what delve says of it: every call
// that we tell is one that delve has, in its order and at its line.
func oracle(t *testing.T, bin, file, text string) {
	t.Helper()
	delve := buildDelve(t)
	if delve == "" {
		return
	}
	var all []struct {
		ID     uint64
		System bool
		Frames []struct {
			Func string
			Line int
		}
	}
	began := time.Now()
	if err := json.Unmarshal([]byte(run(t, delve, "core", bin, file)), &all); err != nil {
		t.Fatal(err)
	}
	f := dump.Parse([]byte(text))
	frames, goroutines := 0, 0
	for _, g := range all {
		if g.System {
			continue
		}
		goroutines++
		i := slices.Index(f.IDs, g.ID)
		if i < 0 {
			t.Errorf("delve has goroutine %d, which we do not have", g.ID)
			continue
		}
		list, err := f.Calls(i)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, c := range list {
			if c.Created || c.Elided != 0 {
				break // delve has no more than it was asked for
			}
			found := -1
			for k := at; k < len(g.Frames) && found < 0; k++ {
				// Of a function that a signal has interrupted delve tells the line
				// of the instruction before, of one in a system call where its
				// thread is and not, as Go does, where it went into the call.
				if x := g.Frames[k]; symbol.PrintedName(x.Func) == c.Func && (x.Line == c.Line || c.Func == "main.spin" || c.Func == "syscall.Syscall") {
					found = k
				}
			}
			if found < 0 {
				t.Errorf("goroutine %d: delve does not have %s at line %d; it has %v", g.ID, c.Func, c.Line, g.Frames)
				break
			}
			at = found + 1
			frames++
		}
	}
	if goroutines != f.Len() || frames < 50 {
		t.Errorf("%d goroutines and %d frames were held against delve, of %d", goroutines, frames, f.Len())
	}
	t.Logf("%d frames of %d goroutines are those of delve (%s, %s)", frames, goroutines, time.Since(began).Round(time.Millisecond), runtime.GOARCH)
}
