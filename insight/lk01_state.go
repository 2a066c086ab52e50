package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Work under a lock may make the next state of what the lock guards: then it can be done neither before nor after, as two would begin with the same
// state. Work of which the result is only stored there, or which is made of a copy, can.

// workedOn asks of work under a lock what it makes.
type workedOn struct{ *underlying }

// stateMade is a place whose next value is made of the one that is there.
type stateMade struct {
	place string
	at    codeLine
}

// workAdvice says of a lock that is kept by work what that is; empty where it is not.
func workAdvice(in *Input, at stack.Frame) string {
	works := workText(in, at)
	if works == "" {
		return ""
	}
	s := spentOf(in)
	marks := s.keptBy(in, at)
	return "Who holds the lock works: " + works + ". " + underAdvice(in.code, at, s.mostUnder(in.code, at, marks))
}

// underAdvice is what to do about work that keeps the lock of a line, by the stack of most of it.
func underAdvice(c *code, at stack.Frame, work []stack.Frame) string {
	const more = "more under one acquisition would make the others wait longer. "
	if i, part := underPart(c, at.File, partsUnder(c, at), work); i >= 0 && part.isShared() {
		return fmt.Sprintf("Make that cheaper. It is done under %s (%s:%d), which several have at once: only who takes Lock waits for it, and who comes to read behind that one. "+
			"Under it take only what the work needs, and do the work after it is let go: references are enough to what nobody changes in place, the rest has to be copied.", part.lock, baseName(at.File), part.from)
	}
	if made, ok := stateMadeBy(c, at, work); ok {
		return fmt.Sprintf("Make that cheaper. It needs the lock: it makes the next %s of the one that is there (%s:%d), and two goroutines without it would begin with the same one. "+
			"Do only what does not depend on %s before the lock is taken or after it is let go; "+more+"Split what it guards only into parts that do not depend on each other.", made.place, baseName(made.at.file), made.at.line, made.place)
	}
	why := purposeOf(c, []stack.Frame{at}, work)
	if why.workApart() {
		return "Make that cheaper, or do it before the lock is taken or after it is let go; " + more + "Then split what it guards."
	}
	return "Make that cheaper; " + more + why.advice(doingWork)
}

// partsUnder are the parts of a file in which the lock is held that a line takes.
func partsUnder(c *code, at stack.Frame) (all []held) {
	if h, ok := c.heldAt(at); ok {
		all = append(all, h)
	}
	for _, o := range c.otherTakers(at) {
		if h, ok := c.heldAt(stack.Frame{File: at.File, Line: o.line}); ok {
			all = append(all, h)
		}
	}
	return all
}

// underPart is the innermost frame of a stack that is under a lock, and the part that is; -1 where none is.
func underPart(c *code, file string, parts []held, frames []stack.Frame) (i int, part held) {
	for i, f := range frames {
		if f.File != file {
			continue
		}
		for _, h := range parts {
			if h.has(f.Line) && sameScope(c, f, h.from) {
				return i, h
			}
		}
	}
	return -1, part
}

// mostUnder is the stack of most of the marked samples that are at the heaviest line under a lock.
func (s *spent) mostUnder(c *code, at stack.Frame, marks []bool) (most []stack.Frame) {
	parts := partsUnder(c, at)
	lines, all := map[int]int64{}, make([][]stack.Frame, len(s.stacks))
	under := func(frames []stack.Frame) int {
		if i, _ := underPart(c, at.File, parts, frames); i >= 0 {
			return frames[i].Line
		}
		return 0
	}
	heaviest := 0
	for i, id := range s.stacks {
		if !marks[i] {
			continue
		}
		for _, x := range s.v.t.Frames(id) {
			all[i] = append(all[i], s.v.t.Frame(x))
		}
		line := under(all[i])
		if line == 0 {
			continue
		}
		if lines[line] += s.counts[i]; heaviest == 0 || lines[line] > lines[heaviest] || lines[line] == lines[heaviest] && line < heaviest {
			heaviest = line
		}
	}
	weight := int64(0)
	for i, frames := range all {
		if heaviest > 0 && under(frames) == heaviest && s.counts[i] > weight {
			most, weight = frames, s.counts[i]
		}
	}
	return most
}

// stateMadeBy finds what the work of a stack under a lock makes the next state of. Under one that is held for reading it makes none: others do the same
// at once.
func stateMadeBy(c *code, at stack.Frame, frames []stack.Frame) (made stateMade, ok bool) {
	i, part := underPart(c, at.File, partsUnder(c, at), frames)
	if i < 0 || part.isShared() {
		return made, false
	}
	f := frames[i]
	u := &underlying{c: c, s: c.parse(f.File), fn: c.scopeAt(f), file: f.File, held: part, known: true, lock: part.from, call: f.Line}
	for _, level := range u.within(frames, f) {
		if made, ok = (workedOn{level}).nextState(); ok {
			return made, true
		}
	}
	return made, false
}

