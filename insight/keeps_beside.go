package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Bounds of a container where something is put into it, in whichever function that is: what takes something out as soon as there is too
// much, by a length or by a counter of the sources, there or in a function that is called there; and two generations that take turns.

// besideBound is where the source keeps a container to a size whenever something is put into it.
type besideBound struct {
	at    Evidence
	while string // the condition: "c.used > c.maxBytes"
	// turns tells that a new container takes its place, and it that of an older one; clock that the time says when.
	turns, clock bool
	// limit is the number that is compared with, 0 where the source does not say it; bytes tells that it is of bytes.
	limit int64
	bytes bool
}

// boundBeside finds what bounds a container in the function that puts something into it: it runs whenever that does, but for conditions
// on how much there is.
func boundBeside(c *code, s keepsAt) (b besideBound, ok bool) {
	x, fn := c.parse(s.file), c.function(stack.Frame{File: s.file, Line: s.line})
	if x == nil || fn == nil || s.part || s.kind == intoField || s.kind == intoChannel {
		return b, false
	}
	l := &besideLook{c: c, fn: fn, file: s.file, name: lastName(s.container), once: true}
	for _, around := range blocksAround(x, fn, s.line) {
		l.once = l.once && !isLoop(around.in)
		left := false // between the store and what follows
		for _, stmt := range around.list {
			first, last := x.lines(stmt)
			if found, is := l.bounds(stmt, 1); is && !left && !(first <= s.line && s.line <= last && first < last) {
				return found, true
			}
			if first > s.line && mayLeave(stmt) {
				left = true
			}
		}
	}
	return b, false
}

// stmtsAround are the statements beside the one that has a line in it, and what they are the body of.
type stmtsAround struct {
	in   ast.Node
	list []ast.Stmt
}

// blocksAround are the lists of statements around a line, the innermost first, up to a function that stands in the function.
func blocksAround(x *syntax, fn *ast.FuncDecl, line int) (all []stmtsAround) {
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		var in ast.Node = fn
		if len(around) > 0 {
			in = around[len(around)-1]
		}
		if !x.covers(n, line) {
			return
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			all = nil
		case *ast.BlockStmt:
			all = append(all, stmtsAround{in, n.List})
		case *ast.CaseClause:
			all = append(all, stmtsAround{n, n.Body})
		case *ast.CommClause:
			all = append(all, stmtsAround{n, n.Body})
		}
	})
	slices.Reverse(all)
	return all
}

// mayLeave tells of a statement that the function, or a loop, may end with it.
func mayLeave(s ast.Stmt) (leaves bool) {
	inside(s, func(n ast.Node) {
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			leaves = true
		}
	})
	return leaves
}

// besideLook looks for what bounds one container.
type besideLook struct {
	c    *code
	fn   *ast.FuncDecl // which puts something in
	file string        // that of the statements that are looked at
	name string        // the last one of the container
	once bool          // one is put in, not several in a loop
}

// bounds tells of a statement that it bounds the container: itself, or by a function of the sources that it calls.
func (l *besideLook) bounds(stmt ast.Stmt, levels int) (b besideBound, ok bool) {
	switch s := stmt.(type) {
	case *ast.IfStmt:
		if s.Else != nil {
			return b, false
		}
		if l.swaps(s.Body.List) {
			return l.turns(s.Cond, s)
		}
		return l.takes(s.Cond, s.Body, false)
	case *ast.ForStmt:
		if s.Cond != nil {
			return l.takes(s.Cond, s.Body, true)
		}
	case *ast.ExprStmt:
		call, is := s.X.(*ast.CallExpr)
		if !is || levels == 0 {
			return b, false
		}
		all := methodsOf(l.c, l.fn, call.Fun)
		if len(all) != 1 || all[0].FuncDecl == l.fn {
			return b, false
		}
		return l.called(all[0], levels-1)
	}
	return b, false
}

// called is bounds of the statements of a function that is called, up to where it may leave: an early return is one of a turn that has
// not come.
func (l *besideLook) called(d declaration, levels int) (b besideBound, ok bool) {
	in := *l
	in.file = d.file
	var unless ast.Expr
	for i, stmt := range d.Body.List {
		if b, ok = in.bounds(stmt, levels); ok {
			return b, true
		}
		if cond, is := stmt.(*ast.IfStmt); is && cond.Else == nil && leavesLoop(cond.Body.List) {
			if unless != nil {
				return b, false
			}
			unless = cond.Cond
			continue
		}
		if unless != nil && in.swaps(d.Body.List[i:]) {
			return in.turns(unless, stmt)
		}
	}
	return b, false
}

