package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// asking is a loop of the source that makes the same call until its answer suits.
type asking struct {
	at      stack.Frame // the frame whose line is in the loop
	retries bool        // it looks at an error or a status: what failed is tried again
	follows bool        // the answers are parts of one whole, or each leads to the next
	leads   bool        // of follows: they are not gathered, so that each does no more than lead on
	chained bool        // each call is given what an earlier one has given
	pages   numbering   // the parts are pages that go by numbers
	carried pageCarry   // what they depend on beside
	seeks   bool        // it goes through items, and ends at the first whose answer suits
	pauses  bool        // it calls something that waits, by its name
	bounded bool        // something else than the answer can end it

	first, last int // the lines of the loop
	earlier     int // the line that ends it before the call, by what the answers of earlier turns have done; 0 where an answer itself does
}

// askingAround finds the loop nearest to a call, in one of the functions of its way
// through the code, if its answer decides whether it is made once more: then the calls
// cannot be made side by side, nor be one. Where a loop further out goes through
// items, the calls may be those of the items, and nothing is said.
func askingAround(c *code, path []stack.Frame) (found asking, ok bool) {
	for l, f := range loopsOn(c, path) {
		switch a, asks := l.asks(f); {
		case l.items(f.Line):
			return asking{}, false
		case asks && !ok:
			if !a.retries {
				a.pages, a.carried = pagesOf(l, c, f)
			}
			found, ok = a, true
		case !ok:
			return asking{}, false
		}
	}
	return found, ok
}

// firstOf finds the loop nearest to a call if it goes through items and ends at the first of
// them whose answer suits.
func firstOf(c *code, path []stack.Frame) (asking, bool) {
	for l, f := range loopsOn(c, path) {
		a, ends := l.asks(f)
		return a, ends && l.items(f.Line)
	}
	return asking{}, false
}

// around tells whether a stack goes through the loop.
func (a asking) around(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return f.File == a.at.File && f.Func == a.at.Func && a.first <= f.Line && f.Line <= a.last
	})
}

// retryAround finds the loop nearest to a call that ends when something has worked and goes
// on when it has not.
func retryAround(c *code, path []stack.Frame) (found asking, ok bool) {
	for l, f := range loopsOn(c, path) {
		if a, _ := l.asks(f); a.retries && !l.items(f.Line) {
			return a, true
		}
	}
	return asking{}, false
}

// advances are the names of calls with which a loop goes on to its next item.
var advances = []string{"Next", "NextRow", "Scan", "More", "HasNext", "Advance", "len"}

// tries are names of counters, and of their limits, that number the tries of one thing.
var tries = lazily(`(?i:attempt|retr|\btr(y|ies)|tries\b|pause|delay|backoff)`)

// items tells whether a loop goes through items, one of which what is called on a line takes:
// those of a range over more than a count, of a list that a counter indexes, the numbers that a
// counter goes through, unless by its name it counts tries, or of what the condition asks for
// the next one.
func (l loop) items(line int) bool {
	w := turnsOf(l.source, l.body)
	seeds := map[string]bool{}
	w.outer = func(name string) bool { return seeds[name] }
	switch n := l.stmt.(type) {
	case *ast.RangeStmt:
		if n.Key == nil || isLiteral(n.X) {
			return false
		}
		key := rootName(n.Key)
		if n.Value == nil && l.source.counts(n) {
			w.index = key
			seeds[key] = !tries.MatchString(key + " " + types.ExprString(n.X))
		} else {
			seeds[key] = true
		}
		if n.Value != nil {
			seeds[rootName(n.Value)] = true
		}
		delete(seeds, "_")
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			w.index = types.ExprString(a.Lhs[0])
		}
		if n.Cond != nil && mentions(n.Cond, w.index) && !tries.MatchString(types.ExprString(n.Cond)) && !l.follows(line, l.answers(line)) {
			seeds[w.index] = true // what is asked for goes by the counter
		}
		if n.Cond != nil {
			for _, name := range askedForNext(n.Cond) {
				seeds[name] = true
			}
		}
	}
	called := calledOn(l.source, line)
	return hasCall(l.body, func(call *ast.CallExpr) bool { return called(call) && w.has(call) })
}

// askedForNext are the variables of which a condition asks whether there is a next item.
func askedForNext(cond ast.Expr) (names []string) {
	ast.Inspect(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !slices.Contains(advances, calledName(call)) {
			return true
		}
		if len(call.Args) == 1 && isNamed(call.Fun, "len") {
			names = append(names, rootName(call.Args[0]))
		} else {
			names = append(names, rootName(call.Fun))
		}
		return true
	})
	return names
}