// nextState finds a place which what is done at the line of the call is given, and which is stored under the lock, made of what that gives; or one that
// a library changes there.
func (u workedOn) nextState() (made stateMade, ok bool) {
	if place := u.changedByLibrary(); place != "" {
		return stateMade{place, codeLine{u.file, u.call}}, true
	}
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil || ok {
			return false
		}
		line, _ := u.s.lines(n)
		for _, st := range u.stored(n) {
			if u.own(st.place) || st.leads || !u.under(line) || !u.isNext(st, line) || u.isPrivate(st.place, line) || (besideLock{u.underlying}).keeps(st.place, u.call, line).needless {
				continue
			}
			made, ok = stateMade{st.place, codeLine{u.file, line}}, true
			break
		}
		return true
	})
	return made, ok
}

// isNext tells of what a line stores that it is what the work gives, and that this was given what is there.
func (u workedOn) isNext(st storedAt, line int) bool {
	works := u.workCalls()
	if len(works) == 0 { // the line works itself
		return line == u.call && u.callee.Func == "" && u.ofItself(st) || !st.appends && slices.ContainsFunc(u.setOnLine(), func(name string) bool {
			w := u.flow(name)
			return slices.ContainsFunc(st.values, func(x ast.Expr) bool { return w.has(x) }) && u.partsFlow(st.place, func(w *turns) bool { return w.variable(name, w.until) })
		})
	}
	_, last := u.s.lines(u.fn.body)
	result := u.s.flow(u.fn.body, last, "\x00")
	result.calls = func(call *ast.CallExpr) bool { return slices.Contains(works, call) }
	if !slices.ContainsFunc(st.put(), func(x ast.Expr) bool { return result.has(x) }) {
		return false
	}
	return slices.ContainsFunc(works, func(call *ast.CallExpr) bool {
		if u.partsFlow(st.place, func(w *turns) bool {
			return slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return w.has(x) })
		}) || u.gives(st.place)(call) {
			return true
		}
		of := receiverOf(call)
		return of != nil && (types.ExprString(of) == st.place || isPart(of) && strings.HasPrefix(st.place, types.ExprString(of)+"."))
	})
}

// ofItself tells of what is stored that it is made of what is there: a plain store leaves nothing of that.
func (u workedOn) ofItself(st storedAt) bool {
	return st.adds || st.appends || u.partsFlow(st.place, func(w *turns) bool {
		return slices.ContainsFunc(st.values, func(x ast.Expr) bool { return w.has(x) })
	})
}

// partsFlow asks what follows the values of a place, and of what it is a part of: of "s.m" for "s.m[k]".
func (u workedOn) partsFlow(place string, ask func(*turns) bool) bool {
	for x := exprOfText(place); x != nil; {
		if _, whole := x.(*ast.Ident); whole && types.ExprString(x) != place {
			return false
		}
		if ask(u.flow(types.ExprString(x))) {
			return true
		}
		switch e := ast.Unparen(x).(type) {
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		default:
			return false
		}
	}
	return false
}

// workCalls are the calls on the line of the call that the work is done in: those of the name with which the stack goes on.
func (u *underlying) workCalls() (all []*ast.CallExpr) {
	on := calledOn(u.s, u.call)
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && u.callee.Func != "" && on(call) && calledName(call) == ownName(u.callee.Func) {
			all = append(all, call)
		}
		return true
	})
	return all
}

// setOnLine are the variables of the function that the line of the call sets.
func (u workedOn) setOnLine() (all []string) {
	inside(u.fn.body, func(n ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if first, _ := u.s.lines(n); !ok || first != u.call {
			return
		}
		for _, x := range a.Lhs {
			if isIdent(x) && u.own(rootName(x)) {
				all = append(all, rootName(x))
			}
		}
	})
	return all
}

var (
	// changersOfOwn are beginnings of names of methods of libraries that change what they are called on.
	changersOfOwn = lazily(`^(Write|Add|Insert|Push|Pop|Set|Update|Put|Delete|Remove|ReplaceOrInsert|Sort|Fix|Init|Shuffle|Reverse|Reset)`)
	// sortsInPlace are functions of the standard library that change what they are given first.
	sortsInPlace = lazily(`^(sort\.(Slice|SliceStable|Sort|Stable|Ints|Strings|Float64s)|slices\.(Sort\w*|Reverse)|heap\.\w+)$`)
)

// changedByLibrary is a part of what outlives the function that a function of a library changes at the line of the call: a hash that goes on, a list that is
// sorted; empty where there is none.
func (u workedOn) changedByLibrary() string {
	for _, call := range u.workCalls() {
		var given ast.Expr
		switch name := calledName(call); {
		case len(u.c.functions()[name]) > 0:
		case sortsInPlace.MatchString(types.ExprString(call.Fun)) && len(call.Args) > 0:
			given = call.Args[0]
		case changersOfOwn.MatchString(name):
			given = receiverOf(call)
		}
		if given == nil {
			continue
		}
		of := unrefer(given)
		if isPart(of) && (rootName(of) == u.fn.receiver || !u.own(rootName(of))) && rootName(of) != "" && !u.isPrivate(types.ExprString(of)+"[0]", u.call) {
			return types.ExprString(of)
		}
	}
	return ""
}
