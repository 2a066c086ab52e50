// Package loupe_test guards the shape of the whole module: which package may
// import which, and that everything exported is documented.
package loupe_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wing says whether a package may touch the world outside the process.
type wing int

const (
	pure  wing = iota // eyes, formats, values: no os, net or os/exec
	hands             // capture: may do I/O
	roof              // command line, agent and labs: may do I/O
)

// room is one package of the house.
type room struct {
	floor int
	wing  wing
	may   []string // the packages of this module that it may import
}

var (
	values  = []string{"unit", "stats", "stack", "timeline"}
	formats = []string{"profile", "exectrace", "loadlog", "godebug", "dump", "metrics", "compiler", "symbol", "benchmark", "core"}
	eyes    = []string{"session", "calltree", "sched", "gc", "tiles", "why", "overlap", "explain"}
)

// rooms is the map of the house (docs/architecture.md explains it). A new
// package is first a line here.
var rooms = map[string]room{
	"unit":     {0, pure, nil},
	"stats":    {0, pure, nil},
	"stack":    {0, pure, nil},
	"timeline": {0, pure, nil},
	"filter":   {0, pure, nil},
	// What must not be written down, and how to take it out of a text.
	"secret": {0, pure, nil},
	// The one place for what differs between systems in mapping files and
	// counting memory.
	"system": {0, hands, nil},

	"profile":   {1, pure, []string{"stack", "unit"}},
	"exectrace": {1, pure, []string{"stack", "timeline"}},
	"godebug":   {1, pure, []string{"timeline"}},
	"alert":     {1, pure, []string{"stats", "timeline", "unit"}},
	"dump":      {1, pure, []string{"filter", "stack"}},
	"metrics":   {1, pure, []string{"timeline", "unit"}},
	"compiler":  {1, pure, nil},
	"symbol":    {1, pure, []string{"stack"}},
	"loadlog":   {1, pure, []string{"stats", "timeline", "unit"}},
	"benchmark": {1, pure, nil},

	"core": {1, pure, nil},

	// What joins two formats stands above them.
	// What is in the heap of a program, and what holds it.
	"heap":                  {2, pure, []string{"symbol"}},
	"program":               {2, pure, []string{"dump", "profile", "stack", "symbol"}},
	"dump/goroutineprofile": {2, pure, []string{"dump", "profile", "stack"}},

	// How files are opened that others name: kind, bytes, ratio, time.
	"source": {1, hands, []string{"system"}},

	"recording": {2, hands, []string{"secret", "source", "system", "timeline"}},

	// Looks into running processes.
	"live": {3, hands, []string{"core", "dump", "profile", "program", "stack", "symbol"}},

	"load": {3, hands, []string{"load/*", "loadlog", "recording", "secret", "stats", "timeline", "unit"}},
	// What a load run sends, and when: pure, and tested without a network.
	"load/plan":   {1, pure, []string{"unit"}},
	"load/target": {1, pure, []string{"secret"}},
	"collect":     {4, hands, join([]string{"agent", "alert", "dump/goroutineprofile", "live", "recording", "secret", "source", "system"}, values, formats)},
	"session":     {3, pure, join([]string{"dump/goroutineprofile", "recording"}, values, formats)},
	"calltree":    {3, pure, []string{"stack", "unit"}},
	"sched":       {3, pure, []string{"exectrace", "filter", "godebug", "stack", "stats", "timeline", "unit"}},
	"gc":          {3, pure, []string{"exectrace", "godebug", "metrics", "stats", "timeline", "unit"}},
	"why":         {3, pure, join(values, []string{"profile", "compiler"})},
	"tiles":       {3, pure, []string{"exectrace", "stack", "stats", "timeline", "unit"}},
	// What the words of a dump are, by the binary that has printed it.
	"explain": {3, pure, []string{"dump", "stack", "symbol"}},
	"overlap": {3, pure, []string{"exectrace", "loadlog", "stats", "timeline"}},

	// A core with the program that it is of: for the command line and the pages.
	"postmortem": {4, pure, []string{"core", "dump", "explain", "heap", "program", "symbol"}},

	"compare": {4, pure, join([]string{"recording"}, values, formats, eyes)},
	"pprof":   {4, pure, []string{"calltree", "profile", "stack", "stats", "symbol", "unit"}},
	"insight": {5, pure, join([]string{"recording", "compare"}, values, formats, eyes)},
	"report":  {6, pure, join([]string{"alert", "heap", "postmortem", "recording", "compare", "insight", "pprof"}, values, formats, eyes)},
	// What cannot be in a table, for the tests of all who make some.
	"report/reporttest": {7, hands, []string{"report"}},

	// The server of the pages. The command line opens the files for it.
	"web": {7, roof, join([]string{"system", "heap", "postmortem", "recording", "compare", "insight", "pprof", "report"}, values, formats, eyes)},

	"internal/cli": {8, roof, []string{"*"}},
	// Which tests are left out of a quick run.
	"internal/long": {0, roof, nil},
	"cmd/loupe":     {9, roof, []string{"internal/cli"}},

	// The oracle of the tests runs the go command.
	"exectrace/exectracetest": {1, hands, nil},
	// What makes traces compiles with older Go: the standard library alone.
	"exectrace/exectracetest/mktrace": {0, roof, nil},
	"exectrace/exectracetest/bench":   {4, roof, []string{"system", "exectrace", "exectrace/exectracetest", "sched", "stats", "unit"}},

	// What measures load sends it, to a server of its own.
	"load/loadtest/bench": {4, roof, []string{"load"}},

	// What measures how profiles are read builds both programs.
	"profile/profiletest/bench": {2, roof, []string{"system", "profile", "profile/profiletest*", "stack", "unit"}},

	// What measures how dumps are read builds the other parsers.
	"dump/dumptest/bench": {2, roof, []string{"dump", "stats", "system"}},

	// What measures how heaps are read makes a core, and tests count one that is
	// known.
	"heap/heaptest/bench":        {4, roof, []string{"core", "heap", "live/livetest", "program", "symbol"}},
	"heap/heaptest/bench/target": {0, roof, nil},
	"heap/heaptest/known":        {0, roof, nil},
	"heap/heaptest/held":         {0, roof, nil},
	"heap/heaptest/busy":         {0, roof, nil},

	// Tests look into cores of a program that is known.
	"postmortem/postmortemtest":      {5, roof, []string{"core", "live", "postmortem", "symbol"}},
	"postmortem/postmortemtest/held": {0, roof, nil},

	// What measures how processes are read starts one.
	"live/livetest":              {0, hands, nil},
	"live/livetest/bench":        {4, roof, []string{"dump", "live", "live/livetest"}},
	"live/livetest/bench/target": {0, roof, nil},

	// What runs tests in a virtual machine starts it.
	"live/livetest/vm": {0, roof, nil},

	// What measures why runs the go command and the benchmarks of modules.
	"why/whytest": {5, roof, []string{"collect", "compiler", "profile", "stack", "why"}},

	// What holds predictions about the collector against runs starts programs.
	"gc/gctest/bench":        {4, roof, []string{"system", "gc", "godebug", "stats"}},
	"gc/gctest/bench/target": {0, roof, nil},

	// The agent runs inside the recorded program: the standard library alone.
	"agent": {0, roof, nil},

	"labs":            {0, roof, nil},
	"labs/form":       {0, roof, nil},
	"labs/newssearch": {1, roof, []string{"labs/form/*", "labs/newssearch/*"}},
	"labs/newsfreq":   {2, roof, []string{"labs/form", "labs/newssearch/*"}},
	"labs/mandelbrot": {1, roof, []string{"labs/form", "labs/mandelbrot/*"}},
	"labs/mandelweb":  {2, roof, []string{"labs/form*", "labs/mandelbrot/*"}},
	"labs/sieve":      {1, roof, []string{"labs/form"}},
	"labs/daisy":      {1, roof, []string{"labs/form"}},
	"labs/pingpong":   {1, roof, []string{"labs/form"}},
	"labs/stream":     {1, roof, []string{"labs/form"}},
	"labs/gzippool":   {1, roof, []string{"labs/form"}},
	"labs/sendjson":   {1, roof, []string{"labs/form*"}},
	"labs/mutex":      {1, roof, []string{"labs/form"}},
	"labs/blocking":   {1, roof, []string{"labs/form"}},
	"labs/httptrace":  {1, roof, []string{"labs/form"}},
	"labs/leak":       {1, roof, []string{"labs/form"}},
	"labs/stacktrace": {1, roof, []string{"labs/form*"}},
}

