package insight

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Lists that live on and get shorter, by the source: what is behind their new end stays in the array, and is in use as long as
// that is.

// cutList is a place that makes such a list shorter.
type cutList struct {
	d    *derivations
	decl *ast.FuncDecl
	list types.Object // a field, or a variable of a package
	text string       // its name there
	elem types.Type
	of   *types.Named    // what the elements are, or point to
	cut  *ast.AssignStmt // gives it the shorter part
	// lives tells that what has the list lives on, by the source: it is a variable of a package, main has it, or it is in something else.
	lives bool
	// from is where a filter in place begins; nil where only the end is cut off.
	from ast.Node
	// moved are the statements or calls that move an element which is left in the list to the front.
	moved []ast.Node
	// rest is what is left behind the new end, as the source could name it before the cut.
	rest string
	// elsewhere is another function that clears it, or gives it a new array.
	elsewhere ast.Node
	// makers tells of frames whether they are in what makes elements.
	makers map[stack.Frame]bool
}

// filters tells that elements are left out one by one, each of which may be the only one of its kind in the array.
func (x *cutList) filters() bool { return x.from != nil }

// cutLists are the places in the sources that make a list shorter which lives on, and whose array nothing clears there; those of
// which the sources show that the elements may be in another list or field as well are none.
func cutLists(d *derivations) (all []*cutList) {
	for _, decl := range d.t.decls {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
				return
			}
			for i, lhs := range a.Lhs {
				if x := cutAt(d, decl, a, lhs, a.Rhs[i]); x != nil && !x.clearedNear(around) && !heldBeside(d, x.of, x.list) {
					x.elsewhere, x.lives = x.clearedElsewhere(), ownerLasts(d, lhs)
					all = append(all, x)
				}
			}
		})
	}
	slices.SortFunc(all, func(a, b *cutList) int { return cmp.Compare(a.cut.Pos(), b.cut.Pos()) })
	return all
}

// cutAt tells of an assignment that it makes a list shorter; nil where it does not.
func cutAt(d *derivations, decl *ast.FuncDecl, a *ast.AssignStmt, lhs, rhs ast.Expr) *cutList {
	list := lastingThing(d, lhs)
	t := d.t.typeOf(lhs)
	if list == nil || t == nil {
		return nil
	}
	of, ok := t.Underlying().(*types.Slice)
	if !ok || !refers(of.Elem()) || sourceType(of.Elem()) == nil {
		return nil
	}
	x := &cutList{d: d, decl: decl, list: list, text: types.ExprString(lhs), elem: of.Elem(), of: sourceType(of.Elem()), cut: a, makers: map[stack.Frame]bool{}}
	switch e := ast.Unparen(rhs).(type) {
	case *ast.Ident:
		if x.from = x.filteredInto(d.variable(e)); x.from == nil {
			return nil
		}
		x.rest = x.text + "[len(" + e.Name + "):]"
	case *ast.SliceExpr:
		if !x.same(e.X) || e.Low != nil || e.High == nil || e.Slice3 {
			return nil // what is before the beginning goes with the next array
		}
		x.rest = x.text + "[" + types.ExprString(e.High) + ":]"
		if isEmpty(e) {
			x.rest = x.text
		}
		if n, ok := e.High.(*ast.Ident); ok {
			x.from = x.filteredBy(d.variable(n))
		} else if !isEmpty(e) && x.moves() {
			return nil // the places behind the end have what was the last element, again and again
		}
	default:
		return nil
	}
	return x
}

// lastingThing is the field, or the variable of a package, that an expression names.
func lastingThing(d *derivations, x ast.Expr) types.Object {
	v := (takenScan{d, nil}).thing(x)
	if field, ok := v.(*types.Var); ok && (field.IsField() || ofPackage(v)) {
		return v
	}
	return nil
}