// counts tells of a range with a key alone that it is over a number, as far as the file shows:
// what it goes through is a constant, a length, or declared as an int.
func (s *syntax) counts(r *ast.RangeStmt) (found bool) {
	if call, ok := r.X.(*ast.CallExpr); ok {
		return slices.Contains([]string{"len", "int", "min", "max"}, types.ExprString(call.Fun))
	}
	id, ok := r.X.(*ast.Ident)
	if !ok {
		return false
	}
	is := func(x *ast.Ident) bool { return x.Name == id.Name }
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			found = found || isNamed(n.Type, "int") && slices.ContainsFunc(n.Names, is)
		case *ast.ValueSpec:
			i := slices.IndexFunc(n.Names, is)
			found = found || i >= 0 && (isNamed(n.Type, "int") || i < len(n.Values) && isLiteral(n.Values[i]))
		case *ast.AssignStmt:
			i := slices.IndexFunc(n.Lhs, func(x ast.Expr) bool { return isNamed(x, id.Name) })
			found = found || i >= 0 && i < len(n.Rhs) && isLiteral(n.Rhs[i])
		}
		return !found
	})
	return found
}

// hasCall tells whether a node has a call that is wanted.
func hasCall(n ast.Node, wanted func(*ast.CallExpr) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && wanted(call)
		return !found
	})
	return found
}

func isLiteral(x ast.Expr) bool {
	l, ok := x.(*ast.BasicLit)
	return ok && l.Kind == token.INT
}

// asks tells whether the loop ends by what a call on the frame's line has given.
func (l loop) asks(f stack.Frame) (a asking, ends bool) {
	w := l.answers(f.Line)
	a = asking{at: f, pauses: pausesIn(l.body), bounded: l.bounded(f.Line, w), follows: l.follows(f.Line, w)}
	a.leads = a.follows && !l.gathersAnswers(w)
	a.first, a.last = l.source.lines(l.stmt)
	for _, x := range innerExits(l) {
		ends = ends || !x.fails && decides(x.cond, x.on, w)
	}
	for _, x := range l.exits() {
		worked, known := onSuccess(x.cond, w)
		switch {
		case certain(x.cond, x.on, w) && !failing(x.cond, !x.on, w):
			ends, a.follows, a.leads = true, true, false // a certain error ends what is read, as io.EOF does
		case known && worked != x.on: // the loop goes on when the call has worked
		case failing(x.cond, !x.on, w):
			ends, a.retries = true, true
		case !x.fails && decides(x.cond, x.on, w):
			if line, _ := l.source.lines(x.cond); !ends && l.cond != x.cond && line < f.Line {
				a.earlier = line
			} else if a.earlier > 0 && line >= f.Line {
				a.earlier = 0
			}
			ends = true
		}
	}
	if ends && goesThrough(l, f.Line) {
		a.follows, a.leads, a.retries = true, false, false
	}
	return a, ends
}

// exits are the conditions by which the loop is left, its own among them.
func (l loop) exits() []exit {
	all := exits(l.body.List)
	if l.cond != nil {
		all = append(all, exit{l.cond, false, false})
	}
	return all
}

// answers follows what the calls on a line give.
func (l loop) answers(line int) *turns {
	w := turnsOf(l.source, l.body)
	w.calls = calledOn(l.source, line)
	return w
}

// bounded tells whether something else than what a call on the line says of its success can
// end the loop: a count of its turns, a clock, a context, or what else a condition or a case
// asks for.
func (l loop) bounded(line int, w *turns) bool {
	if _, ok := l.stmt.(*ast.RangeStmt); ok || l.cond != nil && !byAnswer(l.cond, w) || mentionsCall(l.body, "Err", "Done") {
		return true
	}
	called := calledOn(l.source, line)
	given := hasCall(l.body, func(call *ast.CallExpr) bool { return called(call) && slices.ContainsFunc(call.Args, isContext) })
	// A call whose context is done fails in another way than it did.
	ends := func(cond ast.Expr) bool { return !byAnswer(cond, w) || given && asksWhich(cond) }
	found := false
	eachInTurn(l.body, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.IfStmt:
			otherwise, _ := n.Else.(*ast.BlockStmt)
			leaves := leavesLoop(n.Body.List) || goesOn(n.Body.List) || otherwise != nil && leavesLoop(otherwise.List)
			found = found || leaves && ends(n.Cond)
		case *ast.CaseClause:
			found = found || leavesClause(n.Body) && slices.ContainsFunc(n.List, func(x ast.Expr) bool { return !isConstant(x) && ends(x) })
		case *ast.CommClause:
			found = found || leavesClause(n.Body)
		case *ast.CallExpr:
			found = found || !called(n) && slices.ContainsFunc(n.Args, isContext)
		}
	})
	return found
}

