package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Goroutines that go on working and whose function has no end: a ticker whose loop nobody leaves.

// fewReadings is how many readings of the number of goroutines show that it rises, where the source shows that none ends.
// Chosen: no more are there in a tool that runs for some seconds.
const fewReadings = 5

// wakingTitle is that of goroutines that go on waking up.
const wakingTitle = "Goroutine leak: goroutines wake up again and again, and never finish"

// What a function does that has no end, or only one of its own, and what to do about it.
const (
	neverReturnsText = "by its source the function never returns"
	pollsAloneText   = "by its source it looks again and again until what it looks for is there, and nothing else ends it"
	leaveLoopAdvice  = "Let the loop end: wait for a channel that is closed when the goroutine is no longer needed, or for the end of a context, beside what it waits for (case <-done: return), and stop its ticker or timer then (defer t.Stop())."
	leavePollAdvice  = "Let the goroutine end when nobody waits for it any more: hand it the context of whoever does, wait in a select for its Done beside the pause, and return then. Better, do not poll: let what makes it true tell those who wait (a channel that is closed, a sync.Cond), so that no goroutine is needed to look."
)

// endless looks for goroutines that the trace saw begin and not end, whose number rises all the time, and whose function
// never returns by its source, or polls for something and nothing else ends it.
func endless(r *Rule, in *Input) (found []stuck, other Finding) {
	other = Finding{State: NotApplicable}
	if len(in.Session.Manifest().Of(recording.ExecTrace)) == 0 {
		return nil, other
	}
	t := in.trace()
	if t.Err != nil || !risesThroughout(in) {
		return nil, other
	}
	d := newDerivations(in.code)
	for _, g := range t.Groups {
		if !t.Own(g.Name) || float64(g.Created) < r.param("goroutines") || g.Ended > 0 {
			continue
		}
		for i := range t.Left {
			l := &t.Left[i]
			if l.Name != g.Name || l.Created == 0 {
				continue
			}
			first := firstFrame(t.Frames(l.Stack), t.Reader.Name(g.Name))
			why, advice := neverReturnsText, leaveLoopAdvice
			if first.Func == "" || !hasNoEnd(d, first) {
				if first.Func == "" || !pollsAlone(d, first) {
					break
				}
				why, advice = pollsAloneText, leavePollAdvice
			}
			s := stuckAt(r, t.Site(l.Stack), float64(g.Created), "%s goroutines of %s started during the trace and none has ended: %s, and their number rises all the time",
				unit.Count(g.Created), t.name(g.Name), why)
			s.Title = wakingTitle
			s.Impact = exactly(t.Rate(g.Created), "goroutines more every second")
			s.Evidence = []Evidence{t.seen(l.Stack, "they come back here again and again")}
			if from := t.startedFrom(l); from != 0 {
				s.Evidence = append(s.Evidence, t.seen(from, "they originate from what this line starts"))
			}
			s.Advice, s.Doubts = advice, in.doubts()
			if why == pollsAloneText {
				s.Doubts = append(s.Doubts, "if what they look for comes later than the recording is long, they end then: the number of those that wait for it at once is what counts")
			}
			found = append(found, s)
			break
		}
	}
	return found, other
}

// risesThroughout tells of the number of goroutines in one of the runs that it rises, in the second half as in the first.
func risesThroughout(in *Input) bool {
	for _, run := range runs(in) {
		set, err := in.Session.Metrics(run)
		if err != nil {
			continue
		}
		n := set.Series("/sched/goroutines:goroutines").Values
		if len(n) < fewReadings {
			continue
		}
		all := n[len(n)-1] - n[0]
		if all > 0 && n[len(n)-1]-n[len(n)/2] >= all/4 && n[len(n)/2]-n[0] >= all/4 {
			return true
		}
	}
	return false
}

// firstFrame is the frame of the function that a goroutine began with.
func firstFrame(frames []stack.Frame, name string) stack.Frame {
	if len(frames) == 0 || frames[len(frames)-1].Func != name {
		return stack.Frame{}
	}
	return frames[len(frames)-1]
}

// hasNoEnd tells of the function around a frame that it ends in a loop without a condition, that nothing leaves the loop or the
// function, and that it calls nothing that ends it.
func hasNoEnd(d *derivations, at stack.Frame) bool {
	in, ok := d.at(at)
	if !ok || len(in.body().List) == 0 {
		return false
	}
	loop, ok := in.body().List[len(in.body().List)-1].(*ast.ForStmt)
	if !ok || loop.Cond != nil {
		return false
	}
	ends := false
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		for _, a := range around {
			if lit, inner := a.(*ast.FuncLit); inner && lit != in.lit {
				return
			}
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			ends = true
		case *ast.BranchStmt:
			ends = ends || n.Tok == token.GOTO || n.Label != nil || n.Tok == token.BREAK && !leavesInner(around, loop)
		case *ast.CallExpr:
			ends = ends || neverReturns(types.ExprString(n.Fun))
		}
	})
	return !ends
}

// pollsAlone tells of the function around a frame that it ends in a loop which pauses in each turn, and looks whether something is so: nothing tells it that this is of
// no use any more, as another channel, or a context.
func pollsAlone(d *derivations, at stack.Frame) bool {
	in, ok := d.at(at)
	if !ok || len(in.body().List) == 0 {
		return false
	}
	loop, ok := in.body().List[len(in.body().List)-1].(*ast.ForStmt)
	if !ok {
		return false
	}
	pauses, told := false, false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := types.ExprString(n.Fun)
			pauses = pauses || name == "time.Sleep"
			told = told || slices.Contains([]string{"Done", "Err", "Wait"}, lastName(name)) || neverReturns(name) || slices.ContainsFunc(n.Args, func(x ast.Expr) bool { return isNamed(x, "ctx") })
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				ticks := ticksOf(d.c, scopeOf(in.decl), n.X) != "" || isTimeAfter(n.X)
				pauses, told = pauses || ticks, told || !ticks
			}
		case *ast.RangeStmt:
			if of := d.t.typeOf(n.X); of != nil {
				_, channel := of.Underlying().(*types.Chan)
				told = told || channel
			}
		}
		return true
	})
	return pauses && !told
}

// isTimeAfter tells of a channel that it is that of time.After.
func isTimeAfter(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	return ok && types.ExprString(call.Fun) == "time.After"
}

// leavesInner tells of a break that it leaves something within a loop, and not the loop.
func leavesInner(around []ast.Node, loop ast.Node) bool {
	for i := len(around) - 1; i >= 0 && around[i] != loop; i-- {
		switch around[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SelectStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt:
			return true
		}
	}
	return false
}
