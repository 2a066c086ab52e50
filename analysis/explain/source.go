package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"loupe/format/dump"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// Reasons why the source does not help.
const (
	noSource    = "there is no binary, and the source is not on this machine"
	otherSource = "the source on this machine has another function at this line"
	oddSource   = "the source's parameters do not match the words"
)

// Bounds of what is read of sources.
const (
	maxSourceFiles = 2000
	maxSourceBytes = 64 << 20
	maxBeside      = 200
)

// sourceReader finds the declaration of functions in source files.
type sourceReader struct {
	Sources
	files map[string]*sourceFile
	types map[string]map[string]*ast.TypeSpec // by folder
	read  int                                 // bytes so far
}

// sourceFile is one file that was parsed; nil stands for one that is not there.
type sourceFile struct {
	fset  *token.FileSet
	file  *ast.File
	funcs []sourceFunc
}

// sourceFunc is a function with a body: a declaration, or a literal inside of one.
type sourceFunc struct {
	name        string // "(*Cache).Get", "" of a literal
	linked      string // the name that it has for the linker by go:linkname: "time.Sleep"
	recv        *ast.FieldList
	typ         *ast.FuncType
	from, to    int // lines
	literal     bool
	typeParams  map[string]bool
	hiddenParam bool // a literal that is called where it stands
}

func newSourceReader(s Sources) *sourceReader {
	return &sourceReader{Sources: s, files: map[string]*sourceFile{}, types: map[string]map[string]*ast.TypeSpec{}}
}

// open parses a file once.
func (r *sourceReader) open(name, function string) *sourceFile {
	f, ok := r.files[name]
	if ok || r.Read == nil || !strings.HasSuffix(name, ".go") || len(r.files) >= maxSourceFiles || r.read >= maxSourceBytes {
		return f
	}
	r.files[name] = nil
	text := r.Read(name, function)
	if text == nil {
		return nil
	}
	r.read += len(text)
	f = &sourceFile{fset: token.NewFileSet()}
	f.file, _ = parser.ParseFile(f.fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
	if f.file == nil {
		return nil
	}
	f.collect()
	r.files[name] = f
	return f
}

// collect lists the functions of a file.
func (f *sourceFile) collect() {
	line := func(p token.Pos) int { return f.fset.PositionFor(p, false).Line }
	linked := linkNames(f.file)
	for _, d := range f.file.Decls {
		params := map[string]bool{}
		fn, ok := d.(*ast.FuncDecl)
		if ok {
			addNames(params, fn.Type.TypeParams)
			s := sourceFunc{name: fn.Name.Name, recv: fn.Recv, typ: fn.Type, typeParams: params}
			if fn.Recv != nil && len(fn.Recv.List) == 1 {
				s.name = receiverName(fn.Recv.List[0].Type, params) + "." + fn.Name.Name
			} else {
				s.linked = linked[s.name]
			}
			if fn.Body == nil {
				continue
			}
			s.from, s.to = line(fn.Pos()), line(fn.Body.Rbrace)
			f.funcs = append(f.funcs, s)
		}
		called := map[*ast.FuncLit]bool{}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
					called[lit] = true
				}
			case *ast.TypeSpec:
				if fn != nil {
					params[n.Name.Name] = true // hides one of the package
				}
			case *ast.FuncLit:
				f.funcs = append(f.funcs, sourceFunc{
					typ: n.Type, from: line(n.Pos()), to: line(n.Body.Rbrace), literal: true, typeParams: params, hiddenParam: called[n],
				})
			}
			return true
		})
	}
}

// linkNames are the other names that a file gives to its functions: time.Sleep is
// written as timeSleep in package runtime.
func linkNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if words := strings.Fields(c.Text); len(words) == 3 && words[0] == "//go:linkname" {
				names[words[1]] = words[2]
			}
		}
	}
	return names
}

func addNames(names map[string]bool, list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		for _, n := range f.Names {
			names[n.Name] = true
		}
	}
}

// receiverName writes a receiver as the runtime does: "(*Cache)", "Cache", and
// "(*Cache[...])" of a generic type, whose parameters it adds to names.
func receiverName(e ast.Expr, names map[string]bool) string {
	e = ast.Unparen(e)
	if p, ok := e.(*ast.StarExpr); ok {
		return "(*" + receiverName(p.X, names) + ")"
	}
	add := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		add(e.Index)
		return receiverName(e.X, names) + "[...]"
	case *ast.IndexListExpr:
		for _, x := range e.Indices {
			add(x)
		}
		return receiverName(e.X, names) + "[...]"
	}
	return ""
}

// find returns the function that a frame is of: the innermost one that its line
// is in. Of several literals in one line it is not known which.
func (f *sourceFile) find(c *dump.Call) (best sourceFunc, ok bool) {
	for _, made := range []string{".gowrap", ".deferwrap", "·dwrap", "-range", "-fm"} {
		if strings.Contains(c.Func, made) {
			return best, false // the compiler has made it: it is not in the source
		}
	}
	local := stack.Local(c.Func)
	literal := stack.Enclosing(c.Func) != c.Func
	for _, s := range f.funcs {
		if c.Line < s.from || c.Line > s.to || s.literal != literal {
			continue
		}
		switch {
		case !literal && s.linked != c.Func && s.name != strings.TrimSuffix(local, "[...]"):
		case !ok || s.to-s.from < best.to-best.from:
			best, ok = s, true
		case s.to-s.from == best.to-best.from:
			return best, false
		}
	}
	return best, ok
}

// fromSource explains the words by the declaration of the function.
func (x *Explainer) fromSource(g int, c *dump.Call, args []dump.Arg) ([]Param, string) {
	f := x.src.open(c.File, c.Func)
	if f == nil {
		if strings.HasSuffix(c.File, ".s") && x.src.Read != nil {
			return nil, "it is written in assembly, and its parameters are declared elsewhere"
		}
		return nil, noSource
	}
	fn, ok := f.find(c)
	if !ok {
		return nil, otherSource
	}
	t := &typeReader{r: x.src, file: c.File, function: c.Func, word: 8, params: fn.typeParams, ast: f.file}
	v := &values{p: process{wordSize: 8}}
	if x.fitted.bin != nil && !x.fitted.fit.Refused() {
		// The binary knows constants, even where it has no debug information.
		v.p.bin, v.p.slide, v.p.wordSize = x.fitted.bin, x.fitted.slide(g), x.fitted.bin.WordSize()
		t.word = int64(v.p.wordSize)
	}
	params := t.params0(fn)
	if fn.hiddenParam && len(params) != len(args) {
		return nil, "the function literal is called in place, and its captured variables are passed as well"
	}
	params = x.form.asPrinted(c.Func, params, x.fitted.wordSize())
	var out []Param
	why := ""
	if x.form.structured() || hasBraces(args) {
		var shape []symbol.ArgShape
		if fits, no := x.fitted.check(c); no == "" && len(fits) == 1 {
			shape, _ = x.fitted.bin.ArgShape(fits[0].Entry)
		}
		out, why = v.structured(params, args, shape, x.form.trust(c))
	} else {
		if out, why = v.flat(params, args, 0, false); why != "" && !x.form.known() {
			// With words alone both forms may look alike.
			out, why = v.structured(params, args, nil, trustNone)
		}
	}
	if why != "" {
		return nil, oddSource
	}
	return out, ""
}

func hasBraces(args []dump.Arg) bool {
	for _, a := range args {
		if a.Kind == dump.Aggregate || a.Stale {
			return true
		}
	}
	return false
}
