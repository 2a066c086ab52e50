package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whether the sources prove of a call that all it does is closed: it changes nothing that is not its own, and goes out of the
// program only to read. Whatever is not understood is an open point, so that a new way for a call to leave something behind
// needs no entry here to be doubted.

// openPoint is a line at which a call changes something that is not its own, reads it, or does what the sources do not show.
type openPoint struct {
	at   codeLine
	what string // "s.tickets is sent to"
	// key is the place: a field or a variable of a package, the environment, or the files; nil where that is not known.
	key any
	// name is that of a file, if it is constant.
	name string
	// peer tells that it may change something at a peer.
	peer bool
	// local tells that it is a part of what the function around has made itself.
	local bool
}

func (p openPoint) text() string { return p.what + " at " + p.at.text() }

// Places that are no variable.
const (
	placeEnvironment = "the environment"
	placeFiles       = "files"
)

// closing is what one call does, as far as it is not closed.
type closing struct {
	// open are changes, and what is not understood; results are fields which the function around gives what the call returned.
	open, results []openPoint
	reads         []openPoint
}

// closedWalk goes through what a call calls.
type closedWalk struct {
	d     *derivations
	found closing
	steps int
	// told tells that what is asked for is a variable of the function around by its name, which whoever orders its calls by their variables knows.
	told bool
	// turn is the loop in each turn of which a call is made; nil for calls of different lines.
	turn ast.Stmt
	seen map[*ast.FuncDecl]bool // methods that every request goes through
}

// closedFrame is a function that is called, with what it is given.
type closedFrame struct {
	decl  *ast.FuncDecl
	lit   *ast.FuncLit // the literal in it that is called; nil of another
	outer *closedFrame
	given map[types.Object]closedGiven
	name  string
	asks  bool // it is given the method GET: its own name says nothing
}

// closedGiven is an argument, by the function that gives it.
type closedGiven struct {
	x   ast.Expr
	f   *closedFrame
	own bool
}

// Limits of the search. Chosen: what is further away is an open point.
const (
	closedDepth = 12
	closedSteps = 600
)

// closingOf is what each of several lines of a function does, in rising order, and what the statements between them do, which
// come last; false where the function is not in the sources.
func closingOf(c *code, at stack.Frame, lines []int) (all []closing, ok bool) {
	return closingIn(c, at, lines, false)
}

// closingOfTurns is that of a call that a loop makes in each turn: what was made outside of the loop, several of them have.
func closingOfTurns(c *code, at stack.Frame) (all closing, ok bool) {
	found, ok := closingIn(c, at, []int{at.Line}, true)
	if !ok {
		return all, false
	}
	return found[0], true
}

func closingIn(c *code, at stack.Frame, lines []int, turns bool) (all []closing, ok bool) {
	if c.session == nil || len(lines) == 0 {
		return nil, false
	}
	d := derivationsOf(c)
	in, ok := d.at(stack.Frame{Func: at.Func, File: at.File, Line: lines[0]})
	if !ok || in.body() == nil {
		return nil, false
	}
	nodes := make([][]ast.Node, len(lines)+1)
	nodesBetween(d, in.body(), lines, func(i int, n ast.Node) { nodes[i] = append(nodes[i], n) })
	for i, some := range nodes {
		if len(some) == 0 && i < len(lines) {
			return nil, false
		}
		w := &closedWalk{d: d}
		if turns {
			w.turn = loopAroundLine(d, in.body(), at.Line)
		}
		f := &closedFrame{decl: in.decl}
		for _, n := range some {
			w.look(f, n)
		}
		all = append(all, w.found)
	}
	return all, true
}

// loopAroundLine is the innermost loop around a line; nil where there is none.
func loopAroundLine(d *derivations, body *ast.BlockStmt, at int) (loop ast.Stmt) {
	for _, loop = range loopsAroundLine(d, body, at) {
	}
	return loop
}

// loopsAroundLine are the loops of a body around a line, the outermost first.
func loopsAroundLine(d *derivations, body *ast.BlockStmt, at int) (loops []ast.Stmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		_, first, _ := d.t.at(n.Pos())
		_, last, _ := d.t.at(n.End())
		if at < first || last < at {
			return false
		}
		if isLoop(n) {
			loops = append(loops, n.(ast.Stmt))
		}
		return true
	})
	return loops
}

