// Package counting makes a program tell which of its calls repeat. It writes copies of
// the source of a module's packages in which each function tells when it is entered and
// left (capture/agent/repeats); `go build -overlay` takes them in place of the files, which
// are not touched.
//
// Only text is added, and no line: what the compiler says of a place holds for the file.
package counting

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/capture/agent"
	"loupe/capture/debuginfo"
	"loupe/format/repeats"
)

// Package is one to count in.
type Package struct {
	// Path is its import path, "main" for a command.
	Path string
	// Files are the paths of its Go files.
	Files []string
	// Lines tells that calls of other modules' functions are counted at their lines: the language has to be that of Go 1.18 or later.
	Lines bool
}

// Limits of what is counted of a program.
const (
	MostFuncs = 12_000
	mostFile  = 4 << 20 // bytes
)

// Source is a program's source as it is built to count its calls.
type Source struct {
	// Texts are those of the copies, by the paths of the files that they replace.
	Texts map[string]string
	// Funcs are the functions, each at its number.
	Funcs []repeats.Func
	// Counted are the blocks and loops, each at its number.
	Counted repeats.Counted
	// Left are files that stay as they are, and why.
	Left []string

	sites int             // how many of Funcs are calls
	own   map[string]bool // the packages, by their paths
	names map[string]bool // see [callNames]
	vars  map[string]bool // variables of packages

	counts string // the package that counts, and its files
	files  []agent.File
}

// Copies makes the copies of packages, by their import paths ("main" of a command) with the paths of their files, for a
// toolchain of Go 1.minor and a GOARCH. In the packages of lines, calls of other modules' functions are counted at their lines; as no types are
// known, a copy may then not compile. It errs where these cannot count, or a file cannot be read.
func Copies(packages map[string][]string, minor int, arch string, lines map[string]bool) (*Source, error) {
	pkg, files, err := agent.Counts(minor, arch)
	if err != nil {
		return nil, err
	}
	var all []Package
	paths := slices.Sorted(maps.Keys(packages))
	if i := slices.Index(paths, "main"); i > 0 { // first, where not all can be counted
		paths = slices.Insert(slices.Delete(paths, i, i+1), 0, "main")
	}
	for _, path := range paths {
		all = append(all, Package{Path: path, Files: packages[path], Lines: lines[path]})
	}
	s, err := Of(all, pkg)
	switch {
	case err != nil:
		return nil, err
	case len(s.Texts) == 0:
		return nil, errors.New("no file of the module can be counted: " + strings.Join(s.Left, "; "))
	}
	s.counts, s.files = pkg, files
	return s, nil
}

// Uncounted says which files stay as they are, and why; empty where none does.
func (s *Source) Uncounted() string { return strings.Join(s.Left[:min(len(s.Left), 5)], "; ") }

// Files are the copies and the package that counts, by the paths that they are laid over; root is GOROOT/src.
func (s *Source) Files(root string) map[string]string {
	out := maps.Clone(s.Texts)
	for _, f := range s.files {
		out[filepath.Join(root, s.counts, f.Name)] = f.Text
	}
	return out
}

// Env is the variable that names the file which the program writes.
func (s *Source) Env() string { return agent.RepeatsEnv }

// Read makes of what the program has written an entry of a recording (docs/formats/repeats.md). loaded tells that a
// load was put on it, ended that it has ended by itself: what it has written last has to be there then.
func (s *Source) Read(counts io.Reader, loaded, ended bool) ([]byte, error) {
	set, err := repeats.ReadCounts(counts, s.Funcs, s.Counted)
	switch {
	case err != nil:
		return nil, err
	case ended && !set.Last:
		return nil, errors.New("the last of them are missing, as the program ended by syscall.Exit, or another one took its place")
	}
	set.Loaded = loaded
	var b bytes.Buffer
	err = set.Encode(&b)
	return b.Bytes(), err
}

