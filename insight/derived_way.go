package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether a way through the code computes the same again: what the call of a function depends on is
// followed outward, through loops and calls, to a loop in which all of that stays, or in which the same
// elements are gone through each time.

// againKind is why a call gives the same again.
type againKind int

const (
	againNot      againKind = iota
	againSame               // all that it depends on stays the same in each turn of a loop
	againElements           // each turn of a loop goes through the same elements, and asks each of them
	againCompared           // it is asked for each comparison of a sort
	againRequest            // a library calls the program again and again, as for each request
)

// recomputed is a call that gives the same again.
type recomputed struct {
	kind againKind
	// loop is the one in which it is the same, inner the one that goes through the elements.
	loop, inner codeLine
	// on is what it is asked for, by the function of the loop; elements is what these are elements of.
	on, elements string
	// sure tells that no condition decides whether it is asked, which may be another one each time.
	sure bool
	// waits tells that others may change what it depends on meanwhile.
	waits bool
	// changes are where what it depends on is changed, outside of what is repeated.
	changes []changing
}

// codeLine is a line of the sources.
type codeLine struct {
	file string
	line int
}

func (p codeLine) text() string { return fileLine(p.file, p.line) }

// dependence is what a call depends on, by the variables of the function at hand.
type dependence struct {
	vars map[types.Object]bool
	// soft are those of conditions, which decide whether it is asked.
	soft map[types.Object]bool
	// reads are the fields and the package's variables through which it goes.
	reads map[types.Object]bool
}

// derivedWay follows calls outward.
type derivedWay struct {
	*derivations
	f   *derived
	dep dependence
	rec recomputed
	// inner is the loop that goes through the elements, with the function that it is in.
	inner   ast.Node
	innerIn *ast.FuncDecl
	call    *ast.CallExpr // the one on the way that is looked at
}

// frameCode is the function of the sources around a frame's line.
type frameCode struct {
	decl *ast.FuncDecl
	lit  *ast.FuncLit // the innermost function without a name, if the line is in one
	file string
}

func (f frameCode) body() *ast.BlockStmt {
	if f.lit != nil {
		return f.lit.Body
	}
	return f.decl.Body
}

// at is the function around a frame's line.
func (d *derivations) at(f stack.Frame) (in frameCode, ok bool) {
	for _, file := range d.t.files {
		if file.name != f.File {
			continue
		}
		covers := func(n ast.Node) bool {
			_, first, _ := d.t.at(n.Pos())
			_, last, _ := d.t.at(n.End())
			return first <= f.Line && f.Line <= last
		}
		for _, x := range file.file.Decls {
			decl, is := x.(*ast.FuncDecl)
			if !is || decl.Body == nil || !covers(decl) {
				continue
			}
			in = frameCode{decl: decl, file: f.File}
			literals := 0 // around the line, one within the other
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok && covers(lit) && strings.Contains(f.Func, ".func") {
					_, first, _ := d.t.at(lit.Pos())
					if literals++; first == f.Line && besideByName(f, literals) {
						return false
					}
					in.lit = lit
				}
				return true
			})
			return in, true
		}
	}
	return in, false
}

// callsOn are the calls on a frame's line that may mean a function, by its name.
func (d *derivations) callsOn(in frameCode, f stack.Frame, name string) (all []*ast.CallExpr) {
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit != in.lit {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		_, first, _ := d.t.at(call.Pos())
		_, own, _ := d.t.at(call.Lparen)
		if (first == f.Line || own == f.Line) && ownCallName(call) == name && !isBuiltin(d, call) {
			all = append(all, call)
		}
		return true
	})
	return all
}

// isBuiltin tells of a call that it is of a function of the language, such as append.
func isBuiltin(d *derivations, call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	_, is := d.t.info.Uses[id].(*types.Builtin)
	return is
}

// ownCallName is the name of a called function without what it is instantiated with.
func ownCallName(call *ast.CallExpr) string { return lastName(types.ExprString(uninstantiated(call))) }

