package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What a loop stores with a call in each turn may be told to somebody: by what follows the call, or by what the next turn begins with. Whoever is told must
// not hear of it before it is stored. Besides what [effectAfter] and [effectNext] find, that is whatever leaves the program, or is kept where others read it.

// syncTold finds what may tell somebody that what a sync on a way through the code brings to the disk is there; next tells that the next turn begins with it.
func syncTold(c *code, path []stack.Frame) (e effect, next, found bool) {
	return storedTold(c, path, false)
}

// statementTold is the same for a statement of a database. Further statements tell nobody.
func statementTold(c *code, path []stack.Frame) (e effect, next, found bool) {
	return storedTold(c, path, true, sessionMethods...)
}

// storedTold finds it for a call that stores something. apart tells that it is not by writing to a file that the turn has filled before. The calls of some
// names tell nobody.
func storedTold(c *code, path []stack.Frame, apart bool, but ...string) (e effect, next, found bool) {
	for _, p := range turnOf(c, path) {
		p.but = but
		if e, found = p.effectAfter(); found {
			return e, false, true
		}
	}
	if e, found = effectNext(c, path); found && !slices.Contains(but, lastName(e.name)) {
		return e, true, true
	}
	w := &toldWalk{turnAround: &turnAround{d: derivationsOf(c), set: map[types.Object]bool{}}, apart: apart, looked: map[*ast.FuncDecl]toldBy{}}
	return w.around(path)
}

// toldWalk looks at the turns of a loop for what they tell others.
type toldWalk struct {
	*turnAround
	counts map[types.Object]bool    // the loop's variables that count its turns
	looked map[*ast.FuncDecl]toldBy // what is known of functions; nothing of those that are being looked at
	apart  bool
	top    bool // before the call
	found  *effect
}

// toldBy is what a function tells: something, and shown, that it goes to standard output.
type toldBy struct{ shown, told bool }

// around looks at each function of a way up to the loop.
func (w *toldWalk) around(path []stack.Frame) (e effect, next, found bool) {
	type part struct {
		in   frameCode
		body ast.Node
		line int
	}
	var parts []part
	for _, f := range path {
		in, ok := w.d.at(f)
		if !ok {
			return e, false, false
		}
		body, loop := w.turn(in, f.Line)
		w.add(in, body, f.Line)
		if w.behind(in, body, f.Line); w.found != nil {
			return *w.found, false, true
		}
		parts = append(parts, part{in, body, f.Line})
		if loop != nil {
			w.counts = w.countersOf(loop)
			break
		}
	}
	w.top, w.looked = true, map[*ast.FuncDecl]toldBy{}
	for _, p := range parts {
		if w.atTop(p.in, p.body, p.line); w.found != nil {
			return *w.found, true, true
		}
	}
	return e, false, false
}

// turn is the part of a function that one turn has around a line: the body of the innermost loop there that does not try a call again, or else that of the function.
func (w *toldWalk) turn(in frameCode, line int) (body ast.Node, loop ast.Stmt) {
	for _, l := range slices.Backward(loopsAroundLine(w.d, in.body(), line)) {
		if of := bodyOfLoop(l); w.covers(of, line) && !hasCall(of, func(call *ast.CallExpr) bool { return w.covers(call, line) && triesUntil(l, call) }) {
			return of, l
		}
	}
	return in.body(), nil
}

// countersOf are the variables of a loop that count its turns.
func (w *toldWalk) countersOf(loop ast.Stmt) map[types.Object]bool {
	counts := map[types.Object]bool{}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if of := w.d.t.typeOf(l.X); of != nil && l.Key != nil {
			if _, keyed := of.Underlying().(*types.Map); !keyed {
				counts[w.d.variable(l.Key)] = true
			}
		}
	case *ast.ForStmt:
		for _, x := range placesSet(l.Post) {
			counts[w.d.variable(x)] = true
		}
	}
	delete(counts, nil)
	return counts
}

