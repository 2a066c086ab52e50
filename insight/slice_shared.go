package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Who else has the array of a list, by the source, when places of it are to be cleared: a pointer to an element, a part of the list, or the list by
// another name. Clearing would change what they see.

// arrayShare is an expression that has the array of a list, and outlives its statement.
type arrayShare struct {
	decl *ast.FuncDecl
	at   ast.Expr
	// use is where a variable that has it is used later; nil where it leaves the function by the statement itself.
	use ast.Node
	v   types.Object // that variable
	// element tells that it is the address of an element, whole that it is all of the list.
	element, whole bool
}

// arrayShares looks for them.
type arrayShares struct {
	d    *derivations
	list types.Object
	decl *ast.FuncDecl   // the function that makes the list shorter
	cut  *ast.AssignStmt // and the statement that does
	// but are variables that have a part which stays.
	but []types.Object
	// follows are the variables that are being followed.
	follows map[types.Object]bool
}

// find gives what the function with the cut has itself of the elements that leave, and what others have of the array; nil where they have nothing.
func (s *arrayShares) find() (own, others *arrayShare) {
	for _, decl := range declsInOrder(s.d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			e, ok := n.(ast.Expr)
			if !ok {
				return
			}
			x := s.share(decl, e, around)
			switch {
			case x == nil:
			case decl == s.decl && e.Pos() < s.cut.End():
				if own == nil {
					own = x
				}
			case others == nil:
				others = x
			}
		})
	}
	return own, others
}

// share tells of an expression that it is one; nil where it is none.
func (s *arrayShares) share(decl *ast.FuncDecl, e ast.Expr, around []ast.Node) *arrayShare {
	x := &arrayShare{decl: decl, at: e}
	if len(around) == 0 {
		return nil
	}
	switch t := e.(type) {
	case *ast.UnaryExpr:
		if t.Op != token.AND || !s.inArray(t.X) {
			return nil
		}
		x.element = true
	case *ast.SliceExpr:
		if !s.is(t.X) || t.Slice3 || isEmpty(t) {
			return nil // append to the empty part of no room makes another array
		}
	case *ast.Ident, *ast.SelectorExpr:
		if sel, ok := parent(around).(*ast.SelectorExpr); !s.is(e) || ok && sel.Sel == e {
			return nil
		}
		x.whole = true
	default:
		return nil
	}
	if !s.outlives(x, e, around, 0) {
		return nil
	}
	return x
}

// is tells of an expression that it is the list.
func (s *arrayShares) is(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return s.d.t.place(e) == s.list
	}
	return false
}

// inArray tells of a place that it is an element of the list, or a field of one that is no pointer.
func (s *arrayShares) inArray(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			return s.is(x.X)
		case *ast.SelectorExpr:
			if t := s.d.t.typeOf(x.X); t == nil || !isStruct(t) {
				return false
			}
			e = x.X
		default:
			return false
		}
	}
}

// looksOnlyIn are functions of the library that keep nothing of the list that they are given, and return no part of it.
func looksOnlyIn(d *derivations, call *ast.CallExpr) bool {
	switch name := calledName(call); d.t.fromPackage(uninstantiated(call)) {
	case "slices":
		return !slices.Contains([]string{"Clip", "Compact", "CompactFunc", "Delete", "DeleteFunc", "Grow", "Insert", "Replace", "Chunk"}, name)
	case "":
		return isBuiltin(d, call) && name != "append"
	default:
		return stack.IsStandard(d.t.fromPackage(uninstantiated(call)))
	}
}

// sharesDepth is how many variables are followed one after the other.
const sharesDepth = 3

