package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"loupe/value/stack"
)

// What a slice is in the order of: where anything of that changes, the slice is no longer in order, and a place for a new element cannot be searched.

// orderChange is where something changes that the comparison of a sort reads, and what.
func orderChange(c *code, at stack.Frame) (what string, change codeLine) {
	d := newDerivations(c)
	in, ok := d.at(at)
	if !ok {
		return "", change
	}
	var compares []ast.Node
	ast.Inspect(in.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !inSet("sort", types.ExprString(call.Fun)) {
			return true
		}
		if coversLine(d, call, at.Line) {
			compares = append(compares, comparisonsOf(d, call)...)
		}
		return true
	})
	read := map[types.Object]bool{}
	for _, n := range compares {
		w := &derivedWalk{d: d, f: &derived{decl: in.decl, reads: read, fills: map[types.Object]bool{}}}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				w.selects(n)
			case *ast.CallExpr:
				if fn := d.t.callee(n); fn != nil {
					for _, decl := range d.declsOf(fn) {
						if f := d.of(decl); f != nil {
							for v := range f.reads {
								read[v] = true
							}
						}
					}
				}
			}
			return true
		})
	}
	for _, v := range sorted(read) {
		if mayRefer(v.Type()) { // the slice itself
			continue
		}
		for _, x := range d.changesOfAny(v) {
			if !derivedStartsWith(d, x) || x.looped {
				file, line, _ := d.t.at(x.at)
				return v.Name(), codeLine{file, line}
			}
		}
		if at, ok := changedInTurns(d, v); ok {
			return v.Name(), at
		}
	}
	if what, change = elementChange(d, in.decl, compares); what == "" {
		what, change = capturedChange(d, in, compares)
	}
	return what, change
}

// capturedChange is where a variable of the function around a sort changes that the comparison reads, by itself or by a function that is a variable
// there.
func capturedChange(d *derivations, in frameCode, compares []ast.Node) (what string, change codeLine) {
	read := map[types.Object]bool{}
	for _, n := range compares {
		readCaptured(d, in.decl, n, read, 0)
	}
	for n := range ast.Preorder(in.decl.Body) {
		for _, x := range changedBy(n) {
			id, ok := ast.Unparen(x).(*ast.Ident)
			if !ok || !read[d.t.info.Uses[id]] {
				continue
			}
			if place := d.placeOf(n); what == "" || place.line < change.line {
				what, change = id.Name, place
			}
		}
	}
	return what, change
}

// elementChange is where an element changes of a map or a slice beside the sorted one that comparisons look in, other than where it is made and
// filled.
func elementChange(d *derivations, sorts *ast.FuncDecl, compares []ast.Node) (what string, change codeLine) {
	of := func(x ast.Expr) types.Object {
		index, ok := ast.Unparen(x).(*ast.IndexExpr)
		if !ok {
			return nil
		}
		if sel, ok := ast.Unparen(index.X).(*ast.SelectorExpr); ok {
			return d.field(sel)
		}
		if v := d.variable(ast.Unparen(index.X)); ofPackage(v) || isLocal(sorts, v) && !isGiven(sorts, v) {
			return v
		}
		return nil
	}
	read := map[types.Object]bool{}
	for _, n := range compares {
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(*ast.IndexExpr); ok && of(x) != nil {
				read[of(x)] = true
			}
			return true
		})
	}
	ast.Inspect(sorts.Body, func(n ast.Node) bool { // what is sorted is read by the places
		if call, ok := n.(*ast.CallExpr); ok && inSet("sort", types.ExprString(call.Fun)) && len(call.Args) > 0 {
			delete(read, of(&ast.IndexExpr{X: call.Args[0]}))
		}
		return true
	})
	if len(read) == 0 {
		return "", change
	}
	for _, decl := range d.t.decls {
		if decl.Name.Name == "Swap" {
			continue
		}
		for n := range ast.Preorder(decl.Body) {
			for _, x := range changedBy(n) {
				v := of(x)
				if assign, plain := n.(*ast.AssignStmt); v == nil || !read[v] || plain && assign.Tok == token.ASSIGN && makesOf(d, decl, v) {
					continue
				}
				if at := d.placeOf(n); what == "" || at.file < change.file || at.file == change.file && at.line < change.line {
					what, change = v.Name(), at
				}
			}
		}
	}
	return what, change
}

// makesOf tells of a function that it makes the map or the slice of a variable or a field: what it sets there fills it.
func makesOf(d *derivations, decl *ast.FuncDecl, v types.Object) (makes bool) {
	made := func(x ast.Expr) bool {
		switch x := ast.Unparen(x).(type) {
		case *ast.CompositeLit:
			return true
		case *ast.CallExpr:
			return isNamed(x.Fun, "make")
		}
		return false
	}
	for n := range ast.Preorder(decl.Body) {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			id, ok := n.Key.(*ast.Ident)
			makes = makes || ok && d.t.info.Uses[id] == v && made(n.Value)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
				is := ok && d.field(sel) == v || d.variable(ast.Unparen(lhs)) == v
				makes = makes || is && len(n.Lhs) == len(n.Rhs) && made(n.Rhs[i])
			}
		}
	}
	return makes
}