// ofErrorAlone tells of a condition that it is about an error alone.
func ofErrorAlone(cond ast.Expr) bool {
	x, ok := cond.(*ast.BinaryExpr)
	return ok && x.Op == token.NEQ && isNamed(x.Y, "nil") && (isError(lastName(types.ExprString(x.X))) || isIdent(x.X) && len(rootName(x.X)) == 1)
}

// behind finds what a part of the turn tells behind a line.
func (w *toldWalk) behind(in frameCode, body ast.Node, line int) {
	ast.Inspect(body, func(x ast.Node) bool {
		if x == nil || w.found != nil {
			return false
		}
		first, last := w.lines(x)
		if last <= line {
			return false
		}
		switch s := x.(type) {
		case *ast.FuncLit:
			return first < line && line <= last
		case *ast.DeferStmt:
			return false
		case *ast.IfStmt:
			if ofErrorAlone(s.Cond) {
				if s.Else != nil {
					w.behind(in, s.Else, line)
				}
				return false
			}
		}
		if first > line {
			w.look(in.decl, x, line, nil)
		}
		return true
	})
}

// atTop finds what the turn tells before a line, of what the turn before has set behind it or of how many there have been.
func (w *toldWalk) atTop(in frameCode, body ast.Node, line int) {
	ast.Inspect(body, func(x ast.Node) bool {
		if x == nil || w.found != nil {
			return false
		}
		if first, _ := w.lines(x); first >= line {
			return false
		}
		switch s := x.(type) {
		case *ast.FuncLit:
			return w.covers(s, line)
		case *ast.DeferStmt:
			return false
		}
		if _, last := w.lines(x); last < line {
			w.look(in.decl, x, line, w.progress)
		}
		return true
	})
}

func (w *toldWalk) lines(x ast.Node) (first, last int) {
	return w.d.placeOf(x).line, w.endOf(x)
}

func (w *toldWalk) endOf(x ast.Node) int {
	_, last, _ := w.d.t.at(x.End())
	return last
}

// progress tells of something told before the call that it may be how far it has come: it names what was set behind the call. What counts the turns is that,
// too, but on standard output, where it may as well be what is done next.
func (w *toldWalk) progress(n ast.Node, shown bool) bool {
	return hasNode(n, func(x ast.Node) bool {
		id, ok := x.(*ast.Ident)
		return ok && (w.set[w.d.t.info.Uses[id]] || w.apart && !shown && w.counts[w.d.t.info.Uses[id]])
	})
}

// look notes a node that tells others something. about says whether it is about what was stored; nil where anything is.
func (w *toldWalk) look(decl *ast.FuncDecl, x ast.Node, line int, about func(n ast.Node, shown bool) bool) {
	note := func(name string, shown bool) {
		if w.found == nil && (about == nil || about(x, shown)) {
			e := w.effect(x, name)
			w.found = &e
		}
	}
	switch s := x.(type) {
	case *ast.CallExpr:
		if name, shown, told := w.tells(decl, s, line); told {
			note(name, shown)
		}
	case *ast.AssignStmt, *ast.IncDecStmt:
		for i, place := range placesSet(x) {
			var value ast.Expr
			if a, ok := s.(*ast.AssignStmt); ok && len(a.Rhs) == len(a.Lhs) && a.Tok == token.ASSIGN {
				value = a.Rhs[i]
			}
			if w.keeps(decl, place, value, line) {
				note("a store to "+types.ExprString(place), false)
			}
		}
	}
}

// Methods by which something goes out, and those of package sync/atomic, of sync.Map and of a WaitGroup by which something is kept.
var (
	putsOutNames = lazily(`^(Write(At|String|Byte|Rune|Message|JSON)?|Encode|Flush|Sync|Truncate)$`)
	keepsShared  = lazily(`^(Store|Swap|CompareAndSwap|Add|Done|Delete)((U?[Ii]nt|Uintptr|Pointer).*)?$`)
)