func join(lists ...[]string) []string { return slices.Concat(lists...) }

// forbidden names what a pure package must not import, with the reason.
var forbidden = map[string]string{
	"os":       "readers take []byte, io.ReaderAt or fs.FS, so that tests and the browser can feed them",
	"os/exec":  "starting programs is collect's work",
	"net":      "the eyes touch nothing",
	"net/http": "the eyes touch nothing",
	"syscall":  "the eyes touch nothing",
	"log":      "a library returns what it has to say",
}

// roomOf finds the room that a folder belongs to. A folder below a room
// (profile/internal/wire, labs/newssearch/feeds) is part of that room.
func roomOf(dir string) (string, bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, ok := rooms[d]; ok {
			return d, true
		}
	}
	return "", false
}

func allowed(from, to string) bool {
	home, _ := roomOf(from)
	if to == home || strings.HasPrefix(to, home+"/") {
		return true
	}
	for _, may := range rooms[home].may {
		if prefix, ok := strings.CutSuffix(may, "*"); may == to || ok && strings.HasPrefix(to, prefix) {
			return true
		}
	}
	return false
}

func TestLayers(t *testing.T) {
	for name, r := range rooms {
		for _, may := range r.may {
			if strings.Contains(may, "*") {
				continue
			}
			below, ok := rooms[may]
			switch {
			case !ok:
				t.Errorf("%s may import %s, which is not in the map", name, may)
			case below.floor >= r.floor && name != "agent":
				t.Errorf("%s (floor %d) may import %s (floor %d): imports point down", name, r.floor, may, below.floor)
			case r.wing == hands && slices.Contains(eyes, may):
				t.Errorf("%s may import %s: hands never meet eyes", name, may)
			}
		}
		if _, err := os.Stat(filepath.FromSlash(name)); err != nil {
			t.Errorf("%s is in the map but not in the tree: %v", name, err)
		}
	}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if dir == "." && test {
			return
		}
		home, ok := roomOf(dir)
		if !ok {
			t.Errorf("%s: package %s is not in the map: add a line to rooms", file, dir)
			return
		}
		for _, imp := range f.Imports {
			to := strings.Trim(imp.Path.Value, `"`)
			if ours, ok := strings.CutPrefix(to, "loupe/"); ok {
				if !test && !allowed(dir, ours) {
					t.Errorf("%s imports %s: not allowed for %s", file, to, home)
				}
				continue
			}
			if why := forbidden[to]; why != "" && rooms[home].wing == pure && !test {
				t.Errorf("%s imports %q: %s", file, to, why)
			}
		}
	})
}