// again tells how the function of the first frame of a way is asked for the same again. way are the
// frames outward; user tells which of them are the program's.
func (d *derivations) again(f *derived, way []stack.Frame, user []bool) (rec recomputed, ok bool) {
	return d.againFor(f, way, user, nil)
}

// againFor is again where some of what the function is given does not change.
func (d *derivations) againFor(f *derived, way []stack.Frame, user []bool, same []types.Object) (rec recomputed, ok bool) {
	w := &derivedWay{derivations: d, f: f, dep: dependence{map[types.Object]bool{}, map[types.Object]bool{}, maps.Clone(f.reads)}}
	w.rec.sure, w.rec.waits = true, f.locks
	// What it depends on, by itself: its receiver and its parameters.
	for _, v := range parametersOf(d, f.decl) {
		if !slices.Contains(same, v) {
			w.dep.vars[v] = true
		}
	}
	callee := f.decl
	var lit *ast.FuncLit
	for i := 1; i < len(way); i++ {
		if !user[i] {
			return w.fromLibrary(callee, lit, way[i:], user[i:])
		}
		in, ok := d.at(way[i])
		if !ok {
			return rec, false
		}
		if rec, found, goes := w.through(in, way[i], callee, lit); found || !goes {
			return rec, found
		}
		callee, lit = in.decl, in.lit
	}
	return rec, false
}

// parametersOf are the receiver and the parameters of a function that it uses, contexts left out.
func parametersOf(d *derivations, decl *ast.FuncDecl) (all []types.Object) {
	for _, list := range []*ast.FieldList{decl.Recv, decl.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				if v := d.variable(id); v != nil && lastName(types.ExprString(field.Type)) != "Context" && derivedMentions(d, decl.Body, v) {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// derivedMentions tells whether a variable is used in a node.
func derivedMentions(d *derivations, n ast.Node, v types.Object) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && d.variable(id) == v
		return !found
	})
	return found
}

// through goes from a call to the end of the function that makes it: found tells that a loop there
// repeats it with the same, goes that its callers may.
func (w *derivedWay) through(in frameCode, at stack.Frame, callee *ast.FuncDecl, lit *ast.FuncLit) (rec recomputed, found, goes bool) {
	name := callee.Name.Name
	if lit != nil {
		if name = w.litName(callee, lit); name == "" || callee != in.decl {
			return rec, false, false
		}
	}
	calls := w.callsOn(in, at, name)
	if len(calls) == 0 {
		return rec, false, false
	}
	dep := w.dep
	for i, call := range calls {
		w.dep = dependence{maps.Clone(dep.vars), maps.Clone(dep.soft), dep.reads}
		if !w.enters(call, callee, lit) {
			return rec, false, false
		}
		w.call = call
		around := nodesAround(in.body(), call)
		if rec, found, goes = w.outward(in, call, around); found || !goes && i == len(calls)-1 || len(calls) == 1 {
			return rec, found, goes
		}
	}
	return rec, false, goes
}

// litName is the variable that a function without a name is kept in.
func (w *derivedWay) litName(decl *ast.FuncDecl, lit *ast.FuncLit) string {
	for v, defs := range w.definitions(decl) {
		if len(defs) <= 2 && slices.ContainsFunc(defs, func(def definition) bool { return def.x == ast.Expr(lit) }) {
			return v.Name()
		}
	}
	return ""
}

// nodesAround are the nodes around another one, the outermost first, and itself.
func nodesAround(body ast.Node, of ast.Node) (found []ast.Node) {
	eachNode(body, func(n ast.Node, around []ast.Node) {
		if n == of {
			found = append(slices.Clone(around), n)
		}
	})
	return found
}