// tells tells of a call that something leaves the program by it, or is kept where others read it; shown, that it goes to standard output.
func (w *toldWalk) tells(decl *ast.FuncDecl, call *ast.CallExpr, line int) (name string, shown, told bool) {
	name = types.ExprString(call.Fun)
	fn, pkg := w.d.t.callee(call), w.packageOf(call)
	if fn != nil && fn.Pkg() != nil && w.d.t.decls[fn] == nil {
		pkg = fn.Pkg().Path()
	}
	switch called := calledName(call); {
	case pkg == "fmt" && strings.HasPrefix(called, "Print"):
		return name, true, true
	case pkg == "fmt" && strings.HasPrefix(called, "Fprint"), pkg == "io" && (called == "WriteString" || called == "Copy"):
		return name, w.isStdout(call.Args[:min(1, len(call.Args))]), w.leaves(call.Args[:min(1, len(call.Args))])
	case pkg == "sync/atomic" && keepsShared.MatchString(called), pkg == "sync" && keepsShared.MatchString(called):
		place := receiverOf(call)
		if w.d.t.fromPackage(call.Fun) != "" && len(call.Args) > 0 {
			place = call.Args[0]
		}
		return "a store to " + types.ExprString(place), false, w.readElsewhere(decl, w.d.t.place(place), line)
	case putsOutNames.MatchString(called) && isMethodCall(call) && (fn == nil || w.d.t.decls[fn] == nil) && !ofSums(pkg):
		return name, w.isStdout([]ast.Expr{receiverOf(call)}), w.leaves([]ast.Expr{receiverOf(call)})
	case w.acts(call):
		return name, false, true
	}
	if fn == nil {
		return name, false, false
	}
	callee := w.d.t.decls[fn]
	if callee == nil || callee.Body == nil {
		return name, false, false
	}
	if known, ok := w.looked[callee]; ok {
		return name, known.shown, known.told
	}
	w.looked[callee] = toldBy{}
	defer func() { w.looked[callee] = toldBy{shown, told} }()
	ast.Inspect(callee.Body, func(n ast.Node) bool {
		if told {
			return false
		}
		switch n := n.(type) {
		case *ast.SendStmt:
			told = true
		case *ast.IfStmt:
			if ofErrorAlone(n.Cond) {
				return false
			}
		case *ast.CallExpr:
			_, shown, told = w.tells(callee, n, 0)
		default:
			for i, place := range placesSet(n) {
				var value ast.Expr
				if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == len(a.Lhs) && a.Tok == token.ASSIGN {
					value = a.Rhs[i]
				}
				told = told || w.keeps(callee, place, value, 0)
			}
		}
		return !told
	})
	return name, shown, told
}

// ofSums tells of a package that what is written to its values only makes a sum.
func ofSums(pkg string) bool {
	return strings.HasPrefix(pkg, "hash") || strings.HasPrefix(pkg, "crypto/") && pkg != "crypto/tls"
}

// leaves tells of a writer that what is written to it leaves the program: before a sync it is what that is for.
func (w *toldWalk) leaves(to []ast.Expr) bool {
	return !w.isOwnBuffer(to) && (w.apart || !w.top || w.isStdout(to))
}

// isOwnBuffer tells of a writer that what is written to it stays in memory, or is shown as a log is.
func (w *toldWalk) isOwnBuffer(to []ast.Expr) bool {
	if len(to) == 0 || slices.Contains([]string{"os.Stderr", "io.Discard"}, types.ExprString(to[0])) {
		return true
	}
	return slices.Contains([]string{"strings.Builder", "bytes.Buffer", "log.Logger", "testing.T", "testing.B"}, libraryTypeOf(w.d, to[0], 0).text())
}

// isStdout tells of a writer that it is standard output.
func (w *toldWalk) isStdout(to []ast.Expr) bool {
	return len(to) > 0 && types.ExprString(to[0]) == "os.Stdout"
}

