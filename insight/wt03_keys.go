package insight

import (
	"go/ast"
	"go/types"

	"loupe/value/stack"
)

// What calls have in common by which a peer keeps something.

// mayBeKey tells of an argument that it may be a key: not a client, which is a pointer to a struct, an interface or a function, nor
// what the function that is called calls methods of.
func mayBeKey(c *code, at stack.Frame, x ast.Expr) bool {
	if c.session == nil {
		return true
	}
	d := derivationsOf(c)
	in, ok := d.at(at)
	if !ok {
		return true
	}
	key := true
	ast.Inspect(in.body(), func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || types.ExprString(e) != types.ExprString(x) {
			return true
		}
		of := d.t.typeOf(e)
		if of == nil {
			return true
		}
		switch of := of.Underlying().(type) {
		case *types.Interface:
			key = key && of.NumMethods() == 0
		case *types.Signature, *types.Chan:
			key = false
		case *types.Pointer:
			key = key && !isClient(d, of.Elem(), typesSeen{})
		case *types.Struct:
			key = key && !isClient(d, of, typesSeen{})
		}
		return true
	})
	return key
}

// isClient tells of a struct that a client of the library is in it: what asks peers, or databases.
func isClient(d *derivations, of types.Type, seen typesSeen) bool {
	st, ok := of.Underlying().(*types.Struct)
	if !ok || seen.again(of) {
		return false
	}
	for i := range st.NumFields() {
		v := st.Field(i)
		lib := libraryTypeBy(d, v, 0)
		if clientNames.MatchString(lib.name) || lib.text() == "net/http.RoundTripper" || isClient(d, pointedType(v.Type()), seen) {
			return true
		}
	}
	return false
}

// clientNames are names of types of libraries by which a program asks others.
var clientNames = lazily(`(Client|DB|Conn|Pool|Cluster|Transport|Session)$`)