// nodesBetween visits the calls and statements of a body from the first to the last of some lines, with the number of the line
// that they are on; that is the number of lines for those between. What is only reached after a failure is left out.
func nodesBetween(d *derivations, body *ast.BlockStmt, lines []int, visit func(i int, n ast.Node)) {
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		if n == nil {
			return false
		}
		if s, ok := n.(*ast.IfStmt); ok && asksForFailure(s.Cond) {
			if s.Init != nil {
				ast.Inspect(s.Init, look)
			}
			ast.Inspect(s.Cond, look)
			if s.Else != nil {
				ast.Inspect(s.Else, look)
			}
			return false
		}
		_, first, _ := d.t.at(n.Pos())
		_, last, _ := d.t.at(n.End())
		if last < lines[0] || first > lines[len(lines)-1] {
			return false
		}
		switch n.(type) {
		case *ast.CallExpr, *ast.AssignStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.DeferStmt:
			if first < lines[0] {
				return true
			}
			of := len(lines)
			for i, line := range lines {
				if of == len(lines) && first <= line && line <= last {
					of = i
				}
			}
			visit(of, n)
			return false
		case *ast.UnaryExpr:
			if n.(*ast.UnaryExpr).Op == token.ARROW && first >= lines[0] {
				visit(len(lines), n)
				return false
			}
		}
		return true
	}
	ast.Inspect(body, look)
}

// asksForFailure tells of a condition that it asks whether something failed.
func asksForFailure(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && isNamed(b.Y, "nil") && isError(lastName(types.ExprString(b.X)))
}

// opens notes an open point.
func (w *closedWalk) opens(n ast.Node, key any, format string, args ...any) {
	w.found.open = append(w.found.open, openPoint{at: w.d.placeOf(n), what: fmt.Sprintf(format, args...), key: key})
}

// opensAt is opens for what is done to the place that an expression is.
func opensAt(w *closedWalk, f *closedFrame, n ast.Node, x ast.Expr, format string, args ...any) {
	w.opens(n, w.key(f, x, 0), format, args...)
	w.found.open[len(w.found.open)-1].local = madeAround(w, f, x)
}

// madeAround tells of an expression that it is a part of what the function around has made itself, and has in a variable.
func madeAround(w *closedWalk, f *closedFrame, x ast.Expr) bool {
	for range closedDepth {
		x = ast.Unparen(unrefer(x))
		if inner := aroundPart(x); inner != x {
			x = inner
			continue
		}
		v := w.d.variable(x)
		if v == nil || ofPackage(v) {
			return false
		}
		if given, ok := f.given[v]; ok {
			x, f = given.x, given.f
			continue
		}
		if f.outer != nil || isGiven(f.decl, v) || ofLiteral(f.decl.Body, v) {
			return false
		}
		return !slices.ContainsFunc(w.d.definitions(f.decl)[v], func(def definition) bool { return def.unknown || !def.part && def.x != nil && !makesPlace(def.x) })
	}
	return false
}

// makesPlace tells of an expression that it makes something new, and nothing else.
func makesPlace(x ast.Expr) bool {
	switch x := ast.Unparen(unrefer(ast.Unparen(x))).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr:
		return isNamed(x.Fun, "new") || isNamed(x.Fun, "make")
	}
	return false
}

// ofLiteral tells of a variable that it is one of a function literal in a body.
func ofLiteral(body *ast.BlockStmt, v types.Object) bool {
	return hasNode(body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		return ok && lit.Pos() <= v.Pos() && v.Pos() < lit.Body.Pos()
	})
}

// ofTurn tells of a variable of the function around that each call has one of its own.
func ofTurn(w *closedWalk, f *closedFrame, v types.Object) bool {
	return w.turn == nil || f.outer != nil || w.turn.Pos() <= v.Pos() && v.Pos() < w.turn.End()
}

// reads notes what is read.
func (w *closedWalk) reads(n ast.Node, key any, format string, args ...any) {
	if key != nil {
		w.found.reads = append(w.found.reads, openPoint{at: w.d.placeOf(n), what: fmt.Sprintf(format, args...), key: key})
	}
}

