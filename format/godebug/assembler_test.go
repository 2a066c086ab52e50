package godebug

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// recorder collects what an Assembler hands out.
type recorder struct {
	Assembler
	lines []string
	prog  []string
}

func record(stream bool) *recorder {
	r := new(recorder)
	r.Stream = stream
	r.Line = func(b []byte) { r.lines = append(r.lines, string(b)) }
	r.Program = func(b []byte) { r.prog = append(r.prog, string(b)) }
	return r
}

// values finds the values of each kind of line; its groups are what the
// runtime formats, and so writes, on its own.
var values = []struct {
	prefix string
	re     *regexp.Regexp
}{
	{"  G", regexp.MustCompile(`^  G(\d+)|=(-?\d+|nil)|\((.*)\)`)},
	{"  M", regexp.MustCompile(`^  M(\d+)|preemptoff=(.*?) locks|=(-?\d+|nil|true|false)`)},
	{"  P", regexp.MustCompile(`(-?\d+|nil|true|false)`)},
	{"SCHED", regexp.MustCompile(`(-?\d+|nil|true|false)`)},
	{"scvg", regexp.MustCompile(`(-?\d+)`)},
	{"init", regexp.MustCompile(`^init (\S+)|(\d+(?:\.\d+)?)`)},
	{"pacer", regexp.MustCompile(`([+-]?\d\.\d+e[+-]\d+|-?\d+(?:\.\d+)?)`)},
	{"", regexp.MustCompile(`(\d+(?:\.\d+)?)`)},
}

// pieces cuts a line of the runtime the way the runtime writes it.
func pieces(line string) (out []string) {
	add := func(s string) {
		if s != "" {
			out = append(out, s)
		}
	}
	for _, v := range values {
		if !strings.HasPrefix(line, v.prefix) {
			continue
		}
		from := 0
		for _, m := range v.re.FindAllStringSubmatchIndex(line, -1) {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					add(line[from:m[g]])
					add(line[m[g]:m[g+1]])
					from = m[g+1]
				}
			}
		}
		add(line[from:])
		break
	}
	return out
}

// runtimeLines are the lines of all samples that the runtime printed, without
// the program's text before them.
func runtimeLines(t testing.TB) (lines []string) {
	t.Helper()
	for _, name := range sampleNames(t) {
		if strings.HasPrefix(name, "torn") {
			continue
		}
		data := sample(name)
		r := NewBytesReader(data)
		r.KeepText = true
		text := map[int64]bool{}
		for r.Next() {
			if x, ok := r.Record().(*Text); ok {
				for i := range x.Bytes {
					text[x.Offset+int64(i)] = true
				}
			}
		}
		var line []byte
		for i, b := range data {
			if !text[int64(i)] {
				line = append(line, b)
				if b == '\n' {
					lines = append(lines, string(line))
					line = line[:0]
				}
			}
		}
	}
	return lines
}

// TestAssemblePieces feeds every sample line in pieces with program output
// between any two of them.
func TestAssemblePieces(t *testing.T) {
	lines := runtimeLines(t)
	f := func(what string, noise func(i int) string, fuse bool) {
		t.Helper()
		a := record(false)
		var prog []string
		rng := rand.New(rand.NewPCG(1, 2))
		for _, line := range lines {
			for i, p := range pieces(line) {
				if n := noise(i); n != "" {
					a.Feed([]byte(n))
					prog = append(prog, n)
				}
				// Literals may be cut anywhere: older compilers do not
				// join constants.
				if k := rng.IntN(len(p)) + 1; fuse && k < len(p) && !isDigit(p[len(p)-1]) && !allBytes([]byte(p), reasonByte) {
					if i > 0 && p[0] != '+' && p[0] != '-' && !isDigit(p[0]) {
						a.Feed([]byte(p[:k]))
						p = p[k:]
					}
				}
				a.Feed([]byte(p))
			}
		}
		a.Flush()
		if !reflect.DeepEqual(a.lines, lines) {
			t.Errorf("%s: %d lines, want %d, %+v", what, len(a.lines), len(lines), a.Stats())
			for i, l := range lines {
				if i >= len(a.lines) || a.lines[i] != l {
					t.Fatalf("%s: first difference: %q", what, l)
				}
			}
		}
		if !reflect.DeepEqual(a.prog, prog) {
			t.Errorf("%s: the program's output is not intact", what)
		}
	}
	f("alone", func(int) string { return "" }, false)
	f("cut literals", func(int) string { return "" }, true)
	f("log lines", func(int) string { return "2025/01/01 12:00:00 some log line\n" }, false)
	f("unterminated", func(int) string { return "tick. " }, false)
	f("newlines", func(i int) string { return "\n\n" }, false)
	f("almost literals", func(i int) string {
		return []string{" MB, now", "gcc it.", "@ ", " P ", "SCHED it.", "12 %", "-> x"}[i%7]
	}, false)
}

