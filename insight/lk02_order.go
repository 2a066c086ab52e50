package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// A lock may keep calls in an order: that of a number which is advanced under it, or that of a list or a chain which gets what the
// call is given.

// lockOrder asks of what is done under a lock which order it keeps.
type lockOrder struct{ *underlying }

// pushesByName are names of methods of lists and queues of libraries that put something there.
var pushesByName = lazily(`^(PushBack|PushFront|Push|Append|Enqueue)$`)

// pushedBy is what a statement puts in a list by a method that the sources do not have.
func pushedBy(c *code, n ast.Node) []storedAt {
	s, ok := n.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return nil
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !pushesByName.MatchString(f.Sel.Name) || !isPart(f.X) || len(c.functions()[f.Sel.Name]) > 0 {
		return nil
	}
	return []storedAt{{place: types.ExprString(f.X), values: call.Args, appends: true}}
}

// put are the values that are put in a list.
func (st storedAt) put() []ast.Expr {
	if len(st.values) == 1 {
		if call, ok := ast.Unparen(st.values[0]).(*ast.CallExpr); ok && appendsTo(call, st.place) {
			return call.Args[1:]
		}
	}
	return st.values
}

// sends tells of what is put in a list that the call under the lock, which does not only ask for something, is given it, too: by way of a variable
// of the function.
func (u lockOrder) sends(st storedAt) bool {
	if !st.appends || u.onlyAsks() {
		return false
	}
	return slices.ContainsFunc(st.put(), func(x ast.Expr) bool {
		return hasAny(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && id.Name != u.fn.receiver && !isError(id.Name) && u.own(id.Name) && u.asksWith(id.Name)
		})
	})
}

// onlyAsks tells of the call under the lock that it asks for something, by its name.
func (u lockOrder) onlyAsks() bool {
	if works := u.workCalls(); len(works) > 0 {
		return asksByName.MatchString(calledName(works[0]))
	}
	call := (atPeer{u.underlying}).callAt(u.call)
	return call != nil && asksByName.MatchString(calledName(call))
}

// ofAnswer tells of what is stored that it is made of what the call gives.
func (u lockOrder) ofAnswer(st storedAt) bool {
	_, last := u.s.lines(u.fn.body)
	w := u.s.flow(u.fn.body, last, "\x00")
	w.calls = calledOn(u.s, u.call)
	return slices.ContainsFunc(st.put(), func(x ast.Expr) bool { return w.has(x) })
}

// advances tells of what is stored that it is the next one of what is there: a number, or a link of a chain.
func (u lockOrder) advances(st storedAt) bool {
	return st.adds || slices.ContainsFunc(st.values, func(x ast.Expr) bool {
		call, calls := ast.Unparen(x).(*ast.CallExpr)
		return (isSum(x) || calls && !st.appends && !isNamed(call.Fun, "append")) && u.flow(st.place).has(x)
	})
}

// numbered looks for what gives the calls an order under the lock, where nothing stores what the call gives: a number or a link that is advanced and that the
// call is given, or a list that gets what the call is given. guards are as of [underlying.changed].
func (u lockOrder) numbered() (found *protected, guards []otherLock) {
	answers := false
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		first, _ := u.s.lines(n)
		for _, st := range append(u.stored(n), pushedBy(u.c, n)...) {
			lists := false
			switch {
			case u.own(st.place):
				continue
			case u.under(first) && !st.leads && u.sends(st) && !u.ofAnswer(st):
				lists = true
			case u.after(n, st):
				answers = answers || !st.adds && !st.whole
				continue
			case first <= u.lock || first > u.call || st.leads || !u.advances(st) || !u.asksWith(st.place):
				continue
			}
			if found != nil {
				continue
			}
			if k := (besideLock{u.underlying}).keeps(st.place, first, u.call); k.needless {
				guards = k.add(guards)
			} else if found = u.inOrder(st.place, first); lists {
				found = u.inListOrder(st.place, first)
			}
		}
		return true
	})
	if answers {
		return nil, guards
	}
	return found, guards
}

// inOrder says that the calls are made in the order of a number.
func (u lockOrder) inOrder(place string, line int) *protected {
	return &protected{info: true, slow: true,
		says:     fmt.Sprintf("the lock keeps the calls in order: %s is advanced at line %d, and the call is given it", place, line),
		advice:   fmt.Sprintf("Do not just move the call out of the lock: the calls would then arrive in another order than that of %s. If the peer needs that order, let one call carry what several have to send (a batch), let one goroutine send what the others put in a queue, or make the call shorter. Only if %s does no more than tell the calls apart: take it under the lock, unlock, and make the call.", place, place),
		evidence: []Evidence{u.c.shownAt(u.file, line, "under the lock: advances %s, which the call is given", place)}}
}

// inListOrder says that the calls are made in the order of a list.
func (u lockOrder) inListOrder(place string, line int) *protected {
	return &protected{info: true, slow: true,
		says: fmt.Sprintf("the lock keeps the calls in order: %s gets at line %d what the call is given", place, line),
		advice: fmt.Sprintf("Do not just move the call out of the lock, and do not let one call serve several (singleflight): the calls would then arrive in another order than that of %s, or not at all. "+
			"If that order is needed, let one goroutine send what the others put in a queue under the lock, let one call carry what several have to send (a batch), or make the call shorter. Only if nobody needs it: change %s under the lock, unlock, and make the call.", place, place),
		evidence: []Evidence{u.c.shownAt(u.file, line, "under the lock: %s gets what the call is given", place)}}
}

// changesHow is how a function changes a place across a call.
type changesHow struct {
	keyed bool // it is an element by its key
	list  bool // something is put at its end, or it is cut
	sent  bool // what is put there is what the call is given
	made  bool // what is stored is what another function makes of it, which cannot be undone
}

func (u lockOrder) changesHow(place string) (how changesHow) {
	from := u.flow(place)
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		for _, st := range append(u.stored(n), pushedBy(u.c, n)...) {
			if st.place != place {
				continue
			}
			how.keyed = how.keyed || len(st.values) > 1 && !st.appends
			how.list = how.list || st.appends
			how.sent = how.sent || u.sends(st) && !u.ofAnswer(st)
			for _, x := range st.values {
				_, cuts := ast.Unparen(x).(*ast.SliceExpr)
				how.list = how.list || cuts
				call, calls := ast.Unparen(x).(*ast.CallExpr)
				how.made = how.made || calls && !st.appends && from.has(call)
			}
		}
		return true
	})
	if x := exprOfText(place); x != nil {
		how.keyed = how.keyed || hasIndex(x)
	}
	return how
}
