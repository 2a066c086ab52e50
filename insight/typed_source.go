package insight

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"unicode"

	"loupe/recording"
)

// What go/types makes of the sources of a recording, bodies of functions included. Of packages
// whose sources are not there it knows nothing: what has a type of theirs has none.

// typed are the sources, checked. They are parsed once more, all of them into one set of
// positions; a line and an offset in a file are the same as in [syntax].
type typed struct {
	fset  *token.FileSet
	files []typedFile
	info  *types.Info
	// decls are the functions that the sources declare.
	decls map[*types.Func]*ast.FuncDecl
	// missing are names that a package uses as its own, or as those of its types, and that none of
	// its files here declares: other files do.
	missing []missingName
	// values are the functions that are values; nil until somebody asks.
	values []valueFunc
	// callers are the calls of each function; nil until somebody asks.
	callers map[*ast.FuncDecl][]callBy
	// declared is what declares each variable, field and method; nil until somebody asks.
	declared map[types.Object]declaredBy
}

// missingName is what go/types says of such a name, and the folder of the file that uses it.
type missingName struct{ dir, text string }

// missed notes an error of go/types about a name that is declared nowhere.
func (t *typed) missed(err error) {
	var e types.Error
	if !errors.As(err, &e) {
		return
	}
	name, undefined := strings.CutPrefix(e.Msg, "undefined: ")
	if undefined && !strings.Contains(name, ".") || strings.Contains(e.Msg, "has no field or method") && !strings.Contains(e.Msg, "sync.") && !strings.Contains(e.Msg, "atomic.") {
		file, _, _ := t.at(e.Pos)
		if undefined && t.imports(file, name) {
			return
		}
		t.missing = append(t.missing, missingName{folderOf(file), e.Msg})
	}
}

// imports tells whether a file may import a package of a name: the last part of its path need not
// be that, as of math/rand/v2.
func (t *typed) imports(file, name string) bool {
	for _, f := range t.files {
		if f.name == file && slices.ContainsFunc(f.file.Imports, func(i *ast.ImportSpec) bool { return strings.Contains(i.Path.Value, name) }) {
			return true
		}
	}
	return false
}

// folderOf is the folder of a file, as the recording has its name.
func folderOf(file string) string { return path.Dir(strings.ReplaceAll(file, "\\", "/")) }

// typedFile is a source file by the name that the recording has for it.
type typedFile struct {
	name string
	file *ast.File
}

// typedOf checks the sources once.
func typedOf(c *code) *typed {
	if c.checked != nil {
		return c.checked
	}
	t := &typed{fset: token.NewFileSet(), decls: map[*types.Func]*ast.FuncDecl{}}
	t.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	packages := map[string][]*ast.File{} // by folder and name
	var order []string
	for _, e := range c.session.Manifest().Of(recording.Source) {
		text, err := keptSource(c, e.Source)
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(t.fset, e.Source, text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		key := folderOf(e.Source) + " " + f.Name.Name
		if packages[key] == nil {
			order = append(order, key)
		}
		packages[key] = append(packages[key], f)
		t.files = append(t.files, typedFile{e.Source, f})
	}
	imp := &sourceImporter{t: t, module: c.session.Manifest().Target.Module, packages: packages, made: map[string]*types.Package{}}
	for _, key := range order {
		imp.check(key)
	}
	for _, f := range t.files {
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				if obj, ok := t.info.Defs[fn.Name].(*types.Func); ok {
					t.decls[obj] = fn
				}
			}
		}
	}
	c.checked = t
	return t
}

// at is the line of a position, and its offset in the file.
func (t *typed) at(pos token.Pos) (file string, line, offset int) {
	p := t.fset.PositionFor(pos, false)
	return p.Filename, p.Line, p.Offset
}

// typeOf is the type of an expression; nil where it is not known.
func (t *typed) typeOf(e ast.Expr) types.Type {
	if tv, ok := t.info.Types[e]; ok && tv.Type != nil && tv.Type != types.Typ[types.Invalid] {
		return tv.Type
	}
	if id, ok := e.(*ast.Ident); ok {
		for _, obj := range []types.Object{t.info.Defs[id], t.info.Uses[id]} {
			if v, ok := obj.(*types.Var); ok && v.Type() != types.Typ[types.Invalid] {
				return v.Type()
			}
		}
	}
	return nil
}

// endsInType tells of the text of a type that it is one of a package, a pointer to it or a list of it: http.Request of *http.Request, and
// not of *myhttp.Request.
func endsInType(text, name string) bool {
	before, ok := strings.CutSuffix(text, name)
	return ok && !strings.HasSuffix(before, "/") && (before == "" || !isWord(before[len(before)-1]))
}

// uninstantiated is what a call calls, without the types that it is instantiated with.
func uninstantiated(call *ast.CallExpr) ast.Expr {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		return f.X
	case *ast.IndexListExpr:
		return f.X
	}
	return fun
}