// outlives tells of an expression with the array that more has it than the statement that it is in, by what is around it.
func (s *arrayShares) outlives(x *arrayShare, e ast.Expr, around []ast.Node, depth int) bool {
	outer := around[:len(around)-1]
	if slices.ContainsFunc(around, func(n ast.Node) bool { _, ok := n.(*ast.GoStmt); return ok }) {
		return true
	}
	switch p := parent(around).(type) {
	case *ast.ParenExpr:
		return s.outlives(x, p, outer, depth)
	case *ast.SliceExpr:
		return p.X == e && !x.whole && !isEmpty(p) && s.outlives(x, p, outer, depth) // of the list itself, it is a share of its own
	case *ast.ReturnStmt, *ast.CompositeLit:
		return true
	case *ast.SendStmt:
		return p.Value == e
	case *ast.KeyValueExpr:
		return p.Value == e
	case *ast.ValueSpec:
		i := slices.Index(p.Values, e)
		return i >= 0 && i < len(p.Names) && s.usedLater(x, s.d.variable(p.Names[i]), p, outer, depth)
	case *ast.AssignStmt:
		i := slices.Index(p.Rhs, e)
		if i < 0 || len(p.Lhs) != len(p.Rhs) {
			return false
		}
		lhs := ast.Unparen(p.Lhs[i])
		if s.is(lhs) || isNamed(lhs, "_") {
			return false
		}
		v := s.d.variable(lhs)
		return v == nil || !isLocal(x.decl, v) || s.usedLater(x, v, p, outer, depth)
	case *ast.CallExpr:
		switch at := slices.Index(p.Args, e); {
		case at < 0:
			return false
		case isNamed(p.Fun, "append") && at == 0, isNamed(p.Fun, "append") && x.element:
			return s.outlives(x, p, outer, depth)
		case isNamed(p.Fun, "append"), looksOnlyIn(s.d, p):
			return false
		case s.d.t.info.Types[p.Fun].IsType():
			return s.outlives(x, p, outer, depth)
		}
		of := s.d.t.typeOf(p)
		if _, statement := parent(outer).(*ast.ExprStmt); of == nil || statement {
			return false
		}
		return types.Identical(of, s.d.t.typeOf(e)) && s.outlives(x, p, outer, depth)
	}
	return false
}

// usedLater tells of a variable with the array that it outlives what is done with it there: it goes on from the function, or is used when the list has got shorter,
// or when a lock is released.
func (s *arrayShares) usedLater(x *arrayShare, v types.Object, given ast.Node, around []ast.Node, depth int) (later bool) {
	if v == nil || slices.Contains(s.but, v) || depth >= sharesDepth || s.follows[v] {
		return false
	}
	if s.follows == nil {
		s.follows = map[types.Object]bool{}
	}
	s.follows[v] = true
	defer delete(s.follows, v)
	eachNode(x.decl.Body, func(n ast.Node, uses []ast.Node) {
		id, ok := n.(*ast.Ident)
		if later || !ok || s.d.t.info.Uses[id] != v || len(uses) == 0 {
			return
		}
		if a, ok := parent(uses).(*ast.AssignStmt); ok && slices.Contains(a.Lhs, ast.Expr(id)) {
			return
		}
		if asksLengthOnly(uses) {
			return
		}
		if later = s.endsBetween(x.decl, v, given, id, around, uses) || s.outlives(&arrayShare{decl: x.decl, at: x.at, element: x.element}, id, uses, depth+1); later {
			x.use, x.v = id, v
		}
	})
	return later
}

// asksLengthOnly tells of the nodes around a list that only its length or its room is asked for.
func asksLengthOnly(around []ast.Node) bool {
	call, ok := parent(around).(*ast.CallExpr)
	return ok && (isNamed(call.Fun, "len") || isNamed(call.Fun, "cap"))
}

// endsBetween tells of a use of a variable that the list may have got shorter since the variable was given the array, or that the lock was released under which it was.
func (s *arrayShares) endsBetween(decl *ast.FuncDecl, v types.Object, given, use ast.Node, around, uses []ast.Node) (ends bool) {
	if handsOff(uses) && !slices.ContainsFunc(uses, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		return ok && slices.Contains(around, ast.Node(lit))
	}) {
		return true // it runs when it is called
	}
	between := func(n ast.Node) bool { return given.End() <= n.Pos() && n.End() <= use.Pos() }
	if decl == s.decl && between(s.cut) {
		return true
	}
	if decl == s.decl {
		for _, n := range nodesAround(decl.Body, s.cut) { // in the next turn
			if bodyOfLoop(n) != nil && slices.Contains(uses, n) && (v.Pos() < n.Pos() || n.End() <= v.Pos()) {
				return true
			}
		}
	}
	eachNode(decl.Body, func(n ast.Node, within []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || ends || !between(call) || slices.ContainsFunc(within, isDeferOrGo) {
			return
		}
		if name := calledName(call); len(call.Args) == 0 && (name == "Unlock" || name == "RUnlock") {
			ends = true
			return
		}
		ends = slices.Contains(calledDecls(s.d, call), s.decl) && decl != s.decl
	})
	return ends
}

// text names it: "a pointer to an element in the array (&q.items[0])".
func (x *arrayShare) text() string {
	text := types.ExprString(x.at)
	switch {
	case x.element:
		return "a pointer into the array (" + text + ")"
	case x.whole:
		return text + " itself, with its array"
	}
	return "a part of the array (" + text + ")"
}

// copying is how to copy what it has.
func (x *arrayShare) copying() string {
	text := types.ExprString(x.at)
	if u, ok := x.at.(*ast.UnaryExpr); ok && x.element {
		return "v := " + types.ExprString(u.X) + ", and &v"
	}
	return "slices.Clone(" + text + ")"
}
