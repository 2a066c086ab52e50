package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loupe/format/symbol"
)

// build builds a program of one line with some version of Go and opens it.
func build(t *testing.T, version, arch string, flags ...string) *symbol.Binary {
	t.Helper()
	dir := t.TempDir()
	name, root, isRoot := strings.Cut(version, "=")
	env, goCommand := []string{"GOTOOLCHAIN=" + name}, "go"
	if isRoot {
		env, goCommand = []string{"GOTOOLCHAIN=local", "GOROOT=" + root}, filepath.Join(root, "bin", "go")
	}
	for file, text := range map[string]string{"main.go": "package main\n\nfunc main() { println() }\n", "go.mod": "module one\n\ngo 1.18\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(goCommand, slices.Concat([]string{"build", "-o", "one"}, flags, []string{"."})...)
	c.Dir, c.Env = dir, append(os.Environ(), append(env, "GOFLAGS=", "GOOS=linux", "CGO_ENABLED=0", "GOARCH="+arch)...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(filepath.Join(dir, "one"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func layoutIn(b *symbol.Binary) (*layout, error) {
	v, err := variablesOf(b)
	if err != nil {
		return nil, err
	}
	return layoutOf(b, v)
}

// running is what of a layout is asked of a running program, which is all that
// the table has of Go before 1.21.
func (l layout) running() layout {
	l.schedSP, l.schedLR, l.syscallSP, l.m, l.panics = 0, 0, 0, 0, 0
	l.sig, l.sigCode, l.sigAddr, l.sigPC, l.panicArg, l.panicLink = 0, 0, 0, 0, 0, 0
	l.machine = machineLayout{}
	return l
}

// TestLayouts holds the table of layouts against the DWARF of programs that each
// version has built: LOUPE_TOOLCHAINS=go1.21.13,go1.23.12 (or any from 1.21 on;
// older ones by their GOROOT: 1.18=/path).
func TestLayouts(t *testing.T) {
	list := os.Getenv("LOUPE_TOOLCHAINS")
	if list == "" {
		list = runtime.Version()
	}
	for _, version := range strings.Split(list, ",") {
		t.Run(version, func(t *testing.T) {
			b := build(t, version, runtime.GOARCH)
			told, err := layoutIn(b)
			if err != nil {
				t.Fatal(err)
			}
			known := *told
			if err := known.fromTable(b); err != nil {
				t.Fatal(err)
			}
			if want := *told; known != want && (known.machine != machineLayout{} || known != want.running()) {
				t.Errorf("the table says %+v, DWARF %+v", known, want)
			}
			if os.Getenv("LOUPE_TOOLCHAINS") == "" {
				return
			}
			other, err := layoutIn(build(t, version, map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]))
			if err != nil {
				t.Fatal(err)
			}
			other.allgptr, other.allglen, other.reasons = told.allgptr, told.allglen, told.reasons
			other.allm, other.printed, other.printedAt = told.allm, told.printed, told.printedAt
			if *other != *told {
				t.Errorf("the other architecture has %+v, this one %+v", *other, *told)
			}
		})
	}
}

// TestVariablesInCode holds the variables that the code tells against those that
// the symbol table tells, in programs of one line and of many.
func TestVariablesInCode(t *testing.T) {
	list := os.Getenv("LOUPE_TOOLCHAINS")
	if list == "" {
		list = runtime.Version()
	}
	for _, version := range strings.Split(list, ",") {
		for _, flags := range [][]string{nil, {"-buildmode=pie"}} {
			t.Run(version+strings.Join(flags, " "), func(t *testing.T) {
				b := build(t, version, "amd64", flags...)
				want, err := variablesOf(b)
				if err != nil {
					t.Fatal(err)
				}
				got, err := variablesInCode(b)
				if err != nil {
					t.Fatal(err)
				}
				for _, u := range uses {
					name := u.name
					if _, ok := got[name]; !ok && name == profCycle {
						name = profCycle8
					}
					if g, w := got[name], want[name]; g.Addr != w.Addr || g.Addr == 0 || u.kind == symbol.Takes && g.Size != w.Size {
						t.Errorf("the code says that %s is %d bytes at %#x, the symbol table %d at %#x", name, g.Size, g.Addr, w.Size, w.Addr)
					}
				}
				stripped, err := variablesOf(build(t, version, "amd64", append(flags, "-ldflags=-s -w")...))
				if err != nil || len(stripped) != len(got) {
					t.Errorf("%v, %v", stripped, err)
				}
			})
		}
	}
}
