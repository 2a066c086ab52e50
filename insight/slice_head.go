package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Queues that give up their first place without clearing it, by the source: what was taken out stays in the array before the
// beginning of the slice, and is in use until append moves what is left to another array.

// headCut is a place that takes the first elements out of such a queue.
type headCut struct {
	d    *derivations
	decl *ast.FuncDecl
	list *types.Var // a field, or a variable of a package
	text string     // its name there
	cut  *ast.AssignStmt
	// anew is a place in a function without such a cut that clears the list or gives it a new array; nil where there is none.
	anew ast.Node
}

// headCutOf finds the place that takes elements out of the queue of a store without clearing their slots; nil where there is none, or another one does clear
// them and nothing shows which of them runs. reached tells of a node how often it was come to, where that was counted.
func headCutOf(d *derivations, s keepsAt, reached func(n ast.Node, around []ast.Node) (int64, bool)) *headCut {
	list := listOfStore(d, s)
	if list == nil {
		return nil
	}
	if of, ok := list.Type().Underlying().(*types.Slice); !ok || !refers(of.Elem()) {
		return nil
	}
	var all []*headCut
	cuts, anew := map[*ast.FuncDecl]bool{}, map[*ast.FuncDecl]ast.Node{}
	for _, decl := range d.t.decls {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != len(a.Rhs) {
				return
			}
			for i, lhs := range a.Lhs {
				x := &headCut{d: d, decl: decl, list: list, text: types.ExprString(lhs), cut: a}
				if !x.cutsHead(lhs, a.Rhs[i]) {
					continue
				}
				cuts[decl] = true
				if n, counted := reached(a, append([]ast.Node{decl}, around...)); x.clearsBefore(decl) == nil && (!counted || n > 0) {
					all = append(all, x)
				}
			}
		})
		if x := (&headCut{d: d, decl: decl, list: list}); !starts.MatchString(decl.Name.Name) {
			anew[decl] = x.clearsBefore(decl)
		}
	}
	if len(all) == 0 {
		return nil
	}
	x := slices.MinFunc(all, func(a, b *headCut) int { return int(a.cut.Pos() - b.cut.Pos()) })
	for decl, n := range anew {
		if n != nil && !cuts[decl] && (x.anew == nil || n.Pos() < x.anew.Pos()) {
			x.anew = n
		}
	}
	return x
}

// listOfStore is the field, or the variable of a package, that a store appends to; nil where it is neither.
func listOfStore(d *derivations, s keepsAt) (list *types.Var) {
	for _, decl := range d.t.decls {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || types.ExprString(a.Lhs[0]) != s.container {
				return true
			}
			if file, line, _ := d.t.at(a.Lhs[0].Pos()); file == s.file && line == s.line {
				list, _ = d.t.place(a.Lhs[0]).(*types.Var)
			}
			return true
		})
	}
	if list == nil || !list.IsField() && !isGlobal(list) {
		return nil
	}
	return list
}

// is tells of an expression that it is the list, not one of its elements.
func (x *headCut) is(e ast.Expr) bool {
	if _, index := ast.Unparen(e).(*ast.IndexExpr); index {
		return false
	}
	p, _ := x.d.t.place(e).(*types.Var)
	return p == x.list
}

// cutsHead tells of an assignment that it leaves out the first elements of the list.
func (x *headCut) cutsHead(lhs, rhs ast.Expr) bool {
	part, ok := ast.Unparen(rhs).(*ast.SliceExpr)
	if !ok || !x.is(lhs) || !x.is(part.X) || part.Low == nil || part.High != nil {
		return false
	}
	n, known := numberOf(part.Low)
	return !known || n > 0
}

// clearsBefore is a place in the function, or in one that it calls, that sets elements of the list, or gives it another array; nil where none does on the way
// to the cut.
func (x *headCut) clearsBefore(decl *ast.FuncDecl) (found ast.Node) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		if found != nil || x.leavesFirst(around) {
			return
		}
		if call, ok := n.(*ast.CallExpr); ok && x.cut != nil {
			if called := x.d.t.decls[x.d.t.callee(call)]; called != nil && called != decl && called.Body != nil && hasNode(called.Body, x.clears) {
				found = n
				return
			}
		}
		if x.clears(n) {
			found = n
		}
	})
	return found
}