// follows tells whether a call on the line is given what the answer before gave, or what the
// answers give is gathered from turn to turn: they are parts of one whole.
func (l loop) follows(line int, w *turns) (found bool) {
	called := calledOn(l.source, line)
	return l.gathersAnswers(w) || hasCall(l.body, func(n *ast.CallExpr) bool {
		return called(n) && slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return w.hasAt(x, n.Pos()) && !hasCall(x, called) })
	})
}

// gathersAnswers tells whether what the answers give is gathered from turn to turn, or gone through.
func (l loop) gathersAnswers(w *turns) (found bool) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			found = found || w.has(n.X)
		case *ast.AssignStmt:
			found = found || gathers(n, w)
		}
		return !found
	})
	return found
}

// gathers tells whether a statement adds an answer to what was there before: a sum, or a list.
func gathers(n *ast.AssignStmt, w *turns) bool {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return false
	}
	if n.Tok == token.ADD_ASSIGN {
		return w.has(n.Rhs[0])
	}
	call, ok := n.Rhs[0].(*ast.CallExpr)
	return ok && isNamed(call.Fun, "append") && len(call.Args) > 1 &&
		slices.ContainsFunc(call.Args[1:], func(x ast.Expr) bool { return !isError(rootName(x)) && w.has(x) })
}

// isConstant tells of an expression, by its text, that it is the same in every turn: a
// literal, or what a package or a type has.
func isConstant(x ast.Expr) bool {
	switch x.(type) {
	case *ast.BasicLit, *ast.SelectorExpr, *ast.Ident:
		return true
	}
	return false
}

// isContext tells of an argument, by its name, that it is a context.
func isContext(x ast.Expr) bool {
	text := types.ExprString(x)
	return strings.HasSuffix(strings.ToLower(text), "ctx") || strings.HasSuffix(text, ".Context()") || strings.HasPrefix(text, "context.")
}

// advice is what to do about calls that are made until one suits.
func (a asking) advice() string {
	switch {
	case a.seeks:
		return "The loop asks for one item after another, until an answer suits: ask first for what is most often right, and remember which one it was. Asking for several at once makes calls in vain, which whoever is asked has to afford."
	case a.retries && a.pauses:
		return "It retries until the call succeeds: wait longer after each failure (exponential backoff with jitter), stop after a few attempts or when the caller's context ends, and fail at once while the peer is known to be down. Find out why the first answer is not accepted."
	case a.retries:
		return "It retries until the call succeeds, without a pause: wait before the next attempt, longer each time (exponential backoff with jitter), and stop after a few attempts or when the caller's context ends. Find out why the first answer is not accepted."
	case a.pages == pagesByCount:
		return pagesAdvice
	case a.pages == pagesOfSession:
		return sessionPagesAdvice
	case a.pages == pagesCarried:
		return a.carried.advice()
	case a.pages == pagesUntil:
		return a.carried.untilAdvice()
	case a.pages == pagesByAnswer:
		return saidPagesAdvice
	case a.chained, a.leads:
		return chainAdvice
	case a.follows:
		return "The calls fetch parts of one whole, one after another: ask for more at a time (larger pages), prefetch the next part while processing the last, or have the peer do the whole traversal."
	}
	return "It polls until the answer is accepted: have the peer say when it is ready (a long poll, a callback, a notification) instead of asking again, or ask less often."
}

// paces tells whether a pause of its own stands in a loop that goes through its items or its
// time, and that nothing which it meets within ends but an error, or the time.
func paces(c *code, at stack.Frame) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	l := loops[len(loops)-1]
	if timer := selectsTimer(l, at.Line); timer != at.Line {
		if !bringsNoNews(l, at.Line) {
			return false // what comes meanwhile ends the wait
		}
	} else if !pausesOn(c, at) {
		return false
	}
	n, ok := l.stmt.(*ast.ForStmt)
	if ok && !clockEnds(c, l, n.Cond) && (n.Cond == nil || n.Post == nil) && !(n.Cond == nil && timeEnds(c, l)) {
		return false // for ready() == false { … }
	}
	return !slices.ContainsFunc(exits(l.body.List), func(x exit) bool { return (!errorCheck(x.cond) || !x.on) && !clockEnds(c, l, x.cond) })
}

// timeEnds tells of a loop that it is left by the time.
func timeEnds(c *code, l loop) bool {
	return slices.ContainsFunc(exits(l.body.List), func(x exit) bool { return clockEnds(c, l, x.cond) })
}

