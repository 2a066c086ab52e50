package counting_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loupe/capture/agent/repeats"
	"loupe/capture/counting"
)

// calls stands for the package that counts.
const calls = `package calls
type Goroutine struct{}
func Enter(uint32) *Goroutine { return nil }
func (*Goroutine) Args(...any) {}
func (*Goroutine) Begins(...any) {}
func (*Goroutine) Nested(...any) {}
func (*Goroutine) Leave(bool, ...any) {}
type Site struct{}
type Args = []any
func At(uint32, func() Args) *Site { return nil }
func (*Site) Returns(...any) {}
func Returns1[A any](s *Site, a A) A { return a }
var Blocks [1<<16]uint64
func Look(uint32) bool { return false }
func Over(uint32, func() any) {}
`

// through imports the package that counts from here, and all else from the sources.
type through struct {
	types.Importer
	counts *types.Package
}

func (t through) Import(path string) (*types.Package, error) {
	if path == "counts" {
		return t.counts, nil
	}
	return t.Importer.Import(path)
}

func countsPackage(t *testing.T, fset *token.FileSet) *types.Package {
	t.Helper()
	f, err := parser.ParseFile(fset, "calls.go", calls, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{}).Check("counts", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The copies of packages of the standard library compile, line by line as they were.
func TestCopiesCompile(t *testing.T) {
	fset := token.NewFileSet()
	imports := through{importer.ForCompiler(fset, "source", nil), countsPackage(t, fset)}
	for _, path := range []string{"slices", "maps", "bufio", "bytes", "strings", "encoding/json", "go/printer", "text/template", "html/template", "container/list", "sort", "regexp", "iter", "net/url", "archive/zip", "image/png", "compress/flate", "math/big", "go/types"} {
		dir := filepath.Join(runtime.GOROOT(), "src", filepath.FromSlash(path))
		out, err := exec.Command("go", "list", "-f", "{{join .GoFiles \"\\n\"}}", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		p := counting.Package{Path: path, Lines: true}
		for _, name := range strings.Fields(string(out)) {
			p.Files = append(p.Files, filepath.Join(dir, name))
		}
		src, err := counting.Of([]counting.Package{p}, "counts")
		if err != nil {
			t.Fatal(err)
		}
		if len(src.Left) > 0 || len(src.Funcs) == 0 {
			t.Errorf("%s: %d functions, left %q", path, len(src.Funcs), src.Left)
		}
		var files []*ast.File
		for _, name := range p.Files {
			was, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text, ok := src.Texts[name]
			if !ok {
				text = string(was)
			}
			if a, b := strings.Count(text, "\n"), strings.Count(string(was), "\n"); a != b {
				t.Errorf("%s has %d lines, want %d", name, a, b)
			}
			f, err := parser.ParseFile(fset, name, text, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		var errs []string
		conf := types.Config{Importer: imports, Error: func(err error) { errs = append(errs, err.Error()) }, Sizes: types.SizesFor("gc", runtime.GOARCH)}
		conf.Check(path, fset, files, nil)
		errs = slices.DeleteFunc(errs, func(e string) bool {
			return strings.Contains(e, "could not import") || strings.Contains(e, "use of internal package")
		})
		if len(errs) > 0 {
			t.Errorf("%s: %s", path, strings.Join(errs[:min(5, len(errs))], "\n"))
		}
	}
}

// What each function gets.
func TestCopies(t *testing.T) {
	const none = ""
	for _, test := range []struct{ name, src, want string }{
		{"a result without a name", "func f(a int) string { return g(a) }", "func f(a int) (loupeR1 string) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(a); defer func() { loupeG.Leave(false, loupeR1) }() }; return g(a) }"},
		{"several", "func f(a int) (string, error) { return g(a) }", "func f(a int) (loupeR1 string, loupeR2 error) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(a); defer func() { loupeG.Leave(false, loupeR1, loupeR2) }() }; return g(a) }"},
		{"blank names", "func (T) f(_ int, b, _ string) (_ int, x error) { return g(b) }", "func (T) f(_ int, b, _ string) (loupeR1_ int, x error) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(b); defer func() { loupeG.Leave(false, loupeR1_, x) }() }; return g(b) }"},
		{"a receiver and variable arguments", "func (t *T) f(xs ...int) int { return g(xs...) }", "func (t *T) f(xs ...int) (loupeR1 int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(t, xs); defer func() { loupeG.Leave(false, loupeR1) }() }; return g(xs...) }"},
		{"a map is handed on", "func f() map[int]int { return fill(map[int]int{}) }", "func f() (loupeR1 map[int]int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(); defer func() { loupeG.Leave(false, loupeR1) }() }; return fill(map[int]int{}) }"},
		{"one that it has made by a name", "func f() map[int]int { m := make(map[int]int); m[1] = g(); return m }", "func f() (loupeR1 map[int]int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(); defer func() { loupeG.Leave(true, loupeR1) }() }; zz_loupe_repeats.Blocks[0]++; m := make(map[int]int); m[1] = g(); return m }"},
		{"one that others have", "func (t *T) f() map[int]int { if t.m == nil { t.m = make(map[int]int) }; g(); return t.m }", "func (t *T) f() (loupeR1 map[int]int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(t); defer func() { loupeG.Leave(false, loupeR1) }() }; zz_loupe_repeats.Blocks[0]++; if t.m == nil { zz_loupe_repeats.Blocks[1]++; t.m = make(map[int]int) }; g(); return t.m }"},
		{"one that it keeps as well", "func (t *T) f() map[int]int { m := make(map[int]int); t.m = m; g(); return m }", "func (t *T) f() (loupeR1 map[int]int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(t); defer func() { loupeG.Leave(false, loupeR1) }() }; zz_loupe_repeats.Blocks[0]++; m := make(map[int]int); t.m = m; g(); return m }"},
		{"one that it hands on", "func f() map[int]int { m := map[int]int{}; g(m); return m }", "func f() (loupeR1 map[int]int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Args(); defer func() { loupeG.Leave(false, loupeR1) }() }; m := map[int]int{}; g(m); return m }"},
		{"nothing is returned", "func f(a int) { g(a) }", "func f(a int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Begins(a); defer loupeG.Leave(false) }; g(a) }"},
		{"an error alone", "func f(a int) error { return g(a) }", "func f(a int) error { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Begins(a); defer loupeG.Leave(false) }; return g(a) }"},
		{"it does no work", "func f(a int) int { return len(x) + a }", none},
		{"it has a directive", "//go:nosplit\nfunc f(a int) int { return g(a) }", none},
		{"no body", "func f(a int) int", none},
		{"a name that is used in what is added", "func f(nil int, false string) string { return g(false) }", none},
		{"init", "func init() { g(1) }", none},
		{"a literal that calls itself", "func f() { var visit func(n int) int; visit = func(n int) int { h(n); return visit(n - 1) + 1 }; visit(9) }", "func f() { if loupeG := zz_loupe_repeats.Enter(1); loupeG != nil { loupeG.Begins(); defer loupeG.Leave(false) }; var visit func(n int) int; visit = func(n int) (loupeR1 int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Nested(n); defer func() { loupeG.Leave(false, loupeR1) }() }; h(n); return visit(n - 1) + 1 }; visit(9) }"},
		{"one that returns nothing", "func f() { var visit func(n int); visit = func(n int) { h(n); visit(n - 1) }; visit(9) }", "func f() { if loupeG := zz_loupe_repeats.Enter(1); loupeG != nil { loupeG.Begins(); defer loupeG.Leave(false) }; var visit func(n int); visit = func(n int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Nested(n); defer func() { loupeG.Leave(false) }() }; h(n); visit(n - 1) }; visit(9) }"},
		{"a handler of one statement", "var h = func() interface{} { return nil }\n\nfunc init() { on(func(w http.ResponseWriter, r *http.Request) { g(r) }) }", "var h = func() interface{} { return nil }\n\nfunc init() { on(func(w http.ResponseWriter, r *http.Request) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { defer loupeG.Leave(false) }; g(r) }) }"},
		{"a delete", "func f(a int) { delete(m, a) }", "func f(a int) { zz_loupe_repeats.Blocks[0]++; delete(m, a) }"},
		{"branches", "func f(a int) { if a > 1 { b++ } else { c++ }; switch a { case 1: c++; default: } }", "func f(a int) { zz_loupe_repeats.Blocks[0]++; if a > 1 { zz_loupe_repeats.Blocks[1]++; b++ } else { zz_loupe_repeats.Blocks[2]++; c++ }; switch a { case 1: zz_loupe_repeats.Blocks[3]++; c++; default: zz_loupe_repeats.Blocks[4]++; } }"},
		{"a loop", "func f(a []int) { for range a { b++ } }", "func f(a []int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Begins(a); defer loupeG.Leave(false) }; zz_loupe_repeats.Blocks[0]++; if zz_loupe_repeats.Look(0) { zz_loupe_repeats.Over(0, func() interface{} { return a }) }; for range a { zz_loupe_repeats.Blocks[1]++; b++ } }"},
		{"one that has a name, by a length", "func f(a []int) { outer: for i := 0; i < len(a) && i < 9; i++ { continue outer } }", "func f(a []int) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Begins(a); defer loupeG.Leave(false) }; zz_loupe_repeats.Blocks[0]++; if zz_loupe_repeats.Look(0) { zz_loupe_repeats.Over(0, func() interface{} { return a }) }; outer: for i := 0; i < len(a) && i < 9; i++ { zz_loupe_repeats.Blocks[1]++; continue outer } }"},
		{"what may not be asked twice", "func f(a []T) { for i := range next() { b++ }; for i := 0; i < 9 && i < len(a[i].x); i++ { b++ }; for range 9 { b++ } }", "func f(a []T) { if loupeG := zz_loupe_repeats.Enter(0); loupeG != nil { loupeG.Begins(a); defer loupeG.Leave(false) }; zz_loupe_repeats.Blocks[0]++; for i := range next() { zz_loupe_repeats.Blocks[1]++; b++ }; for i := 0; i < 9 && i < len(a[i].x); i++ { zz_loupe_repeats.Blocks[2]++; b++ }; for range 9 { zz_loupe_repeats.Blocks[3]++; b++ } }"},
		{"another function of one statement", "func init() { on(func(a int) { g(a) }) }", none},
	} {
		name := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(name, []byte("package p\n\n"+test.src+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := counting.Of([]counting.Package{{Path: "example.com/p", Files: []string{name}, Lines: true}}, "counts")
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if test.want != none {
			want = "package p; import zz_loupe_repeats \"counts\"\n\n" + test.want + "\n"
		}
		if got := src.Texts[name]; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, want)
		}
	}
}

// TestLimits: what is counted has room in the package that counts.
func TestLimits(t *testing.T) {
	if counting.MostBlocks != repeats.MaxBlocks || counting.MostLoops != repeats.MaxLoops || counting.MostFuncs+counting.MostSites > repeats.MaxFuncs {
		t.Error("the limits of what is counted, and of the package that counts, are not the same")
	}
}

// Files that cannot be counted stay as they are, and say why.
func TestLeft(t *testing.T) {
	for _, test := range []struct{ src, why string }{
		{"package p\nimport \"C\"\nfunc f() int { return g() }\n", "it uses cgo"},
		{"package p\nfunc f() int { return g(\n", "expected"},
	} {
		name := filepath.Join(t.TempDir(), "a.go")
		if err := os.WriteFile(name, []byte(test.src), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := counting.Of([]counting.Package{{Path: "p", Files: []string{name}, Lines: true}}, "counts")
		if err != nil || len(src.Texts) > 0 || len(src.Left) != 1 || !strings.Contains(src.Left[0], test.why) {
			t.Errorf("%d files, left %q, error %v", len(src.Texts), src.Left, err)
		}
	}
	if _, err := counting.Of([]counting.Package{{Path: "p", Files: []string{filepath.Join(t.TempDir(), "none.go")}}}, "counts"); err == nil {
		t.Error("a file that is not there is no error")
	}
}