// leavesFirst tells of the nodes around a place that it is in a block without the cut which ends by leaving the function.
func (x *headCut) leavesFirst(around []ast.Node) bool {
	if x.cut == nil {
		return false
	}
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		}
		if len(list) == 0 || n.Pos() <= x.cut.Pos() && x.cut.End() <= n.End() {
			return false
		}
		_, leaves := list[len(list)-1].(*ast.ReturnStmt)
		return leaves
	})
}

// clears tells of a node that it sets an element of the list, or of a variable like it, gives the list to what clears, or gives it something else than a part of
// itself or itself with more.
func (x *headCut) clears(n ast.Node) bool {
	like := func(e ast.Expr) bool {
		t := x.d.t.typeOf(e)
		return x.is(e) || t != nil && types.Identical(t, x.list.Type())
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		name := types.ExprString(uninstantiated(n))
		return len(n.Args) > 0 && (name == "clear" || name == "copy" || slices.Contains([]string{"slices.Delete", "slices.DeleteFunc", "slices.Clip", "slices.Clone", "slices.Replace"}, name)) && like(unsliced(n.Args[0]))
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if to, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && like(to.X) {
				return true
			}
			if n.Tok == token.ASSIGN && x.is(lhs) && !x.goesOn(n.Rhs[min(i, len(n.Rhs)-1)]) {
				return true
			}
		}
	}
	return false
}

// goesOn tells of what the list is given that it has the array which it had, or one that append has moved all of it to.
func (x *headCut) goesOn(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return x.is(e.X)
	case *ast.CallExpr:
		return isNamed(e.Fun, "append") && len(e.Args) > 0 && x.is(unsliced(e.Args[0]))
	}
	return false
}

// pushes tells of a node that it appends to the list, or calls a function that does, over some steps.
func (x *headCut) pushes(n ast.Node, steps int) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			call, ok := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.CallExpr)
			if ok && x.is(lhs) && isNamed(call.Fun, "append") && len(call.Args) > 1 && x.is(call.Args[0]) {
				return true
			}
		}
	case *ast.CallExpr:
		called := x.d.t.decls[x.d.t.callee(n)]
		return called != nil && called != x.decl && steps > 0 && hasNode(called.Body, func(n ast.Node) bool { return x.pushes(n, steps-1) })
	}
	return false
}

// drainedAfter is a loop that takes out of the queue until it is empty, in a function that has put something in before, where whatever puts something in is called by
// such functions alone: when they return, nothing is left. It is nil where the source does not show that.
func (x *headCut) drainedAfter() (loop *ast.ForStmt) {
	drains := map[*ast.FuncDecl]bool{}
	for _, decl := range x.d.t.decls {
		for _, s := range decl.Body.List { // whatever the function does, it comes to it
			f, ok := s.(*ast.ForStmt)
			if !ok || !x.untilEmpty(f) || !x.putsBefore(decl, f) {
				continue
			}
			if drains[decl] = true; loop == nil || f.Pos() < loop.Pos() {
				loop = f
			}
		}
	}
	for _, decl := range x.d.t.decls {
		if loop != nil && hasNode(decl.Body, func(n ast.Node) bool { return x.pushes(n, 0) }) && !x.calledBy(decl, drains, maxWay) {
			return nil
		}
	}
	return loop
}

// putsBefore tells of a loop that its function puts something in before it, cannot leave from there on, and puts nothing in behind the loop.
func (x *headCut) putsBefore(decl *ast.FuncDecl, loop *ast.ForStmt) bool {
	first, late := token.NoPos, false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if n == nil || loop.Pos() <= n.Pos() && n.End() <= loop.End() {
			return n != loop
		}
		if _, returns := n.(*ast.ReturnStmt); returns && first.IsValid() && n.Pos() < loop.Pos() {
			late = true
		}
		if x.pushes(n, maxWay) {
			if late = late || n.Pos() > loop.Pos(); !first.IsValid() {
				first = n.Pos()
			}
		}
		return true
	})
	return first.IsValid() && !late
}