// ownerLasts tells of the name of a list that what has it is a variable of a package, or a struct that main has, or that the fields
// of others or a variable of a package lead to. One that calls make for themselves goes with them.
func ownerLasts(d *derivations, list ast.Expr) bool {
	sel, ok := ast.Unparen(list).(*ast.SelectorExpr)
	if !ok || ofPackage((takenScan{d, nil}).thing(list)) {
		return true
	}
	owner := d.t.typeOf(sel.X)
	if owner == nil || sourceType(owner) == nil {
		return false
	}
	of := sourceType(owner)
	for _, obj := range d.t.info.Defs {
		if v, ok := obj.(*types.Var); ok && (v.IsField() || ofPackage(v)) && leadsTo(v.Type(), of) {
			return true
		}
	}
	for _, decl := range d.named["main"] {
		found := false
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok && !found {
				t := d.t.typeOf(x)
				found = t != nil && leadsTo(t, of)
			}
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// same tells of an expression that it is the list, by its name or by that of a variable that has it.
func (x *cutList) same(e ast.Expr) bool {
	e = ast.Unparen(e)
	if lastingThing(x.d, e) == x.list && types.ExprString(e) == x.text {
		return true
	}
	v := x.d.variable(e)
	if v == nil || !isLocal(x.decl, v) {
		return false
	}
	defs := x.d.definitions(x.decl)[v]
	return len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && lastingThing(x.d, defs[0].x) == x.list && types.ExprString(defs[0].x) == x.text
}

// filteredInto is where a variable begins as the empty part of the list's array, if nothing is done with it but that a loop
// appends to it.
func (x *cutList) filteredInto(v types.Object) (from ast.Node) {
	if v == nil || !isLocal(x.decl, v) {
		return nil
	}
	appends := false
	for _, def := range x.d.definitions(x.decl)[v] {
		switch e := def.x.(type) {
		case *ast.SliceExpr:
			if !isEmpty(e) || e.Low != nil || e.Slice3 || !x.same(e.X) || from != nil {
				return nil
			}
			from = e
		case *ast.CallExpr:
			if !isNamed(e.Fun, "append") || len(e.Args) < 2 || x.d.variable(e.Args[0]) != v {
				return nil
			}
			if x.inLoop(e) {
				appends, x.moved = true, append(x.moved, e)
			}
		default:
			return nil
		}
	}
	if !appends {
		return nil
	}
	return from
}

// filteredBy is the loop that moves the elements which stay to the front, one after the other, by a number; nil where none does.
func (x *cutList) filteredBy(n types.Object) (from ast.Node) {
	counts := false
	eachNode(x.decl.Body, func(node ast.Node, around []ast.Node) {
		switch s := node.(type) {
		case *ast.IncDecStmt:
			counts = counts || n != nil && x.d.variable(s.X) == n && s.Tok == token.INC
		case *ast.AssignStmt:
			to, ok := s.Lhs[0].(*ast.IndexExpr)
			if ok && n != nil && x.same(to.X) && x.d.variable(to.Index) == n && s.Pos() < x.cut.Pos() && x.inLoop(s) {
				if x.moved = append(x.moved, s); from == nil {
					from = s
				}
			}
		}
	})
	if !counts {
		return nil
	}
	return from
}

// inLoop tells of a node of the function that a loop is around it.
func (x *cutList) inLoop(n ast.Node) bool {
	return loopsSince(nodesAround(x.decl.Body, n), x.decl.Body.Pos())
}

// moves tells that the function closes the gap of one element with those behind it, before it cuts the end off.
func (x *cutList) moves() bool {
	return hasCall(x.decl.Body, func(call *ast.CallExpr) bool {
		if !isNamed(call.Fun, "copy") || len(call.Args) != 2 || call.Pos() > x.cut.Pos() {
			return false
		}
		part, ok := call.Args[0].(*ast.SliceExpr)
		return ok && x.same(part.X)
	})
}

// clearedNear tells that something in the function clears what is behind the end of the list, or gives it a new array; what only
// another arm of a condition around the cut does is none, where that is not about a length.
func (x *cutList) clearedNear(around []ast.Node) (found bool) {
	eachNode(x.decl.Body, func(n ast.Node, others []ast.Node) {
		if found || !x.clears(x.decl, n) {
			return
		}
		found = !otherArm(around, others)
	})
	return found
}

// otherArm tells of the nodes around two places that they are in different arms of a condition which asks for no length.
func otherArm(a, b []ast.Node) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == 0 || i >= len(a) || i >= len(b) {
		return false
	}
	if cond, ok := a[i-1].(*ast.IfStmt); ok {
		return cond.Else != nil && !hasCall(cond.Cond, func(*ast.CallExpr) bool { return true })
	}
	_, one := a[i].(*ast.CaseClause)
	_, other := b[i].(*ast.CaseClause)
	return one && other
}

// clearedElsewhere is a place in another function that clears the list or gives it a new array; nil where there is none.
func (x *cutList) clearedElsewhere() (at ast.Node) {
	for _, decl := range x.d.t.decls {
		if decl == x.decl || starts.MatchString(decl.Name.Name) {
			continue
		}
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if n != nil && x.clears(decl, n) && (at == nil || n.Pos() < at.Pos()) {
				at = n
			}
			return true
		})
	}
	return at
}

