//go:build linux && (amd64 || arm64)

package heap

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"loupe/format/program"
	"loupe/format/symbol"
)

// procMemory is the memory of a child that stands still.
type procMemory struct{ f *os.File }

func (m procMemory) Read(addr uint64, buf []byte) error {
	_, err := m.f.ReadAt(buf, int64(addr))
	return err
}

func (m procMemory) Gather(addrs []uint64, size int, buf []byte) error {
	return gather(m, addrs, size, buf)
}

func gather(m Memory, addrs []uint64, size int, buf []byte) error {
	for i, addr := range addrs {
		if err := m.Read(addr, buf[i*size:(i+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

// unwound are options with which stacks are gone through by their frames.
func unwound(mem program.Memory, bin *symbol.Binary, bias uint64) (opt Options, err error) {
	p, err := program.Open(mem, bin, bias)
	if err != nil {
		return opt, err
	}
	unwind, err := p.Unwinder(nil)
	opt.Unwind = func(g uint64, visit func(Frame) bool) {
		unwind(g, func(a program.Activation) bool {
			return visit(Frame{PC: a.PC, Exact: a.Exact, Low: a.SP, CFA: a.CFA})
		})
	}
	return opt, err
}

// openUnwound opens a heap so.
func openUnwound(t testing.TB, mem program.Memory, bin *symbol.Binary, bias uint64) *Heap {
	t.Helper()
	opt, err := unwound(mem, bin, bias)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Open(mem, bin, bias, opt)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// build builds the program whose heap is known with a version of Go.
func build(t *testing.T, goCmd string, flags ...string) string {
	t.Helper()
	source, err := os.ReadFile("heaptest/known/main.go")
	if err != nil {
		t.Fatal(err)
	}
	return buildSource(t, goCmd, string(source), flags...)
}

// buildSource builds a program of one file, apart from the module, which asks for
// a newer Go than some that build it.
func buildSource(t *testing.T, goCmd, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	exe := filepath.Join(dir, "known")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"build", "-pgo=off", "-o", exe}, flags...)
	cmd := exec.Command(goCmd, append(args, "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return exe
}

// stopped starts a program, waits for its "ready", and stops it.
func stopped(t testing.TB, exe string) (program.Memory, *symbol.Binary, uint64) {
	t.Helper()
	mem, bin, bias, _ := child(t, exe)
	return mem, bin, bias
}

// child does so, and tells the number of the process.
func child(t testing.TB, exe string) (program.Memory, *symbol.Binary, uint64, int) {
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
		t.Fatalf("the memory of a child may not be read here: %v", err)
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
	return procMemory{mem}, bin, bias(t, cmd.Process.Pid, bin), cmd.Process.Pid
}

// bias is what the loader has added to the addresses of a child.
func bias(t testing.TB, pid int, bin *symbol.Binary) uint64 {
	t.Helper()
	if !bin.PIE {
		return 0
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		if low, rest, _ := strings.Cut(line, "-"); strings.HasSuffix(rest, "/known\n") {
			at, err := strconv.ParseUint(low, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			return at - bin.Segments[0].Addr
		}
	}
	t.Fatalf("the program is not among its mappings:\n%s", maps)
	return 0
}

// TestKnown counts the objects of a program that has been written to be counted.
func TestKnown(t *testing.T) {
	check(t, build(t, "go"))
}

// toolchains are the version of Go at hand and those that the environment names:
// LOUPE_TOOLCHAINS=go1.21.13,go1.24.11 (1.21 to 1.26).
func toolchains() []string {
	all := []string{"local"}
	if list := os.Getenv("LOUPE_TOOLCHAINS"); list != "" {
		all = append(all, strings.Split(list, ",")...)
	}
	return all
}

// TestToolchains does the same as PIE, and with the programs of other versions of
// Go, which it fetches.
func TestToolchains(t *testing.T) {
	for _, version := range toolchains() {
		t.Run(version, func(t *testing.T) {
			t.Setenv("GOTOOLCHAIN", version)
			check(t, build(t, "go"))
		})
		t.Run(version+" PIE", func(t *testing.T) {
			t.Setenv("GOTOOLCHAIN", version)
			check(t, build(t, "go", "-buildmode=pie"))
		})
	}
}

// rows is a histogram by type.
func rows(h *Heap) map[string]Row {
	out := map[string]Row{}
	for _, r := range h.Histogram() {
		out[r.Type] = r
	}
	return out
}

func check(t *testing.T, exe string) {
	t.Helper()
	mem, bin, bias := stopped(t, exe)
	h := openUnwound(t, mem, bin, bias)
	if h.Damaged > 0 || h.Missing > 0 {
		t.Errorf("%d spans are damaged, %d bytes are missing", h.Damaged, h.Missing)
	}
	got := rows(h)
	want := map[string]int64{
		"main.leaf": 3500, "main.node": 1000, "main.wide": 10, "main.square": 206, "main.held": 1, "main.point": 303,
		"[N]*main.leaf": 1, "[N]*main.wide": 1, "[N]main.shape": 1, "[N]interface {}": 1, "[N]*main.square": 2, "[N]float64": 1,
		"map[string]*main.leaf": 1, "map[int32]*main.point": 1, "map[int64]int64": 1,
		"chan *main.square": 1, "chan int64": 1, "func main.fill.func1": 1,
	}
	if h.Version < headersSince {
		// What a func value holds has no type, unless it says so itself.
		want["main.square"], want["[N]*main.square"] = 205, 1
	}
	if h.Version < 24 {
		want["[N]map[string]*main.leaf (bucket)"] = 1
		want["[N]map[int64]int64 (bucket)"] = 1
	} else {
		want["map[int32]*main.point (group)"] = 1
		// How often tables have been split depends on the seed of the hash.
		for kind, keys := range map[string]int64{"map[string]*main.leaf": 2000, "map[int64]int64": 5000} {
			n := got[kind+" (table)"].Count
			if n < keys/1000 || n > keys/200 || got["[N]"+kind+" (group)"].Count != n {
				t.Errorf("%s has %d tables, and %d of groups", kind, n, got["[N]"+kind+" (group)"].Count)
			}
		}
	}
	for name, n := range want {
		if got[name].Count != n {
			t.Errorf("%d objects of type %s, want %d", got[name].Count, name, n)
		}
	}
	if n := got["string (text)"].Count; n < 2450 || n > 2600 {
		t.Errorf("the texts of %d strings, want about 2,450", n)
	}
	if r := got["[N]uint8"]; r.Count < 31 || r.Bytes < 1<<20+30*5000 {
		t.Errorf("slices of bytes are %+v", r)
	}
	total := h.Totals()
	if total.Unknown.Bytes > 16<<10 || total.Garbage.Bytes > 1<<10 {
		t.Errorf("too much is unknown, or garbage: %+v", total)
	}
	checkGraph(t, h)
	checkTexts(t, h)
	if t.Failed() {
		for _, r := range h.Histogram() {
			t.Logf("%8d %10d %s", r.Count, r.Bytes, r.Type)
		}
	}
}

// checkGraph looks at what is held, and by what.
func checkGraph(t *testing.T, h *Heap) {
	t.Helper()
	g, err := h.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if all, want := g.held.at(0), h.Totals().Reached.Bytes; all != want {
		t.Errorf("%d bytes are held in all, and %d reached", all, want)
	}
	held := map[string]int64{}
	for _, x := range g.Holders(true) {
		held[x.Name+x.Func] = x.Retained
	}
	want := map[string]int64{
		"main.list":    1000 * (48 + 32),
		"main.blob":    1 << 20,
		"main.floats":  802816,
		"main.buffers": 30*5376 + 896,
	}
	if h.Version < headersSince {
		want["main.buffers"] = 30*5376 + 768
	}
	for name, n := range want {
		if held[name] != n {
			t.Errorf("%s holds %d bytes, want %d", name, held[name], n)
		}
	}
	types := map[string]Row{}
	for _, r := range g.ByType() {
		types[r.Type] = r
	}
	if r := types["main.node"]; r.Retained != 1000*(48+32) {
		t.Errorf("nodes retain %d bytes, want %d", r.Retained, 1000*(48+32))
	}
	ways := g.Ways("main.leaf")
	if len(ways) != 3 || ways[0].Root.Name != "main.large" || ways[0].Count != 2000 || ways[1].Root.Name != "main.list" || ways[1].Count != 1000 || ways[1].Retained != 1000*32 || len(ways[1].Steps) != 2 {
		t.Errorf("leaves are held so: %+v", ways)
	}
	o := g.Largest("main.node", 2)
	if len(o) != 1 || o[0].Retained != 1000*80 {
		t.Fatalf("the nodes that hold most, and are held by no other, are %+v", o)
	}
	for _, leaf := range g.Largest("main.leaf", 3500) {
		p, err := g.Path(leaf.Addr + 8)
		if err != nil {
			t.Fatal(err)
		}
		if p.Root.Name != "main.list" || p.Steps[0].Times < 500 {
			continue
		}
		if len(p.Steps) != 2 || p.Steps[0].Through != ".next" || p.Steps[1].Field != ".leaf" || p.Retained != 32 {
			t.Errorf("a leaf is held so: %+v", p)
		}
		return
	}
	t.Error("no leaf is held by the far end of the list")
}

// checkTexts looks at strings.
func checkTexts(t *testing.T, h *Heap) {
	t.Helper()
	x, err := h.Texts(5)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.Longest) != 5 || x.Longest[0].Length != 1<<20 || x.Longest[0].Text[:13] != "a blob begins" || x.Longest[1].Length != 5000 {
		t.Errorf("the longest texts are %+v", x.Longest)
	}
	for _, s := range x.Repeated {
		if s.Kind == "string" && s.Count == 50 && s.Length == 2000 && s.Wasted == 49*2048 {
			return
		}
	}
	t.Errorf("the text that is there 50 times is not among %+v", x.Repeated)
}