// enters says what a call depends on by the variables of the function that makes it.
func (w *derivedWay) enters(call *ast.CallExpr, callee *ast.FuncDecl, lit *ast.FuncLit) bool {
	params, recv := callee.Type.Params, types.Object(nil)
	if lit != nil {
		params = lit.Type.Params
	} else {
		recv = receiverVariable(w.derivations, callee)
	}
	given := map[types.Object]ast.Expr{}
	i := 0
	for _, field := range params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for _, id := range field.Names {
			if v := w.variable(id); v != nil && i < len(call.Args) && !(variadic && (i != len(call.Args)-1 || !call.Ellipsis.IsValid())) {
				given[v] = call.Args[i]
			}
			i++
		}
		if len(field.Names) == 0 {
			i++
		}
	}
	if recv != nil {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			given[recv] = sel.X
		}
	}
	moved := func(from map[types.Object]bool, hard bool) (to map[types.Object]bool, ok bool) {
		to = map[types.Object]bool{}
		for v := range from {
			switch {
			case given[v] != nil:
				if !w.resolves(given[v], to, 0) && hard {
					return nil, false
				}
			case ofPackage(v):
				to[v] = true
			case lit != nil && (v.Pos() < lit.Pos() || v.Pos() >= lit.End()): // of the function around
				to[v] = true
			case hard:
				return nil, false
			default:
				to[v] = true // nobody knows: it may be another one each time
			}
		}
		return to, true
	}
	var ok bool
	if w.dep.vars, ok = moved(w.dep.vars, true); !ok {
		return false
	}
	w.dep.soft, _ = moved(w.dep.soft, false)
	// Which function an interface, or a function that is a value, means decides as well.
	if fn := w.t.callee(call); lit == nil && (fn == nil || w.t.decls[fn] == nil) {
		if !w.resolves(receiverOf(call), w.dep.vars, 0) {
			return false
		}
	}
	return true
}

