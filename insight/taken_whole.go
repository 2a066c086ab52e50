package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// All of a text, of a list of lines or of a buffer that grows with each turn of a loop is handed, in each
// of them, to a function that goes through it from its start. What adds to it, what hands it on and what
// empties it may be in several functions.

// takenWhole is such a thing.
type takenWhole struct {
	of     types.Object // the variable or the field
	name   string       // how the source names it where it is handed on
	to     string       // the function that goes through it
	copies bool         // what it is handed on as is a copy, made on the way
	lists  bool         // it is a list of texts, each of which was made for itself
	loop   codeLine
	grows  codeLine
	// empties is where it is emptied, under a condition; there is none where its line is 0.
	empties codeLine
	// guards are conditions that decide whether it is handed on; added is the statement that adds to it, in
	// a function.
	guards []guardOf
	added  ast.Node
	in     *ast.FuncDecl
}

// guardOf is a condition in a function, around a statement or before it with a body that leaves.
type guardOf struct {
	in     *ast.FuncDecl
	by     *ast.IfStmt
	around ast.Node // the clause or the body that it is around; nil where it comes before
}

// guardsIn are those that decide whether the next of two nodes is reached in the other.
func guardsIn(decl *ast.FuncDecl, n, next ast.Node) (all []guardOf) {
	switch x := n.(type) {
	case *ast.IfStmt:
		if next == ast.Node(x.Body) || next == x.Else {
			all = append(all, guardOf{decl, x, next})
		}
	case *ast.CaseClause, *ast.CommClause:
		all = append(all, guardOf{decl, nil, x})
	}
	for _, before := range statements(n) {
		if before == next {
			break
		}
		if x, ok := before.(*ast.IfStmt); ok && (leavesLoop(x.Body.List) || goesOn(x.Body.List)) && !asksError(x.Cond, token.NEQ) {
			all = append(all, guardOf{decl, x, nil})
		}
	}
	return all
}

// atTimes tells whether a condition decides that it is handed on, though something was added.
func (w *takenWhole) atTimes() bool {
	return slices.ContainsFunc(w.guards, func(g guardOf) bool {
		switch {
		case g.by != nil && asksToAdd(g.by.Cond, w.added):
			return false
		case g.in != w.in:
			return true
		case g.around != nil:
			return !within(g.around, w.added)
		}
		return w.added.Pos() < g.by.Pos()
	})
}

// newTakenScan has nothing yet.
func newTakenScan(d *derivations) takenScan { return takenScan{d, map[types.Object]bool{}} }

// takenScan follows what is taken outward.
type takenScan struct {
	*derivations
	through map[types.Object]bool // what functions and fields are known to be gone through
}

// wholeIn is what an expression has all of: a field or a variable, as it is, joined, copied or converted.
func (s takenScan) wholeIn(decl *ast.FuncDecl, x ast.Expr, depth int) (of ast.Expr, copies, ok bool) {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v := s.variable(x)
		if v == nil {
			return nil, false, false
		}
		if defs := s.definitions(decl)[v]; len(defs) == 1 && defs[0].x != nil && !defs[0].ranged && !defs[0].unknown && isLocal(decl, v) && !isGiven(decl, v) && depth < 4 {
			if of, copies, ok = s.wholeIn(decl, defs[0].x, depth+1); ok {
				return of, copies, true
			}
		}
		return x, false, true
	case *ast.SelectorExpr:
		return x, false, s.field(x) != nil
	case *ast.CallExpr:
		name := types.ExprString(x.Fun)
		switch sel, method := x.Fun.(*ast.SelectorExpr); {
		case (name == "strings.Join" || name == "bytes.Join") && len(x.Args) == 2, len(x.Args) == 1 && (name == "slices.Clone" || name == "bytes.Clone" || name == "strings.ToLower" || name == "strings.TrimSpace" || name == "bytes.TrimSpace" || name == "string" || name == "[]byte"):
			of, _, ok = s.wholeIn(decl, x.Args[0], depth+1)
			return of, true, ok
		case method && len(x.Args) == 0 && (sel.Sel.Name == "String" || sel.Sel.Name == "Bytes") && s.t.callee(x) == nil:
			of, _, ok = s.wholeIn(decl, sel.X, depth+1)
			return of, false, ok
		}
	}
	return nil, false, false
}

// thing is the field or the variable that an expression names.
func (s takenScan) thing(x ast.Expr) types.Object {
	switch x := ast.Unparen(unrefer(x)).(type) {
	case *ast.Ident:
		return s.variable(x)
	case *ast.SelectorExpr:
		return s.field(x)
	}
	return nil
}