// takes tells of a body under a condition that it takes something out of the container as long as there is too much in it.
func (l *besideLook) takes(cond ast.Expr, body *ast.BlockStmt, loop bool) (b besideBound, ok bool) {
	x, is := ast.Unparen(cond).(*ast.BinaryExpr)
	if is && x.Op == token.LAND && loop { // as long as there is anything in it
		switch {
		case l.asksAny(x.Y):
			x, is = ast.Unparen(x.X).(*ast.BinaryExpr)
		case l.asksAny(x.X):
			x, is = ast.Unparen(x.Y).(*ast.BinaryExpr)
		}
	}
	if !is {
		return b, false
	}
	much, limit := x.X, x.Y
	switch x.Op {
	case token.LSS, token.LEQ:
		much, limit = limit, much
	case token.GTR, token.GEQ:
	default:
		return b, false
	}
	if !takesOutOf(l.c, body, l.name, 1) || !loop && !l.once {
		return b, false
	}
	counted, bytes := l.counts(much, body, loop)
	if !l.isLength(much) && !counted {
		return b, false
	}
	b = besideBound{while: types.ExprString(cond), limit: constant(l.c, limit), bytes: bytes}
	b.at = l.shown(cond, "something is taken out of it here, whenever there is more")
	return b, true
}

// asksAny tells of a condition that it asks only whether there is anything left to take out.
func (l *besideLook) asksAny(cond ast.Expr) bool {
	x, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	n, known := numberOf(x.Y)
	return isNamed(x.Y, "nil") && x.Op == token.NEQ || known && 0 <= n && n <= 1 && (x.Op == token.GTR || x.Op == token.NEQ) && l.isLength(x.X)
}

// isLength tells of an expression that it is the length of the container, or of another one that the function puts something into beside it,
// such as a list of the keys.
func (l *besideLook) isLength(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	var of ast.Expr
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if f.Name != "len" || len(call.Args) != 1 {
			return false
		}
		of = call.Args[0]
	case *ast.SelectorExpr:
		if f.Sel.Name != "Len" || len(call.Args) != 0 {
			return false
		}
		of = f.X
	default:
		return false
	}
	name := lastName(types.ExprString(of))
	return name == l.name || slices.ContainsFunc(l.fn.Body.List, func(s ast.Stmt) bool { return putsAtEnd(s, name) })
}

// putsAtEnd tells of a statement that it puts something at the end, or the front, of what has a name.
func putsAtEnd(s ast.Stmt, name string) bool {
	return hasNode(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		if isNamed(call.Fun, "append") && len(call.Args) > 1 {
			return lastName(types.ExprString(call.Args[0])) == name
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		return ok && (f.Sel.Name == "PushFront" || f.Sel.Name == "PushBack") && lastName(types.ExprString(f.X)) == name
	})
}

// counts tells of a variable that the function adds to it what it puts in, and that the body, or what it calls, takes that off again:
// it counts what there is. A branch that takes out one needs a counter that goes by ones.
func (l *besideLook) counts(x ast.Expr, body *ast.BlockStmt, loop bool) (is, bytes bool) {
	x = ast.Unparen(x)
	switch x.(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return false, false
	}
	name := lastName(types.ExprString(x))
	adds := false
	for _, s := range l.fn.Body.List {
		up, one, sized := stepsBy(s, name, token.INC, token.ADD_ASSIGN)
		if up && (loop || one) {
			adds, bytes = true, sized
		}
	}
	return adds && stepsDown(l.c, body, name, 1), bytes
}

// stepsBy tells of a statement that it changes a variable of a name by an operation, by one, or by a length.
func stepsBy(s ast.Node, name string, inc, add token.Token) (is, one, sized bool) {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		is = s.Tok == inc && lastName(types.ExprString(s.X)) == name
		return is, is, false
	case *ast.AssignStmt:
		if s.Tok == add && len(s.Lhs) == 1 && lastName(types.ExprString(s.Lhs[0])) == name {
			return true, false, hasNode(s.Rhs[0], func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				return ok && isNamed(call.Fun, "len")
			})
		}
	}
	return false, false, false
}

