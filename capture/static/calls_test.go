package static

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

const shapes = `package main

type Shape interface{ Area() float64 }

type Square struct{ side float64 }

func (s Square) Area() float64 { return work(s.side) }

type Circle struct{ r float64 }

func (c *Circle) Area() float64 { return work(c.r) }

type Named struct{ Square }

type Never struct{}

func (Never) Area() float64 { return 0 }

type List[T any] struct{ all []T }

func (l *List[T]) Area() float64 { return float64(len(l.all)) }

func work(x float64) float64 { return x }

func Map[T any](in []T, f func(T) float64) (s float64) {
	for _, x := range in {
		s += f(x)
	}
	return s
}

func sum(all []Shape) (s float64) {
	for _, x := range all {
		s += x.Area()
	}
	return s
}

func init() { work(0) }

func main() {
	type own struct{ Square }
	go work(1)
	defer work(2)
	sum([]Shape{Square{1}, &Circle{2}, Named{}, own{}})
	Map([]int{1}, func(i int) float64 { return work(float64(i)) })
	func() {
		func() { work(3) }()
	}()
}
`

func module(t *testing.T, files map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/app\n\ngo 1.26\n"
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Dir: dir, Patterns: []string{"./..."}, Cache: t.TempDir()}
}

// TestCalls wants the callers that a reader of the source finds.
func TestCalls(t *testing.T) {
	opt := module(t, map[string]string{"main.go": shapes})
	g, cached, err := Calls(context.Background(), opt)
	if err != nil || cached {
		t.Fatal(cached, err)
	}
	callers := func(name string) (out []string) {
		found := g.Find(name)
		if len(found) != 1 {
			t.Fatalf("%s is %d functions", name, len(found))
		}
		for _, c := range g.CallsOf(found[0]) {
			out = append(out, fmt.Sprintf("%s:%d %s", g.Functions[c.Caller].Name, c.Line, c.Way))
		}
		slices.Sort(out)
		return out
	}
	want := []string{
		"main.(*Circle).Area:11 call", "main.Square.Area:7 call", "main.init.0:39 call",
		"main.main.func1:46 call", "main.main.func2.1:48 call", "main.main:43 go", "main.main:44 defer",
	}
	if got := callers("work"); !slices.Equal(got, want) {
		t.Errorf("work is called by\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, want := range map[string]string{
		"Square.Area": "main.sum:34 call", "(*Circle).Area": "main.sum:34 call", "Never.Area": "",
		"main.main.func1": "main.Map[...]:27 call", "Map[int]": "main.main:46 call", "example.com/app.sum": "main.main:45 call",
	} {
		if got := strings.Join(callers(name), " "); got != want {
			t.Errorf("%s is called by %q, want %q", name, got, want)
		}
	}
}

// TestCallsOracle holds the graph against what golang.org/x/tools' callgraph -algo vta does.
func TestCallsOracle(t *testing.T) {
	opt := module(t, map[string]string{"main.go": shapes})
	g, _, err := Calls(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	roots, err := packages.Load(opt.config(context.Background(), packages.LoadAllSyntax), "./...")
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := ssautil.AllPackages(roots, ssa.InstantiateGenerics)
	prog.Build()
	cg := vta.CallGraph(ssautil.AllFunctions(prog), nil)
	cg.DeleteSyntheticNodes()
	pos := func(f *ssa.Function) string {
		p := prog.Fset.Position(f.Pos())
		return fmt.Sprintf("%s:%d", p.Filename, p.Line)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for f, n := range cg.Nodes {
		if f == nil || n == cg.Root {
			continue
		}
		for _, e := range n.Out {
			at := prog.Fset.Position(e.Pos())
			want[fmt.Sprintf("%s -> %s at %d", pos(f), pos(e.Callee.Func), at.Line)] = true
		}
	}
	for _, c := range g.Calls {
		caller, callee := g.Functions[c.Caller], g.Functions[c.Callee]
		got[fmt.Sprintf("%s:%d -> %s:%d at %d", caller.File, caller.Line, callee.File, callee.Line, c.Line)] = true
	}
	if len(want) < 12 {
		t.Fatalf("the oracle has %d calls alone", len(want))
	}
	for call := range want {
		if !got[call] {
			t.Errorf("missing: %s", call)
		}
	}
	for call := range got {
		if !want[call] {
			t.Errorf("nobody else has: %s", call)
		}
	}
}

// TestImplementsOracle asks go/types of every type and every interface of a program.
func TestImplementsOracle(t *testing.T) {
	opt := module(t, map[string]string{"main.go": shapes})
	a, _, err := Implements(context.Background(), opt, "Shape", false)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := packages.Load(opt.config(context.Background(), packages.LoadAllSyntax), "./...")
	if err != nil {
		t.Fatal(err)
	}
	iface, ok := loaded[0].Types.Scope().Lookup("Shape").Type().Underlying().(*types.Interface)
	if !ok {
		t.Fatal("Shape is no interface")
	}
	want := map[string]bool{}
	for _, obj := range loaded[0].TypesInfo.Defs {
		n, ok := obj.(*types.TypeName)
		if !ok || n.Name() == "Shape" || n.Name() == "T" {
			continue
		}
		// Of a generic type every instance has the same methods here.
		typ := n.Type()
		if g, ok := typ.(*types.Named); ok && g.TypeParams().Len() > 0 {
			if typ, err = types.Instantiate(nil, g, []types.Type{types.Typ[types.Int]}, true); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case types.Implements(typ, iface):
			want[n.Name()] = true
		case types.Implements(types.NewPointer(typ), iface):
			want["*"+n.Name()] = true
		}
	}
	got := map[string]bool{}
	for _, one := range a.Types {
		star := ""
		if one.Pointer {
			star = "*"
		}
		got[star+strings.TrimSuffix(strings.TrimPrefix(one.Name, "example.com/app."), "[...]")] = true
	}
	if len(want) != 6 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v, six of them", got, want)
	}
}

// TestCache keeps an answer until a source changes, in whatever package of the module.
func TestCache(t *testing.T) {
	opt := module(t, map[string]string{
		"main.go":  "package main\n\nimport \"example.com/app/sub\"\n\nfunc main() { sub.F() }\n",
		"sub/s.go": "package sub\n\nfunc F() {}\n",
	})
	opt.Patterns = []string{"."}
	ask := func() (int, bool) {
		g, cached, err := Calls(context.Background(), opt)
		if err != nil {
			t.Fatal(err)
		}
		return len(g.CallsOf(g.Find("sub.F")[0])), cached
	}
	for i, want := range []bool{false, true} {
		if n, cached := ask(); cached != want || n != 1 {
			t.Errorf("answer %d has %d calls, cached %v", i, n, cached)
		}
	}
	text := "package sub\n\nfunc F() {}\n\nfunc G() { F() }\n"
	if err := os.WriteFile(filepath.Join(opt.Dir, "sub", "s.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, cached := ask(); cached || n != 2 {
		t.Errorf("after a change there are %d calls, cached %v", n, cached)
	}
	entries, err := os.ReadDir(opt.Cache)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d answers are kept, %v", len(entries), err)
	}
}

func TestCallsFails(t *testing.T) {
	opt := module(t, map[string]string{"main.go": "package main\n\nfunc main() { x := 1 }\n"})
	if _, _, err := Calls(context.Background(), opt); err == nil || !strings.Contains(err.Error(), "declared and not used: x") {
		t.Errorf("what does not build: %v", err)
	}
	opt.Patterns = []string{"./nowhere/..."}
	if _, _, err := Calls(context.Background(), opt); !errors.Is(err, ErrNoPackages) {
		t.Errorf("no packages: %v", err)
	}
}