// adds tells of a statement or a call that it adds to a thing.
func (s takenScan) adds(n ast.Node, of types.Object) bool {
	is := func(x ast.Expr) bool { return s.thing(x) == of }
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || n.Tok == token.DEFINE || !is(n.Lhs[0]) {
			return false
		}
		if n.Tok == token.ADD_ASSIGN {
			return true
		}
		switch x := n.Rhs[0].(type) {
		case *ast.CallExpr:
			return isNamed(x.Fun, "append") && len(x.Args) > 1 && is(x.Args[0])
		case *ast.BinaryExpr:
			return n.Tok == token.ASSIGN && x.Op == token.ADD && is(leftmost(x))
		}
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && is(sel.X) {
			return strings.HasPrefix(sel.Sel.Name, "Write") && sel.Sel.Name != "WriteTo" || sel.Sel.Name == "ReadFrom"
		}
		name := types.ExprString(n.Fun)
		return (strings.HasPrefix(name, "fmt.Fprint") || name == "io.Copy" || name == "io.CopyN") && len(n.Args) > 1 && is(n.Args[0])
	}
	return false
}

// cutKind is what a statement takes from a thing.
type cutKind int

const (
	cutNone cutKind = iota
	cutAll          // it is empty then
	cutPart         // a rest stays, or nobody knows
)

// cuts tells what a statement or a call takes from a thing.
func (s takenScan) cuts(n ast.Node, of types.Object) cutKind {
	if s.adds(n, of) {
		return cutNone
	}
	is := func(x ast.Expr) bool { return s.thing(x) == of }
	switch n := n.(type) {
	case *ast.AssignStmt:
		i := slices.IndexFunc(n.Lhs, is)
		if i < 0 {
			return cutNone
		}
		rhs := n.Rhs[min(i, len(n.Rhs)-1)]
		if cut, ok := rhs.(*ast.SliceExpr); ok {
			zero, ok := cut.High.(*ast.BasicLit)
			if ok && cut.Low == nil && zero.Value == "0" {
				return cutAll
			}
			return cutPart
		}
		if isNamed(rhs, "nil") || typeMade(rhs) != nil || types.ExprString(rhs) == `""` {
			return cutAll
		}
		return cutPart
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		if ok && is(sel.X) && s.t.callee(n) == nil {
			switch name := sel.Sel.Name; {
			case name == "Reset" || name == "Truncate":
				return cutAll
			case tells[name] || name == "Bytes" || name == "Cap" || name == "Grow" || name == "Available" || name == "AvailableBuffer":
				return cutNone
			}
			return cutPart
		}
		if isNamed(n.Fun, "clear") || isNamed(n.Fun, "copy") {
			if len(n.Args) > 0 && s.thing(pointed(n.Args[0])) == of {
				return cutPart
			}
		}
		for _, x := range n.Args {
			if u, ok := x.(*ast.UnaryExpr); ok && u.Op == token.AND && is(u.X) && !strings.HasPrefix(types.ExprString(n.Fun), "fmt.Fprint") {
				return cutPart
			}
		}
	}
	return cutNone
}

// goesThrough tells whether a function goes through all of a parameter, or of what it is given on to, from
// its start.
func (s takenScan) goesThrough(decl *ast.FuncDecl, v types.Object, depth int) (found bool) {
	if decl == nil || v == nil || depth > 4 {
		return false
	}
	if known, ok := s.through[v]; ok {
		return known
	}
	s.through[v] = false // until it is known
	defer func() { s.through[v] = found }()
	is := func(x ast.Expr) bool {
		of, _, ok := s.wholeIn(decl, x, 0)
		return ok && s.thing(of) == v
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			found = found || is(n.X)
		case *ast.ForStmt:
			over := (&gone{l: loop{n.Cond, n.Body, n, nil}}).through()
			found = found || over != nil && is(over)
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok && is(n.Value) {
				if f, ok := s.t.info.Uses[id].(*types.Var); ok {
					found = found || s.fieldGoneThrough(f.Origin())
				}
			}
		case *ast.CompositeLit:
			if of, ok := s.t.typeOf(n).(*types.Named); ok {
				if st, ok := of.Underlying().(*types.Struct); ok {
					for i, x := range n.Elts {
						found = found || i < st.NumFields() && !isKeyValue(x) && is(x) && s.fieldGoneThrough(st.Field(i).Origin())
					}
				}
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if sel, ok := lhs.(*ast.SelectorExpr); ok && i < len(n.Rhs) && is(n.Rhs[i]) && s.field(sel) != nil && s.isOwn(decl, sel) {
					found = found || s.fieldGoneThrough(s.field(sel))
				}
			}
		case *ast.CallExpr:
			found = found || s.callGoesThrough(n, is, depth)
		}
		return !found
	})
	return found
}

