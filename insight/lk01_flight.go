package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A lock may be there to let one make a result for all that want it: who finds none takes the lock, looks again, since another one may
// have made it meanwhile, makes it, and puts it where both have looked. Without the lock, or with the work moved out of it, all that
// find none would make the same at once (WT08).

// flight is such a lock, by the source.
type flight struct {
	look          string // what is asked twice: "h.cached()"
	before, again codeLine
	puts          codeLine
	// keyed tells that what is looked for has a key that is not always the same, and ofKey that the lock is that of one key.
	keyed, ofKey bool
	under        *underlying
}

// lookedUnder asks of work under a lock what is looked for before it.
type lookedUnder struct{ *underlying }

// flightOf finds in the functions that lead from a lock to the work under it that the lock is such a one; nil where nothing shows it.
// waiter is the stack of one that waits for the lock.
func flightOf(under *underlying, levels []*underlying, waiter []stack.Frame) *flight {
	u := lookedUnder{under}
	for _, l := range u.looksUnder() {
		x := l.Expr
		names := u.lookedIn(x)
		if len(names) == 0 {
			continue
		}
		before, ok := u.lookedBefore(x, waiter)
		if !ok {
			continue
		}
		puts, ok := u.putsBehind(levels, names, l.until)
		if !ok || u.smallWork(names, l.until) {
			continue // or it costs too little to be made only once
		}
		line, _ := u.s.lines(x)
		f := &flight{look: types.ExprString(x), before: before, again: codeLine{u.file, line}, puts: puts, keyed: u.keyedLook(x), under: under}
		name, _, _ := strings.Cut(u.lockTaken(), ".")
		f.ofKey = lookedUp(u.fn, name) || u.calledOnEntry(waiter, name)
		return f
	}
	return nil
}

// lookUnder is something that is asked under a lock, and until the line up to which the work is done if it is not there.
type lookUnder struct {
	ast.Expr
	until int
}

// looksUnder are the expressions that an if between the lock and the work asks, and which leave the function there, or keep it from
// the work; of a variable it is what that was given under the lock.
func (u lookedUnder) looksUnder() (all []lookUnder) {
	_, end := u.s.lines(u.fn.body)
	inside(u.fn.body, func(n ast.Node) {
		s, ok := n.(*ast.IfStmt)
		if !ok {
			return
		}
		first, _ := u.s.lines(s)
		_, last := u.s.lines(s.Body)
		leaves := last < u.call && leavesLoop(s.Body.List)
		if first <= u.lock || !u.under(first) || !leaves && (first > u.call || u.call > last) {
			return
		}
		until := end
		if !leaves {
			until = last
		}
		asked := []ast.Node{s.Cond}
		if s.Init != nil {
			asked = append(asked, s.Init)
		}
		inside(u.fn.body, func(n ast.Node) {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return
			}
			if at, _ := u.s.lines(a); at <= u.lock || at > first {
				return
			}
			if slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isIdent(x) && hasIdent(s.Cond, rootName(x)) }) {
				asked = append(asked, a)
			}
		})
		for _, n := range asked {
			inside(n, func(n ast.Node) {
				switch x := n.(type) {
				case *ast.CallExpr:
					all = append(all, lookUnder{x, until})
				case *ast.IndexExpr:
					all = append(all, lookUnder{x, until})
				case *ast.SelectorExpr:
					all = append(all, lookUnder{x, until})
				}
			})
		}
	})
	return all
}

// hasIdent tells whether a node has a name in it.
func hasIdent(n ast.Node, name string) bool {
	return hasNode(n, func(n ast.Node) bool { id, ok := n.(*ast.Ident); return ok && id.Name == name })
}

// lookedIn are the names of the fields, and of the variables of packages, that an expression asks: those in it, and in the function of
// the program that it calls.
func (u lookedUnder) lookedIn(x ast.Expr) map[string]bool {
	names := map[string]bool{}
	add := func(n ast.Node) {
		methods := map[ast.Node]bool{}
		inside(n, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.CallExpr:
				methods[n.Fun] = true
			case *ast.SelectorExpr:
				if !methods[n] {
					names[n.Sel.Name] = true
				}
			case *ast.Ident:
				if isPackageVariable(u.c, n.Name) && !declaredOf(u.in, n.Name) {
					names[n.Name] = true
				}
			}
		})
	}
	add(x)
	inside(x, func(n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		if of := u.c.functions()[ownCallName(call)]; len(of) > 0 && len(of) <= effectNames {
			for _, f := range of {
				add(f.Body)
			}
		}
	})
	return names
}