// Of makes the copies of the packages' files. imports is the path of the package that
// counts.
func Of(packages []Package, imports string) (*Source, error) {
	s := &Source{Texts: map[string]string{}, own: map[string]bool{}, vars: map[string]bool{}}
	fset := token.NewFileSet()
	var files []parsed
	for _, p := range packages {
		s.own[p.Path] = true
		for _, name := range p.Files {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("cannot read a file of package %s: %w", p.Path, err)
			}
			f, err := parse(fset, name, text)
			if err != nil {
				s.Left = append(s.Left, fmt.Sprintf("%s: %v", filepath.Base(name), err))
				continue
			}
			files = append(files, parsed{p.Path, name, text, f, p.Lines})
		}
	}
	s.names = callNames(files)
	for _, f := range files {
		for _, d := range f.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, v := range g.Specs {
					for _, name := range v.(*ast.ValueSpec).Names {
						s.vars[f.pkg+"."+name.Name] = true
					}
				}
			}
		}
	}
	for _, f := range files {
		if err := s.file(fset, f, imports); err != nil {
			s.Left = append(s.Left, fmt.Sprintf("%s: %v", filepath.Base(f.name), err))
		}
	}
	return s, nil
}

// parsed is a file of a package.
type parsed struct {
	pkg, name string
	text      []byte
	file      *ast.File
	lines     bool
}

// parse reads a file that can be counted.
func parse(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	if len(text) > mostFile {
		return nil, fmt.Errorf("it is larger than %d MB", mostFile>>20)
	}
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, i := range f.Imports {
		if i.Path.Value == `"C"` {
			return nil, fmt.Errorf("it uses cgo")
		}
	}
	return f, nil
}

// insertion is text that comes before what lies at a place.
type insertion struct {
	at   int
	text string
}

// writer makes the copy of one file.
type writer struct {
	src  *Source
	fset *token.FileSet
	file *token.File
	path string // of the package
	name string // of the file
	in   []insertion
}

// local is the name of the counting package in a copy.
const local = "zz_loupe_repeats"

// file makes the copy of a file.
func (s *Source) file(fset *token.FileSet, p parsed, imports string) error {
	f := p.file
	w := &writer{src: s, fset: fset, file: fset.File(f.FileStart), path: p.pkg, name: p.name}
	at := &sites{w: w, src: p.text, imports: importNames(f)}
	before, called, counted, end := len(s.Funcs), s.sites, s.Counted, f.Name.End()
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && fn.Body != nil && !directed(f.Comments, end, fn.Type.Func) && !renames(fn) {
			w.function(fn)
			w.blocks(fn)
			if p.lines {
				at.loops(fn)
				at.cuts(fn)
				at.in = p.pkg + "." + cmp.Or(debuginfo.Symbol(fn), fn.Name.Name)
				at.count(fn)
			}
		}
		end = d.End()
		if len(s.Funcs)-s.sites > MostFuncs {
			s.Funcs, s.sites, s.Counted = s.Funcs[:before], called, counted
			return fmt.Errorf("more than %d functions would be counted", MostFuncs)
		}
	}
	if len(w.in) == 0 {
		return nil
	}
	w.add(f.Name.End(), fmt.Sprintf("; import %s %q", local, imports))
	s.Texts[p.name] = w.text(p.text)
	return nil
}

// renames tells of a function that it gives another meaning to a name that is used in what is added.
func renames(fn *ast.FuncDecl) bool {
	own := variables(fn)
	return own["nil"] || own["true"] || own["false"]
}

// directed tells whether a directive of the compiler stands between two places, before a function: it may rely on what it is
// compiled into.
func directed(comments []*ast.CommentGroup, from, to token.Pos) bool {
	for _, group := range comments {
		if group.Pos() < from || group.End() > to {
			continue
		}
		if slices.ContainsFunc(group.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:") }) {
			return true
		}
	}
	return false
}

func (w *writer) add(at token.Pos, text string) {
	w.in = append(w.in, insertion{w.file.Offset(at), text})
}

