package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"loupe/value/stack"
)

// inLoop looks at a loop around a call: found tells that it repeats the call with the same, goes that
// another one around it may.
func (w *derivedWay) inLoop(in frameCode, stmt ast.Node, body *ast.BlockStmt, inside []ast.Node) (rec recomputed, found, goes bool) {
	l := &derivedLoop{derivedWay: w, in: in, stmt: stmt, body: body}
	l.own = map[types.Object]bool{}
	for _, x := range l.variables() {
		if v := w.variable(x); v != nil {
			l.own[v] = true
		}
	}
	before, soft := maps.Clone(w.dep.vars), maps.Clone(w.dep.soft)
	if !l.settle(w.dep.vars) {
		return rec, false, false
	}
	stays, elements := l.stays(w.dep.vars), l.elements
	softly := l.settle(w.dep.soft)
	if !softly {
		w.rec.sure = false
	}
	if elements {
		w.inner, w.innerIn = stmt, in.decl
		if on, of := l.element(before); l.places == "" && of != "" {
			w.rec.on, w.rec.elements, w.rec.inner = on, of, w.placeOf(stmt)
		} else if w.rec.elements == "" && l.places != "" {
			w.rec.on, w.rec.inner = l.places, w.placeOf(stmt)
		}
		return rec, false, true
	}
	if !stays || l.once(inside) || l.repeats(inside[1]) || len(before) == 0 && len(w.dep.reads) == 0 {
		return rec, false, true
	}
	w.rec.kind, w.rec.loop = againSame, w.placeOf(stmt)
	if w.inner != nil {
		w.rec.kind = againElements
	}
	sure := w.rec.sure && softly && !l.elementsIn(soft) && l.stays(w.dep.soft)
	ok := w.changed(in.decl, turnParts(w.derivations, stmt, body)...)
	rec = w.rec
	rec.sure = rec.sure && sure
	if rec.on == "" {
		rec.on = names(before)
	}
	return rec, ok, false
}

// names are those of some variables, in words.
func names(vars map[types.Object]bool) string {
	var all []string
	for _, v := range sorted(vars) {
		if !slices.Contains(all, v.Name()) {
			all = append(all, v.Name())
		}
	}
	return andList(all)
}

func (d *derivations) placeOf(n ast.Node) codeLine {
	file, line, _ := d.t.at(n.Pos())
	return codeLine{file, line}
}

// derivedLoop is a loop around a call.
type derivedLoop struct {
	*derivedWay
	in   frameCode
	stmt ast.Node
	body *ast.BlockStmt
	own  map[types.Object]bool // its variables
	// elements tells that something depended on them, places that it was on a place alone: its name.
	elements bool
	places   string
}

// counts tells of a variable of the loop that it counts from the same number each time: 0 to the length of
// a slice, say.
func (l *derivedLoop) counts(v types.Object) bool {
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		of := l.t.typeOf(n.X)
		if of == nil || l.variable(n.Key) != v {
			return false
		}
		switch u := of.Underlying().(type) {
		case *types.Slice, *types.Array, *types.Pointer:
			return true
		case *types.Basic:
			return u.Info()&types.IsInteger != 0
		}
	case *ast.ForStmt:
		a, ok := n.Init.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || n.Post == nil {
			return false
		}
		_, counts := n.Post.(*ast.IncDecStmt)
		return counts && l.t.info.Types[a.Rhs[0]].Value != nil
	}
	return false
}

// variables are those that the loop declares.
func (l *derivedLoop) variables() (all []ast.Expr) {
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		for _, x := range []ast.Expr{n.Key, n.Value} {
			if x != nil {
				all = append(all, x)
			}
		}
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok {
			all = a.Lhs
		}
	}
	return all
}

// settle says what is depended on by variables from outside of the loop; false where that is not known.
func (l *derivedLoop) settle(vars map[types.Object]bool) bool {
	for range 6 {
		again := false
		for _, v := range sorted(vars) {
			switch {
			case l.own[v]:
				delete(vars, v)
				l.elements, again = true, true
				if l.counts(v) {
					l.places = v.Name() // the same places in whatever the loop goes through
				} else if !l.through(vars) {
					return false
				}
			case l.body.Pos() <= v.Pos() && v.Pos() < l.body.End():
				again = true
				if !l.replaces(l.in.decl, vars, func(of types.Object) bool { return of == v }) {
					return false
				}
			}
		}
		if !again {
			return true
		}
	}
	return false
}