func TestDocumented(t *testing.T) {
	packageDoc := map[string]bool{}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if test {
			return
		}
		packageDoc[dir] = packageDoc[dir] || f.Doc != nil
		for _, d := range f.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no doc comment", file, name)
			}
		}
	})
	for dir, ok := range packageDoc {
		if !ok {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

// undocumented lists the exported names that d declares without a comment.
// A comment on a group documents every name in it.
func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return true
		}
	}
}

// TestShape holds the sizes of STYLE: files and functions that fit a mind.
func TestShape(t *testing.T) {
	const maxFile, maxFunc = 800, 120
	fset := token.NewFileSet()
	for _, file := range goFiles(t) {
		f, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := fset.File(f.Pos()).LineCount(); n > maxFile {
			t.Errorf("%s has %d lines, more than %d: split it by concern", file, n, maxFile)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line; n > maxFunc {
					t.Errorf("%s: %s has %d lines, more than %d", file, fn.Name.Name, n, maxFunc)
				}
			}
		}
	}
}

// TestDocLinks checks that no package comment has a link that goes nowhere by
// being malformed.
func TestDocLinks(t *testing.T) {
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if f.Doc == nil {
			return
		}
		var p comment.Parser
		for _, link := range p.Parse(f.Doc.Text()).Links {
			if !link.Used {
				t.Errorf("%s: link target %q is not used", file, link.Text)
			}
		}
	})
}

func eachFile(t *testing.T, visit func(dir, file string, f *ast.File, test bool)) {
	t.Helper()
	fset := token.NewFileSet()
	for _, file := range goFiles(t) {
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		visit(path.Dir(file), file, f, strings.HasSuffix(file, "_test.go"))
	}
}

// isModule tells whether a folder is a module of its own, which may import what its
// go.mod says.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// TestMapSeesAll wants that no folder is left out by its name: each package of the
// module is under the map.
func TestMapSeesAll(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range goFiles(t) {
		seen[path.Dir(file)] = true
	}
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range strings.Fields(string(out)) {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		if name = filepath.ToSlash(name); !seen[name] && !strings.Contains("/"+name+"/", "/testdata/") {
			t.Errorf("package %s is not looked at", name)
		}
	}
}

func goFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() && name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_' || isModule(name)) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(base, ".go") {
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