// look goes through a node of a function.
func (w *closedWalk) look(f *closedFrame, top ast.Node) {
	eachNode(top, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				if v := w.d.variable(ast.Unparen(x)); v != nil && n.Tok != token.DEFINE && f.shares(v, around) {
					w.opens(n, v, "%s is set", types.ExprString(x))
				} else if n.Tok != token.DEFINE || !isIdent(x) {
					w.stores(f, x, n, i, around)
				}
			}
		case *ast.IncDecStmt:
			if v := w.d.variable(ast.Unparen(n.X)); v != nil && f.shares(v, around) || !w.toldPlace(f, n.X, 0) {
				w.counts(n, n.X, w.key(f, n.X, 0), types.ExprString(n.X)+" is counted on")
				markLocal(w, f, n.X)
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if x != nil && n.Tok == token.ASSIGN && !w.place(f, x, 0) {
					w.opens(x, w.key(f, x, 0), "%s is set", types.ExprString(x))
				}
			}
			if of := w.d.t.typeOf(n.X); of != nil {
				if _, isChan := of.Underlying().(*types.Chan); isChan {
					w.receives(f, n, n.X)
				}
			}
		case *ast.SendStmt:
			if !w.pointee(f, n.Chan, 0) {
				w.opens(n, w.key(f, n.Chan, 0), "%s is sent to", types.ExprString(n.Chan))
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				w.receives(f, n, n.X)
			}
		case *ast.SelectorExpr:
			if v := fieldOrAsserted(w, f, n); v != nil && !onlyChanged(n, around) {
				w.reads(n, v, "%s is read", types.ExprString(n))
			}
		case *ast.Ident:
			if v := w.d.variable(n); v != nil && (ofPackage(v) || f.outer == nil || f.lit != nil) && !onlyChanged(n, around) {
				w.reads(n, v, "%s is read", n.Name)
			}
		case *ast.CallExpr:
			_, alone := parent(around).(*ast.ExprStmt)
			w.call(f, n, alone || len(around) == 0)
		}
	})
}

// shares tells of a variable of the function around that a literal in it changes it: another call may have it too.
func (f *closedFrame) shares(v types.Object, around []ast.Node) bool {
	if ofPackage(v) || f.outer != nil && f.lit == nil {
		return false
	}
	lit := f.lit
	for _, n := range around {
		if l, ok := n.(*ast.FuncLit); ok && lit == nil {
			lit = l
		}
	}
	return lit != nil && !(lit.Pos() <= v.Pos() && v.Pos() < lit.End())
}

// receives looks at a receive. Others that receive from the same channel get something else then; that a context has ended is told to all.
func (w *closedWalk) receives(f *closedFrame, n ast.Node, x ast.Expr) {
	if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && (calledName(call) == "Done" || w.d.t.fromPackage(call.Fun) == "time") {
		return
	}
	if !w.pointee(f, x, 0) {
		key := w.key(f, x, 0)
		w.opens(n, nil, "%s is received from", types.ExprString(x))
		w.reads(n, key, "%s is received from", types.ExprString(x))
	}
}

// stores looks at what an assignment sets.
func (w *closedWalk) stores(f *closedFrame, x ast.Expr, n *ast.AssignStmt, i int, around []ast.Node) {
	if isNamed(x, "_") || w.toldPlace(f, x, 0) {
		return
	}
	p := openPoint{at: w.d.placeOf(n), what: types.ExprString(x) + " is set", key: w.key(f, x, 0), local: madeAround(w, f, x)}
	if _, isCall := ast.Unparen(n.Rhs[min(i, len(n.Rhs)-1)]).(*ast.CallExpr); f.outer == nil && (isCall || w.turn != nil) {
		w.found.results = append(w.found.results, p) // done in this order whoever makes the calls
		return
	}
	if _, entry := ast.Unparen(x).(*ast.IndexExpr); f.outer != nil && setsLazily(f.decl, n, around) && !(p.local && !entry) {
		p.key = nil // whoever finds nothing there makes it; in what is made for these calls alone the first one does
	}
	w.found.open = append(w.found.open, p)
}

// onlyChanged tells of a place, with the nodes around, that it is only set there, or counted on by a call or a statement of its own.
func onlyChanged(x ast.Expr, around []ast.Node) bool {
	switch p := parent(around).(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		return p.Tok == token.ASSIGN && slices.Contains(p.Lhs, x)
	case *ast.SelectorExpr:
		if len(around) < 3 || !metricVerbs.MatchString(p.Sel.Name) {
			return false
		}
		call, ok := around[len(around)-2].(*ast.CallExpr)
		_, alone := around[len(around)-3].(*ast.ExprStmt)
		return ok && alone && call.Fun == ast.Expr(p)
	}
	return false
}

