package insight

import (
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"

	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// layout is a struct of the user's, as it lies in memory and as it could.
type layout struct {
	name   string
	file   string
	line   int
	size   uint64
	packed uint64   // with the fields in order
	order  []string // that order
	slice  bool     // what the line makes are slices of it
}

// saving is the part of the memory of what is allocated that the order of fields saves: of
// single objects only where they fall into a smaller size class.
func (l *layout) saving() float64 {
	if l.slice {
		return float64(l.size-l.packed) / float64(l.size)
	}
	return 1 - float64(unit.SizeClass(l.packed))/float64(unit.SizeClass(l.size))
}

// layoutAt is the layout of what a line allocates: a composite literal whose address is
// taken, new(T), or a slice of T. It is nil where the line has no such expression, or several,
// and where the size of a field is not known by the sources that the recording keeps.
func layoutAt(in *Input, at stack.Frame) *layout {
	s := in.code.parse(at.File)
	if s == nil {
		return nil
	}
	var name string
	slice, several := false, false
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		x, isSlice := made(n)
		if first, last := s.lines(n); x == nil || first > at.Line || last < at.Line || first != at.Line {
			return
		}
		if several = several || name != "" && (name != x.Name || slice != isSlice); !several {
			name, slice = x.Name, isSlice
		}
	})
	if name == "" || several {
		return nil
	}
	l := packageAt(in, at.File).layoutOf(name, types.SizesFor("gc", cmp.Or(in.Session.Manifest().Host.Arch, "amd64")))
	if l != nil {
		l.slice = slice
	}
	return l
}

// made is the type of its own package that an expression allocates one of, or a slice of;
// nil where it is something else.
func made(n ast.Node) (name *ast.Ident, slice bool) {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if lit, ok := n.X.(*ast.CompositeLit); ok && n.Op == token.AND {
			name, _ = lit.Type.(*ast.Ident)
		}
	case *ast.CompositeLit:
		if a, ok := n.Type.(*ast.ArrayType); ok {
			name, _ = a.Elt.(*ast.Ident)
			slice = true
		}
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.Ident)
		if !ok || len(n.Args) == 0 {
			return nil, false
		}
		switch f.Name {
		case "new":
			name, _ = n.Args[0].(*ast.Ident)
		case "make":
			if a, ok := n.Args[0].(*ast.ArrayType); ok && a.Len == nil {
				name, _ = a.Elt.(*ast.Ident)
				slice = true
			}
		}
	}
	return name, slice
}

// checkedPackage is what go/types makes of the sources of a package that are kept.
type checkedPackage struct {
	fset *token.FileSet
	pkg  *types.Package
}

// packageAt checks the package that a file is of. What is not there stays unknown.
func packageAt(in *Input, file string) *checkedPackage {
	c := &checkedPackage{fset: token.NewFileSet()}
	var files []*ast.File
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		if path.Dir(e.Source) != path.Dir(file) {
			continue
		}
		text, err := keptSource(in.code, e.Source)
		if err != nil {
			continue
		}
		if f, err := parser.ParseFile(c.fset, e.Source, text, parser.SkipObjectResolution); err == nil && (len(files) == 0 || f.Name.Name == files[0].Name.Name) {
			forgetTargets(f)
			files = append(files, f)
		}
	}
	conf := types.Config{Error: func(error) {}, Importer: fewTypes{}, IgnoreFuncBodies: true}
	c.pkg, _ = conf.Check("p", c.fset, files, nil)
	return c
}

// forgetTargets makes each pointer, slice, map, channel and function in the fields of structs
// one of ints: their size is the same, and what they lead to need not be known.
func forgetTargets(f *ast.File) {
	number := ast.NewIdent("int")
	ast.Inspect(f, func(n ast.Node) bool {
		st, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range st.Fields.List {
			ast.Inspect(field.Type, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.StarExpr:
					n.X = number
				case *ast.ArrayType:
					if n.Len == nil {
						n.Elt = number
					}
				case *ast.MapType:
					n.Key, n.Value = number, number
				case *ast.ChanType:
					n.Value = number
				case *ast.FuncType:
					n.Params, n.Results = &ast.FieldList{}, nil
				case *ast.InterfaceType:
					n.Methods = &ast.FieldList{}
				}
				return true
			})
		}
		return true
	})
}

// layoutOf is the layout of a struct type of the package; nil where it is none, or its size
// is not known.
func (c *checkedPackage) layoutOf(name string, sizes types.Sizes) *layout {
	if c.pkg == nil || sizes == nil {
		return nil
	}
	named, ok := c.pkg.Scope().Lookup(name).(*types.TypeName)
	if !ok {
		return nil
	}
	if n, ok := named.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
		return nil
	}
	st, ok := named.Type().Underlying().(*types.Struct)
	if !ok || st.NumFields() < 2 || !sized(st) {
		return nil
	}
	fields := make([]*types.Var, st.NumFields())
	for i := range fields {
		if fields[i] = st.Field(i); fields[i].Name() == "_" {
			return nil // who names nothing pads on purpose
		}
	}
	better := slices.Clone(fields)
	slices.SortStableFunc(better, func(a, b *types.Var) int {
		zero := func(v *types.Var) int { // what has no size must not be last
			if sizes.Sizeof(v.Type()) == 0 {
				return 0
			}
			return 1
		}
		return cmp.Or(zero(a)-zero(b), cmp.Compare(sizes.Alignof(b.Type()), sizes.Alignof(a.Type())), cmp.Compare(sizes.Sizeof(b.Type()), sizes.Sizeof(a.Type())))
	})
	l := &layout{name: name, size: uint64(sizes.Sizeof(st)), packed: uint64(sizes.Sizeof(types.NewStruct(better, nil)))}
	at := c.fset.Position(named.Pos())
	l.file, l.line = at.Filename, at.Line
	for _, f := range better {
		l.order = append(l.order, f.Name())
	}
	return l
}

// sized tells whether the size of a type is known: nothing that lies in it is of a type that
// could not be found.
func sized(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() != types.Invalid
	case *types.Array:
		return sized(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			if !sized(t.Field(i).Type()) {
				return false
			}
		}
	case *types.TypeParam:
		return false
	}
	return true // pointers, slices, maps, channels, functions and interfaces of anything
}

// fewTypes imports the types of the library that structs have most often, by what they are
// made of; all others are not known.
type fewTypes struct{}

// librarySources are what they are made of, in Go 1.20 and later.
var librarySources = map[string]string{
	"time": "package time; type Duration int64; type Month int; type Weekday int; type Location struct{ x [14]int64 }; type Time struct { wall uint64; ext int64; loc *Location }",
	"sync": "package sync; type Mutex struct { state int32; sema uint32 }; type RWMutex struct { w Mutex; writerSem, readerSem uint32; readerCount, readerWait int32 }; type Once struct { done uint32; m Mutex }",
	"sync/atomic": "package atomic; type Int32 struct { v int32 }; type Uint32 struct { v uint32 }; type Bool struct { v uint32 }; type Int64 struct { v int64 }; type Uint64 struct { v uint64 }; " +
		"type Uintptr struct { v uintptr }; type Value struct { v any }; type Pointer[T any] struct { v *T }",
}

// Import makes the package of a path, for go/types.
func (fewTypes) Import(of string) (*types.Package, error) {
	text, ok := librarySources[of]
	if !ok {
		return nil, errors.New("not known")
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, of, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return (&types.Config{}).Check(of, fset, []*ast.File{f}, nil)
}
