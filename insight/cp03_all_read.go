package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// Documents of which nothing is known to be needless: each request brings one of its own, and the program reads all fields
// that it decodes.

// tellAllNeeded makes a remark of a line that decodes such documents; it is false where the source does not show that.
func tellAllNeeded(h *hit, f *Finding) bool {
	line := h.lines[0]
	values := codedValues(h, line)
	if len(values) == 0 {
		return false
	}
	names := 0
	for _, x := range values {
		n, all := fieldsRead(x.d, x.d.t.typeOf(x.x))
		if !all {
			return false
		}
		names = max(names, n)
	}
	var way []stack.Frame
	for _, at := range facts.Frames(h.p.Stacks, line.heavy) {
		if h.in.Session.Scope().IsUser(at) {
			way = append(way, at)
		}
	}
	if i := slices.Index(way, line.Caller); i > 0 {
		way = way[i:]
	}
	if names == 0 || len(way) == 0 || !decodesRequest(h.in.code, way) {
		return false
	}
	f.Severity = Info
	f.Doubts = append(f.Doubts, fmt.Sprintf("by the source each document comes with a request of its own, and the program reads each of the %d fields that are decoded: nothing shows that this work is needless", names))
	f.Advice = "Only a cheaper decoder is left here: one that is generated for the type, or another package, measured with documents of the real size. Where the clients are yours, let them send less, or what costs less to decode."
	return true
}

// fieldsRead counts the fields that a decoder may fill in a type, with those of the structs of the program in it, and tells
// whether the program reads each of them by its name.
func fieldsRead(d *derivations, of types.Type) (n int, all bool) {
	read := map[types.Object]bool{}
	for _, decl := range d.t.decls {
		noteFieldsRead(d, decl, read)
	}
	all = true
	seen := typesSeen{}
	var look func(t types.Type)
	look = func(t types.Type) {
		if t == nil || seen.again(t) {
			return
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			look(u.Elem())
		case *types.Slice:
			look(u.Elem())
		case *types.Array:
			look(u.Elem())
		case *types.Map:
			look(u.Elem())
		case *types.Interface:
			all = false // what is in it is not known
		case *types.Struct:
			for i := range u.NumFields() {
				field := u.Field(i)
				tag := reflect.StructTag(u.Tag(i)).Get("json")
				if tag == "-" || !field.Exported() && !field.Embedded() {
					continue
				}
				if !field.Embedded() {
					n++
					all = all && read[field.Origin()]
				}
				look(field.Type())
			}
		}
	}
	look(of)
	return n, all && n > 0 && !seen.full()
}

// noteFieldsRead notes the fields that a function reads: not those that it only sets.
func noteFieldsRead(d *derivations, decl *ast.FuncDecl, read map[types.Object]bool) {
	set := map[ast.Expr]bool{}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				set[x] = true
			}
		case *ast.SelectorExpr:
			if v := d.field(n); v != nil && !set[n] {
				read[v] = true
			}
		}
		return true
	})
}

// decodesRequest tells of a line that decodes, with the lines that lead to it, that the document is the body of a request.
func decodesRequest(c *code, way []stack.Frame) (found bool) {
	fn := c.scopeAt(way[0])
	if fn == nil {
		return false
	}
	for _, call := range c.lineCalls(way[0]) {
		name := calledName(call)
		if name == "NewDecoder" || name == "Unmarshal" {
			found = found || len(call.Args) > 0 && ofBody(c, call.Args[0], fn, way, 0)
		}
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && name == "Decode" {
			found = found || ofBody(c, sel.X, fn, way, 0)
		}
	}
	return found
}

// ofBody tells of an expression that it is made of the body of a request that somebody has sent to the program.
func ofBody(c *code, x ast.Expr, fn *scope, way []stack.Frame, depth int) (found bool) {
	if depth > nameDepth {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && (n.Sel.Name == "Body" || n.Sel.Name == "FormFile" || n.Sel.Name == "MultipartReader") {
				found = found || endsInType(givenType(fn, id.Name), "http.Request")
			}
		case *ast.Ident:
			if found {
				return false
			}
			if made := firstMade(fn, n.Name); made != nil && !within(made, x) {
				found = ofBody(c, made, fn, way, depth+1)
				return !found
			}
			i := fn.parameter(n.Name)
			if i < 0 || fn.name == "" || len(way) < 2 {
				return true
			}
			if outer := c.scopeAt(way[1]); outer != nil {
				for _, call := range c.lineCalls(way[1]) {
					if calledName(call) == fn.name && i < len(call.Args) {
						found = found || ofBody(c, call.Args[i], outer, way[1:], depth+1)
					}
				}
			}
		}
		return !found
	})
	return found
}

// givenType is the type of a parameter of a function, or of one around it, as the source writes it.
func givenType(fn *scope, name string) string {
	for ; fn != nil; fn = fn.outer {
		for _, field := range fn.params.List {
			if isAmong(field.Names, name) {
				return types.ExprString(field.Type)
			}
		}
	}
	return ""
}

// firstMade is what a variable of a function is made of, also where a call gives it besides an error.
func firstMade(fn *scope, name string) (made ast.Expr) {
	ast.Inspect(fn.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && made == nil && len(a.Rhs) == 1 && len(a.Lhs) > 0 && isNamed(a.Lhs[0], name) {
			made = a.Rhs[0]
		}
		return true
	})
	return made
}