// place tells of what is set that it is the call's own: a variable of a function that it calls, or a part of one.
func (w *closedWalk) place(f *closedFrame, x ast.Expr, depth int) bool {
	if depth > closedDepth {
		return false
	}
	byValue := func(x ast.Expr) bool {
		of := w.d.t.typeOf(x)
		if of == nil {
			return false
		}
		switch of.Underlying().(type) {
		case *types.Struct, *types.Array:
			return true
		}
		return false
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		v := w.d.variable(x)
		return v != nil && !ofPackage(v) && ofTurn(w, f, v)
	case *ast.SelectorExpr:
		if byValue(x.X) {
			return w.place(f, x.X, depth+1)
		}
		return w.pointee(f, x.X, depth+1)
	case *ast.IndexExpr:
		if w.turn != nil && f.outer == nil && byTurn(w, x.Index) {
			return true
		}
		if byValue(x.X) {
			return w.place(f, x.X, depth+1)
		}
		return w.pointee(f, x.X, depth+1)
	case *ast.StarExpr:
		return w.pointee(f, x.X, depth+1)
	}
	return false
}

// byTurn tells of a key that each turn of the loop has another one.
func byTurn(w *closedWalk, key ast.Expr) bool {
	v := w.d.variable(ast.Unparen(key))
	return v != nil && w.turn.Pos() <= v.Pos() && v.Pos() < w.turn.End()
}

// toldPlace is place of what the function around names itself.
func (w *closedWalk) toldPlace(f *closedFrame, x ast.Expr, depth int) bool {
	before := w.told
	w.told = true
	own := w.place(f, x, depth)
	w.told = before
	return own
}

// pointee tells of a value that what it refers to is the call's own: made by it, and nobody else has it.
func (w *closedWalk) pointee(f *closedFrame, x ast.Expr, depth int) bool {
	if depth > closedDepth || x == nil {
		return false
	}
	if of := w.d.t.typeOf(x); of != nil && isBasic(of) {
		return true
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit, *ast.BinaryExpr:
		return true
	case *ast.Ident:
		return w.ownVariable(f, x, depth)
	case *ast.CompositeLit:
		return !slices.ContainsFunc(x.Elts, func(e ast.Expr) bool {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			return !w.pointee(f, e, depth+1)
		})
	case *ast.UnaryExpr:
		if x.Op != token.AND {
			return false
		}
		if _, lit := ast.Unparen(x.X).(*ast.CompositeLit); lit {
			return w.pointee(f, x.X, depth+1)
		}
		return w.toldPlace(f, x.X, depth+1)
	case *ast.SelectorExpr:
		return w.d.t.fromPackage(x) == "" && w.pointee(f, x.X, depth+1)
	case *ast.IndexExpr:
		return w.turn != nil && f.outer == nil && byTurn(w, x.Index) || w.pointee(f, x.X, depth+1)
	case *ast.SliceExpr:
		return w.pointee(f, x.X, depth+1)
	case *ast.StarExpr:
		return w.pointee(f, x.X, depth+1)
	case *ast.TypeAssertExpr:
		return w.pointee(f, x.X, depth+1)
	case *ast.CallExpr:
		return w.ownResult(f, x, depth)
	}
	return false
}

// ownVariable is that of a variable.
func (w *closedWalk) ownVariable(f *closedFrame, id *ast.Ident, depth int) bool {
	v := w.d.variable(id)
	if v == nil {
		return w.d.t.info.Uses[id] != nil // nil, a constant, a function
	}
	if w.turn != nil && f.outer == nil && !ofPackage(v) && isRangeValue(w.turn, w.d, v) {
		return true // another one in each turn
	}
	if ofPackage(v) || f.outer == nil && !w.told || !ofTurn(w, f, v) {
		return false // several of the calls have it
	}
	defs := w.d.definitions(f.decl)[v]
	given, isArgument := f.given[v]
	switch {
	case isArgument && !given.own:
		return false
	case isGiven(f.decl, v) && !isArgument:
		return false // a parameter of the function around, or of one that nobody is seen to call
	case len(defs) == 0 && !isArgument:
		return isResult(f.decl, v) // a parameter of a literal is nobody's own
	}
	return !slices.ContainsFunc(defs, func(def definition) bool {
		return !def.unknown && def.x != nil && !w.pointee(f, def.x, depth+1)
	})
}

// isRangeValue tells of a variable that a loop gives it another element in each turn.
func isRangeValue(loop ast.Stmt, d *derivations, v types.Object) bool {
	r, ok := loop.(*ast.RangeStmt)
	return ok && r.Value != nil && d.variable(r.Value) == v
}

