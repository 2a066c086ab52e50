package explain

import (
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"

	"loupe/format/symbol"
)

// typeReader makes types of what stands in the source. It knows the types of the
// language, those of the package, and a few of others; the rest is Unknown, and
// its words are shown as they are.
type typeReader struct {
	r        *sourceReader
	file     string
	function string
	word     int64
	params   map[string]bool // type parameters
	ast      *ast.File
	depth    int
}

// basicTypes are those of the language by kind and size; 0 is the size of a word.
var basicTypes = map[string]symbol.Type{
	"bool": {Kind: symbol.Bool, Size: 1},
	"int":  {Kind: symbol.Int}, "int8": {Kind: symbol.Int, Size: 1}, "int16": {Kind: symbol.Int, Size: 2},
	"int32": {Kind: symbol.Int, Size: 4}, "int64": {Kind: symbol.Int, Size: 8}, "rune": {Kind: symbol.Int, Size: 4},
	"uint": {Kind: symbol.Uint}, "uint8": {Kind: symbol.Uint, Size: 1}, "uint16": {Kind: symbol.Uint, Size: 2},
	"uint32": {Kind: symbol.Uint, Size: 4}, "uint64": {Kind: symbol.Uint, Size: 8}, "byte": {Kind: symbol.Uint, Size: 1},
	"uintptr": {Kind: symbol.Uint}, "float32": {Kind: symbol.Float, Size: 4}, "float64": {Kind: symbol.Float, Size: 8},
	"complex64": {Kind: symbol.Complex, Size: 8}, "complex128": {Kind: symbol.Complex, Size: 16},
	"string": {Kind: symbol.String}, "error": {Kind: symbol.Interface}, "any": {Kind: symbol.Any},
}

// knownTypes are types of other packages that many functions have.
var knownTypes = map[string]symbol.Type{
	"time.Duration": {Kind: symbol.Int, Size: 8}, "unsafe.Pointer": {Kind: symbol.Pointer},
	"context.Context": {Kind: symbol.Interface}, "http.ResponseWriter": {Kind: symbol.Interface}, "http.Handler": {Kind: symbol.Interface},
	"io.Reader": {Kind: symbol.Interface}, "io.Writer": {Kind: symbol.Interface}, "io.ReadWriter": {Kind: symbol.Interface},
	"io.Closer": {Kind: symbol.Interface}, "io.ReadCloser": {Kind: symbol.Interface}, "io.WriteCloser": {Kind: symbol.Interface},
	"io.ReaderAt": {Kind: symbol.Interface}, "io.ReadWriteCloser": {Kind: symbol.Interface}, "net.Conn": {Kind: symbol.Interface},
	"net.Listener": {Kind: symbol.Interface}, "net.Addr": {Kind: symbol.Interface}, "fs.FS": {Kind: symbol.Interface},
	"reflect.Type": {Kind: symbol.Interface}, "sort.Interface": {Kind: symbol.Interface}, "http.RoundTripper": {Kind: symbol.Interface},
	"http.HandlerFunc": {Kind: symbol.FuncValue}, "context.CancelFunc": {Kind: symbol.FuncValue},
}

// params0 returns the parameters of a function: the receiver, what it takes, what
// it returns.
func (t *typeReader) params0(fn sourceFunc) (out []symbol.Param) {
	add := func(list *ast.FieldList, result bool) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			typ := t.typ(f.Type)
			names := f.Names
			if len(names) == 0 {
				out = append(out, symbol.Param{Type: typ, Result: result})
			}
			for _, n := range names {
				name := n.Name
				if name == "_" {
					name = ""
				}
				out = append(out, symbol.Param{Name: name, Type: typ, Result: result})
			}
		}
	}
	add(fn.recv, false)
	add(fn.typ.Params, false)
	add(fn.typ.Results, true)
	return out
}

// typ makes the type of an expression.
func (t *typeReader) typ(e ast.Expr) *symbol.Type {
	if t.depth > 8 {
		return &symbol.Type{Name: "unknown"}
	}
	t.depth++
	defer func() { t.depth-- }()
	out := t.under(e)
	out.Name = exprString(e)
	switch out.Kind {
	case symbol.Pointer, symbol.FuncValue, symbol.Chan, symbol.Map:
		out.Size = t.word
	case symbol.String, symbol.Any, symbol.Interface:
		out.Size, out.Align = 2*t.word, t.word
	case symbol.Slice:
		out.Size, out.Align = 3*t.word, t.word
	case symbol.Int, symbol.Uint:
		if out.Size == 0 {
			out.Size = t.word
		}
	case symbol.Complex:
		out.Align = min(out.Size/2, t.word)
	}
	if out.Align == 0 && out.Kind != symbol.Unknown {
		out.Align = min(max(out.Size, 1), t.word)
	}
	return &out
}

func (t *typeReader) under(e ast.Expr) symbol.Type {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if t.params[e.Name] {
			return symbol.Type{}
		}
		if spec := t.r.named(t.file, t.function, e.Name); spec != nil {
			return t.named(spec)
		}
		return basicTypes[e.Name]
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok && t.imports(pkg.Name) {
			return knownTypes[pkg.Name+"."+e.Sel.Name]
		}
	case *ast.StarExpr:
		return symbol.Type{Kind: symbol.Pointer}
	case *ast.FuncType:
		return symbol.Type{Kind: symbol.FuncValue}
	case *ast.ChanType:
		return symbol.Type{Kind: symbol.Chan}
	case *ast.MapType:
		return symbol.Type{Kind: symbol.Map}
	case *ast.Ellipsis:
		return symbol.Type{Kind: symbol.Slice}
	case *ast.ArrayType:
		if e.Len == nil {
			return symbol.Type{Kind: symbol.Slice}
		}
		return t.array(e)
	case *ast.InterfaceType:
		return t.iface(e)
	case *ast.StructType:
		return t.structure(e)
	}
	return symbol.Type{}
}

