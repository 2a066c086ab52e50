package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// Whether the values that a text is made of can be the key of a map in its place: the same values have to
// be those of the same text, and nobody else may know the map by its texts.

// keyOfValues tells whether what a call formats can be the key of the maps that its text is a key of.
func keyOfValues(c *code, file string, call *ast.CallExpr, uses []keyUse) bool {
	t := typedOf(c)
	formats, ok := t.same(c.parse(file), file, call).(*ast.CallExpr)
	return ok && t.formatsPlainly(formats) && t.keyedBy(c, uses)
}

// formatsPlainly tells of a call of package fmt that its text has all of its arguments, which are
// plain values, and says the same of two only if they are equal.
func (t *typed) formatsPlainly(call *ast.CallExpr) bool {
	args, verbs := call.Args, [][]string(nil)
	if calledName(call) == "Sprintf" && len(args) > 0 {
		value := t.info.Types[args[0]].Value
		if value == nil {
			return false
		}
		format, err := strconv.Unquote(value.ExactString())
		if err != nil {
			return false
		}
		for _, m := range verb.FindAllStringSubmatch(format, -1) {
			if m[6] != "%" {
				verbs = append(verbs, m)
			}
		}
		if args = args[1:]; len(verbs) != len(args) {
			return false
		}
	} else if name := calledName(call); name != "Sprint" && name != "Sprintln" {
		return false
	}
	if len(args) == 0 || call.Ellipsis != token.NoPos {
		return false
	}
	for i, a := range args {
		of := t.typeOf(a)
		if of == nil || !plainKey(of) || verbs != nil && !tellsApart(verbs[i], of) {
			return false
		}
	}
	return true
}

// tellsApart tells of a verb, taken apart, that it writes all of a value of a type: it does not round, cut
// or pad a text.
func tellsApart(m []string, of types.Type) bool {
	b, basic := of.Underlying().(*types.Basic)
	number := basic && b.Info()&types.IsInteger != 0
	text := basic && b.Info()&types.IsString != 0
	switch {
	case m[2] != "" || m[4] != "" || m[5] != "" || m[3] == "*" || m[3] != "" && !number:
		return false
	case m[6] == "q":
		return text
	}
	return strings.Contains("vdsxXobt", m[6])
}

// asText are methods by which a value says what it is in a text: two that differ may say the same.
var asText = []string{"String", "Error", "Format", "GoString"}

