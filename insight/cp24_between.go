package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Statements between the work and the condition that change something else than what the work reads: a field of another struct, or
// a variable of the package.

// leavesWork tells of a statement between the work and the condition that all it changes are such places, or variables of the
// function that the work does not read.
func (w *unneededWork) leavesWork(n ast.Stmt) bool {
	if n == nil || w.passes(w.s.d, n) {
		return true
	}
	if leavesPlace(n) || writesBehind(w.s.d, n) {
		return false
	}
	all := func(list []ast.Stmt) bool {
		return !slices.ContainsFunc(list, func(s ast.Stmt) bool { return !w.leavesWork(s) })
	}
	switch n := n.(type) {
	case *ast.IncDecStmt:
		return w.setsElsewhere(n.X)
	case *ast.AssignStmt:
		for _, rhs := range n.Rhs {
			if _, ok := w.harmless(w.s.d, rhs); !ok {
				return false
			}
		}
		return n.Tok != token.DEFINE && !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { return !w.setsElsewhere(x) })
	case *ast.BlockStmt:
		return all(n.List)
	case *ast.IfStmt:
		_, ok := w.harmless(w.s.d, n.Cond)
		return ok && w.leavesWork(n.Init) && all(n.Body.List) && w.leavesWork(n.Else)
	case *ast.RangeStmt:
		head := *n
		head.Body = &ast.BlockStmt{}
		return w.passes(w.s.d, &head) && all(n.Body.List)
	case *ast.ForStmt:
		head := *n
		head.Body = &ast.BlockStmt{}
		return w.passes(w.s.d, &head) && all(n.Body.List)
	}
	return false
}

// setsElsewhere tells of a place that it is a field, or a variable of the package, which the work does not read: by its name, or
// by way of something that leads to a struct with such a field.
func (w *unneededWork) setsElsewhere(x ast.Expr) bool {
	d := w.s.d
	var place types.Object
	var owner types.Type
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if v := d.variable(x); ofPackage(v) {
			place = v
		}
	case *ast.SelectorExpr:
		if place, owner = d.field(x), d.t.typeOf(x.X); place == nil || owner == nil || sourceType(owner) == nil {
			return false
		}
		if _, ok := w.harmless(d, x.X); !ok {
			return false
		}
	}
	if place == nil || isValue(place.Type()) {
		return false // a whole of several places
	}
	for _, part := range w.parts {
		reads, ok := w.readsOf(part)
		if !ok || reads[place] || owner != nil && w.leadsInto(part, sourceType(owner)) || owner == nil && addressTaken(d, place) {
			return false
		}
	}
	return true
}

// readsOf are the fields and the variables of packages that a part of the work reads.
func (w *unneededWork) readsOf(part ast.Node) (map[types.Object]bool, bool) {
	f := &derived{decl: w.in.decl, reads: map[types.Object]bool{}, fills: map[types.Object]bool{}}
	walk := &derivedWalk{d: w.s.d, f: f, touched: map[types.Object]bool{}}
	walk.walk(part)
	return f.reads, !walk.other
}

// leadsInto tells of a part of the work that one of its values may lead to a struct, through fields, pointers or whatever an
// interface holds: a library that is given it may read that.
func (w *unneededWork) leadsInto(part ast.Node, of *types.Named) (found bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok || found {
			return !found
		}
		switch e := x.(type) {
		case *ast.SelectorExpr:
			if w.s.d.field(e) == nil {
				return true
			}
			found = mayReach(w.s.d.t.typeOf(e), of)
			for inner := ast.Unparen(e.X); !found; { // what only leads to the field is not read as a whole
				sel, ok := inner.(*ast.SelectorExpr)
				if ok && w.s.d.field(sel) != nil {
					inner = ast.Unparen(sel.X)
					continue
				}
				if !isIdent(inner) {
					return true
				}
				return false
			}
		case *ast.Ident:
			if v := w.s.d.variable(e); v != nil && !w.group[v] { // but for what it makes itself
				found = mayReach(v.Type(), of)
			}
		}
		return !found
	})
	return found
}

// mayReach tells of a type that its values may lead to a struct of the sources.
func mayReach(t types.Type, of *types.Named) bool { return reachesOn(t, of, typesSeen{}) }

func reachesOn(t types.Type, of *types.Named, seen typesSeen) bool {
	if t == nil {
		return true
	}
	if t = types.Unalias(t); seen.again(t) {
		return seen.full()
	}
	switch u := t.(type) {
	case *types.Named:
		if u.Origin() == of {
			return true
		}
		if isErrorType(u) {
			return false
		}
		return reachesOn(u.Underlying(), of, seen)
	case *types.Pointer:
		return reachesOn(u.Elem(), of, seen)
	case *types.Slice:
		return reachesOn(u.Elem(), of, seen)
	case *types.Array:
		return reachesOn(u.Elem(), of, seen)
	case *types.Map:
		return reachesOn(u.Key(), of, seen) || reachesOn(u.Elem(), of, seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if reachesOn(u.Field(i).Type(), of, seen) {
				return true
			}
		}
		return false
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Kind() == types.Invalid
	}
	return true
}

// addressTaken tells of a variable of a package that something may read it by its address.
func addressTaken(d *derivations, v types.Object) bool {
	for _, decl := range d.t.decls {
		if hasAny(decl.Body, func(n ast.Node) bool {
			u, ok := n.(*ast.UnaryExpr)
			return ok && u.Op == token.AND && d.variable(innermost(u.X)) == v
		}) {
			return true
		}
	}
	return false
}