// text puts in what is added.
func (w *writer) text(src []byte) string {
	slices.SortStableFunc(w.in, func(a, b insertion) int { return a.at - b.at })
	var out bytes.Buffer
	from := 0
	for _, i := range w.in {
		out.Write(src[from:i.at])
		out.WriteString(i.text)
		from = i.at
	}
	out.Write(src[from:])
	return out.String()
}

// id gives a function its number.
func (w *writer) id(name string, at token.Pos) int {
	w.src.Funcs = append(w.src.Funcs, repeats.Func{Name: w.path + "." + name, File: w.name, Line: w.fset.PositionFor(at, false).Line})
	return len(w.src.Funcs) - 1
}

// function counts a function, and those in it that have no name.
func (w *writer) function(fn *ast.FuncDecl) {
	name := cmp.Or(debuginfo.Symbol(fn), fn.Name.Name)
	recursive := callThemselves(fn.Body)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && works(lit.Body) && (len(lit.Body.List) > 1 || servesRequest(lit.Type)) {
			if id := w.id(name+".func", lit.Pos()); recursive[lit] {
				w.nested(id, lit)
			} else {
				w.scope(id, lit.Body)
			}
		}
		return true
	})
	switch {
	case fn.Name.Name == "init" && fn.Recv == nil, !works(fn.Body):
		return
	case fn.Name.Name == "main" && fn.Recv == nil && w.path == "main":
		w.scope(w.id(name, fn.Pos()), fn.Body)
		return
	case returnsNothing(fn.Type):
		w.add(fn.Body.Lbrace+1, fmt.Sprintf(" if loupeG := %s.Enter(%d); loupeG != nil { loupeG.Begins(%s); defer loupeG.Leave(false) };",
			local, w.id(name, fn.Pos()), strings.Join(named(fn.Recv, fn.Type.Params), ", ")))
		return
	}
	id := w.id(name, fn.Pos())
	results := w.results(fn.Type)
	w.add(fn.Body.Lbrace+1, fmt.Sprintf(" if loupeG := %s.Enter(%d); loupeG != nil { loupeG.Args(%s); defer func() { loupeG.Leave(%v%s) }() };",
		local, id, strings.Join(named(fn.Recv, fn.Type.Params), ", "), returnsOwnMap(fn.Body), results))
}

// servesRequest tells of a function that it is given a request to answer, by its parameters: what it calls is called for that request.
func servesRequest(t *ast.FuncType) bool {
	return slices.ContainsFunc(t.Params.List, func(f *ast.Field) bool {
		p, ok := f.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		sel, ok := p.X.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Request"
	})
}

// scope counts what is called in a function alone.
func (w *writer) scope(id int, body *ast.BlockStmt) {
	w.add(body.Lbrace+1, fmt.Sprintf(" if loupeG := %s.Enter(%d); loupeG != nil { defer loupeG.Leave(false) };", local, id))
}

// nested counts what is called in a function literal, and its calls of itself.
func (w *writer) nested(id int, lit *ast.FuncLit) {
	results := ""
	if lit.Type.Results != nil && len(lit.Type.Results.List) > 0 {
		results = w.results(lit.Type)
	}
	w.add(lit.Body.Lbrace+1, fmt.Sprintf(" if loupeG := %s.Enter(%d); loupeG != nil { loupeG.Nested(%s); defer func() { loupeG.Leave(false%s) }() };",
		local, id, strings.Join(named(lit.Type.Params), ", "), results))
}

// callThemselves are the function literals of a body that call the variable which they are assigned to.
func callThemselves(body *ast.BlockStmt) map[*ast.FuncLit]bool {
	out := map[*ast.FuncLit]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
			return true
		}
		id, isName := set.Lhs[0].(*ast.Ident)
		lit, literal := set.Rhs[0].(*ast.FuncLit)
		if !isName || !literal {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			called, ok := call.Fun.(*ast.Ident)
			out[lit] = out[lit] || ok && called.Name == id.Name
			return true
		})
		return true
	})
	return out
}