// through adds what the loop goes through.
func (l *derivedLoop) through(vars map[types.Object]bool) bool {
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		if of := l.t.typeOf(n.X); of != nil {
			if _, isChan := of.Underlying().(*types.Chan); isChan {
				return false
			}
		}
		return l.resolves(n.X, vars, 0)
	case *ast.ForStmt:
		from := map[types.Object]bool{}
		a, _ := n.Init.(*ast.AssignStmt)
		if a == nil || n.Post == nil {
			return false
		}
		for _, x := range a.Rhs {
			if b, ok := x.(*ast.BinaryExpr); ok && b.Op == token.ADD && n.Cond != nil {
				continue // the rest behind the place of another loop
			}
			if !l.resolves(x, from, 0) {
				return false
			}
		}
		if n.Cond != nil && !l.resolves(n.Cond, from, 0) {
			return false
		}
		if p, ok := n.Post.(*ast.AssignStmt); ok {
			for _, x := range p.Rhs {
				if !l.resolves(x, from, 0) {
					return false
				}
			}
		}
		for v := range from {
			if !l.own[v] {
				vars[v] = true
			}
		}
		return true
	}
	return false
}

// elementsIn tells whether some variables are those of the loop.
func (l *derivedLoop) elementsIn(vars map[types.Object]bool) bool {
	return slices.ContainsFunc(sorted(vars), func(v types.Object) bool { return l.own[v] })
}

// stays tells of variables that no turn gives them another value.
func (l *derivedLoop) stays(vars map[types.Object]bool) bool {
	for v := range vars {
		if l.own[v] {
			return false
		}
		if l.fillsElements(l.in.decl, l.stmt, v) {
			return false
		}
		for _, def := range l.definitions(l.in.decl)[v] {
			if l.stmt.Pos() <= def.at && def.at < l.stmt.End() || def.unknown {
				return false
			}
			if lit := literalAt(l.in.decl, def.at); lit != nil && lit != l.in.lit && !within(lit, l.stmt) {
				return false // a function that a turn may call, or another goroutine, sets it
			}
		}
	}
	return true
}

// element says which variable is one of the elements, and what the loop goes through.
func (l *derivedLoop) element(vars map[types.Object]bool) (on, of string) {
	r, ok := l.stmt.(*ast.RangeStmt)
	if !ok {
		if over := (&gone{l: loop{l.stmt.(*ast.ForStmt).Cond, l.body, l.stmt, nil}}).through(); over != nil {
			return "", types.ExprString(over)
		}
		return "", ""
	}
	if root, _ := chain(r.X); root == "" {
		return "", ""
	}
	if v := l.variable(r.Value); r.Value != nil && v != nil {
		on = v.Name()
	}
	return on, types.ExprString(r.X)
}

// once tells that the loop is left after the call.
func (l *derivedLoop) once(inside []ast.Node) bool {
	inner := false
	for i, n := range inside[1:] {
		switch n.(type) {
		case *ast.ReturnStmt:
			return true
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			inner = true
		}
		if list := statements(n); leavesLoop(list) {
			if _, clause := n.(*ast.CaseClause); !inner && !clause || leavesClause(list) {
				return i >= 0
			}
		}
	}
	return false
}

// measures are conditions of loops that do the same again to measure it, or until a time has passed.
var measures = lazily(`\.(Loop|Since|Now|Before|After|Next|N)\b|\.N$|(?i)^(rounds?|reps?|repeats?|iterations?|iters?|loops?|times|runs?|n)$`)

// repeats tells of a loop that all it does is to do the same several times, as to measure it, or that it
// has few turns.
func (l *derivedLoop) repeats(by ast.Node) bool {
	used := func() bool {
		found := false
		ast.Inspect(l.body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				found = found || l.own[l.variable(id)]
			}
			return !found
		})
		return found
	}
	few := func(x ast.Expr) bool {
		tv := l.t.info.Types[x]
		return tv.Value != nil && len(tv.Value.ExactString()) < 2
	}
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		lit, _ := n.X.(*ast.CompositeLit)
		return !used() && !l.carries() || few(n.X) || measures.MatchString(types.ExprString(n.X)) || lit != nil && len(lit.Elts) <= fewElements
	case *ast.ForStmt:
		if n.Init != nil && !used() && by == ast.Node(l.body) && !l.carries() || n.Cond != nil && measures.MatchString(types.ExprString(n.Cond)) {
			return true
		}
		b, ok := n.Cond.(*ast.BinaryExpr)
		return ok && (few(b.Y) || n.Init != nil && measures.MatchString(types.ExprString(b.Y)) && !l.carries())
	}
	return false
}