// keeps tells of a place that is given a value that others read it, and that the value is of the turn: no constant, no error and not the time.
func (w *toldWalk) keeps(decl *ast.FuncDecl, place, value ast.Expr, line int) bool {
	v := w.d.t.place(place)
	if v == nil || isError(v.Name()) || isErrorType(v.Type()) {
		return false
	}
	of := func(x ast.Expr) bool {
		return hasNode(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && w.d.variable(id) != nil && !isError(id.Name)
		})
	}
	root := w.d.variable(innermost(place))
	turns := root != nil && !ofPackage(root) && isLocal(decl, root) && !isGiven(decl, root) && !isIdent(place) // a field of what the turn has
	if i, ok := ast.Unparen(place).(*ast.IndexExpr); ok {
		turns = turns || of(i.Index)
	}
	if value != nil && !turns && !of(value) {
		return false
	}
	if star, ok := ast.Unparen(place).(*ast.StarExpr); ok && isIdent(star.X) && root != nil && isGiven(decl, root) {
		return true // who has given it reads it
	}
	return w.readElsewhere(decl, v, line)
}

// readElsewhere tells of a variable or a field that another function reads it, or one without a name in a function, other than that around a line.
func (w *toldWalk) readElsewhere(decl *ast.FuncDecl, v types.Object, line int) (found bool) {
	if v == nil {
		return false
	}
	for _, f := range w.d.t.files {
		eachNode(f.file, func(n ast.Node, around []ast.Node) {
			id, ok := n.(*ast.Ident)
			if !ok || found || id.Name != v.Name() || w.usedAs(id) != v || onlySets(id, around) {
				return
			}
			found = !within(decl, id)
			for i, x := range around {
				if lit, ok := x.(*ast.FuncLit); ok && within(decl, id) && (line == 0 || !w.covers(lit, line)) && !isDeferred(lit, around[:i]) {
					found = true
				}
			}
		})
	}
	return found
}

// usedAs is the variable or field that a name in the sources is used as.
func (w *toldWalk) usedAs(id *ast.Ident) types.Object {
	if v, ok := w.d.t.info.Uses[id].(*types.Var); ok {
		return v.Origin()
	}
	return nil
}

// isDeferred tells of a function without a name that it is only called when the one around it ends.
func isDeferred(lit *ast.FuncLit, around []ast.Node) bool {
	if len(around) < 2 {
		return false
	}
	call, ok := around[len(around)-1].(*ast.CallExpr)
	d, is := around[len(around)-2].(*ast.DeferStmt)
	return ok && is && d.Call == call && call.Fun == ast.Expr(lit)
}

// onlySets tells of a name that nothing reads it there: it is given a value, or is the name of a field in a literal.
func onlySets(id *ast.Ident, around []ast.Node) bool {
	var x ast.Expr = id
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.SelectorExpr:
			if n.Sel == x || n.Sel == id {
				x = n
				continue
			}
			call, ok := around[max(0, i-1)].(*ast.CallExpr)
			if !ok || call.Fun != ast.Expr(n) || !keepsShared.MatchString(n.Sel.Name) {
				return false
			}
			_, alone := around[max(0, i-2)].(*ast.ExprStmt)
			return alone
		case *ast.UnaryExpr:
			x = n
			if n.Op != token.AND {
				return false
			}
		case *ast.CallExpr:
			_, alone := around[max(0, i-1)].(*ast.ExprStmt)
			return alone && len(n.Args) > 0 && strings.HasPrefix(types.ExprString(n.Fun), "atomic.") && keepsShared.MatchString(calledName(n)) && n.Args[0] == x
		case *ast.KeyValueExpr:
			_, lit := around[max(0, i-1)].(*ast.CompositeLit)
			return lit && n.Key == x
		case *ast.IncDecStmt:
			return true
		case *ast.AssignStmt:
			return slices.Contains(n.Lhs, x)
		default:
			return false
		}
	}
	return false
}