// declaredOf is declaredIn of a declaration that may be unknown.
func declaredOf(fn *ast.FuncDecl, name string) bool { return fn != nil && declaredIn(fn, name) }

// lookedBefore finds the line before the lock that asks the same: in the function that takes it, or in one that has called that.
func (u lookedUnder) lookedBefore(x ast.Expr, waiter []stack.Frame) (at codeLine, ok bool) {
	if looksAlike(u.fn.body, u.s, u.lock, func(y ast.Expr) bool { return types.ExprString(x) == types.ExprString(y) }, &at.line) {
		at.file = u.file
		return at, true
	}
	call, isCall := x.(*ast.CallExpr)
	if !isCall {
		return at, false
	}
	i := slices.IndexFunc(waiter, func(f stack.Frame) bool { return f.File == u.file && f.Line == u.lock })
	if i < 0 {
		return at, false
	}
	for _, f := range waiter[i+1 : min(len(waiter), i+1+helperDepth)] {
		fn, s := u.c.scopeAt(f), u.c.parse(f.File)
		if fn == nil || s == nil {
			break
		}
		if looksAlike(fn.body, s, f.Line, func(y ast.Expr) bool {
			other, ok := y.(*ast.CallExpr)
			return ok && calledName(other) != "" && calledName(other) == calledName(call) && len(other.Args) == len(call.Args) && afterRoot(other.Fun) == afterRoot(call.Fun)
		}, &at.line) {
			at.file = f.File
			return at, true
		}
	}
	return at, false
}

// afterRoot is the text of an expression without the variable that it begins with.
func afterRoot(x ast.Expr) string {
	_, rest, _ := strings.Cut(types.ExprString(x), ".")
	return rest
}

// looksAlike finds the first expression before a line of a body for which that holds.
func looksAlike(body ast.Node, s *syntax, before int, same func(ast.Expr) bool, at *int) (found bool) {
	inside(body, func(n ast.Node) {
		x, ok := n.(ast.Expr)
		if !ok || found {
			return
		}
		if _, last := s.lines(x); last < before && same(x) {
			*at, _ = s.lines(x)
			found = true
		}
	})
	return found
}

// putNames are names of methods that put something somewhere.
var putNames = lazily(`^(Set|Add|Put|Store|Save|Insert|Replace|Swap|CompareAndSwap|LoadOrStore)([A-Z].*)?$`)

// putsBehind finds where the functions that lead to the work, or those that are called behind it under the lock, put something that is not
// fixed into one of some fields or variables; in the function that takes the lock up to a line.
func (u lookedUnder) putsBehind(levels []*underlying, names map[string]bool, until int) (at codeLine, ok bool) {
	for _, level := range levels {
		if line, found := putsInto(level.fn.body, level.s, level.call, names); found && (level.outer != nil || level.under(line) && line <= until) {
			return codeLine{level.file, line}, true
		}
	}
	inside(u.fn.body, func(n ast.Node) {
		call, is := n.(*ast.CallExpr)
		if !is || ok {
			return
		}
		line, _ := u.s.lines(call)
		of := u.c.functions()[ownCallName(call)]
		if line < u.call || line > until || !u.under(line) || len(of) != 1 {
			return
		}
		if first, found := putsInto(of[0].Body, u.c.parse(of[0].file), 0, names); found {
			at, ok = codeLine{of[0].file, first}, true
		}
	})
	return at, ok
}

// putsInto finds the first line of a body, from one on, that does.
func putsInto(body ast.Node, s *syntax, from int, names map[string]bool) (line int, found bool) {
	into := func(x ast.Expr) bool {
		switch x := unrefer(x).(type) {
		case *ast.SelectorExpr:
			return names[x.Sel.Name]
		case *ast.IndexExpr:
			return names[lastName(types.ExprString(x.X))]
		case *ast.Ident:
			return names[x.Name]
		}
		return false
	}
	inside(body, func(n ast.Node) {
		first, _ := s.lines(n)
		if found || n == nil || first < from {
			return
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				found = found || into(x) && !isFixed(n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && putNames.MatchString(f.Sel.Name) && len(n.Args) > 0 {
				found = into(f.X) && slices.ContainsFunc(n.Args[min(1, len(n.Args)-1):], func(x ast.Expr) bool { return !isFixed(x) })
			}
		}
		if found {
			line = first
		}
	})
	return line, found
}

// keyedLook tells of what is asked that it depends on a variable of the function, other than what it is called on and a context.
func (u lookedUnder) keyedLook(x ast.Expr) (keyed bool) {
	given := []ast.Expr{}
	inside(x, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallExpr:
			given = append(given, n.Args...)
		case *ast.IndexExpr:
			given = append(given, n.Index)
		}
	})
	for _, y := range given {
		inside(y, func(n ast.Node) {
			id, ok := n.(*ast.Ident)
			keyed = keyed || ok && id.Name != u.fn.receiver && id.Name != "ctx" && declaredOf(u.in, id.Name)
		})
	}
	return keyed
}