func isKeyValue(x ast.Expr) bool { _, ok := x.(*ast.KeyValueExpr); return ok }

// callGoesThrough is goesThrough of what a call is given.
func (s takenScan) callGoesThrough(n *ast.CallExpr, is func(ast.Expr) bool, depth int) bool {
	i := slices.IndexFunc(n.Args, is)
	if i < 0 {
		return false
	}
	if fn := s.t.callee(n); fn != nil {
		return slices.ContainsFunc(s.declsOf(fn), func(d *ast.FuncDecl) bool { return s.goesThrough(d, s.given(d, i), depth+1) })
	}
	pkg, name := s.t.fromPackage(n.Fun), calledName(n)
	switch pkg {
	case "strings", "bytes":
		return name == "NewReader" || name == "NewBuffer" || name == "NewBufferString" || rereads(pkg+"."+name) == rereadCount || name == "Lines" || name == "SplitSeq" || name == "FieldsSeq"
	}
	return i == 0 && rereads(lastOfPath(pkg)+"."+name) == rereadHash || readsAllOf(pkg+"."+name) == rereadParse
}

// given is the i-th parameter of a function.
func (d *derivations) given(decl *ast.FuncDecl, i int) types.Object {
	at := 0
	for _, field := range decl.Type.Params.List {
		for _, id := range field.Names {
			if at == i {
				return d.variable(id)
			}
			at++
		}
	}
	return nil
}

// fieldGoneThrough tells whether a function goes through all of a field, or up to its end.
func (s takenScan) fieldGoneThrough(f types.Object) (found bool) {
	if known, ok := s.through[f]; ok {
		return known
	}
	defer func() { s.through[f] = found }()
	for _, decl := range s.t.decls {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				found = found || s.thing(n.X) == f
			case *ast.ForStmt:
				over := (&gone{l: loop{n.Cond, n.Body, n, nil}}).through()
				found = found || over != nil && s.thing(over) == f
			}
			return !found
		})
	}
	return found
}

// handed is what the call on a frame's line hands on as a whole. callee is the function that is called,
// which the next frame inward is in; library tells that it is none of the program.
func (s takenScan) handed(in frameCode, at stack.Frame, callee stack.Frame, library bool) (w takenWhole, from ast.Expr, call *ast.CallExpr, ok bool) {
	for _, call := range s.callsOn(in, at, ownName(callee.Func)) {
		if library {
			if name := types.ExprString(call.Fun); (name == "strings.Join" || name == "bytes.Join") && len(call.Args) == 2 {
				if of, _, ok := s.wholeIn(in.decl, call.Args[0], 0); ok && s.thing(of) != nil {
					return takenWhole{of: s.thing(of), name: types.ExprString(of), to: name, copies: true, lists: true}, of, call, true
				}
			}
			continue
		}
		inner, known := s.at(callee)
		if !known || inner.lit != nil || len(call.Args) > 3 {
			continue
		}
		for i, x := range call.Args {
			of, copies, ok := s.wholeIn(in.decl, x, 0)
			if !ok || s.thing(of) == nil || !s.growable(of) || !s.goesThrough(inner.decl, s.given(inner.decl, i), 0) || s.hasPlace(call, i) {
				continue
			}
			return takenWhole{of: s.thing(of), name: types.ExprString(of), to: stack.Short(callee.Func), copies: copies, lists: copies && s.listOfTexts(of)}, of, call, true
		}
	}
	return w, nil, nil, false
}

// growable tells of an expression that it is a slice, a text, or of a type of the library.
func (s takenScan) growable(x ast.Expr) bool {
	of := s.t.typeOf(x)
	if of == nil {
		return true
	}
	switch u := of.Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	}
	return false
}

// listOfTexts tells of an expression that it is a list of texts.
func (s takenScan) listOfTexts(x ast.Expr) bool {
	of := s.t.typeOf(x)
	if of == nil {
		return false
	}
	list, ok := of.Underlying().(*types.Slice)
	return ok && types.ExprString(x) != "" && (list.Elem().String() == "string" || list.Elem().String() == "[]byte")
}

// hasPlace tells whether a call is given a number beside the i-th argument: it may be the place to go on at.
func (s takenScan) hasPlace(call *ast.CallExpr, i int) bool {
	for j, x := range call.Args {
		if of := s.t.typeOf(x); j != i && of != nil {
			b, ok := of.Underlying().(*types.Basic)
			if tv := s.t.info.Types[x]; ok && b.Info()&types.IsInteger != 0 && tv.Value == nil {
				return true
			}
		}
	}
	return false
}