// clears tells of a node that it clears elements of the list, has the library do so, or gives the list another array.
func (x *cutList) clears(decl *ast.FuncDecl, n ast.Node) bool {
	mine := func(e ast.Expr) bool { return x.means(decl, e) }
	switch n := n.(type) {
	case *ast.CallExpr:
		if len(n.Args) == 0 {
			return false
		}
		name := types.ExprString(uninstantiated(n))
		return (name == "clear" || slices.Contains([]string{"slices.Delete", "slices.DeleteFunc", "slices.Clip", "slices.Compact", "slices.CompactFunc", "slices.Replace"}, name)) && mine(n.Args[0])
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			rhs := n.Rhs[min(i, len(n.Rhs)-1)]
			if to, ok := lhs.(*ast.IndexExpr); ok && mine(to.X) && x.isNothing(decl, rhs) {
				return true
			}
			if lastingThing(x.d, lhs) == x.list && n.Tok == token.ASSIGN && x.isNew(decl, rhs) {
				return true
			}
		}
	}
	return false
}

// means tells of an expression in a function that it may be the list, or a part of it: by the name of the field, or of a variable
// that has it.
func (x *cutList) means(decl *ast.FuncDecl, e ast.Expr) bool { return x.leadsBack(decl, e, 0) }

// leadsBack follows variables back to the list, over some steps.
func (x *cutList) leadsBack(decl *ast.FuncDecl, e ast.Expr, steps int) bool {
	e = ast.Unparen(e)
	if part, ok := e.(*ast.SliceExpr); ok {
		return x.leadsBack(decl, part.X, steps)
	}
	if lastingThing(x.d, e) == x.list {
		return true
	}
	v := x.d.variable(e)
	return v != nil && isLocal(decl, v) && steps < maxWay && slices.ContainsFunc(x.d.definitions(decl)[v], func(def definition) bool {
		return def.x != nil && !def.ranged && x.leadsBack(decl, def.x, steps+1)
	})
}

// isNothing tells of a value that it refers to nothing: nil, an empty literal, or a variable that was only declared.
func (x *cutList) isNothing(decl *ast.FuncDecl, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.StarExpr:
		call, ok := e.X.(*ast.CallExpr)
		return ok && isNamed(call.Fun, "new")
	case *ast.Ident:
		defs := x.d.definitions(decl)[x.d.variable(e)]
		return e.Name == "nil" || len(defs) == 1 && defs[0].x == nil && !defs[0].unknown && !defs[0].ranged
	}
	return false
}

// isNew tells of what the list is given that it has an array of its own, or may have: whatever is neither a part of a slice nor
// what was appended to one.
func (x *cutList) isNew(decl *ast.FuncDecl, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return !x.means(decl, e.X)
	case *ast.CallExpr:
		if !isNamed(e.Fun, "append") || len(e.Args) == 0 {
			return true
		}
		return !x.means(decl, e.Args[0])
	case *ast.Ident:
		return !x.means(decl, e)
	}
	return true
}

// refers tells of a type that its values have pointers to what is somewhere else, as far as that is known.
func refers(t types.Type) bool { return refersFirst(t, typesSeen{}) }

