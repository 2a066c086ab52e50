package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// What a call of the library, or of a builtin function, may write into.

// writesFirst are functions of the library, by the path of their package, that write into the memory of their first
// argument.
var writesFirst = map[string]*pattern{
	"sort":             lazily(`^(Sort|Stable|Slice|SliceStable|Ints|Strings|Float64s)$`),
	"slices":           lazily(`^(Sort|SortFunc|SortStableFunc|Reverse|Delete|DeleteFunc|Compact|CompactFunc|Insert|Replace)$`),
	"maps":             lazily(`^(Copy|DeleteFunc|Insert)$`),
	"container/heap":   lazily(`.`),
	"encoding/hex":     lazily(`^(Decode|Encode)$`),
	"encoding/binary":  lazily(`^(Put|Encode$)`),
	"encoding/ascii85": lazily(`^(Decode|Encode)$`),
	"math/rand":        lazily(`^Read$`),
	"crypto/rand":      lazily(`^Read$`),
	"crypto/subtle":    lazily(`^XORBytes$`),
	"unicode/utf8":     lazily(`^EncodeRune$`),
	"sync/atomic":      lazily(`^(Add|Store|Swap|CompareAndSwap|And|Or)`),
}

// writesFirstOf are methods of the library's types, by their names and the number of arguments, that do so: those of
// readers, of encodings, of byte orders and of ciphers.
var writesFirstOf = map[string]int{
	"Read": 1, "ReadAt": 2, "Decode": 2, "Encode": 2, "XORKeyStream": 2, "CryptBlocks": 2, "Encrypt": 2, "Decrypt": 2,
	"PutUint16": 2, "PutUint32": 2, "PutUint64": 2,
}

// writtenBy are what a call of the library, or of a builtin function, may write into: the first argument of copy, the
// second of io.ReadFull, what Unmarshal decodes into.
func writtenBy(d *derivations, n *ast.CallExpr) []ast.Expr {
	fun, name := ast.Unparen(n.Fun), calledName(n)
	pkg := d.t.fromPackage(fun)
	first, last := n.Args[:min(1, len(n.Args))], n.Args[max(0, len(n.Args)-1):]
	switch {
	case strings.HasPrefix(name, "Append") || isIdent(fun) && name == "append":
		if len(first) > 0 && isCut(first[0]) { // what is behind the cut is written over
			return first
		}
	case isIdent(fun):
		if name == "copy" || name == "clear" || name == "delete" {
			return first
		}
	case pkg == "io" && (name == "ReadFull" || name == "ReadAtLeast") && len(n.Args) > 1:
		return n.Args[1:2]
	case pkg == "encoding/binary" && name == "Read", strings.HasPrefix(name, "Unmarshal"), name == "Decode" && len(n.Args) == 1:
		return last
	case pkg == "fmt" && (name == "Scan" || name == "Scanln"):
		return n.Args
	case pkg == "fmt" && (name == "Scanf" || strings.Contains(name, "scan")) && len(n.Args) > 1:
		return n.Args[1:]
	case name == "Scan" && pkg == "":
		return n.Args
	case pkg == "":
		if count, ok := writesFirstOf[name]; ok && count == len(n.Args) {
			return first
		}
	case writesFirst[pkg] != nil && writesFirst[pkg].MatchString(name):
		return first
	}
	return nil
}

// isCut tells of an expression that it is the beginning of something which goes on behind it.
func isCut(x ast.Expr) bool {
	s, ok := ast.Unparen(x).(*ast.SliceExpr)
	return ok && s.High != nil && !s.Slice3 && types.ExprString(s.High) != "len("+types.ExprString(s.X)+")"
}

// mayRefer tells of a type that a value of it can refer to memory that another value refers to as well. Of what is not
// known it may.
func mayRefer(t types.Type) bool { return refersTo(t, 0) }

func refersTo(t types.Type, depth int) bool {
	if t == nil || depth > 6 {
		return true
	}
	if named, ok := t.(*types.Named); ok && named.Obj().Pkg() == nil && named.Obj().Name() == "error" {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.Invalid || u.Kind() == types.UnsafePointer
	case *types.Array:
		return refersTo(u.Elem(), depth+1)
	case *types.Struct:
		for i := range u.NumFields() {
			if refersTo(u.Field(i).Type(), depth+1) {
				return true
			}
		}
		return false
	case *types.Signature:
		return false
	}
	return true
}

// cells are the kinds of memory that a value of a type refers to, by texts. any is all of them, where a part of the
// type is not known.
type cells struct {
	of  map[string]bool
	any bool
	// shallow leaves out what lies in structs: their fields are asked for by themselves.
	shallow bool
}

// cellsOf are those of a value that is handed on. A struct or a number itself is copied then.
func cellsOf(t types.Type, shallow bool) *cells {
	c := &cells{of: map[string]bool{}, shallow: shallow}
	c.add(t, false, 0)
	return c
}