// resolves adds the variables on which an expression depends; false where that is not known.
func (w *derivedWay) resolves(x ast.Expr, to map[types.Object]bool, depth int) bool {
	ok := true
	if depth > 6 {
		return false
	}
	sub := func(xs ...ast.Expr) {
		for _, x := range xs {
			ok = ok && (x == nil || w.resolves(x, to, depth+1))
		}
	}
	switch x := x.(type) {
	case *ast.BasicLit:
	case *ast.Ident:
		if v := w.variable(x); v != nil {
			to[v] = true
			if ofPackage(v) {
				w.dep.reads[v] = true
			}
		} else if _, isConst := w.t.info.Uses[x].(*types.Const); !isConst && types.Universe.Lookup(x.Name) == nil {
			_, isType := w.t.info.Uses[x].(*types.TypeName)
			_, isFunc := w.t.info.Uses[x].(*types.Func)
			return isType || isFunc
		}
	case *ast.SelectorExpr:
		if v := w.field(x); v != nil {
			w.dep.reads[v] = true
			sub(x.X)
			break
		}
		switch v := w.t.info.Uses[x.Sel].(type) {
		case *types.Var:
			if !ofPackage(v) {
				return false
			}
			to[v], w.dep.reads[v] = true, true
		case *types.Const, *types.TypeName:
		default:
			return false
		}
	case *ast.IndexExpr:
		sub(x.X, x.Index)
	case *ast.SliceExpr:
		sub(x.X, x.Low, x.High, x.Max)
	case *ast.StarExpr:
		sub(x.X)
	case *ast.ParenExpr:
		sub(x.X)
	case *ast.TypeAssertExpr:
		sub(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.ARROW {
			return false
		}
		sub(x.X)
	case *ast.BinaryExpr:
		sub(x.X, x.Y)
	case *ast.KeyValueExpr:
		sub(x.Value)
	case *ast.CompositeLit:
		sub(x.Elts...)
	case *ast.CallExpr:
		return w.resolvesCall(x, to, depth)
	default:
		return false
	}
	return ok
}

// resolvesCall is resolves of a call: of a function that computes what it returns.
func (w *derivedWay) resolvesCall(x *ast.CallExpr, to map[types.Object]bool, depth int) bool {
	fun := ast.Unparen(x.Fun)
	args := x.Args
	tv, known := w.t.info.Types[fun]
	switch fn := w.t.callee(x); {
	case known && tv.IsType(), known && tv.IsBuiltin() && (types.ExprString(fun) == "len" || types.ExprString(fun) == "min" || types.ExprString(fun) == "max"):
	case fn != nil:
		decl := w.t.decls[fn]
		if decl == nil {
			return false
		}
		f := w.value(decl)
		if f == nil {
			return false
		}
		maps.Copy(w.dep.reads, f.reads)
		if sel, ok := fun.(*ast.SelectorExpr); ok && decl.Recv != nil {
			args = append([]ast.Expr{sel.X}, args...)
		}
	case computes(w.t.fromPackage(fun), calledName(x)):
		if readsEnvironment(w.derivations, x) {
			w.dep.reads[environmentOf(w.derivations)] = true
		}
	default:
		return false
	}
	for _, a := range args {
		if !w.resolves(a, to, depth+1) {
			return false
		}
	}
	return true
}

// outward goes through the loops around a call, the innermost first.
func (w *derivedWay) outward(in frameCode, call *ast.CallExpr, around []ast.Node) (rec recomputed, found, goes bool) {
	if w.keeps(in, call, around) {
		return rec, false, false
	}
	for i := len(around) - 2; i >= 0; i-- {
		next := around[i+1]
		w.conditions(around[i], next)
		switch n := around[i].(type) {
		case *ast.FuncLit:
			if n != in.lit {
				return rec, false, false
			}
		case *ast.ForStmt:
			if next == ast.Node(n.Init) {
				continue
			}
			if rec, found, goes = w.inLoop(in, n, n.Body, around[i:]); found || !goes {
				return rec, found, goes
			}
		case *ast.RangeStmt:
			if next != ast.Node(n.Body) {
				continue
			}
			if rec, found, goes = w.inLoop(in, n, n.Body, around[i:]); found || !goes {
				return rec, found, goes
			}
		}
	}
	return rec, false, w.locals(in)
}

// conditions notes what decides whether the next of two nodes is reached in the other. What one
// thing is compared with is what it depends on: it may be asked once then.
func (w *derivedWay) conditions(n, next ast.Node) {
	add := func(x ast.Expr, otherwise bool) {
		if x == nil {
			return
		}
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL && !otherwise || n.Op == token.NEQ && otherwise {
					if isError(rootName(n.X)) || types.ExprString(n.Y) == "nil" {
						return false
					}
					w.resolves(n, w.dep.vars, 0)
					return false
				}
			case *ast.Ident:
				if v := w.variable(n); v != nil && !isError(n.Name) {
					w.dep.soft[v] = true
				}
			}
			return true
		})
	}
	switch n := n.(type) {
	case *ast.IfStmt:
		if next == ast.Node(n.Body) || next == n.Else {
			add(n.Cond, next == n.Else)
		}
	case *ast.SwitchStmt:
		if next == ast.Node(n.Body) && n.Tag != nil {
			w.resolves(n.Tag, w.dep.vars, 0)
		}
	case *ast.TypeSwitchStmt:
		if next == ast.Node(n.Body) {
			ast.Inspect(n.Assign, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && w.t.info.Uses[id] != nil {
					if v := w.variable(id); v != nil {
						w.dep.vars[v] = true
					}
				}
				return true
			})
		}
	case *ast.CaseClause:
		for _, x := range n.List {
			if next != ast.Node(x) {
				add(x, false)
			}
		}
	}
	for _, s := range statements(n) {
		if s == next {
			break
		}
		if s, ok := s.(*ast.IfStmt); ok && (leavesLoop(s.Body.List) || goesOn(s.Body.List)) {
			add(s.Cond, true)
		}
	}
}