// callee is the function or method of the sources that a call means; nil where it is none.
func (t *typed) callee(call *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := uninstantiated(call).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	if fn, ok := t.info.Uses[id].(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}

// fromPackage is the path of the package that a selected function is of: "maps" of
// maps.DeleteFunc. It is empty of anything else.
func (t *typed) fromPackage(x ast.Expr) string {
	if sel, ok := x.(*ast.SelectorExpr); ok {
		if id, ok := sel.X.(*ast.Ident); ok {
			if p, ok := t.info.Uses[id].(*types.PkgName); ok {
				return p.Imported().Path()
			}
		}
	}
	return ""
}

// sourceImporter checks the packages of a recording in the order in which they import each other.
type sourceImporter struct {
	t        *typed
	module   string
	packages map[string][]*ast.File
	made     map[string]*types.Package // nil while one is checked
}

// methodSources are the types of the library that hold what a program keeps, with their methods.
var methodSources = map[string]string{
	"encoding/json": "package json; type RawMessage []byte",
	"sync": "package sync; type Mutex struct{ x int }; func (*Mutex) Lock(); func (*Mutex) Unlock(); func (*Mutex) TryLock() bool; type RWMutex struct{ x int }; func (*RWMutex) Lock(); func (*RWMutex) Unlock(); func (*RWMutex) RLock(); func (*RWMutex) RUnlock(); " +
		"type Once struct{ x int }; func (*Once) Do(f func()); type Map struct{ x int }; func (*Map) Load(key any) (value any, ok bool); func (*Map) Store(key, value any); func (*Map) Clear(); " +
		"func (*Map) LoadOrStore(key, value any) (actual any, loaded bool); func (*Map) LoadAndDelete(key any) (value any, loaded bool); func (*Map) Delete(key any); func (*Map) Swap(key, value any) (previous any, loaded bool); " +
		"func (*Map) CompareAndSwap(key, old, new any) bool; func (*Map) CompareAndDelete(key, old any) bool; func (*Map) Range(f func(key, value any) bool)",
	"sync/atomic": "package atomic; type Pointer[T any] struct{ x *T }; func (*Pointer[T]) Load() *T; func (*Pointer[T]) Store(v *T); func (*Pointer[T]) Swap(v *T) *T; func (*Pointer[T]) CompareAndSwap(old, new *T) bool; " +
		"type Value struct{ x any }; func (*Value) Load() any; func (*Value) Store(v any); func (*Value) Swap(v any) any; type Int64 struct{ x int64 }; func (*Int64) Add(n int64) int64; func (*Int64) Load() int64; func (*Int64) Store(n int64)",
}

// Import makes the package of a path, for go/types. What it does not know, go/types takes for a
// package with anything in it.
func (m *sourceImporter) Import(of string) (*types.Package, error) {
	if key := m.folderOf(of); key != "" {
		if p := m.check(key); p != nil {
			return p, nil
		}
	}
	if p := m.made[of]; p != nil {
		return p, nil
	}
	text, ok := methodSources[of]
	if !ok { // nothing is known but its name, or what that is by custom
		m.made[of] = types.NewPackage(of, assumedName(of))
		m.made[of].MarkComplete()
		return m.made[of], nil
	}
	f, err := parser.ParseFile(m.t.fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	conf := types.Config{Error: func(error) {}, IgnoreFuncBodies: true}
	m.made[of], _ = conf.Check(of, m.t.fset, []*ast.File{f}, nil)
	return m.made[of], nil
}

// assumedName is what a package is called by the custom of its path: the last part of it that is no version, without
// "go-" and what no name may have. What go/types assumes of a package that it cannot read is the last part alone, with
// which nothing of math/rand/v2 and gopkg.in/yaml.v3 is found.
func assumedName(of string) string {
	name := path.Base(of)
	if version.MatchString(name) && path.Dir(of) != "." {
		name = path.Base(path.Dir(of))
	}
	name = strings.TrimPrefix(name, "go-")
	if i := strings.IndexFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }); i >= 0 {
		name = name[:i]
	}
	return name
}

// version is the last part of the path of a module whose major version is two or more.
var version = lazily(`^v[0-9]+$`)

// folderOf is the package of the sources that an import means; empty where that is none.
func (m *sourceImporter) folderOf(of string) (key string) {
	rest, inside := strings.CutPrefix(of, m.module)
	if m.module == "" {
		first, after, _ := strings.Cut(of, "/")
		rest, inside = "/"+after, strings.Contains(first, ".")
	}
	if !inside || rest != "" && rest[0] != '/' {
		return ""
	}
	for k, files := range m.packages {
		dir, name, _ := strings.Cut(k, " ")
		fits := strings.HasSuffix("/"+strings.TrimPrefix(dir, "/"), rest) && name != "main" && !strings.HasSuffix(name, "_test")
		if fits && len(files) > 0 && (key == "" || len(k) < len(key) || len(k) == len(key) && k < key) {
			key = k
		}
	}
	return key
}

// check checks a package; nil while it is checked already.
func (m *sourceImporter) check(key string) *types.Package {
	if p, ok := m.made[key]; ok {
		return p
	}
	m.made[key] = nil
	conf := types.Config{Error: m.t.missed, Importer: m, FakeImportC: true}
	m.made[key], _ = conf.Check(key, m.t.fset, m.packages[key], m.t.info)
	return m.made[key]
}