// ownResult is that of what a call returns.
func (w *closedWalk) ownResult(f *closedFrame, n *ast.CallExpr, depth int) bool {
	if tv, ok := w.d.t.info.Types[n.Fun]; ok && tv.IsType() {
		return len(n.Args) == 1 && w.pointee(f, n.Args[0], depth+1)
	}
	args := func() bool {
		return !slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return !isContext(x) && !w.pointee(f, x, depth+1) })
	}
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
		if _, builtin := w.d.t.info.Uses[id].(*types.Builtin); builtin {
			return id.Name == "make" || id.Name == "new" || args()
		}
	}
	decls, known := w.meant(f, n)
	if known {
		if len(decls) != 1 {
			return false
		}
		return returnsOwnValue(w, w.enterFrame(f, decls[0], n), depth+1)
	}
	name, pkg := calledName(n), w.d.t.fromPackage(ast.Unparen(n.Fun))
	if pkg != "" {
		return args() || isOutward(name)
	}
	sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
	if !ok || name == "Value" || name == "Load" {
		return false
	}
	if w.pointee(f, sel.X, depth+1) {
		return true
	}
	of := libraryTypeOf(w.d, sel.X, 0)
	return isOutward(name) && (of.text() == "net/http.Client" || of.text() == "net/http." || of.pkg == "database/sql")
}

// returnsOwnValue tells of a function that all that it returns is its own.
func returnsOwnValue(w *closedWalk, f *closedFrame, depth int) bool {
	if w.steps++; depth > closedDepth || w.steps > closedSteps || f.decl.Body == nil {
		return false
	}
	own, returns := true, 0
	ast.Inspect(f.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			returns++
			if len(n.Results) == 0 && f.decl.Type.Results.NumFields() > 0 {
				own = false // by its name
			}
			for _, x := range n.Results {
				if text := types.ExprString(x); !isError(lastName(text)) && !makesError(w, x) {
					own = own && w.pointee(f, x, depth+1)
				}
			}
		}
		return own
	})
	return own && returns > 0
}

// makesError tells of an expression that it makes an error.
func makesError(w *closedWalk, x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	pkg, name := w.d.t.fromPackage(ast.Unparen(call.Fun)), calledName(call)
	return pkg == "fmt" && name == "Errorf" || pkg == "errors"
}

// key is the field or the variable that an expression is, by which two functions may mean the same place.
func (w *closedWalk) key(f *closedFrame, x ast.Expr, depth int) any {
	if depth > closedDepth {
		return nil
	}
	switch e := ast.Unparen(x).(type) {
	case *ast.Ident:
		v := w.d.variable(e)
		if v == nil {
			return nil
		}
		if given, ok := f.given[v]; ok {
			return w.key(given.f, given.x, depth+1)
		}
		if defs := w.d.definitions(f.decl)[v]; !ofPackage(v) && len(defs) == 1 && defs[0].x != nil && !defs[0].unknown {
			if key := w.key(f, defs[0].x, depth+1); key != nil {
				return key
			}
		}
		return v
	case *ast.SelectorExpr:
		if v := fieldOrAsserted(w, f, e); v != nil {
			return v
		}
		if v, ok := w.d.t.info.Uses[e.Sel].(*types.Var); ok {
			return v
		}
		return w.key(f, e.X, depth+1)
	case *ast.UnaryExpr:
		return w.key(f, e.X, depth+1)
	case *ast.TypeAssertExpr:
		return w.key(f, e.X, depth+1)
	}
	if inner := aroundPart(x); inner != ast.Unparen(x) {
		return w.key(f, inner, depth+1)
	}
	return nil
}

// fieldOrAsserted is the field that a selector names, of a variable too that has its type by an assertion, as a value of a context has.
func fieldOrAsserted(w *closedWalk, f *closedFrame, x *ast.SelectorExpr) types.Object {
	if v := w.d.field(x); v != nil {
		return v
	}
	for _, def := range w.d.definitions(f.decl)[w.d.variable(ast.Unparen(x.X))] {
		if as, ok := ast.Unparen(def.x).(*ast.TypeAssertExpr); ok && as.Type != nil && !def.part {
			return fieldNamed(w.d, types.ExprString(unrefer(as.Type)), x)
		}
	}
	return nil
}

// fieldNamed is the field that a selector names of a type by the text of that; nil where several types are called so.
func fieldNamed(d *derivations, of string, x *ast.SelectorExpr) (found types.Object) {
	of = lastName(strings.TrimPrefix(of, "*"))
	for _, file := range d.t.files {
		for _, decl := range file.file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok || t.Name.Name != of {
					continue
				}
				s, ok := t.Type.(*ast.StructType)
				if !ok {
					return nil
				}
				for _, field := range s.Fields.List {
					for _, id := range field.Names {
						if v := d.variable(id); id.Name == x.Sel.Name && v != nil {
							if found != nil {
								return nil
							}
							found = v
						}
					}
				}
			}
		}
	}
	return found
}