// keeps tells whether the result of a call is put where it is found again, under a condition: it is
// computed when it is not there.
func (w *derivedWay) keeps(in frameCode, call *ast.CallExpr, around []ast.Node) bool {
	conditional := false
	for i, n := range around[:len(around)-1] {
		switch n := n.(type) {
		case *ast.IfStmt:
			conditional = conditional || around[i+1] == ast.Node(n.Body) || around[i+1] == n.Else
		case *ast.CaseClause:
			conditional = true
		}
		for _, s := range statements(n) {
			if s == around[i+1] {
				break
			}
			if s, ok := s.(*ast.IfStmt); ok {
				conditional = conditional || leavesLoop(s.Body.List) || goesOn(s.Body.List)
			}
		}
	}
	if !conditional {
		return false
	}
	results := map[types.Object]bool{}
	kept := false
	ast.Inspect(in.body(), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, lhs := range a.Lhs {
			rhs := a.Rhs[min(i, len(a.Rhs)-1)]
			if within(rhs, call) {
				if v := w.variable(lhs); v != nil && !ofPackage(v) {
					results[v] = true
				} else if !w.isOwn(in.decl, lhs) {
					kept = true
				}
			} else if id, ok := rhs.(*ast.Ident); ok && results[w.variable(id)] && !w.isOwn(in.decl, lhs) {
				kept = true
			}
		}
		return true
	})
	ast.Inspect(in.body(), func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && cachePuts.MatchString(calledName(c)) && c != call {
			kept = kept || slices.ContainsFunc(c.Args, func(x ast.Expr) bool { return x == ast.Expr(call) || results[w.variable(x)] })
		}
		return !kept
	})
	return kept
}

// locals says what is still depended on by what the function is given; false where that is not known.
func (w *derivedWay) locals(in frameCode) bool {
	for range 4 {
		if !w.replaces(in.decl, w.dep.vars, func(v types.Object) bool { return in.declares(v) }) {
			return false
		}
		if !w.replaces(in.decl, w.dep.soft, func(v types.Object) bool { return in.declares(v) }) {
			w.rec.sure = false
		}
	}
	return !slices.ContainsFunc(sorted(w.dep.vars), func(v types.Object) bool { return in.declares(v) || w.fillsElements(in.decl, in.body(), v) })
}

// fillsElements tells of a slice or a map that a part of a function sets elements of it, or gives it to a
// function that may do so.
func (w *derivedWay) fillsElements(decl *ast.FuncDecl, part ast.Node, v types.Object) bool {
	switch v.Type().Underlying().(type) {
	case *types.Slice, *types.Map:
	default:
		return false
	}
	if slices.ContainsFunc(w.definitions(decl)[v], func(def definition) bool { return def.part && part.Pos() <= def.at && def.at < part.End() }) {
		return true
	}
	found := false
	ast.Inspect(part, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call == w.call || found {
			return !found
		}
		is := func(x ast.Expr) bool { return w.variable(pointed(x)) == v }
		if slices.ContainsFunc(writtenBy(w.derivations, call), is) {
			found = true
			return false
		}
		i := slices.IndexFunc(call.Args, is)
		if i < 0 {
			return true
		}
		pkg := w.t.fromPackage(ast.Unparen(call.Fun))
		name := calledName(call)
		switch fn := w.t.callee(call); {
		case fn != nil && len(w.declsOf(fn)) > 0:
			for _, d := range w.declsOf(fn) {
				f := w.of(d)
				found = found || f == nil || f.fills[w.given(d, i)]
			}
		case isIdent(call.Fun), computes(pkg, name), pkg == "fmt", pkg == "log":
		default:
			found = true
		}
		return !found
	})
	return found || w.writtenWithin(decl, part, v)
}

