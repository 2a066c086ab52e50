package symbol

import (
	"bufio"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loupe/internal/long"
)

// toolchains returns those of the older Go installations Go 1.x that the go
// command has downloaded on this machine; there may be none.
func toolchains(t *testing.T, minors ...int) (out []target) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(cache)), "golang.org", "toolchain@*.linux-amd64"))
	last := map[int]target{} // one of each minor version
	for _, dir := range dirs {
		// The go command makes this one executable when all the others are there: until
		// then somebody is downloading it.
		if info, err := os.Stat(filepath.Join(dir, "bin", "go")); err != nil || info.Mode()&0o111 == 0 {
			continue
		}
		g := target{goos: "linux", goarch: "amd64", pkg: "./testdata/hello/hello.go", toolchain: dir}
		last[g.minor()] = g
	}
	for _, minor := range minors {
		if g, ok := last[minor]; ok {
			out = append(out, g)
		}
	}
	return out
}

// minor returns the 21 of Go 1.21.
func (g target) minor() int {
	if g.toolchain == "" {
		return 26
	}
	_, v, _ := strings.Cut(filepath.Base(g.toolchain), "-go1.")
	n, _ := strconv.Atoi(v[:strings.IndexByte(v, '.')])
	return n
}

// TestGosym holds names, files and lines against the standard library's reader
// for every layout of the tables.
func TestGosym(t *testing.T) {
	likeGosym(t, append(toolchains(t, 5, 10, 15, 14, 16, 18, 19, 20, 23), linux))
}

// TestGosymElsewhere is the same of programs for other processors.
func TestGosymElsewhere(t *testing.T) {
	long.Only(t, "it builds for other systems")
	likeGosym(t, []target{{goos: "linux", goarch: "arm64"}, {goos: "linux", goarch: "386"}})
}

// likeGosym compares the functions and lines of programs with what debug/gosym finds.
func likeGosym(t *testing.T, targets []target) {
	for _, g := range targets {
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			name := g.build(t)
			b := openFile(t, name, Options{})
			table := gosymTable(t, name)
			funcs, err := b.Functions(nil)
			if err != nil {
				t.Fatal(err)
			}
			funcs = slices.DeleteFunc(funcs, func(f Func) bool { return f.C })
			if len(funcs) != len(table.Funcs) {
				t.Fatalf("%d functions, gosym has %d", len(funcs), len(table.Funcs))
			}
			for i, f := range funcs {
				want := table.Funcs[i]
				if i%7 > 0 && f.Name == want.Name {
					continue
				}
				if f.Name != want.Name || f.Entry != want.Entry || f.End != want.End {
					t.Fatalf("function %d is %v, gosym has %s %#x", i, f, want.Name, want.Entry)
				}
				for pc := f.Entry; pc < f.End; pc += 41 {
					file, line := b.Line(pc)
					wantFile, wantLine, _ := table.PCToLine(pc)
					if wantFile == "" && strings.HasSuffix(file, ".s") && g.minor() <= 6 {
						// gosym takes the list of files for one shorter than
						// it was until Go 1.6.
						wantFile = file
					}
					if file != wantFile || line != max(wantLine, 0) {
						t.Fatalf("%s: %#x is at %s:%d, gosym has %s:%d", f.Name, pc, file, line, wantFile, wantLine)
					}
				}
			}
		})
	}
}

func gosymTable(t testing.TB, name string) *gosym.Table {
	t.Helper()
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestFrames holds the calls at some ten thousand addresses, inlined ones
// included, against what the runtime of the very program says.
func TestFrames(t *testing.T) {
	const names = "-checklinkname=0"
	targets := []target{{goos: "linux", goarch: "amd64", flags: `-ldflags=` + names}}
	for _, g := range toolchains(t, 18, 19, 20, 21, 23, 25) {
		switch minor := g.minor(); {
		case minor >= 23:
			g.flags = `-ldflags="-s -w ` + names + `"`
			fallthrough
		case minor >= 18:
			targets = append(targets, g)
		}
	}
	framesOf(t, targets)
}

// TestFramesOtherwise is the same of programs that are built otherwise, the standard library as well.
func TestFramesOtherwise(t *testing.T) {
	long.Only(t, "it builds the standard library twice")
	framesOf(t, []target{
		{goos: "linux", goarch: "amd64", flags: `-buildmode=pie -ldflags=-checklinkname=0`},
		{goos: "linux", goarch: "amd64", flags: `-trimpath -ldflags="-s -w -checklinkname=0"`},
	})
}

// framesOf checks the frames of a program that is built in several ways.
func framesOf(t *testing.T, targets []target) {
	for _, g := range targets {
		g.pkg = "./testdata/frames"
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			checkFrames(t, g.build(t))
		})
	}
}

// fold folds the names in a line of calls as the runtime does in tracebacks:
// all between the first and the last bracket.
func fold(calls string) string {
	parts := strings.Split(calls, "\t")
	for i := 0; i+2 < len(parts); i += 3 {
		open, end := strings.IndexByte(parts[i], '['), strings.LastIndexByte(parts[i], ']')
		if open > 0 && end > open {
			parts[i] = parts[i][:open] + "[...]" + parts[i][end+1:]
		}
	}
	return strings.Join(parts, "\t")
}

func checkFrames(t *testing.T, name string) {
	t.Helper()
	cmd := exec.Command(name, "29", "16000")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer pipe.Close()
	b := openFile(t, name, Options{})
	funcs, err := b.Functions(nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(funcs, func(f Func) bool { return f.Name == "main.frames" })
	if i < 0 {
		t.Fatal("main.frames is not among the functions")
	}
	self := funcs[i].Entry
	in := bufio.NewScanner(pipe)
	n, inlined, wrappers, bad := 0, 0, 0, 0
	for in.Scan() {
		off, want, _ := strings.Cut(in.Text(), "\t")
		back, err := strconv.ParseInt(off, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		frames := b.Frames(uint64(int64(self) - back))
		if len(frames) > 0 && frames[0].Line == 0 {
			continue // padding between functions
		}
		pc := uint64(int64(self) - back)
		if f, ok := b.FuncAt(pc); ok && f.End == pc+1 {
			continue // the return address is in the next function
		}
		for _, f := range frames {
			got = append(got, fmt.Sprintf("%s\t%s\t%d", f.Func, f.File, f.Line))
		}
		n++
		if len(frames) > 1 {
			inlined++
		}
		// Since Go 1.21 the runtime leaves out a wrapper around what is inlined
		// into it: <autogenerated>, deferwrap1, reflect.callMethod.
		s, want := fold(strings.Join(got, "\t")), fold(want)
		if last := len(got) - 1; last > 0 && fold(strings.Join(got[:last], "\t")) == want {
			wrappers++
			continue
		}
		if strings.HasPrefix(want, "\t") {
			continue // Go 1.21 loses the name at offset 0
		}
		if s != want {
			if bad++; bad <= 5 {
				t.Errorf("%#x:\ngot  %s\nwant %s", int64(self)-back, s, want)
			}
		}
	}
	if wrappers*10 > inlined {
		t.Errorf("%d of %d addresses with inlined calls miss the outermost", wrappers, inlined)
	}
	if n < 10000 || inlined < 100 {
		t.Errorf("%d addresses, %d of them with inlined calls: too few to show anything", n, inlined)
	}
	t.Logf("%d addresses, %d with inlined calls, %d differ", n, inlined, bad)
}