// calledBy tells of a function that it is one of some, or that such functions alone call it, over some steps.
func (x *headCut) calledBy(decl *ast.FuncDecl, some map[*ast.FuncDecl]bool, steps int) bool {
	if some[decl] {
		return true
	}
	if steps == 0 {
		return false
	}
	any := false
	for _, by := range x.d.t.decls {
		if by == decl || !hasCall(by.Body, func(call *ast.CallExpr) bool { return x.d.t.decls[x.d.t.callee(call)] == decl }) {
			continue
		}
		if any = true; !x.calledBy(by, some, steps-1) {
			return false
		}
	}
	return any
}

// untilEmpty tells of a loop that it ends when nothing is in the queue, and for no other reason.
func (x *headCut) untilEmpty(loop *ast.ForStmt) bool {
	exits := 0
	eachNode(loop.Body, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			exits++
		case *ast.BranchStmt:
			if n.Tok == token.BREAK || n.Tok == token.GOTO {
				exits++
			}
		}
	})
	if x.decl.Pos() <= loop.Pos() && loop.End() <= x.decl.End() { // the cut itself is in it
		return exits == 0 && loop.Cond != nil && x.cut.Pos() > loop.Pos() && x.cut.End() <= loop.End() && x.asksEmpty(loop.Cond)
	}
	if !x.givesUp() {
		return false
	}
	// for x, ok := q.Pop(); ok; x, ok = q.Pop(), or a condition in it that ends the loop
	var got []types.Object
	ast.Inspect(loop, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Rhs) == 1 {
			if call, ok := a.Rhs[0].(*ast.CallExpr); ok && x.d.t.decls[x.d.t.callee(call)] == x.decl {
				for _, lhs := range a.Lhs {
					got = append(got, x.d.variable(lhs))
				}
			}
		}
		return true
	})
	asks := func(cond ast.Expr) bool {
		return cond != nil && hasNode(cond, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && x.d.variable(id) != nil && slices.Contains(got, x.d.variable(id))
		})
	}
	if asks(loop.Cond) {
		return exits == 0
	}
	if loop.Cond != nil || exits != 1 {
		return false
	}
	return slices.ContainsFunc(loop.Body.List, func(s ast.Stmt) bool {
		cond, ok := s.(*ast.IfStmt)
		return ok && asks(cond.Cond) && hasNode(cond.Body, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				return true
			}
			return false
		})
	})
}

// asksEmpty tells of a condition that it asks for the length of the list, and nothing else.
func (x *headCut) asksEmpty(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || b.Op == token.LAND || b.Op == token.LOR {
		return false
	}
	n, known := numberOf(b.Y)
	return known && n <= 1 && asksLength(b.X, x.text)
}

// givesUp tells of the function with the cut that it returns at once where the list is empty.
func (x *headCut) givesUp() bool {
	return hasNode(x.decl.Body, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if !ok || !x.asksEmpty(cond.Cond) || len(cond.Body.List) == 0 {
			return false
		}
		_, returns := cond.Body.List[len(cond.Body.List)-1].(*ast.ReturnStmt)
		return returns
	})
}

// elements are the types that its elements have, those of a generic list in all its uses.
func (x *headCut) elements() (all []types.Type) {
	elem := types.Unalias(x.list.Type().Underlying().(*types.Slice).Elem())
	of, generic := elem.(*types.TypeParam)
	if !generic {
		return []types.Type{elem}
	}
	add := func(t types.Type) {
		owner := x.ownerIn(t)
		if owner == nil || of.Index() >= owner.TypeArgs().Len() {
			return
		}
		arg := types.Unalias(owner.TypeArgs().At(of.Index()))
		if _, param := arg.(*types.TypeParam); !param && !slices.ContainsFunc(all, func(t types.Type) bool { return types.Identical(t, arg) }) {
			all = append(all, arg)
		}
	}
	for _, obj := range x.d.t.info.Defs {
		if v, ok := obj.(*types.Var); ok {
			add(v.Type())
		}
	}
	for _, tv := range x.d.t.info.Types {
		add(tv.Type)
	}
	return all
}

// owns tells of a type that the list is a field of it.
func (x *headCut) owns(t *types.Named) bool {
	of, ok := t.Underlying().(*types.Struct)
	return ok && hasField(of, x.list)
}