// has tells whether a kind of memory is among them.
func (c *cells) has(key string) bool { return c.any || c.of[key] }

// add adds those of a type; inside tells that a value of it lies in memory that is referred to.
func (c *cells) add(t types.Type, inside bool, depth int) {
	if t == nil || t.Underlying() == types.Typ[types.Invalid] {
		c.any = c.any || !c.shallow
		return
	}
	if inside {
		key := "*" + t.String()
		if c.of[key] {
			return
		}
		c.of[key] = true
	}
	if depth > 8 {
		return
	}
	list := func(elem types.Type) {
		c.of["[]"+elem.String()] = true
		c.add(elem, true, depth+1)
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		c.add(u.Elem(), true, depth+1)
	case *types.Slice:
		list(u.Elem())
	case *types.Array:
		if inside || c.shallow {
			list(u.Elem())
		} else {
			c.add(u.Elem(), false, depth+1)
		}
	case *types.Map:
		c.of["[]"+u.Elem().String()] = true
		c.add(u.Elem(), true, depth+1)
	case *types.Struct:
		if c.shallow {
			return
		}
		if inside {
			c.of["."+t.String()] = true
		}
		for i := range u.NumFields() {
			c.add(u.Field(i).Type(), inside, depth+1)
		}
	case *types.Interface:
		c.any = c.any || !c.shallow && t.String() != "error"
	}
}

// addElement adds what lies in the elements of a list themselves, and not behind a pointer in them.
func (c *cells) addElement(t types.Type, depth int) {
	if t == nil || depth > 6 {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		c.addElement(u.Elem(), depth+1)
	case *types.Slice:
		if depth == 0 {
			c.addElement(u.Elem(), depth+1)
		}
	case *types.Array:
		c.addElement(u.Elem(), depth+1)
	case *types.Struct:
		c.of["."+t.String()] = true
		for i := range u.NumFields() {
			if isValue(u.Field(i).Type()) {
				c.addElement(u.Field(i).Type(), depth+1)
			}
		}
	}
}

// keyOf is the kind of memory that a place lies in, by what it is selected of, an element of or pointed to by.
func keyOf(d *derivations, place ast.Expr) string {
	of := func(x ast.Expr) types.Type {
		t := d.t.typeOf(x)
		if t == nil {
			return nil
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			return p.Elem()
		}
		return t
	}
	switch x := ast.Unparen(place).(type) {
	case *ast.SelectorExpr:
		if t := of(x.X); t != nil {
			return "." + t.String()
		}
	case *ast.StarExpr:
		if t := of(x.X); t != nil {
			return "*" + t.String()
		}
	case *ast.IndexExpr, *ast.SliceExpr:
		return keyOfElements(d, aroundPart(x))
	}
	return ""
}

// keyOfElements is that of the elements of an expression.
func keyOfElements(d *derivations, x ast.Expr) string {
	t := d.t.typeOf(x)
	if t == nil {
		return ""
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return "[]" + u.Elem().String()
	case *types.Array:
		return "[]" + u.Elem().String()
	case *types.Map:
		return "[]" + u.Elem().String()
	}
	return ""
}

// aroundPart is what an expression is a part of; itself, without parentheses, where it is none.
func aroundPart(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	switch x := x.(type) {
	case *ast.IndexExpr:
		return x.X
	case *ast.SliceExpr:
		return x.X
	case *ast.SelectorExpr:
		return x.X
	case *ast.StarExpr:
		return x.X
	}
	return x
}

// configures are methods of the library's types that change how a value works which was made before: those of regular
// expressions, templates, decoders and encoders.
var configures = lazily(`^(Longest|Funcs|Delims|Option|AddParseTree|UseNumber|DisallowUnknownFields|SetEscapeHTML|SetIndent)$`)

// extends are methods that add to a template.
var extends = lazily(`^(New|Parse|ParseFiles|ParseGlob|ParseFS)$`)

// changesValue tells of a method of the library, by its name, that it changes what it is called on.
func changesValue(name string) bool {
	return configures.MatchString(name) || fillers.MatchString(name) || name == "Del"
}

// libraryCopies are functions of the library that give a new slice or map with the same elements.
var libraryCopies = []string{"slices.Clone", "slices.Concat", "slices.Collect", "slices.Sorted", "slices.SortedFunc", "slices.Values", "slices.All", "slices.Repeat", "maps.Clone", "maps.Values", "maps.All", "maps.Collect"}

// refersBack tells of a function of the library that its result refers to what an argument does.
func refersBack(pkg, name string) bool {
	switch pkg {
	case "slices":
		return slices.Contains([]string{"Grow", "Clip", "Insert", "Delete", "DeleteFunc", "Compact", "CompactFunc", "Replace"}, name)
	case "bytes":
		return strings.HasPrefix(name, "Trim") || strings.HasPrefix(name, "Split") || strings.HasPrefix(name, "Fields") || name == "Cut" || name == "NewBuffer"
	}
	return strings.HasPrefix(name, "Must")
}
