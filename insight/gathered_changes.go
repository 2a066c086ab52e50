package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Whether what is gathered changes when it is in the list already, by the source: what a later item does to an earlier one is not
// known yet where each is written when it comes.

// laterChanges looks for such a change in the function that gathers.
type laterChanges struct {
	d     *derivations
	whole ast.Node // has all turns
	of    map[*types.Named]bool
	// isNew and returns tell of variables and functions whether what they have, and return, is new; of one that is being asked about,
	// that it is not.
	isNew   map[types.Object]bool
	returns map[*ast.FuncDecl]bool
	deep    int // how many variables are being asked about
}

// mostLater bounds how many variables are followed one after the other: a source may be one long chain of them.
const mostLater = 1000

func newLaterChanges(d *derivations, whole ast.Node) *laterChanges {
	return &laterChanges{d: d, whole: whole, of: map[*types.Named]bool{}, isNew: map[types.Object]bool{}, returns: map[*ast.FuncDecl]bool{}}
}

// changedLater is the first statement that sets a field of an item through anything but the one that its turn makes; nil where the
// source shows none.
func (x *encodedWhole) changedLater() (at ast.Node) {
	c := newLaterChanges(x.d, x.whole)
	call := x.adds.Rhs[0].(*ast.CallExpr)
	for _, item := range call.Args[1:] {
		of := x.d.t.typeOf(item)
		if s, ok := of.(*types.Slice); ok && call.Ellipsis.IsValid() {
			of = s.Elem()
		}
		c.take(of)
	}
	if len(c.of) == 0 {
		return nil
	}
	seen := map[*ast.FuncDecl]bool{}
	for decl := range x.d.reached(x.decl, x.whole) {
		seen[decl] = true
	}
	seen[x.decl] = true
	for decl := range seen {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if n == nil || decl == x.decl && (n.Pos() >= x.call.Pos() || n.End() <= x.of.Pos()) {
				return n != nil && n.Pos() < x.call.Pos()
			}
			for _, lhs := range placesSet(n) {
				if c.sets(lhs) && !c.newIn(decl, innermost(lhs)) && (at == nil || n.Pos() < at.Pos()) {
					at = n
				}
			}
			return true
		})
	}
	return at
}

// take notes a struct of the sources, and those that its fields point to.
func (c *laterChanges) take(t types.Type) {
	switch u := t.(type) {
	case *types.Pointer:
		c.take(u.Elem())
	case *types.Slice:
		c.take(u.Elem())
	case *types.Map:
		c.take(u.Elem())
	case *types.Named:
		of := sourceType(u)
		if of == nil || c.of[of] {
			return
		}
		c.of[of] = true
		s := of.Underlying().(*types.Struct)
		for i := range s.NumFields() {
			c.take(s.Field(i).Type())
		}
	}
}

// placesSet are the places that a statement gives another value, but for variables that it declares.
func placesSet(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
}

// sets tells of a place that it is a field of an item, or a part of one, reached by a pointer, an index or a map.
func (c *laterChanges) sets(lhs ast.Expr) bool {
	of := false
	for x := lhs; ; {
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			if t := c.d.t.typeOf(e.X); t != nil && c.d.field(e) != nil && c.of[sourceType(t)] {
				of = true
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.StarExpr:
			if t := c.d.t.typeOf(e); t != nil && c.of[sourceType(t)] {
				of = true
			}
			x = e.X
		default:
			return of
		}
	}
}

// newIn tells of a variable that it has what its turn has made, or has got, or a copy.
func (c *laterChanges) newIn(decl *ast.FuncDecl, x ast.Expr) bool {
	v := c.d.variable(x)
	if v == nil || !isLocal(decl, v) || c.deep > mostLater {
		return false
	}
	if _, known := c.isNew[v]; !known {
		c.isNew[v] = false
		c.deep++
		c.isNew[v] = c.hasNew(decl, v)
		c.deep--
	}
	return c.isNew[v]
}

// hasNew is newIn of a variable that nobody has asked about.
func (c *laterChanges) hasNew(decl *ast.FuncDecl, v types.Object) bool {
	if isValue(v.Type()) && !isGiven(decl, v) {
		return true
	}
	if isGiven(decl, v) {
		return c.givenNew(decl, v)
	}
	if covers(decl.Body, c.whole) && (v.Pos() < c.whole.Pos() || v.Pos() > c.whole.End()) {
		return false // one of an earlier turn, before this one sets it
	}
	return !slices.ContainsFunc(c.d.definitions(decl)[v], func(def definition) bool {
		return !def.part && !def.unknown && def.x != nil && !c.makesNew(decl, v, def)
	})
}

// makesNew tells of what a variable is given that it is new.
func (c *laterChanges) makesNew(decl *ast.FuncDecl, v types.Object, def definition) bool {
	if def.ranged {
		return c.newIn(decl, innermost(pointed(def.x))) && isIdent(def.x)
	}
	switch e := ast.Unparen(def.x).(type) {
	case *ast.Ident:
		return c.d.variable(e) == v || e.Name == "nil" || c.newIn(decl, e)
	case *ast.UnaryExpr:
		return e.Op == token.AND && (c.d.makes(decl, v, e) || isIdent(e.X) && c.newIn(decl, e.X))
	case *ast.CallExpr:
		fn := c.d.t.callee(e)
		if fn == nil || len(c.d.declsOf(fn)) == 0 {
			return true // a library knows nothing of the list
		}
		return !slices.ContainsFunc(c.d.declsOf(fn), func(callee *ast.FuncDecl) bool { return !c.returnsNew(callee) })
	}
	return c.d.makes(decl, v, def.x)
}

// returnsNew tells of a function that what it returns is new, as far as that is or points to an item.
func (c *laterChanges) returnsNew(decl *ast.FuncDecl) bool {
	if known, asked := c.returns[decl]; asked {
		return known
	}
	c.returns[decl] = false
	ok := true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				if t := c.d.t.typeOf(result); t == nil || isValue(t) || !slices.ContainsFunc(c.named(), func(of *types.Named) bool { return leadsTo(t, of) }) {
					continue
				}
				ok = ok && c.makesNew(decl, nil, definition{x: result})
			}
		}
		return ok
	})
	c.returns[decl] = ok
	return ok
}

// named are the types of the items.
func (c *laterChanges) named() (all []*types.Named) {
	for of := range c.of {
		all = append(all, of)
	}
	return all
}

// givenNew tells of what a function is given, or its receiver, that all calls from the functions around give it something new.
func (c *laterChanges) givenNew(decl *ast.FuncDecl, v types.Object) bool {
	all := whoCalls(c.d, decl)
	return len(all) > 0 && !slices.ContainsFunc(all, func(from callBy) bool {
		arg := argumentFor(c.d, decl, from.call, v)
		if arg == nil {
			return true
		}
		if u, addr := ast.Unparen(arg).(*ast.UnaryExpr); addr && u.Op == token.AND && isIdent(u.X) {
			arg = u.X
		}
		return !(isIdent(arg) && c.newIn(from.in, arg)) && !c.d.makes(from.in, nil, arg)
	})
}

// calledDecls are the declarations that a call may mean.
func calledDecls(d *derivations, call *ast.CallExpr) []*ast.FuncDecl {
	if fn := d.t.callee(call); fn != nil {
		return d.declsOf(fn)
	}
	return nil
}
