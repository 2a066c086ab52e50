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

// floor is a folder of the house and what its packages may know.
type floor struct {
	// pure packages touch nothing outside the process: no os, net or os/exec.
	pure bool
	// may are the folders and packages whose exports they may use, besides the
	// packages below themselves. A folder ends in a slash.
	may []string
}

// house is the map of the module, from the ground up (docs/architecture.md explains
// it). The longest name that fits a package is the one that counts.
var house = map[string]floor{
	// Values know nothing.
	"value/":        {pure: true},
	"internal/long": {},

	// Formats know values, and are blind to each other. Two packages join what is in
	// several.
	"format/":                      {pure: true, may: []string{"value/"}},
	"format/dump/goroutineprofile": {pure: true, may: []string{"value/", "format/dump", "format/profile"}},
	// What is pushed is profiles, and questions and answers speak of them; connect is how
	// both travel.
	"format/push":    {pure: true, may: []string{"value/", "format/connect", "format/profile"}},
	"format/querier": {pure: true, may: []string{"value/", "format/connect", "format/profile"}},
	// What tells files apart asks each of them.
	"format/kind":    {pure: true, may: []string{"format/"}},
	"format/program": {pure: true, may: []string{"value/", "format/dump", "format/profile", "format/symbol"}},

	// How files are opened that others name, on every system, and the container of a
	// recording.
	"source/bounded": {may: []string{"source/system"}},
	"source/system":  {},
	"recording":      {may: []string{"value/", "source/bounded", "source/system"}},

	// What the user names becomes files of a kind.
	"source": {may: []string{"value/", "format/kind", "recording", "source/"}},

	// The hands touch the world and write recordings. They never meet the eyes.
	"capture/":      {may: []string{"value/", "format/", "recording", "source"}},
	"capture/alert": {pure: true, may: []string{"value/"}},
	// Benchmarks are built and run with what collect has for programs.
	"capture/bench":    {may: []string{"value/", "format/", "recording", "source", "capture/collect", "capture/debuginfo"}},
	"capture/collect":  {may: []string{"capture/", "value/", "format/", "recording", "source"}},
	"capture/forward":  {may: []string{"value/", "format/", "capture/remote", "store"}},
	"capture/scrape":   {may: []string{"value/", "format/", "source", "capture/collect"}},
	"capture/incident": {may: []string{"value/", "format/", "recording", "source", "store/blob", "capture/alert", "capture/collect", "capture/hook", "capture/scrape"}},
	"capture/remote":   {may: []string{"value/", "format/", "source", "capture/collect"}},
	// The agent runs inside the recorded program: the standard library alone.
	"capture/agent": {},
	// What counts a program's calls is a part of that, and copies of the source that call it.
	"capture/counting": {may: []string{"value/", "format/", "capture/agent", "capture/debuginfo"}},

	// The eyes read recordings and touch nothing.
	"session":   {pure: true, may: []string{"value/", "format/", "recording"}},
	"analysis/": {pure: true, may: []string{"value/", "format/", "recording", "session", "analysis/"}},
	// Facts are asked by rules and by compare, and ask only what counts.
	"analysis/facts": {pure: true, may: []string{"value/", "format/", "recording", "session", "analysis/account", "analysis/gc", "analysis/overlap", "analysis/sched"}},
	"insight":        {pure: true, may: []string{"value/", "format/", "recording", "session", "analysis/"}},
	"report":         {pure: true, may: []string{"value/", "format/", "recording", "session", "analysis/", "insight"}},
	"web":            {may: []string{"value/", "format/", "recording", "session", "analysis/", "insight", "report", "source/system"}},

	// Profiles over time: the words and the interface; below it engines, which touch disks.
	"store":            {pure: true, may: []string{"value/", "format/profile"}},
	"store/block":      {may: []string{"value/", "format/profile", "source/system", "store", "store/blob"}},
	"store/clickhouse": {may: []string{"value/", "format/profile", "store"}},
	// Whole files under names, far away, and who keeps them.
	"store/blob":    {pure: true},
	"store/blob/s3": {may: []string{"store/blob"}},
	// The way of profiles into a store, and the server of one.
	"store/delta":    {pure: true, may: []string{"value/", "format/profile"}},
	"store/transfer": {pure: true, may: []string{"value/", "format/profile", "store"}},
	"store/intake":   {pure: true, may: []string{"value/", "format/profile", "store", "store/delta"}},
	"web/fleet":      {may: []string{"value/", "format/", "session", "analysis/compare", "store", "store/intake", "web"}},

	// The roof puts all of it together.
	// Commands may use all of the house, and each other where one shows what another
	// does; internal/cli itself lists them, and knows what a command is.
	"internal/cli":         {may: []string{"internal/cli/"}},
	"internal/cli/":        {may: []string{"analysis/", "capture/", "format/", "insight", "labs", "recording", "report", "session", "source", "store", "store/", "value/", "web", "web/fleet"}},
	"internal/cli/command": {may: []string{"capture/collect", "report", "source", "value/"}},
	"cmd/loupe":            {may: []string{"internal/cli"}},

	// What is recorded for the course and the tests stands apart.
	"labs/": {may: []string{"labs/"}},
	"labs":  {may: []string{"labs/"}},
}