// works tells whether a function may take any time: it calls or loops.
func works(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = true
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || !slices.Contains(builtins, id.Name) {
				found = true
			}
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.SendStmt, *ast.SelectStmt:
			found = true
		}
		return !found
	})
	return found
}

var builtins = []string{
	"len", "cap", "append", "copy", "min", "max", "make", "new", "delete", "panic", "close", "string", "int", "int64", "int32", "uint",
	"uint64", "uint32", "byte", "rune", "float64", "float32", "uint8", "uint16", "int8", "int16", "bool", "real", "imag", "complex",
}

// returnsNothing tells whether a function has no result but an error.
func returnsNothing(t *ast.FuncType) bool {
	if t.Results == nil {
		return true
	}
	return !slices.ContainsFunc(t.Results.List, func(f *ast.Field) bool {
		id, ok := f.Type.(*ast.Ident)
		return !ok || id.Name != "error"
	})
}

// named are the names of a receiver and parameters; what has none cannot matter.
func named(lists ...*ast.FieldList) (names []string) {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, n := range f.Names {
				if n.Name != "_" {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// results names the results that have no name, and returns them as further arguments.
func (w *writer) results(t *ast.FuncType) string {
	var out strings.Builder
	n := 0
	fresh := func() string {
		n++
		return fmt.Sprintf("loupeR%d", n)
	}
	list := t.Results
	if list.List[0].Names == nil {
		if !list.Opening.IsValid() {
			name := fresh()
			w.add(list.Pos(), "("+name+" ")
			w.add(list.End(), ")")
			return ", " + name
		}
		for _, f := range list.List {
			name := fresh()
			w.add(f.Type.Pos(), name+" ")
			out.WriteString(", " + name)
		}
		return out.String()
	}
	for _, f := range list.List {
		for _, name := range f.Names {
			if name.Name == "_" {
				fresh := fresh()
				w.add(name.Pos(), fresh)
				// What is put in front of the blank would join it.
				out.WriteString(", " + fresh + "_")
				continue
			}
			out.WriteString(", " + name.Name)
		}
	}
	return out.String()
}

// returnsOwnMap tells whether every map that a function returns by a name of its own is one that it has made and given to
// nobody else: reading one that others write to would end the program.
func returnsOwnMap(body *ast.BlockStmt) bool {
	made := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if set, ok := n.(*ast.AssignStmt); ok && set.Tok == token.DEFINE && len(set.Lhs) == 1 && len(set.Rhs) == 1 && isMadeMap(set.Rhs[0]) {
			made[set.Lhs[0].(*ast.Ident).Name] = true
		}
		return true
	})
	own, used := len(body.List) > 0, map[*ast.Ident]bool{}
	returns := 0
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			own = false // it may keep the map, and its returns are its own
			return false
		case *ast.ReturnStmt:
			returns++
			own = own && len(n.Results) > 0
			for i, x := range n.Results {
				id, ok := x.(*ast.Ident)
				if ok && (made[id.Name] || id.Name == "nil") {
					used[id] = true
				} else if i == 0 && !isMadeMap(x) {
					own = false
				}
			}
		case *ast.IndexExpr: // an element that is read or written
			if id, ok := n.X.(*ast.Ident); ok {
				used[id] = true
			}
		case *ast.RangeStmt:
			if id, ok := n.X.(*ast.Ident); ok {
				used[id] = true
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "len" || id.Name == "delete" || id.Name == "clear") {
				if id, ok := n.Args[0].(*ast.Ident); ok {
					used[id] = true
				}
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					used[id] = true
				}
			}
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && made[id.Name] && !used[id] {
			own = false // it goes somewhere else
		}
		return own
	})
	return own && returns > 0
}

// isMadeMap tells of a value that it is a map which is made there.
func isMadeMap(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		if !ok || id.Name != "make" || len(x.Args) == 0 {
			return false
		}
		_, ok = x.Args[0].(*ast.MapType)
		return ok
	case *ast.CompositeLit:
		_, ok := x.Type.(*ast.MapType)
		return ok
	}
	return false
}