// ownerIn is the queue's type where a type is that, or leads to it; nil where it does not.
func (x *headCut) ownerIn(t types.Type) *types.Named {
	for range maxWay {
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		case *types.Named:
			if x.owns(u.Origin()) {
				return u
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// wraps tells of a type that the queue itself is in it: of a generic queue, its type names that of the elements.
func (x *headCut) wraps(t types.Type) bool { return x.ownerIn(t) != nil }

// heldElsewhere tells whether what was taken out may be held by something else as well: the sources have another place for such elements, or keep what is in
// their fields, or the type of the elements does not tell.
func (x *headCut) heldElsewhere() bool {
	all := x.elements()
	return len(all) == 0 || slices.ContainsFunc(all, func(t types.Type) bool {
		of := sourceType(t)
		return of == nil || heldBesides(x.d, of, x.list, x.wraps) || x.keepsFields(of)
	})
}

// keepsFields tells whether the sources keep what a field of an element refers to. Texts count only where the element has nothing else: they are names.
func (x *headCut) keepsFields(of *types.Named) bool {
	var fields, texts []*types.Var
	s := of.Underlying().(*types.Struct)
	for i := range s.NumFields() {
		switch f := s.Field(i); {
		case !refers(f.Type()) || sharedLibrary(f.Type()):
		case isTextType(f.Type()):
			texts = append(texts, f)
		default:
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		fields = texts
	}
	is := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		v, _ := x.d.t.place(sel).(*types.Var)
		return v != nil && slices.Contains(fields, v)
	}
	for _, decl := range x.d.t.decls {
		if decl.Body != nil && x.keepsIn(decl, is, 3) {
			return true
		}
	}
	return false
}

// sharedLibrary tells of a type of the library whose values refer to what all of them share, such as a time to its zone.
func sharedLibrary(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && (n.Obj().Pkg().Path() == "time" || n.Obj().Pkg().Path() == "sync")
}

// keepsIn tells of a function that it may keep some expressions: it returns them, sends them, or puts them into something that is not a variable of its own.
func (x *headCut) keepsIn(decl *ast.FuncDecl, is func(ast.Expr) bool, depth int) (keeps bool) {
	eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
		e, ok := n.(ast.Expr)
		if keeps || !ok || !is(e) {
			return
		}
		for i := len(around) - 1; i >= 0 && !keeps; i-- {
			switch p := around[i].(type) {
			case *ast.ParenExpr:
				e = p
				continue
			case *ast.SliceExpr:
				if p.X == e {
					e = p
					continue
				}
			case *ast.AssignStmt:
				for j, rhs := range p.Rhs {
					if rhs == e {
						id, local := p.Lhs[min(j, len(p.Lhs)-1)].(*ast.Ident)
						keeps = !local || id.Name != "_" && !isLocal(decl, x.d.variable(id))
					}
				}
			case *ast.SendStmt:
				keeps = p.Value == e
			case *ast.KeyValueExpr:
				keeps = p.Value == e
			case *ast.CompositeLit, *ast.ReturnStmt:
				keeps = true
			case *ast.CallExpr:
				keeps = x.callKeeps(p, e, depth)
			}
			return
		}
	})
	return keeps
}

// callKeeps tells of a call that it may keep one of its arguments.
func (x *headCut) callKeeps(call *ast.CallExpr, arg ast.Expr, depth int) bool {
	at := slices.Index(call.Args, arg)
	if at < 0 {
		return false
	}
	if isNamed(call.Fun, "append") {
		return at > 0 && !call.Ellipsis.IsValid() // of bytes with dots, a copy
	}
	if keepingNames.MatchString(calledName(call)) {
		return true
	}
	called := x.d.t.decls[x.d.t.callee(call)]
	if called == nil || called.Body == nil {
		return false
	}
	if depth == 0 {
		return true
	}
	n := 0
	for _, field := range called.Type.Params.List {
		for _, name := range field.Names {
			if n == at {
				v := x.d.variable(name)
				return x.keepsIn(called, func(e ast.Expr) bool { return v != nil && x.d.variable(e) == v }, depth-1)
			}
			n++
		}
	}
	return false
}