// helps tells whether a package is there for tests and benchmarks alone: its folder,
// or one that it lies in, is named so. It may use whatever it helps to test, and
// nothing else may use it.
func helps(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if strings.HasSuffix(part, "test") || part == "fixture" {
			return true
		}
	}
	return false
}

// forbidden names what a pure package must not import, with the reason.
var forbidden = map[string]string{
	"os":       "readers take []byte, io.ReaderAt or fs.FS, so that tests and the browser can feed them",
	"os/exec":  "starting programs is collect's work",
	"net":      "the eyes touch nothing",
	"net/http": "the eyes touch nothing",
	"syscall":  "the eyes touch nothing",
	"log":      "a library returns what it has to say",
}

// floorOf finds the floor of a package. A folder below a package
// (format/profile/internal/perfdata, labs/newssearch/feeds) is part of its floor.
func floorOf(dir string) (name string, f floor, ok bool) {
	for n, one := range house {
		if within(dir, n) && len(n) > len(name) {
			name, f, ok = n, one, true
		}
	}
	return name, f, ok
}

// within tells whether a package is the named one or lies in the folder.
func within(dir, name string) bool {
	return dir == name || strings.HasPrefix(dir, strings.TrimSuffix(name, "/")+"/")
}

// siblings tells whether two packages are one room: one lies in the other, or both
// below one package of a floor whose packages are rooms of their own (format/profile).
func siblings(from, to string) bool {
	room := func(dir string) string {
		parts := strings.SplitN(dir, "/", 3)
		switch parts[0] {
		case "analysis", "capture", "format", "internal", "value":
			return path.Join(parts[:min(2, len(parts))]...)
		}
		return parts[0]
	}
	return room(from) == room(to)
}

func TestLayers(t *testing.T) {
	for name, f := range house {
		for _, n := range append(slices.Clone(f.may), name) {
			if info, err := os.Stat(filepath.FromSlash(n)); err != nil || !info.IsDir() {
				t.Errorf("%s is in the map but not in the tree: %v", n, err)
			}
		}
	}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if dir == "." && test {
			return
		}
		name, home, ok := floorOf(dir)
		if !ok {
			t.Errorf("%s: package %s is not in the map: add it to house", file, dir)
			return
		}
		if test || helps(dir) {
			return
		}
		for _, imp := range f.Imports {
			to := strings.Trim(imp.Path.Value, `"`)
			if ours, ok := strings.CutPrefix(to, "loupe/"); ok {
				may := siblings(dir, ours) || slices.ContainsFunc(home.may, func(n string) bool { return within(ours, n) })
				if !may || helps(ours) {
					t.Errorf("%s imports %s: not allowed for %s", file, to, name)
				}
				continue
			}
			if why := forbidden[to]; why != "" && home.pure {
				t.Errorf("%s imports %q: %s", file, to, why)
			}
		}
	})
}

// maxFanOut is how many packages of the house one may import: who changes it must know
// what they mean.
const maxFanOut = 15

// tooMany are the packages that still import more. The numbers may only fall, and a
// package that keeps to the limit leaves the list.
var tooMany = map[string]int{"capture/collect": 17, "insight": 20, "report": 31, "web": 33}

// shared is what the commands have in common: it knows none of them.
var shared = []string{"command", "door", "examine", "kept", "loadflags", "pages", "programs"}