// bringsNoNews tells of a select on a line that all of its clauses but the timer's leave the function or the program: they end the
// loop, and bring no news for it.
func bringsNoNews(l loop, line int) bool {
	ends := false
	l.source.onLine(line, func(n ast.Node, _ []ast.Node) {
		s, ok := n.(*ast.SelectStmt)
		if !ok {
			return
		}
		timers := 0
		ends = true
		for _, x := range s.Body.List {
			clause := x.(*ast.CommClause)
			if clause.Comm != nil && receivesTime(clause.Comm) {
				timers++
				continue
			}
			if clause.Comm == nil || len(clause.Body) == 0 {
				ends = false
				continue
			}
			b, broken := clause.Body[len(clause.Body)-1].(*ast.BranchStmt) // without a label it leaves the select alone
			ends = ends && leavesLoop(clause.Body) && !(broken && b.Label == nil)
		}
		ends = ends && timers == 1
	})
	return ends
}

// receivesTime tells of a clause of a select that it receives from a timer or a ticker.
func receivesTime(comm ast.Node) bool {
	return hasNode(comm, func(n ast.Node) bool {
		u, ok := n.(*ast.UnaryExpr)
		if !ok || u.Op != token.ARROW {
			return false
		}
		name := types.ExprString(u.X)
		return lastName(name) == "C" || strings.HasPrefix(name, "time.After(")
	})
}

// clockEnds tells whether a condition of a loop asks for the time: itself, by a variable that a turn sets to it, or by a function of
// the sources that asks for nothing else.
func clockEnds(c *code, l loop, cond ast.Expr) bool {
	if cond == nil {
		return false
	}
	if timed(cond) {
		return true
	}
	return hasNode(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found := false
			eachInTurn(l.body, func(x ast.Node) {
				a, ok := x.(*ast.AssignStmt)
				found = found || ok && len(a.Lhs) == 1 && isNamed(a.Lhs[0], n.Name) && (timed(a.Rhs[0]) || receivesTime(a))
			})
			return found
		case *ast.CallExpr:
			all := c.functions()[ownCallName(n)]
			return len(all) > 0 && !slices.ContainsFunc(all, func(d declaration) bool { return !asksClock(d.Body) })
		}
		return false
	})
}

// asksClock tells of a function that it returns one expression with the time, under a lock or without.
func asksClock(body *ast.BlockStmt) bool {
	if body == nil {
		return false
	}
	locks := func(x ast.Expr) bool {
		call, ok := x.(*ast.CallExpr)
		return ok && slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, calledName(call))
	}
	asks, now := false, ""
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.AssignStmt: // now := s.clock.Now()
			id, named := s.Lhs[0].(*ast.Ident)
			if !named || s.Tok != token.DEFINE || len(s.Lhs) != 1 || !ofClock(s.Rhs[0]) {
				return false
			}
			if timed(s.Rhs[0]) {
				now = id.Name
			}
		case *ast.ExprStmt:
			if !locks(s.X) {
				return false
			}
		case *ast.DeferStmt:
			if !locks(s.Call) {
				return false
			}
		case *ast.ReturnStmt:
			asks = len(s.Results) == 1 && (timed(s.Results[0]) || now != "" && mentions(s.Results[0], now)) && ofClock(s.Results[0])
		default:
			return false
		}
	}
	return asks
}

// pausesOn tells whether a line calls something, or receives from a timer: a line that waits for
// another channel has no pause of its own.
func pausesOn(c *code, at stack.Frame) (found bool) {
	s := c.parse(at.File)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		first, _ := s.lines(n)
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || first == at.Line && types.ExprString(n.Fun) != "close" && calledName(n) != "Done"
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && lastName(types.ExprString(n.X)) == "C"
		}
	})
	return found
}

// timed tells whether a condition, or a body, asks for the time.
func timed(cond ast.Node) (found bool) {
	if cond == nil {
		return false
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || asksNow(call)
		}
		return !found
	})
	return found
}

// retriesAround tells whether a pause stands in a loop that ends when what it tries has worked.
func retriesAround(c *code, at stack.Frame) bool {
	loops := loopsAround(c, at)
	if len(loops) == 0 {
		return false
	}
	return slices.ContainsFunc(exits(loops[len(loops)-1].body.List), exit.worked)
}

// asksForLock tells whether a line of a loop asks for a lock or a slot without waiting for it,
// in the condition or in the body.
func asksForLock(c *code, at stack.Frame) (asks bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok {
			name := strings.ToLower(calledName(call))
			asks = asks || strings.HasPrefix(name, "trylock") || strings.HasPrefix(name, "tryrlock") || strings.HasPrefix(name, "tryacquire")
		}
	})
	return asks
}