// carries tells whether a turn leaves something to the next one: a variable from outside of the loop that is
// set and read in it, and not only added to.
func (l *derivedLoop) carries() (found bool) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN {
			return !found
		}
		for _, lhs := range a.Lhs {
			v := l.variable(lhs)
			if v == nil || l.body.Pos() <= v.Pos() && v.Pos() < l.body.End() {
				continue
			}
			ast.Inspect(l.body, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				found = found || ok && ast.Expr(id) != lhs && l.variable(id) == v
				return !found
			})
		}
		return !found
	})
	return found
}

// sorts are functions of the library that compare elements again and again.
var sorts = lazily(`^(sort\.(Slice|SliceStable|Sort|Stable)|slices\.(SortFunc|SortStableFunc|SortedFunc|SortedStableFunc))`)

// serves are packages that call the program for each request.
var serves = lazily(`^(net/http|net/rpc|google\.golang\.org/grpc)\b`)

// fromLibrary looks at a function of the program that a library calls, as the first frames tell.
func (w *derivedWay) fromLibrary(callee *ast.FuncDecl, lit *ast.FuncLit, way []stack.Frame, user []bool) (rec recomputed, ok bool) {
	if callee == w.f.decl && lit == nil {
		return rec, false
	}
	given := func(v types.Object) bool {
		if lit != nil {
			return lit.Pos() <= v.Pos() && v.Pos() < lit.Body.Pos()
		}
		return isGiven(callee, v) && (callee.Recv == nil || v.Pos() >= callee.Recv.End())
	}
	for i, f := range way {
		if user[i] {
			break
		}
		if sorts.MatchString(stack.FoldGenerics(f.Func)) && slices.ContainsFunc(sorted(w.dep.vars), given) {
			for ; i < len(way) && !user[i]; i++ {
			}
			w.rec.kind = againCompared
			if i < len(way) {
				w.rec.loop = codeLine{way[i].File, way[i].Line}
			}
			return w.rec, i < len(way)
		}
	}
	last := way[len(way)-1].Func
	if last == "runtime.main" || !slices.ContainsFunc(way, func(f stack.Frame) bool { return serves.MatchString(stack.Package(f.Func)) }) {
		return rec, false
	}
	if slices.ContainsFunc(sorted(w.dep.vars), given) || w.inner != nil && w.rec.elements == "" {
		return rec, false
	}
	body := callee.Body
	if lit != nil {
		body = lit.Body
	}
	w.rec.kind, w.rec.loop, w.rec.waits = againRequest, w.placeOf(body), true
	if slices.ContainsFunc(sorted(w.dep.soft), given) {
		w.rec.sure = false
	}
	ok = w.changed(callee, body) && w.capturedStay(callee, lit)
	return w.rec, ok
}

// capturedStay tells of the variables that a function without a name has from the one around it, and that are depended on, that it
// does not set them itself. Where another such function does, that is noted.
func (w *derivedWay) capturedStay(decl *ast.FuncDecl, lit *ast.FuncLit) bool {
	if lit == nil {
		return true
	}
	vars := maps.Clone(w.dep.vars)
	maps.Copy(vars, w.dep.soft)
	for _, v := range sorted(vars) {
		if !isLocal(decl, v) {
			continue
		}
		for _, def := range w.definitions(decl)[v] {
			if lit.Pos() <= def.at && def.at < lit.End() {
				return false
			}
			if setIn := literalAt(decl, def.at); setIn != nil && !within(setIn, lit) {
				w.rec.changes = append(w.rec.changes, changing{in: decl, at: def.at, of: v})
			}
		}
	}
	slices.SortFunc(w.rec.changes, earlierChange)
	return true
}

// literalAt is the innermost function without a name around a position in another one; nil where there is none.
func literalAt(decl *ast.FuncDecl, at token.Pos) (lit *ast.FuncLit) {
	for _, n := range nodesAt(decl.Body, at) {
		if f, ok := n.(*ast.FuncLit); ok {
			lit = f
		}
	}
	return lit
}
