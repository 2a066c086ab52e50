package insight

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A lock that is held while its holder sleeps may keep a rate: what it guards is the time of the last turn, or of the next one, or how many are
// left, by which each finds out how long it has to sleep. Without the lock all would find the same.

// lockPace asks of a pause under a lock whether it keeps a rate.
type lockPace struct{ *underlying }

// exprOfText is a text as an expression; nil where it is none.
func exprOfText(text string) ast.Expr {
	x, err := parser.ParseExpr(text)
	if err != nil {
		return nil
	}
	return x
}

// pauses are the expressions on the line of the call that say how long it pauses: of a sleep, or of a timer that is received from; none where the line
// does not pause.
func (u lockPace) pauses() (all []ast.Expr) {
	timer := func(x ast.Expr) bool {
		text := types.ExprString(x)
		return strings.HasSuffix(text, ".C") || strings.Contains(text, "time.After(") || strings.Contains(text, "time.Tick(")
	}
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		line, _ := u.s.lines(n)
		switch n := n.(type) {
		case *ast.CallExpr:
			if line == u.call && types.ExprString(n.Fun) == "time.Sleep" {
				all = append(all, n.Args...)
			}
		case *ast.UnaryExpr:
			if line == u.call && n.Op == token.ARROW && timer(n.X) {
				all = append(all, n.X)
			}
		case *ast.SelectStmt:
			if line != u.call {
				return true
			}
			for _, clause := range n.Body.List {
				ast.Inspect(clause.(*ast.CommClause), func(m ast.Node) bool {
					if x, ok := m.(*ast.UnaryExpr); ok && x.Op == token.ARROW && timer(x.X) {
						all = append(all, x.X)
					}
					return true
				})
			}
		}
		return true
	})
	return all
}

// turnsPaced looks for a place that says how long the holder of a lock pauses, or whether it does, and that is given the next value under the lock in the
// same turn; levels are the functions that lead to the pause, the one that takes the lock first.
func turnsPaced(levels []*underlying) *protected {
	pauses := lockPace{levels[len(levels)-1]}.pauses()
	if len(pauses) == 0 {
		return nil
	}
	for i, level := range slices.Backward(levels) {
		u, given := lockPace{level}, pauses
		if i < len(levels)-1 {
			given = u.givenToCall()
		}
		for _, place := range u.placesRead() {
			if !u.saysHowLong(place, given) {
				continue
			}
			if p := u.keepsTurn(place); p != nil {
				return p
			}
		}
	}
	return nil
}

// givenToCall are the arguments of the call on the line, of the function that the way goes on with.
func (u lockPace) givenToCall() (all []ast.Expr) {
	on := calledOn(u.s, u.call)
	inside(u.fn.body, func(n ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && on(call) && calledName(call) == ownName(u.callee.Func) {
			all = append(all, call.Args...)
		}
	})
	return all
}

// placesRead are the fields and the variables of packages that a function reads under the lock, up to the call, by their text.
func (u lockPace) placesRead() (all []string) {
	inside(u.fn.body, func(n ast.Node) {
		line, _ := u.s.lines(n)
		x, ok := n.(ast.Expr)
		if !ok || line <= u.lock || line > u.call || !isPart(x) && !isIdent(x) {
			return
		}
		if text := types.ExprString(x); !slices.Contains(all, text) && (isPart(x) || !u.own(text)) {
			all = append(all, text)
		}
	})
	return all
}

// saysHowLong tells of a place that the length of a pause is made of the time that it has, or that a loop around the pause goes on by it.
func (u lockPace) saysHowLong(place string, given []ast.Expr) bool {
	w := u.flow(place)
	if u.isTime(place) && slices.ContainsFunc(given, func(x ast.Expr) bool { return w.has(x) }) {
		return true
	}
	return hasNode(u.fn.body, func(n ast.Node) bool {
		loop, ok := n.(*ast.ForStmt)
		if !ok || loop.Cond == nil {
			return false
		}
		first, _ := u.s.lines(loop)
		return u.lock < first && u.s.covers(loop.Body, u.call) && mentionsText(loop.Cond, place)
	})
}

// isTime tells of a place that it is used as an instant: how long ago it was is asked, or when it will be.
func (u lockPace) isTime(place string) bool {
	return hasCall(u.fn.body, func(call *ast.CallExpr) bool {
		switch name := types.ExprString(call.Fun); {
		case name == "time.Since", name == "time.Until":
			return len(call.Args) == 1 && mentionsText(call.Args[0], place)
		case slices.Contains([]string{"Sub", "Before", "After", "Add"}, calledName(call)):
			sel, ok := call.Fun.(*ast.SelectorExpr)
			return ok && (mentionsText(sel.X, place) || slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mentionsText(x, place) }))
		}
		return false
	})
}

// keepsTurn says that a lock keeps a rate, where the function, or one that leads to it, gives the place the next value wherever the holder has paused, and not
// only under a condition of its own.
func (u lockPace) keepsTurn(place string) (found *protected) {
	read := 0
	if line, _ := u.readBefore(place); line > 0 {
		read = line
	}
	for level, named := u.underlying, place; level != nil && named != ""; level, named = level.outer, (besideLock{level}).nameOutside(named) {
		ast.Inspect(level.fn.body, func(n ast.Node) bool {
			if n == nil || found != nil {
				return false
			}
			line, _ := level.s.lines(n)
			for _, st := range level.stored(n) {
				if st.place == named && level.under(line) && !st.leads && (lockPace{level}).inEachTurn(n) {
					found = pacesTurns(u.underlying, place, read, level, line)
				}
			}
			return true
		})
		if found != nil {
			return found
		}
	}
	return nil
}

// inEachTurn tells of a statement that no condition is around it but those that are around the call as well.
func (u lockPace) inEachTurn(n ast.Node) bool {
	return !slices.ContainsFunc(nodesAround(u.fn.body, n), func(around ast.Node) bool {
		switch around.(type) {
		case *ast.IfStmt, *ast.CaseClause, *ast.CommClause, *ast.FuncLit:
			return !u.s.covers(around, u.call)
		}
		return false
	})
}

// pacedTitle is the title of a lock that keeps a rate.
const pacedTitle = "Goroutines wait for their turn at a lock that keeps a rate"

// queuesForTurn makes a finding about those who wait for a lock one that names no fault, where another one says that the lock keeps a rate.
func (f *Finding) queuesForTurn(held *Finding) {
	if held.Title == pacedTitle {
		f.Title, f.Severity = pacedTitle, Info
	}
}

// pacesTurns says that a place which one function reads, and which another one that leads to it, or the same, sets, keeps a rate.
func pacesTurns(u *underlying, place string, read int, level *underlying, stores int) *protected {
	return &protected{info: true, pace: true,
		title: pacedTitle,
		says:  fmt.Sprintf("the lock keeps a rate: %s, read at line %d, says how long its holder sleeps, and line %d sets it for the next one", place, read, stores),
		advice: fmt.Sprintf("Do not just sleep without the lock: all who wait would then read the same %s, and go on at once. If the rate is meant, this wait is its price: raise it, or let fewer ask. "+
			"To sleep without the lock, reserve the turn under it: find out when it is (the later one of now and the next free turn), set the next free turn to that and the gap, unlock, and sleep until then. golang.org/x/time/rate does that, and a context can end its wait.", place),
		evidence: []Evidence{
			u.c.shownAt(u.file, read, "read under the lock: says how long to sleep"),
			u.c.shownAt(level.file, stores, "set under the lock for the next one"),
		}}
}