// TestFanOut holds how much of the house a package knows, and that what commands share
// stands below them.
func TestFanOut(t *testing.T) {
	imports := map[string]map[string]bool{}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if test || helps(dir) {
			return
		}
		if imports[dir] == nil {
			imports[dir] = map[string]bool{}
		}
		for _, imp := range f.Imports {
			if ours, ok := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), "loupe/"); ok {
				imports[dir][ours] = true
			}
		}
	})
	for dir, all := range imports {
		debt, listed := tooMany[dir]
		switch n := len(all); {
		case n > maxFanOut && !listed:
			t.Errorf("%s imports %d packages of the house, more than %d: split it, or let it ask one that knows them", dir, n, maxFanOut)
		case listed && n > debt:
			t.Errorf("%s imports %d packages of the house, and is to fall from %d", dir, n, debt)
		case listed && n <= maxFanOut:
			t.Errorf("%s imports %d packages of the house: take it off the list tooMany", dir, n)
		}
		if name, ok := strings.CutPrefix(dir, "internal/cli/"); ok && slices.Contains(shared, name) {
			for to := range all {
				if one, ok := strings.CutPrefix(to, "internal/cli/"); ok && !slices.Contains(shared, one) {
					t.Errorf("%s imports %s: what commands share knows no command", dir, to)
				}
			}
		}
	}
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

// A type has one reason to change. Of one with many methods or fields all must be
// known to change any.
const (
	maxMethods    = 15 // of an exported type, exported or not
	maxOwnMethods = 25 // of another one
	maxOwnFields  = 30
	manyMethods   = "It has more methods than most because"
	manyFields    = "It has more fields than most because"
)

// size is how large a type is.
type size struct{ methods, fields int }

// measured is a type of the production code.
type measured struct {
	size
	exported bool
	reason   bool // its comment says why it is large
}

// TestTypes holds the sizes of types.
func TestTypes(t *testing.T) {
	types := typesOf(t)
	for name, m := range types {
		large := m.methods > maxOwnMethods || m.fields > maxOwnFields
		if m.exported { // options may be many
			large = m.methods > maxMethods
		}
		switch {
		case m.reason && !large:
			t.Errorf("%s is small enough (%d methods, %d fields) to need no reason in its comment", name, m.methods, m.fields)
		case large && !m.reason:
			t.Errorf("%s has %d methods and %d fields: split it by reasons to change, or say in its comment %q", name, m.methods, m.fields, manyMethods+" …")
		}
	}
}

// typesOf measures the types of the production code, by package and name.
func typesOf(t *testing.T) map[string]*measured {
	types := map[string]*measured{}
	of := func(dir, name string) *measured {
		m := types[dir+"."+name]
		if m == nil {
			m = &measured{exported: ast.IsExported(name)}
			types[dir+"."+name] = m
		}
		return m
	}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if test || helps(dir) || within(dir, "labs") {
			return
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					of(dir, name).methods++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					s, ok := spec.(*ast.TypeSpec)
					if !ok {
						continue
					}
					m := of(dir, s.Name.Name)
					doc := strings.Join(strings.Fields(d.Doc.Text()+s.Doc.Text()), " ")
					m.reason = strings.Contains(doc, manyMethods) || strings.Contains(doc, manyFields)
					if st, ok := s.Type.(*ast.StructType); ok {
						m.fields = st.Fields.NumFields()
					}
				}
			}
		}
	})
	return types
}

// receiver returns the name of the type that a method is of, or "".
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
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

// offered are functions and variables that nobody in the module but their own package
// needs: they are there for those who build on a package. Errors are too, without
// being listed.
var offered = []string{
	"analysis/gc.GoalBounds", "analysis/gc.HeapGoal", "analysis/gc.LimitGoal", "analysis/gc.ParseLimit", "analysis/gc.Trigger", // the pacer's formulas
	"capture/agent/repeats.At", "capture/agent/repeats.Blocks", "capture/agent/repeats.Look", "capture/agent/repeats.Over", "capture/agent/repeats.Enter", "capture/agent/repeats.Returns1", // what is built into a program calls them
	"format/compiler.ParseJSON", "format/godebug.NewBytesReader", // formats from memory
}