// stepsDown tells of a body that it, or what it calls so many levels down, makes a variable smaller.
func stepsDown(c *code, body *ast.BlockStmt, name string, levels int) bool {
	return hasNode(body, func(n ast.Node) bool {
		if down, _, _ := stepsBy(n, name, token.DEC, token.SUB_ASSIGN); down {
			return true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || levels == 0 {
			return false
		}
		all := c.functions()[calledName(call)]
		return len(all) == 1 && stepsDown(c, all[0].Body, name, levels-1)
	})
}

// swaps tells of statements that the container takes the place of an older one, and a new one its own.
func (l *besideLook) swaps(list []ast.Stmt) bool {
	handed, anew := false, false
	for _, s := range list {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			continue
		}
		for i, lhs := range a.Lhs {
			to, from := lastName(types.ExprString(lhs)), lastName(types.ExprString(a.Rhs[i]))
			_, indexed := lhs.(*ast.IndexExpr)
			handed = handed || from == l.name && to != l.name && to != "_" && !indexed
			anew = anew || to == l.name && (typeMade(a.Rhs[i]) != nil || isNamed(a.Rhs[i], "nil"))
		}
	}
	return handed && anew
}

// turns is the bound of two generations, by the condition of a turn: the time, or how much there is.
func (l *besideLook) turns(cond ast.Expr, at ast.Node) (b besideBound, ok bool) {
	b = besideBound{while: types.ExprString(cond), turns: true, clock: asksTime(cond)}
	b.at = l.shown(at, "a new one takes its place here, and it takes the place of the one before")
	if b.clock {
		return b, true
	}
	x, is := ast.Unparen(cond).(*ast.BinaryExpr)
	if !is || !slices.Contains([]token.Token{token.GTR, token.GEQ, token.LSS, token.LEQ}, x.Op) {
		return b, false
	}
	return b, l.isLength(x.X) || l.isLength(x.Y)
}

func (l *besideLook) shown(n ast.Node, text string) Evidence {
	return l.c.shownAt(l.file, l.c.parse(l.file).fset.PositionFor(n.Pos(), false).Line, "%s", text)
}

// doubt is what such a bound means for what grows.
func (b *besideBound) doubt() string {
	switch {
	case b.clock:
		return fmt.Sprintf("according to the source, %s keeps two generations at most, each of them for a time: under the same load it stops growing after two of these (record until it does)", lineText(b.at))
	case b.turns:
		return fmt.Sprintf("according to the source, %s keeps two generations at most: it may fill up to there and no further (record until it does)", lineText(b.at))
	}
	return fmt.Sprintf("according to the source, something is taken out of it at %s when %s: it may fill up to there and no further, unless there are more and more of them (record until it does)", lineText(b.at), b.while)
}

// tell makes the advice say where the bound is.
func (b *besideBound) tell(h *holding) {
	s := h.into
	h.advice = fmt.Sprintf("It goes into %s, from which something is taken out at %s when %s: it fills up to there and no further. If that is too much memory, lower the limit, or keep less of each entry. If it never stops growing, there are more and more of %s: look for what keeps these.",
		s.container, lineText(b.at), b.while, s.name)
	if b.turns {
		h.advice = fmt.Sprintf("It goes into %s, which a new one replaces at %s, and what was there before is released with the turn after that: two generations are kept at most. If that is too much memory, let the turns come sooner, or keep less of each entry.", s.container, lineText(b.at))
	}
	if !slices.ContainsFunc(h.shows, func(e Evidence) bool { return evidenceLine(e) == evidenceLine(b.at) }) {
		h.shows = slices.Insert(h.shows, min(len(h.shows), 1), b.at)
	}
}

// exceeded says in words that far more is in use than a bound allows; empty where that is not known, or not so.
func (b *besideBound) exceeded(in *Input, own []stack.Frame) string {
	if b.limit <= 0 || b.turns || len(own) == 0 {
		return ""
	}
	much, most, has := "", "", false
	if b.bytes {
		all, err := facts.RetentionIn(in.Facts)
		if err != nil || all == nil || all.Most == nil {
			return ""
		}
		kept, _ := all.Most.Own(own[0])
		much, most, has = unit.BytesOf(float64(kept)), unit.BytesOf(float64(b.limit)), kept >= max(manyBytes, pastBound*b.limit)
	} else if n := in.Facts.ObjectsThrough(own[:1], leastSeen); lineInLoop(in.code, own[0]) == loopNo {
		much, most, has = unit.Plural(n, "object"), unit.Count(b.limit), n >= pastBound*b.limit
	}
	if !has {
		return ""
	}
	return fmt.Sprintf("Something is taken out at %s when %s, the limit being %s, but %s from this line are in use: that does not work, or there are many of these, each with its own bound. Check whether what is taken out is really released, and what else keeps it. ",
		lineText(b.at), b.while, most, much)
}