// text says what the lock is for.
func (f *flight) text() string {
	return fmt.Sprintf("the lock lets one make the result for all: %s is asked before it is taken (%s), and again under it (%s), and what was made is put there (%s)",
		f.look, fileLine(f.before.file, f.before.line), fileLine(f.again.file, f.again.line), fileLine(f.puts.file, f.puts.line))
}

// flightAdvice is what to do about waits for such a lock.
const (
	flightAdvice = "Keep the work under the lock: outside, all that find no result would make it at once (a cache stampede). To wait less, make the result before it is asked for: renew it in the background before it expires, " +
		"and go on with the old one meanwhile. Otherwise make the work itself faster."
	flightKeyed = "Do not just move the work out of the lock: all that find no result would make it at once (a cache stampede). Have one lock for each key, so that only those wait that want the same " +
		"(golang.org/x/sync/singleflight does so by key). Or renew results in the background before they expire, and go on with the old ones meanwhile."
)

// protects is what a finding says because of it.
func (f *flight) protects(c *code) *protected {
	p := &protected{says: f.text(), advice: flightAdvice, info: true, title: "Goroutines wait for one that makes a result for all",
		evidence: []Evidence{c.shownAt(f.again.file, f.again.line, "looked for again under the lock"), c.shownAt(f.puts.file, f.puts.line, "put there behind the work")}}
	if f.keyed && !f.ofKey {
		p.advice, p.info, p.title = flightKeyed, false, ""
	}
	fetching{f.under}.tellFailing(p)
	return p
}

// flightAt looks for such a lock by the stacks of one that waits for it and of one that works under it.
func flightAt(c *code, waiter, holder []stack.Frame) *protected {
	lock, call, fn := meetingPoint(c, waiter, holder)
	if fn == nil {
		return nil
	}
	u := &underlying{c: c, s: c.parse(lock.File), fn: fn, file: lock.File, lock: lock.Line, call: call.Line}
	u.held, u.known = c.heldAt(lock)
	if f := flightOf(u, u.within(holder, call), waiter); f != nil {
		return f.protects(c)
	}
	return nil
}

// flightHere looks for it without a stack of who works: behind each line under the lock that the first frame of the program waits for.
func flightHere(c *code, waiter []stack.Frame) *protected {
	at := c.userFrame(waiter)
	h, ok := c.heldAt(at)
	if !ok {
		return nil
	}
	for line := h.from + 1; line <= h.until; line++ {
		holder := at
		if holder.Line = line; h.has(line) {
			if p := flightAt(c, waiter, []stack.Frame{holder}); p != nil {
				return p
			}
		}
	}
	return nil
}

// tellFlight makes a finding about waits for a lock say that one makes a result for all under it, by the stacks of who waits and of what is
// done meanwhile, if there are any.
func tellFlight(c *code, waiter []stack.Frame, f *Finding, holders ...[]stack.Frame) bool {
	for _, holder := range holders {
		if p := flightAt(c, waiter, holder); p != nil {
			p.tell(f)
			return true
		}
	}
	if p := flightHere(c, waiter); p != nil && len(holders) == 0 {
		p.tell(f)
		return true
	}
	return false
}

// tellHeldFor makes a finding about waits for a lock of units say what the source shows that the lock is for.
func tellHeldFor(in *Input, t *traced, w *waiting, reason string, f *Finding) {
	if w.kind != "lock" {
		return
	}
	waiter, title := t.Frames(w.site.Stack), f.Title
	var works [][]stack.Frame
	for i := range w.causes {
		works = append(works, t.Frames(workAt(w.group, &w.causes[i])))
	}
	if tellFlight(in.code, waiter, f, works...) {
		f.Title = title // of units, whatever the lock is held for
		return
	}
	if len(works) == 0 || reason == "lock" {
		return
	}
	told := lockWaitedFor(in, t, w)
	told.tell(f)
	f.Title = title
}
