package stack

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	f := func(name, pkg, short, local string) {
		t.Helper()
		if got := Package(name); got != pkg {
			t.Errorf("Package(%q) = %q, want %q", name, got, pkg)
		}
		if got := Short(name); got != short {
			t.Errorf("Short(%q) = %q, want %q", name, got, short)
		}
		if got := Local(name); got != local {
			t.Errorf("Local(%q) = %q, want %q", name, got, local)
		}
	}
	f("main.main", "main", "main.main", "main")
	f("main.main.func1", "main", "main.main.func1", "main.func1")
	f("project/search.rssSearch", "project/search", "search.rssSearch", "rssSearch")
	f("github.com/a/b.(*T).M", "github.com/a/b", "b.(*T).M", "(*T).M")
	f("github.com/a/b.T.M-fm", "github.com/a/b", "b.T.M-fm", "T.M-fm")
	f("net/http.(*conn).serve", "net/http", "http.(*conn).serve", "(*conn).serve")
	f("gopkg.in/yaml%2ev3.(*parser).peek", "gopkg.in/yaml.v3", "yaml.v3.(*parser).peek", "(*parser).peek")
	f("example.com/y/v2.F", "example.com/y/v2", "y.F", "F")
	f("example.com/v1.F", "example.com/v1", "v1.F", "F")
	f("slices.SortFunc[go.shape.[]github.com/x/y.T,go.shape.int]", "slices",
		"slices.SortFunc[go.shape.[]github.com/x/y.T,go.shape.int]", "SortFunc[go.shape.[]github.com/x/y.T,go.shape.int]")
	f("github.com/a/b.(*List[go.shape.*github.com/x/y.T]).Push", "github.com/a/b",
		"b.(*List[go.shape.*github.com/x/y.T]).Push", "(*List[go.shape.*github.com/x/y.T]).Push")
	f("type:.eq.github.com/a/b.T", "github.com/a/b", "b.T", "T")
	f("vendor/golang.org/x/net/http2/hpack.(*Encoder).WriteField", "vendor/golang.org/x/net/http2/hpack",
		"hpack.(*Encoder).WriteField", "(*Encoder).WriteField")
	f("loupe/stack_test.TestX", "loupe/stack_test", "stack_test.TestX", "TestX")
	f("memeqbody", "", "memeqbody", "memeqbody")
	f("[vdso]", "", "[vdso]", "[vdso]")
	f("", "", "", "")
	f("a%2", "", "a%2", "a%2")
	f("a/b%2zc.F", "a/b%2zc", "b%2zc.F", "F")
}

func TestFoldGenerics(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := FoldGenerics(in); got != want {
			t.Errorf("FoldGenerics(%q) = %q, want %q", in, got, want)
		}
	}
	f("main.F", "main.F")
	f("slices.SortFunc[go.shape.[]int,go.shape.int]", "slices.SortFunc[...]")
	f("main.(*M[go.shape.string,go.shape.[8]uint8]).get[go.shape.int].func1", "main.(*M[...]).get[...].func1")
	f("main.F[...]", "main.F[...]")
	f("[vdso]", "[vdso]")
	f("main.F[int", "main.F[int")
	f("main.F]x[int]", "main.F]x[...]")
}

func TestEnclosing(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Enclosing(in); got != want {
			t.Errorf("Enclosing(%q) = %q, want %q", in, got, want)
		}
	}
	f("main.run", "main.run")
	f("main.run.func1", "main.run")
	f("main.run.func1.2", "main.run")
	f("main.run.gowrap1", "main.run")
	f("main.run.func1.deferwrap2", "main.run")
	f("main.run-range1", "main.run")
	f("main.run.func1-range2", "main.run")
	f("main.T.M-fm", "main.T.M")
	f("example.com/v2.(*T).M.func3", "example.com/v2.(*T).M")
	f("main.func1", "main.func1")
	f("main.(*T).func1", "main.(*T).func1")
	f("main.glob..func1", "main.glob..func1")
	f("func1", "func1")
	f("", "")
}