// TestExports: a function or variable that is exported is used by another package of the
// module, by its own tests from outside, which show it, or offered.
func TestExports(t *testing.T) {
	used, declared := map[string]bool{}, map[string]string{}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		imports := importsOf(f)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" {
					used[imports[x.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
		if test || helps(dir) || f.Name.Name == "main" || within(dir, "labs") || strings.Contains("/"+dir, "/internal/") {
			return
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					declared[dir+"."+d.Name.Name] = file
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && v.Names[0].IsExported() && !strings.HasPrefix(v.Names[0].Name, "Err") {
						declared[dir+"."+v.Names[0].Name] = file
					}
				}
			}
		}
	})
	for name, file := range declared {
		switch is := slices.Contains(offered, name); {
		case used[name] && is:
			t.Errorf("%s is used: take it off the list offered", name)
		case !used[name] && !is:
			t.Errorf("%s: no other package uses %s: do not export it, or offer it", file, name)
		}
	}
	for _, name := range offered {
		if declared[name] == "" {
			t.Errorf("%s is offered and not there", name)
		}
	}
}

// decoders are the packages above session that decode for themselves, each with its
// reason. All others have what is in a file from a session.
var decoders = map[string]string{
	"analysis/postmortem":   "a core with its program, which together are a source",
	"analysis/repetition":   "counts that nobody else asks for; what is made of them is kept with the session",
	"internal/cli/check":    "the file that says what is checked",
	"internal/cli/compare":  "benchmarks and loads, of which each side may be several files",
	"internal/cli/gc":       "logs as they come, of any length",
	"internal/cli/pprof":    "profiles from addresses, several of which are one",
	"internal/cli/programs": "programs, cores and what names their code",
	"internal/cli/query":    "profiles on their way to a server",
	"internal/cli/serve":    "profiles of targets, on their way into a store",
	"internal/cli/stacks":   "dumps as they come, of any length",
	"internal/cli/trace":    "traces alone, of which several may be one",
	"web/fleet":             "questions as they come",
}

// TestDecodedOnce: what is in a file is decoded by a session and kept there. Above it
// nobody calls what makes values of a format from bytes but those who say why.
func TestDecodedOnce(t *testing.T) {
	decode := map[string]bool{} // functions of formats that take bytes
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		if test || !within(dir, "format/") || dir == "format/kind" || helps(dir) {
			return
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.IsExported() && takesBytes(d) {
				decode[dir+"."+d.Name.Name] = true
			}
		}
	})
	if !decode["format/profile.Decode"] || !decode["format/exectrace.OpenReaderAt"] || !decode["format/dump.Read"] {
		t.Fatal("the decoders are not seen")
	}
	used := map[string]bool{}
	eachFile(t, func(dir, file string, f *ast.File, test bool) {
		above := false
		for _, floor := range []string{"analysis/", "insight", "report", "web", "internal/cli"} {
			above = above || within(dir, floor)
		}
		if test || !above || helps(dir) || within(dir, "internal/cli/clitest") {
			return
		}
		imports := importsOf(f)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && decode[imports[x.Name]+"."+s.Sel.Name] {
					if used[dir] = true; decoders[dir] == "" {
						t.Errorf("%s decodes for itself (%s.%s): ask the session, or say in decoders why not", file, x.Name, s.Sel.Name)
					}
				}
			}
			return true
		})
	})
	for dir := range decoders {
		if !used[dir] {
			t.Errorf("%s decodes nothing: take it off the list decoders", dir)
		}
	}
}

// importsOf are the packages of the module that a file imports, by the names that it has
// for them.
func importsOf(f *ast.File) map[string]string {
	imports := map[string]string{}
	for _, imp := range f.Imports {
		if ours, ok := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), "loupe/"); ok {
			name := path.Base(ours)
			if imp.Name != nil {
				name = imp.Name.Name
			}
			imports[name] = ours
		}
	}
	return imports
}

// takesBytes tells whether a function has a parameter of bytes or of what they are read
// from.
func takesBytes(d *ast.FuncDecl) bool {
	return slices.ContainsFunc(d.Type.Params.List, func(p *ast.Field) bool {
		switch t := p.Type.(type) {
		case *ast.ArrayType:
			id, ok := t.Elt.(*ast.Ident)
			return t.Len == nil && ok && id.Name == "byte"
		case *ast.SelectorExpr:
			x, ok := t.X.(*ast.Ident)
			return ok && x.Name == "io" && (t.Sel.Name == "Reader" || t.Sel.Name == "ReaderAt")
		}
		return false
	})
}
