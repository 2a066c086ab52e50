package symbol

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"loupe/internal/long"
)

// TestC finds functions in C, their lines and what is inlined into them.
func TestC(t *testing.T) { besideC(t, "", "-ldflags=-s") }

// TestCPIE is the same of programs that can be loaded anywhere.
func TestCPIE(t *testing.T) {
	long.Only(t, "it builds the standard library")
	besideC(t, "-buildmode=pie", `-buildmode=pie -ldflags="-s"`)
}

// besideC builds a program with C, once with each of several flags, and looks at both parts.
func besideC(t *testing.T, builds ...string) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no C compiler on this machine")
	}
	for _, flags := range builds {
		g := target{goos: "linux", goarch: "amd64", pkg: "./testdata/cgo", cgo: true, flags: flags}
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			b := g.open(t)
			checkGoBesideC(t, b)
			if !b.HasSymbols() {
				return
			}
			funcs, err := b.Functions(regexp.MustCompile(`^(add_twice|main\.main)$`))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(funcs, func(f Func) bool { return f.Name == "add_twice" && f.C })
			if len(funcs) != 2 || i < 0 {
				t.Fatalf("functions %+v, want add_twice in C and main.main", funcs)
			}
			list, err := b.Disassemble(funcs[i].Entry, funcs[i].End, GoSyntax)
			if err != nil {
				t.Fatal(err)
			}
			inlined := 0
			for _, in := range list {
				frames := b.Frames(in.PC)
				if last := frames[len(frames)-1]; in.Func != "add_twice" || last.Func != "add_twice" || filepath.Base(last.File) != "add.c" || last.StartLine != 10 {
					t.Fatalf("%#x %s: %+v", in.PC, in.Text, frames)
				}
				if len(frames) == 2 {
					inlined++
					leaf, call := frames[0], frames[1]
					if leaf.Func != "add" || !leaf.Inlined || leaf.Line < 6 || leaf.Line > 7 || leaf.Column == 0 || call.Line < 12 || call.Line > 13 || call.Column == 0 {
						t.Errorf("%#x %s: %+v", in.PC, in.Text, frames)
					}
				}
			}
			if inlined == 0 {
				t.Error("no instruction belongs to the inlined add")
			}
		})
	}
}

// checkGoBesideC looks whether Go's functions are where they should be when C
// comes first in .text.
func checkGoBesideC(t *testing.T, b *Binary) {
	t.Helper()
	funcs, err := b.Functions(regexp.MustCompile(`^main\.main$`))
	if err != nil || len(funcs) != 1 {
		t.Fatalf("main.main: %v, %v", funcs, err)
	}
	if tab, err := b.table(); err != nil || tab.inlTrees == nil {
		t.Errorf("the inline trees were not found: %v", err)
	}
	if funcs[0].Entry <= b.img.section(".text").addr {
		t.Skip("the linker has put Go first")
	}
	list, err := b.Disassemble(funcs[0].Entry, funcs[0].End, GoSyntax)
	if err != nil {
		t.Fatal(err)
	}
	// Every function of Go that has a frame begins with a look at the stack's end.
	if !strings.HasPrefix(list[0].Text, "CMPQ SP, 0x10(R14)") {
		t.Errorf("main.main begins with %s", list[0].Text)
	}
}

// TestInlinedByDWARF holds the calls that DWARF tells of against those of Go's
// own table, and looks for some where the table tells of none.
func TestInlinedByDWARF(t *testing.T) {
	for _, g := range append(toolchains(t, 14, 17, 20), target{goos: "linux", goarch: "amd64", pkg: "./testdata/hello"}) {
		t.Run(g.String(), func(t *testing.T) {
			t.Parallel()
			b := g.open(t)
			d, err := b.debug()
			if err != nil {
				t.Fatal(err)
			}
			funcs, err := b.Functions(regexp.MustCompile(`^(fmt|strconv|reflect)\.`))
			if err != nil {
				t.Fatal(err)
			}
			var inlined, same, all int
			for _, f := range funcs {
				for pc := f.Entry; pc < f.End; pc += 17 {
					frames := b.Frames(pc)
					if len(frames) < 2 {
						continue
					}
					inlined++
					if g.minor() < 18 {
						continue
					}
					all++
					if slices.EqualFunc(frames, d.frames(pc), func(x, y Frame) bool { return x.Func == y.Func && x.Line == y.Line }) {
						same++
					}
				}
			}
			if inlined < 50 {
				t.Errorf("%d addresses with inlined calls", inlined)
			}
			t.Logf("%d addresses with inlined calls, DWARF agrees at %d of %d", inlined, same, all)
			if same*100 < all*99 {
				t.Errorf("DWARF agrees at %d of %d addresses only", same, all)
			}
		})
	}
}