// changedInTurns is where a loop changes a field of something that its function has made before it.
func changedInTurns(d *derivations, field types.Object) (at codeLine, found bool) {
	for _, decl := range d.t.decls {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			for _, x := range changedBy(n) {
				sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
				if !ok || d.field(sel) != field || found {
					continue
				}
				of := d.variable(innermost(sel))
				for _, l := range around {
					if isLoop(l) && of != nil && (of.Pos() < l.Pos() || l.End() <= of.Pos()) {
						at, found = d.placeOf(n), true
					}
				}
			}
		})
	}
	return at, found
}

// comparisonsOf are the functions that a call of a sort compares by: the one that it is given, or the method of what it sorts.
func comparisonsOf(d *derivations, call *ast.CallExpr) (all []ast.Node) {
	for _, a := range call.Args {
		switch x := ast.Unparen(a).(type) {
		case *ast.FuncLit:
			all = append(all, x.Body)
		case *ast.CallExpr: // sort.Reverse, a conversion
			all = append(all, comparisonsOf(d, x)...)
		case *ast.Ident, *ast.SelectorExpr:
			var id *ast.Ident
			if sel, ok := x.(*ast.SelectorExpr); ok {
				id = sel.Sel
			} else {
				id = x.(*ast.Ident)
			}
			if fn, ok := d.t.info.Uses[id].(*types.Func); ok && d.t.decls[fn.Origin()] != nil {
				all = append(all, d.t.decls[fn.Origin()].Body)
			}
		}
	}
	if of, ok := d.t.typeOf(call).(*types.Named); ok { // byTime(q.tasks)
		all = append(all, lessOf(d, of)...)
	}
	for _, a := range call.Args {
		t := d.t.typeOf(a)
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if of, ok := t.(*types.Named); ok {
			all = append(all, lessOf(d, of)...)
		}
	}
	return all
}

// lessOf is the body of a type's method Less, if the sources have it.
func lessOf(d *derivations, of *types.Named) (all []ast.Node) {
	for i := range of.NumMethods() {
		if m := of.Method(i); m.Name() == "Less" && d.t.decls[m] != nil {
			all = append(all, d.t.decls[m].Body)
		}
	}
	return all
}

// tellOrderChanges says of a slice that is sorted again after each element that its order may be another one each time.
func tellOrderChanges(c *code, at stack.Frame, slice string, f *Finding) {
	what, change := orderChange(c, at)
	if what == "" {
		f.Doubts = append(f.Doubts, "if something changes what the elements are compared by, the slice is in order no more before the sort")
		return
	}
	f.Severity, f.saves, f.grows = Info, false, false
	f.Evidence = append(f.Evidence, c.shownAt(change.file, change.line, "%s, by which the elements are compared, is changed here", what))
	f.Advice = fmt.Sprintf("The comparison reads %s, which is changed at %s, so that %s may be in another order each time, and a place for the new element cannot be searched. "+
		"If few elements change, move only these (heap.Fix of container/heap); if only the first is asked for, look for it.", what, change.text(), slice)
}

// tellSortKeysChange says of a sort what to do where something changes what it compares by: sorted once, the order would be that of before. It tells
// whether something does.
func tellSortKeysChange(h *hit, f *Finding) bool {
	c := h.in.code
	what, change := orderChange(c, h.lines[0].Caller)
	if what == "" {
		return false
	}
	f.Evidence = append(f.Evidence, c.shownAt(change.file, change.line, "%s, by which the elements are compared, is changed here", what))
	f.Advice = fmt.Sprintf("The comparison reads %s, which is changed at %s: what was sorted before that is in the wrong order after it, so keep no order across it. "+
		"If only the first element is asked for, look for it in one pass (slices.MinFunc), or keep a heap and move the elements that have changed (heap.Fix of container/heap); "+
		"if few elements change, take these out and insert each at its new place. Sort again only if something has changed since the last time.", what, change.text())
	f.Doubts = append(f.Doubts, "if each sort is of other elements, or all of them change in between, each is needed")
	return true
}

// readCaptured notes the variables of a function that a comparison reads which it does not declare itself, but for what may refer to the list; in functions
// that are variables there, too.
func readCaptured(d *derivations, decl *ast.FuncDecl, compares ast.Node, read map[types.Object]bool, depth int) {
	ast.Inspect(compares, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := d.t.info.Uses[id].(*types.Var)
		if !ok || v.IsField() || !isLocal(decl, v) || compares.Pos() <= v.Pos() && v.Pos() < compares.End() {
			return true
		}
		if _, fn := v.Type().Underlying().(*types.Signature); fn && depth < 2 {
			for _, x := range d.definitions(decl)[v] {
				if lit, ok := ast.Unparen(x.x).(*ast.FuncLit); ok {
					readCaptured(d, decl, lit, read, depth+1)
				}
			}
			return true
		}
		if !mayRefer(v.Type()) {
			read[v] = true
		}
		return true
	})
}