// writtenWithin tells of a variable that a part of a function writes through another name of what it refers to, itself or
// by what it calls.
func (w *derivedWay) writtenWithin(decl *ast.FuncDecl, part ast.Node, v types.Object) bool {
	var turn map[*ast.FuncDecl]bool
	for _, x := range w.changesOfAny(v) {
		if x.in == decl && part.Pos() <= x.at && x.at < part.End() {
			return true
		}
		if turn == nil {
			turn = w.reached(decl, part)
		}
		if _, in := turn[x.in]; in && x.in != decl {
			return true
		}
	}
	return false
}

// declares tells of a variable that the innermost function declares it, its parameters left out.
func (f frameCode) declares(v types.Object) bool {
	if f.lit != nil {
		return f.lit.Body.Pos() <= v.Pos() && v.Pos() < f.lit.End()
	}
	return isLocal(f.decl, v) && !isGiven(f.decl, v) || isResult(f.decl, v)
}

// replaces puts what some variables are set to in their place; false where that is not known.
func (w *derivedWay) replaces(decl *ast.FuncDecl, vars map[types.Object]bool, which func(types.Object) bool) bool {
	known := true
	for _, v := range sorted(vars) {
		if !which(v) {
			continue
		}
		delete(vars, v)
		defs := w.definitions(decl)[v]
		known = known && len(defs) > 0
		for _, def := range defs {
			known = known && !def.unknown && (def.x == nil || w.resolvesBeside(def.x, v, vars)) && w.decides(decl, v, def, vars)
			if known && !def.part && (def.x == nil && !isBasic(v.Type()) || def.x != nil && w.makes(decl, nil, def.x) && !isBasic(v.Type())) {
				known = !w.handsOn(decl, v) // who fills it in?
			}
		}
	}
	return known
}

// decides adds what decides whether a variable is given one of its values; false where that is not known.
func (w *derivedWay) decides(decl *ast.FuncDecl, v types.Object, def definition, to map[types.Object]bool) bool {
	known := true
	add := func(x ast.Expr) {
		if b, ok := ast.Unparen(x).(*ast.BinaryExpr); x == nil || ok && isError(rootName(b.X)) {
			return
		}
		known = known && w.resolvesBeside(x, v, to)
	}
	for _, n := range nodesAt(decl.Body, def.at) {
		if n.Pos() <= v.Pos() && v.Pos() < n.End() {
			continue // it is declared in there
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if def.at >= n.Body.Pos() {
				add(n.Cond)
			}
		case *ast.SwitchStmt:
			add(n.Tag)
		case *ast.CaseClause:
			for _, x := range n.List {
				if _, isType := w.t.info.Types[x]; !isType || w.t.info.Types[x].IsValue() {
					add(x)
				}
			}
		}
	}
	return known
}

func isBasic(t types.Type) bool { _, ok := t.Underlying().(*types.Basic); return ok }

// handsOn tells whether a function gives a variable to another one than that on the way, which may put
// something into what it refers to.
func (w *derivedWay) handsOn(decl *ast.FuncDecl, v types.Object) (found bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call == w.call || isNamed(call.Fun, "len") || isNamed(call.Fun, "append") {
			return !found
		}
		is := func(x ast.Expr) bool { return w.variable(pointed(x)) == v }
		sel, method := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		found = found || slices.ContainsFunc(call.Args, is) || method && is(sel.X) && !tells[sel.Sel.Name]
		return !found
	})
	return found
}

// resolvesBeside is resolves of what a variable is set to, that variable left out.
func (w *derivedWay) resolvesBeside(x ast.Expr, v types.Object, to map[types.Object]bool) bool {
	own := map[types.Object]bool{}
	ok := w.resolves(x, own, 0)
	delete(own, v)
	maps.Copy(to, own)
	return ok
}

// sorted are some variables in the order of the source.
func sorted(vars map[types.Object]bool) []types.Object {
	return slices.SortedFunc(maps.Keys(vars), func(a, b types.Object) int { return int(a.Pos() - b.Pos()) })
}

// cachePuts are methods by which something is put into a cache.
var cachePuts = lazily(`^(Store|LoadOrStore|Swap|CompareAndSwap|Set|Put|Add)`)