// TestAssembleInside has a gctrace line inside a SCHED line, between any two
// of its print statements, and program output inside both.
func TestAssembleInside(t *testing.T) {
	statements := []string{"SCHED 210ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 needspinning=1 idlethreads=2 runqueue=1",
		" ", "[ ", "1", " ", "0", " ]", " schedticks=[ ", "24", " ", "76", " ", "]\n"}
	for at := 1; at < len(statements); at++ {
		a := record(false)
		for i, s := range statements {
			if i == at {
				for _, q := range pieces(gcLine + "\n") {
					a.Feed([]byte(q))
					a.Feed([]byte("log\n"))
				}
			}
			for _, p := range pieces(s) {
				a.Feed([]byte(p))
			}
		}
		a.Flush()
		want := []string{gcLine + "\n", strings.Join(statements, "")}
		if !reflect.DeepEqual(a.lines, want) {
			t.Fatalf("at statement %d: lines %q, want %q", at, a.lines, want)
		}
		if n := len(pieces(gcLine + "\n")); len(a.prog) != n {
			t.Errorf("at statement %d: %d program writes, want %d", at, len(a.prog), n)
		}
	}
}

func TestAssembleFalseStarts(t *testing.T) {
	f := func(writes []string, lines int, prog ...string) {
		t.Helper()
		a := record(false)
		for _, w := range writes {
			a.Feed([]byte(w))
		}
		a.Flush()
		if len(a.lines) != lines || !reflect.DeepEqual(a.prog, prog) {
			t.Errorf("%d lines %q, program %q; want %d lines, program %q", len(a.lines), a.lines, a.prog, lines, prog)
		}
	}
	gc := pieces(gcLine + "\n")
	with := func(at int, extra ...string) []string {
		return append(append(append([]string(nil), gc[:at]...), extra...), gc[at:]...)
	}
	f([]string{"gc ", "is", " fine\n"}, 0, "is", " fine\n", "gc ")
	f([]string{"gc ", "12"}, 0, "gc ", "12")
	f(append([]string{"gc "}, gc...), 1, "gc ")
	f(append([]string{"gc ", "7"}, gc...), 1, "gc ", "7")
	f(with(1, "gc "), 1, "gc ")
	f(with(5, "gc "), 1, "gc ")
	f(with(5, "scav "), 1, "scav ")
	f(with(5, "GC forced\n"), 2) // cannot be told from the runtime's, and has no figure
	f(with(7, "ms"), 1, "ms")
	// fmtNSAsMS would not print these, so they are not taken for a clock.
	f(with(7, "1"), 1, "1")
	f(with(7, "0.5"), 1, "0.5")
	f(with(8, "3"), 1, "3")
	f(with(3, "17"), 1, "17") // nor this for a time
	f(with(7, "", "\n"), 1, "\n")
	// Here the program's number could be the runtime's.
	f(with(1, "99"), 0, append([]string{"4", "gc ", "99"}, gc[2:]...)...)
	f(with(2, "99"), 0, append([]string{"99", "gc ", "4"}, gc[2:]...)...)
}

// TestAssembleBounds checks that a begun line does not wait for ever, and
// that nothing grows with the input.
func TestAssembleBounds(t *testing.T) {
	a := record(false)
	a.Line, a.Program = nil, nil
	a.Feed([]byte("gc "))
	for range 64 {
		a.Feed(bytes.Repeat([]byte{'x'}, 32<<10))
	}
	if a.making.count != 0 || a.Stats().GivenUp != 1 {
		t.Errorf("%d lines still open, %+v", a.making.count, a.Stats())
	}
	for _, p := range pieces("SCHED 1ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 idlethreads=2 runqueue=1 [") {
		a.Feed([]byte(p))
	}
	for range MaxLine {
		a.Feed([]byte("1"))
		a.Feed([]byte(" "))
	}
	if a.making.count != 0 {
		t.Errorf("a line of %d bytes is still open", len(a.making.open[0].buf))
	}
}