func TestScope(t *testing.T) {
	f := func(s Scope, name string, want Origin) {
		t.Helper()
		if got := s.Origin(name); got != want {
			t.Errorf("%v.Origin(%q) = %v, want %v", s, name, got, want)
		}
	}
	none, project := Scope{}, Scope{Modules: []string{"project", "log"}}
	f(none, "runtime.mallocgc", Runtime)
	f(none, "internal/runtime/maps.(*Map).Get", Runtime)
	f(none, "memeqbody", Runtime)
	f(none, "runtime/pprof.StartCPUProfile", Standard)
	f(none, "net/http.(*conn).serve", Standard)
	f(none, "vendor/golang.org/x/net/idna.ToASCII", Standard)
	f(none, "cmd/compile/internal/ssa.Compile", Standard)
	f(none, "golang.org/x/net/http2.(*Framer).ReadFrame", User)
	f(none, "main.main", User)
	f(none, "project/search.rssSearch", User)
	f(none, "loupe/value/stack.Intern", User)
	f(none, "sqlite3_step", Native)
	f(project, "project.Run", User)
	f(project, "project_test.TestRun", User)
	f(project, "project/search.rssSearch", User)
	f(project, "projector.Run", Dependency)
	f(project, "log/inner.F", User)
	f(project, "github.com/a/b.(*T).M", Dependency)
	f(project, "main.main", User)
	f(project, "strings.ToLower", Standard)
	// The agent in a program is nobody's code that could be changed.
	f(project, "main.loupeServe", Standard)
	f(project, "project/search.(*loupeTap).Write", Standard)
	f(none, "main.loupeSocket.wait", Standard)
	f(none, "runtime.loupeRun", Standard)
	f(project, "main.loupe", User)
	f(none, "main.(*loupes).find", User)
	// By their file: what the agent is made of, and what is only called like it.
	for frame, want := range map[Frame]Origin{
		{Func: "main.init.1", File: "/src/zz_loupe_inject.go", Line: 63}:         Standard,
		{Func: "main.loupeServe", File: "/src/zz_loupe_inject_test.go", Line: 5}: Standard,
		{Func: "main.loupeServe"}:                                                 Standard,
		{Func: "main.init.1", File: "/src/main.go", Line: 63}:                     User,
		{Func: "project/glass.loupeView", File: "/src/glass/view.go", Line: 5}:    User,
		{Func: "project/glass.(*loupeView).Draw", File: "/src/glass/view.go"}:     User,
		{Func: "github.com/a/b.loupeView", File: "/mod/a/b@v1.0.0/v.go", Line: 5}: Dependency,
		{Func: "os.loupeEnviron", File: "/go/src/os/zz_loupe_env.go", Line: 5}:    Standard,
	} {
		if got := project.Of(frame); got != want {
			t.Errorf("Of(%+v) = %v, want %v", frame, got, want)
		}
	}
	if !none.IsUser(Frame{Func: "main.main"}) || project.IsUser(Frame{Func: "github.com/a/b.F"}) {
		t.Error("IsUser disagrees with Origin")
	}
	if !project.IsOutsideStandard(Frame{Func: "github.com/a/b.F"}) || project.IsOutsideStandard(Frame{Func: "strings.Map"}) {
		t.Error("IsOutsideStandard disagrees with Origin")
	}
	if got := Origin(99).String(); got != "unknown" {
		t.Errorf("Origin(99) prints as %q", got)
	}
}

// TestStandardRoots holds the list against the tool chain that runs the test.
func TestStandardRoots(t *testing.T) {
	if !slices.IsSorted(standardRoots) || !slices.IsSorted(runtimeHelpers) {
		t.Error("the lists must be sorted: they are searched by halves")
	}
	out, err := exec.Command("go", "list", "std", "cmd").Output()
	if err != nil {
		t.Fatalf("cannot run go list: %v", err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		if !IsStandard(pkg) {
			t.Errorf("package %s is not known as standard: add its first element to standardRoots", pkg)
		}
	}
}

func TestModule(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := Module(name); got != want {
			t.Errorf("Module(%q) = %q, want %q", name, got, want)
		}
	}
	f("net/http.(*conn).serve", "std")
	f("runtime.mallocgc", "std")
	f("memeqbody", "std")
	f("vendor/golang.org/x/net/idna.ToASCII", "std")
	f("main.main", "main")
	f("project/search.rssSearch", "project")
	f("github.com/a/b/c/d.F", "github.com/a/b")
	f("github.com/a/b/v2/c.F", "github.com/a/b/v2")
	f("golang.org/x/net/http2.F", "golang.org/x/net")
	f("gopkg.in/yaml%2ev3.(*parser).peek", "gopkg.in/yaml.v3")
	f("go.uber.org/zap/zapcore.F", "go.uber.org/zap")
	f("google.golang.org/grpc.F", "google.golang.org/grpc")
	f("[vdso]", "")
}

// TestInlinedClosures has closures whose names are the caller's, and whose files are not.
func TestInlinedClosures(t *testing.T) {
	scope := Scope{Modules: []string{"example.com/shop"}}
	for _, x := range []struct {
		function, file string
		user           bool
	}{
		{"main.globs.Compile.SplitSeq.splitSeq.func1", "/usr/local/go/src/strings/iter.go", false},
		{"main.main.Values.func1", "/home/u/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.24.1.linux-amd64/src/slices/iter.go", false},
		{"example.com/shop/cart.total.All.func2", "C:/Go/src/maps/iter.go", false},
		{"main.main.Values.func1", "slices/iter.go", false}, // -trimpath
		{"main.main.Map.func1", "/home/u/go/pkg/mod/github.com/samber/lo@v1.47.0/map.go", false},
		{"example.com/shop/slices.Sum.func1", "/home/u/src/slices/sum.go", true},
		{"example.com/shop/cart.total.func2", "/home/u/src/shop/cart/cart.go", true},
		{"main.main.func1", "/home/u/src/cmd/shop/main.go", true},
		{"main.main.func1", "/home/u/shop/main.go", true},
		{"main.main.func1", "command-line-arguments/main.go", true},
		{"main.parse", "/usr/local/go/src/strings/iter.go", true}, // no closure: who knows what //line says
		{"main.main.func1", "", true},
	} {
		if got := scope.IsUser(Frame{Func: x.function, File: x.file}); got != x.user {
			t.Errorf("%s in %s: user's %v", x.function, x.file, got)
		}
	}
}