func refersFirst(t types.Type, seen typesSeen) bool {
	if seen.again(t) {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.String || u.Kind() == types.UnsafePointer
	case *types.Array:
		return refersFirst(u.Elem(), seen)
	case *types.Struct:
		for i := range u.NumFields() {
			if refersFirst(u.Field(i).Type(), seen) {
				return true
			}
		}
		return false
	}
	return true
}

// sourceType is the struct of the sources that a type is or points to; nil where it is anything else.
func sourceType(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || !isStruct(n) {
		return nil
	}
	return n.Origin()
}

// leadsTo tells of a type that its values are, hold or point to values of a type, but for those in the fields of other structs; or that it has
// too many others to know.
func leadsTo(t types.Type, of *types.Named) bool { return leadsFurther(t, of, typesSeen{}) }

func leadsFurther(t types.Type, of *types.Named, seen typesSeen) bool {
	t = types.Unalias(t)
	if seen.again(t) {
		return seen.full()
	}
	switch u := t.(type) {
	case *types.Named:
		if u.Origin() == of {
			return true
		}
		for i := range u.TypeArgs().Len() {
			if leadsFurther(u.TypeArgs().At(i), of, seen) {
				return true
			}
		}
		return !isStruct(u) && leadsFurther(u.Underlying(), of, seen)
	case *types.Pointer:
		return leadsFurther(u.Elem(), of, seen)
	case *types.Slice:
		return leadsFurther(u.Elem(), of, seen)
	case *types.Array:
		return leadsFurther(u.Elem(), of, seen)
	case *types.Chan:
		return leadsFurther(u.Elem(), of, seen)
	case *types.Map:
		return leadsFurther(u.Key(), of, seen) || leadsFurther(u.Elem(), of, seen)
	}
	return false
}

// heldBeside tells whether the sources have another field or variable of a package that may hold values of a type, or give some
// to something of a library that keeps them.
func heldBeside(d *derivations, of *types.Named, list types.Object) bool {
	return heldBesides(d, of, list, func(types.Type) bool { return false })
}

// heldBesides is the same, without the fields and variables of some types.
func heldBesides(d *derivations, of *types.Named, list types.Object, but func(types.Type) bool) bool {
	for _, obj := range d.t.info.Defs {
		v, ok := obj.(*types.Var)
		if !ok || obj == list || !leadsTo(v.Type(), of) || but(v.Type()) {
			continue
		}
		switch v.Type().Underlying().(type) {
		case *types.Map, *types.Chan: // also one of a function, which may run as long as the program
			return true
		}
		if (v.IsField() || ofPackage(v)) && !neverNamed(d, v) {
			return true
		}
	}
	for _, decl := range d.t.decls {
		if hasCall(decl.Body, func(call *ast.CallExpr) bool {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			return ok && d.t.decls[d.t.callee(call)] == nil && keepingNames.MatchString(sel.Sel.Name) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
				t := d.t.typeOf(x)
				return t != nil && leadsTo(t, of)
			})
		}) {
			return true
		}
	}
	return false
}

// neverNamed tells of a field that nothing sets it: no source names it, no other package can, and no literal gives all fields in
// their order.
func neverNamed(d *derivations, v *types.Var) bool {
	if !v.IsField() || v.Exported() || v.Embedded() {
		return false
	}
	for _, used := range d.t.info.Uses {
		if used == types.Object(v) {
			return false
		}
	}
	for x, tv := range d.t.info.Types {
		lit, ok := x.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			continue
		}
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
			continue
		}
		if of, ok := tv.Type.Underlying().(*types.Struct); ok && hasField(of, v) {
			return false
		}
	}
	return true
}

// shares are the expressions that have the array as well, but for the variable that gathers what stays.
func (x *cutList) shares() (own, others *arrayShare) {
	s := &arrayShares{d: x.d, list: x.list, decl: x.decl, cut: x.cut}
	for _, rhs := range x.cut.Rhs {
		if v := x.d.variable(ast.Unparen(rhs)); v != nil {
			s.but = append(s.but, v)
		}
	}
	return s.find()
}