// plainKey tells of a type that its values are equal if their texts are, and can be a key: numbers, texts,
// and structs and arrays of these. Floating-point numbers are none, as NaN is not equal to itself,
// nor is a pointer or an interface, of which the text tells what is behind it.
func plainKey(of types.Type) bool {
	methods := types.NewMethodSet(of)
	for i := range methods.Len() {
		if slices.Contains(asText, methods.At(i).Obj().Name()) {
			return false
		}
	}
	switch u := of.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsInteger|types.IsBoolean|types.IsString) != 0
	case *types.Array:
		return plainKey(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if !plainKey(u.Field(i).Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// keyedBy tells of the maps of some uses that the sources ask and fill them by these keys alone, and give
// neither a map nor its keys to anybody.
func (t *typed) keyedBy(c *code, uses []keyUse) bool {
	k := &keyedMaps{t: t, maps: map[*types.Var]bool{}, keys: map[ast.Expr]bool{}, ranged: map[*types.Var]bool{}}
	for _, use := range uses {
		s := c.parse(use.at.File)
		of := t.variable(t.same(s, use.at.File, use.x))
		if of == nil || !isOwnMap(of) {
			return false
		}
		k.maps[of], k.keys[t.same(s, use.at.File, use.key)] = true, true
	}
	for _, ranged := range []bool{false, true} { // the keys that are ranged over have to be known first
		for _, f := range t.files {
			eachNode(f.file, func(n ast.Node, around []ast.Node) {
				if lit, ok := n.(*ast.CompositeLit); ok {
					k.literal(lit)
				}
				if id, ok := n.(*ast.Ident); ok && len(around) > 0 {
					k.named(id, around, ranged)
				}
			})
		}
	}
	return !k.others
}

// variable is what an expression names: a variable or a field; nil where it is neither.
func (t *typed) variable(x ast.Expr) *types.Var {
	var id *ast.Ident
	switch x := x.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	case *ast.ParenExpr:
		return t.variable(x.X)
	default:
		return nil
	}
	for _, obj := range []types.Object{t.info.Uses[id], t.info.Defs[id]} {
		if v, ok := obj.(*types.Var); ok {
			return v.Origin()
		}
	}
	return nil
}

// isOwnMap tells of a variable or a field that it is a map with texts as keys, which nobody outside of
// the package sees, encoders included, nor those that call a function with it or get it from one.
func isOwnMap(v *types.Var) bool {
	m, ok := v.Type().(*types.Map)
	if !ok || types.Unalias(m.Key()) != types.Typ[types.String] {
		return false
	}
	switch v.Kind() {
	case types.LocalVar:
		return true
	case types.PackageVar, types.FieldVar:
		return !v.Exported()
	}
	return false
}

// keyedMaps are maps with the keys that they may have.
type keyedMaps struct {
	t      *typed
	maps   map[*types.Var]bool
	keys   map[ast.Expr]bool
	ranged map[*types.Var]bool // variables that have a key in each turn of a loop
	others bool                // something else is done with them
}

// named looks at what a name stands in, if it is that of one of the maps, or, where keys tells so,
// that of a key that a loop goes through.
func (k *keyedMaps) named(id *ast.Ident, around []ast.Node, keys bool) {
	v := k.t.variable(id)
	var x ast.Expr = id
	in := around
	if sel, ok := parent(in).(*ast.SelectorExpr); ok && sel.Sel == id {
		x, in = sel, in[:len(in)-1]
	}
	switch {
	case keys && k.ranged[v]:
		if r, ok := parent(in).(*ast.RangeStmt); !ok || r.Key != x {
			k.others = k.others || !k.asks(parent(in), x)
		}
	case !keys && k.maps[v]:
		k.others = k.others || !k.allowed(parent(in), x)
	}
}

// asks tells of a node that it is one of the maps, indexed by an expression, or a call that deletes
// this key from one.
func (k *keyedMaps) asks(in ast.Node, key ast.Expr) bool {
	switch n := in.(type) {
	case *ast.IndexExpr:
		return n.Index == key && k.maps[k.t.variable(n.X)]
	case *ast.CallExpr:
		return isNamed(n.Fun, "delete") && len(n.Args) == 2 && n.Args[1] == key && k.maps[k.t.variable(n.Args[0])]
	}
	return false
}

// allowed tells of what one of the maps stands in that it does not show its keys to anybody.
func (k *keyedMaps) allowed(in ast.Node, x ast.Expr) bool {
	known := func(key ast.Expr) bool {
		return k.keys[key] || k.ranged[k.t.variable(key)]
	}
	switch n := in.(type) {
	case *ast.Field:
		return true // it is declared
	case *ast.ValueSpec:
		return len(n.Values) == 0 || len(n.Values) == len(n.Names) && !slices.ContainsFunc(n.Values, func(v ast.Expr) bool { return !isNewMap(v) })
	case *ast.AssignStmt:
		i := slices.Index(n.Lhs, x)
		return i >= 0 && len(n.Lhs) == len(n.Rhs) && isNewMap(n.Rhs[i])
	case *ast.KeyValueExpr:
		return n.Key == x && isNewMap(n.Value)
	case *ast.IndexExpr:
		return n.X == x && known(n.Index)
	case *ast.CallExpr:
		if isNamed(n.Fun, "delete") {
			return len(n.Args) == 2 && n.Args[0] == x && known(n.Args[1])
		}
		return isNamed(n.Fun, "len") || isNamed(n.Fun, "clear")
	case *ast.RangeStmt:
		if n.X != x {
			return false
		}
		if n.Key != nil && !isNamed(n.Key, "_") {
			v := k.t.variable(n.Key)
			k.ranged[v] = true
			return v != nil && n.Tok == token.DEFINE
		}
		return true
	case *ast.BinaryExpr:
		return isNamed(n.X, "nil") || isNamed(n.Y, "nil")
	}
	return false
}

// literal looks at a struct that is made without the names of its fields.
func (k *keyedMaps) literal(lit *ast.CompositeLit) {
	of := k.t.typeOf(lit)
	if of == nil || len(lit.Elts) == 0 {
		return
	}
	s, ok := of.Underlying().(*types.Struct)
	if _, named := lit.Elts[0].(*ast.KeyValueExpr); !ok || named {
		return
	}
	for i, x := range lit.Elts {
		if i < s.NumFields() && k.maps[s.Field(i).Origin()] && !isNewMap(x) {
			k.others = true
		}
	}
}

// isNewMap tells of an expression that it is a new map with nothing in it, or none.
func isNewMap(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x.Name == "nil"
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		return isNamed(x.Fun, "make")
	}
	return false
}