// TestAssembleWhole feeds writes that hold whole lines, as another process
// behind the same standard error writes them.
func TestAssembleWhole(t *testing.T) {
	a := record(false)
	a.Feed([]byte(gcLine + "\n"))
	a.Feed([]byte("one\n" + gcLine + " (forced)\nGC forced\ntwo\nthree"))
	a.Feed([]byte("quoted: " + gcLine + "\n"))
	a.Flush()
	if want := []string{gcLine + "\n", gcLine + " (forced)\n", "GC forced\n"}; !reflect.DeepEqual(a.lines, want) {
		t.Errorf("lines %q, want %q", a.lines, want)
	}
	if want := []string{"one\n", "two\nthree", "quoted: " + gcLine + "\n"}; !reflect.DeepEqual(a.prog, want) {
		t.Errorf("program %q, want %q", a.prog, want)
	}
}

// TestAssembleStream cuts the samples anywhere, as a pipe does.
func TestAssembleStream(t *testing.T) {
	var all []byte
	for _, name := range sampleNames(t) {
		all = append(all, sample(name)...)
		if all[len(all)-1] != '\n' {
			all = append(all, '\n')
		}
	}
	lines := runtimeLines(t)
	text := bytes.Count(all, []byte("partial line without newline; "))
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{1, 7, 100, 4096, len(all)} {
		a := record(true)
		for rest := all; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(size))
			a.Feed(rest[:n])
			rest = rest[n:]
		}
		a.Flush()
		if !reflect.DeepEqual(a.lines, lines) {
			t.Errorf("cuts of up to %d: %d lines, want %d", size, len(a.lines), len(lines))
			for i, l := range lines {
				if i >= len(a.lines) || a.lines[i] != l {
					t.Fatalf("first difference: %q", l)
				}
			}
		}
		prog := strings.Join(a.prog, "")
		if got := strings.Count(prog, "partial line without newline; "); got != text || len(prog)+len(strings.Join(lines, "")) != len(all) {
			t.Errorf("cuts of up to %d: the program's output is not intact", size)
		}
	}
	a := record(true)
	a.Feed([]byte("Password: "))
	if len(a.prog) != 1 {
		t.Errorf("a prompt is held back: %q", a.prog)
	}
}

func TestAssemblerAllocations(t *testing.T) {
	var a Assembler
	n := 0
	a.Line = func([]byte) { n++ }
	var writes [][]byte
	for _, line := range runtimeLines(t) {
		for i, p := range pieces(line) {
			if i%5 == 2 {
				writes = append(writes, []byte("2025/01/01 12:00:00 some log line\n"))
			}
			writes = append(writes, []byte(p))
		}
	}
	all := func() {
		for _, w := range writes {
			a.Feed(w)
		}
	}
	all()
	if got := testing.AllocsPerRun(3, all); got != 0 {
		t.Errorf("%v allocations for %d writes, want 0", got, len(writes))
	}
}

func BenchmarkAssembler(b *testing.B) {
	var writes [][]byte
	size := 0
	for i, p := range pieces(gcLine + "\n") {
		if i%10 == 5 {
			writes = append(writes, []byte("2025/01/01 12:00:00 some log line\n"))
		}
		writes = append(writes, []byte(p))
	}
	for _, w := range writes {
		size += len(w)
	}
	var a Assembler
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, w := range writes {
			a.Feed(w)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(writes)), "ns/write")
	if a.Stats().Lines != b.N {
		b.Fatalf("%d lines of %d", a.Stats().Lines, b.N)
	}
}

// ExampleAssembler shows a gctrace line with the program's output inside it.
func ExampleAssembler() {
	a := Assembler{
		Program: func(p []byte) { fmt.Printf("program: %q\n", p) },
		Line:    func(line []byte) { fmt.Printf("runtime: %q\n", line) },
	}
	for _, write := range []string{"scav ", "0", " KiB work, ", "3144", "listening\n", " KiB total, ", "98", "% util", "\n"} {
		a.Feed([]byte(write))
	}
	a.Flush()
	// Output:
	// program: "listening\n"
	// runtime: "scav 0 KiB work, 3144 KiB total, 98% util\n"
}