// imports tells that a name is that of a package of the standard library whose
// types are known.
func (t *typeReader) imports(name string) bool {
	for _, imp := range t.ast.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		if imp.Name == nil && path.Base(p) == name && !strings.Contains(p, ".") {
			return true
		}
	}
	return false
}

// named resolves a type of the package. Its name is kept by the caller.
func (t *typeReader) named(spec *ast.TypeSpec) symbol.Type {
	if spec.TypeParams != nil {
		return symbol.Type{}
	}
	return *t.typ(spec.Type)
}

func (t *typeReader) array(e *ast.ArrayType) symbol.Type {
	lit, ok := e.Len.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return symbol.Type{}
	}
	n, err := strconv.ParseInt(lit.Value, 0, 32)
	elem := t.typ(e.Elt)
	if err != nil || elem.Kind == symbol.Unknown {
		return symbol.Type{}
	}
	return symbol.Type{Kind: symbol.Array, Elem: elem, Len: n, Size: n * elem.Size, Align: elem.Align}
}

// iface tells interface{} from those with methods. One that embeds others, which
// may be empty, is not known.
func (t *typeReader) iface(e *ast.InterfaceType) symbol.Type {
	kind := symbol.Any
	for _, m := range e.Methods.List {
		if len(m.Names) > 0 {
			return symbol.Type{Kind: symbol.Interface}
		}
		kind = symbol.Interface // what it embeds has methods, or is a constraint
	}
	return symbol.Type{Kind: kind}
}

func (t *typeReader) structure(e *ast.StructType) symbol.Type {
	out := symbol.Type{Kind: symbol.Struct, Align: 1}
	add := func(name string, typ *symbol.Type) bool {
		if typ.Kind == symbol.Unknown || len(out.Fields) >= maxStructFields {
			return false
		}
		at := roundUp(out.Size, typ.Align)
		out.Fields = append(out.Fields, symbol.Field{Name: name, Type: typ, Offset: at})
		out.Size, out.Align = at+typ.Size, max(out.Align, typ.Align)
		return true
	}
	for _, f := range e.Fields.List {
		typ := t.typ(f.Type)
		if len(f.Names) == 0 {
			name := typ.Name
			if i := strings.LastIndexAny(name, ".*"); i >= 0 {
				name = name[i+1:]
			}
			if !add(name, typ) {
				return symbol.Type{}
			}
		}
		for _, n := range f.Names {
			if !add(n.Name, typ) {
				return symbol.Type{}
			}
		}
	}
	out.Size = roundUp(out.Size, out.Align)
	return out
}

const maxStructFields = 128

// named returns the declaration of a type of the package of a file.
func (r *sourceReader) named(file, function, name string) *ast.TypeSpec {
	dir := path.Dir(slashed(file))
	types, ok := r.types[dir]
	if !ok {
		types = map[string]*ast.TypeSpec{}
		r.types[dir] = types
		first := r.open(file, function)
		if first == nil {
			return nil
		}
		r.collectTypes(types, first)
		if r.Beside != nil {
			for i, other := range r.Beside(file, function) {
				if i >= maxBeside {
					break
				}
				if f := r.open(other, function); f != nil && f != first && f.file.Name.Name == first.file.Name.Name {
					r.collectTypes(types, f)
				}
			}
		}
	}
	return types[name]
}

// collectTypes adds the types of a file. One that several files declare, for
// several systems, is not known.
func (r *sourceReader) collectTypes(types map[string]*ast.TypeSpec, f *sourceFile) {
	for _, d := range f.file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, s := range gen.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if old, ok := types[spec.Name.Name]; ok && old != spec {
				types[spec.Name.Name] = &ast.TypeSpec{Name: spec.Name, Type: &ast.BadExpr{}}
				continue
			}
			types[spec.Name.Name] = spec
		}
	}
}

// exprString writes a type in one line.
func exprString(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return exprString(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return "*" + exprString(e.X)
	case *ast.ParenExpr:
		return exprString(e.X)
	case *ast.Ellipsis:
		return "[]" + exprString(e.Elt)
	case *ast.ArrayType:
		if e.Len == nil {
			return "[]" + exprString(e.Elt)
		}
		if lit, ok := e.Len.(*ast.BasicLit); ok {
			return "[" + lit.Value + "]" + exprString(e.Elt)
		}
		return "[…]" + exprString(e.Elt)
	case *ast.MapType:
		return "map[" + exprString(e.Key) + "]" + exprString(e.Value)
	case *ast.ChanType:
		return "chan " + exprString(e.Value)
	case *ast.FuncType:
		return "func(…)"
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return "interface {}"
		}
		return "interface {…}"
	case *ast.StructType:
		return "struct {…}"
	case *ast.IndexExpr:
		return exprString(e.X) + "[…]"
	case *ast.IndexListExpr:
		return exprString(e.X) + "[…]"
	}
	return "unknown"
}
