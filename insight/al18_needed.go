package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// Copies that are needed: a pointer in their place would change the original, or see it change.

// copyUse is what a line copies, by its source.
type copyUse struct {
	// array is what a range goes through where that is an array: it is copied once for the loop.
	array string
	// needed is the line that writes to the copy, or to the original while the copy is used.
	needed codeLine
	// ofOriginal tells that it is the original.
	ofOriginal bool
	// puts tells that the line puts a value into its place: that copy is the purpose.
	puts bool
}

// copiedAt looks at the copies of a line.
func copiedAt(c *code, f stack.Frame) (x copyUse) {
	d := newDerivations(c)
	in, ok := d.at(f)
	if !ok {
		return x
	}
	onLine := func(n ast.Node) bool {
		_, line, _ := d.t.at(n.Pos())
		return line == f.Line
	}
	look := func(n ast.Node, v types.Object, of ast.Expr) {
		if v == nil || x.needed.line > 0 {
			return
		}
		if at := writtenCopy(d, n, v); at != nil {
			x.needed = d.placeOf(at)
		} else if at := overwrites(d, in.decl, n, of); at != nil {
			x.needed, x.ofOriginal = d.placeOf(at), true
		}
	}
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		if n == nil || n.Pos().IsValid() && !coversLine(d, n, f.Line) {
			return false
		}
		switch n := n.(type) {
		case *ast.RangeStmt:
			if t := d.t.typeOf(n.X); n.Value != nil && onLine(n) && t != nil && isArray(t) {
				x.array = types.ExprString(n.X)
			}
			if n.Value != nil && onLine(n) {
				look(n.Body, d.variable(n.Value), n.X)
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				rhs := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)])
				if !onLine(n) || !isValue(d.t.typeOf(rhs)) {
					continue
				}
				if _, call := rhs.(*ast.CallExpr); isIdent(lhs) && !call {
					look(in.decl.Body, d.variable(lhs), uncut(ownOf(rhs)))
				} else if !isIdent(lhs) {
					x.puts = true
				}
			}
		case *ast.CallExpr:
			fn := d.t.callee(n)
			if fn == nil || d.t.decls[fn] == nil || !onLine(n) {
				break
			}
			decl := d.t.decls[fn]
			for _, p := range parametersOf(d, decl) {
				if isValue(p.Type()) {
					look(decl.Body, p, nil)
				}
			}
		}
		return true
	})
	return x
}

// coversLine tells whether a node has a line.
func coversLine(d *derivations, n ast.Node, line int) bool {
	_, first, _ := d.t.at(n.Pos())
	_, last, _ := d.t.at(n.End())
	return first <= line && line <= last
}

// isValue tells of a type that it is a struct or an array, which is copied whole.
func isValue(t types.Type) bool { return t != nil && (isStruct(t) || isArray(t)) }

// ownOf is the list that an element is one of; nil where it is none.
func ownOf(x ast.Expr) ast.Expr {
	if i, ok := x.(*ast.IndexExpr); ok {
		return i.X
	}
	return nil
}

// writtenCopy finds where a part of a function writes to a variable that has a copy, takes its address, or calls a method
// by which that is taken.
func writtenCopy(d *derivations, part ast.Node, v types.Object) (at ast.Node) {
	is := func(x ast.Expr) bool {
		if d.variable(innermost(x)) != v {
			return false
		}
		for inner := aroundPart(x); inner != x; x, inner = inner, aroundPart(inner) {
			if isReference(d, ast.Unparen(x), inner) {
				return false // what it refers to is the same in the original
			}
		}
		return true
	}
	ast.Inspect(part, func(n ast.Node) bool {
		found := false
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || (n.Tok != token.DEFINE) && is(lhs)
			}
		case *ast.IncDecStmt:
			found = is(n.X)
		case *ast.UnaryExpr:
			found = n.Op == token.AND && is(n.X)
		case *ast.SliceExpr:
			found = d.t.typeOf(n.X) != nil && isArray(d.t.typeOf(n.X)) && is(n.X)
		case *ast.CallExpr:
			sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			fn := d.t.callee(n)
			if !ok || fn == nil || d.t.decls[fn] == nil || d.t.decls[fn].Recv == nil {
				break
			}
			_, pointer := d.t.decls[fn].Recv.List[0].Type.(*ast.StarExpr)
			t := d.t.typeOf(sel.X)
			found = pointer && t != nil && isValue(t) && is(sel.X)
		}
		if found && at == nil {
			at = n
		}
		return at == nil
	})
	return at
}

// overwrites finds where a part of a function, or what it calls, gives an element of a list another value or writes to it.
func overwrites(d *derivations, decl *ast.FuncDecl, part ast.Node, list ast.Expr) ast.Node {
	if list == nil {
		return nil
	}
	var v types.Object
	switch x := ast.Unparen(list).(type) {
	case *ast.Ident:
		v = d.variable(x)
	case *ast.SelectorExpr:
		v = d.field(x)
	}
	if v == nil {
		return nil
	}
	f := &memoryFlow{d: d, vars: map[types.Object]bond{v: bondIs}, gives: map[*ast.FuncDecl]bond{}, sources: map[ast.Expr]bool{}, cells: cellsOf(v.Type(), true)}
	f.cells.addElement(v.Type(), 0)
	reached := d.reached(decl, part)
	for _, w := range f.settled().writes() {
		if _, called := reached[w.in]; called && w.in != decl || within(part, w.n) {
			return w.n
		}
	}
	return nil
}

// tell says of a finding what these copies are for. It is true where that takes the place of the advice.
func (x *copyUse) tell(f *Finding) bool {
	info := func() { f.Severity, f.saves = Info, false }
	switch {
	case x.array != "":
		info()
		f.Advice = "The loop goes through an array, which is copied once, before the first turn: range over &" + x.array + " (or " + x.array + "[:]), if the loop does not have to see it as it was then. With many turns the copy is little beside them."
		if strings.ContainsAny(x.array, "([{") {
			f.Advice = "The loop goes through an array, which is copied once, before the first turn: range over its address or a slice of it. With many turns the copy is little beside them."
		}
	case x.needed.line > 0 && x.ofOriginal:
		info()
		f.Advice = "The list may be written to while the copy is used (" + x.needed.text() + "): with a pointer to the element the loop would see that. Copy only the fields that are needed later."
	case x.needed.line > 0:
		info()
		f.Advice = "The copy is written to (" + x.needed.text() + "): a pointer in its place would change the original. If that is not meant to stay as it is, use a pointer; otherwise copy only the fields that are needed, or make the value smaller."
	case x.puts:
		info()
		f.Advice = "The value is copied into its place. Where it is always taken over, change it there, through a pointer; a copy that may be dropped is needed. Or make the value smaller."
	default:
		return false
	}
	return true
}