// outward goes from the call that hands a thing on to the loop each turn of which adds to it.
func (s takenScan) outward(w takenWhole, from ast.Expr, call *ast.CallExpr, way []stack.Frame, user []bool) (takenWhole, bool) {
	root := s.variable(innermost(from))
	isField := s.thing(from) != root
	for i := range way {
		if !user[i] || root == nil {
			return w, false
		}
		in, ok := s.at(way[i])
		if !ok || in.lit != nil {
			return w, false
		}
		around := nodesAround(in.body(), call)
		for j := len(around) - 2; j >= 0; j-- {
			w.guards = append(w.guards, guardsIn(in.decl, around[j], around[j+1])...)
			body := bodyOfLoop(around[j])
			if body == nil || around[j+1] != ast.Node(body) {
				continue
			}
			if body.Pos() <= root.Pos() && root.Pos() < body.End() {
				return w, false // another one in each turn
			}
			if found, goes := s.turn(&w, in.decl, around[j], body); found || !goes {
				return w, found
			}
		}
		if ofPackage(root) {
			isField = true
		} else if !isGiven(in.decl, root) || !isField && s.cutsIn(in.decl, w.of) {
			return w, false
		}
		if i+1 >= len(way) || !user[i+1] {
			return w, false
		}
		outer, ok := s.at(way[i+1])
		if !ok {
			return w, false
		}
		calls := s.callsOn(outer, way[i+1], in.decl.Name.Name)
		if len(calls) != 1 {
			return w, false
		}
		call = calls[0]
		if x := argumentFor(s.derivations, in.decl, call, root); x != nil {
			of, _, ok := s.wholeIn(outer.decl, unrefer(x), 0)
			if !isField {
				if !ok {
					return w, false
				}
				w.of, w.name, isField = s.thing(of), types.ExprString(of), s.thing(of) != s.variable(innermost(of))
				root = s.variable(innermost(of))
			} else {
				root = s.variable(innermost(unrefer(x)))
			}
		} else if !ofPackage(root) {
			return w, false
		}
	}
	return w, false
}

func (s takenScan) cutsIn(decl *ast.FuncDecl, of types.Object) (found bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		found = found || n != nil && s.cuts(n, of) != cutNone
		return !found
	})
	return found
}

// turn looks at the turns of a loop: found tells that each adds to the thing and leaves there what was
// there, goes that a loop further out may.
func (s takenScan) turn(w *takenWhole, decl *ast.FuncDecl, stmt ast.Node, body *ast.BlockStmt) (found, goes bool) {
	turn := s.reachedAlways(decl, body)
	grows := false
	unknown := false
	look := func(f *ast.FuncDecl, part ast.Node, always bool) {
		eachNode(part, func(n ast.Node, around []ast.Node) {
			guarded := !always || guardedBy(append(slices.Clone(around), n), func(cond ast.Expr) bool { return asksToAdd(cond, n) })
			switch {
			case s.adds(n, w.of) && !guarded:
				grows, w.grows, w.added, w.in = true, s.placeOf(n), n, f
			case s.cuts(n, w.of) == cutPart, s.cuts(n, w.of) == cutAll && !guarded:
				unknown = true
			case s.cuts(n, w.of) == cutAll:
				w.empties = s.placeOf(n)
			}
		})
	}
	look(decl, body, true)
	for f, always := range turn {
		look(f, f.Body, always)
	}
	if unknown {
		return false, false
	}
	w.loop = s.placeOf(stmt)
	return grows && !w.atTimes(), !grows
}

// guardedBy tells of the last of some nodes, each inside of the one before, that a condition decides
// whether it is reached: around it, or before it with a body that leaves. Conditions that pass say no more than
// that there is something to do.
func guardedBy(nodes []ast.Node, passes func(cond ast.Expr) bool) bool {
	for i, n := range nodes[:len(nodes)-1] {
		next := nodes[i+1]
		switch n := n.(type) {
		case *ast.IfStmt:
			if (next == ast.Node(n.Body) || next == n.Else) && !(passes != nil && next == ast.Node(n.Body) && passes(n.Cond)) {
				return true
			}
		case *ast.CaseClause, *ast.CommClause:
			return true
		}
		for _, before := range statements(n) {
			if before == next {
				break
			}
			if x, ok := before.(*ast.IfStmt); ok && (leavesLoop(x.Body.List) || goesOn(x.Body.List)) && !asksError(x.Cond, token.NEQ) && passes == nil {
				return true
			}
		}
	}
	return false
}
