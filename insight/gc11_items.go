package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A goroutine for each item: a loop starts them all at once, most of them wait, and each holds what it has made before that.

// itemLaunch is a go statement in a loop over items that nothing bounds.
type itemLaunch struct {
	at   Evidence
	root string // the function that it starts
}

// itemLaunchOf is the go statement that started the goroutine of a frame, its outermost one of the user's, where that is
// started for each turn of a loop over items, without a wait in front of it and without a limit; false elsewhere.
func itemLaunchOf(c *code, root stack.Frame) (l itemLaunch, ok bool) {
	if len(loopsAround(c, root)) > 0 {
		return l, false // it does several things, one after another
	}
	at, known := goStatement(c, root)
	if !known {
		at, known = groupCall(c, root)
	}
	s := c.parse(at.File)
	if !known || s == nil {
		return l, false
	}
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		if first, _ := s.lines(n); first == at.Line && startsItem(n) && !ok {
			ok = overItems(n, around)
		}
	})
	at.Text = "they are started here, one for each turn of the loop"
	return itemLaunch{at, root.Func}, ok
}

// startsItem tells of a node that it is a go statement, or a call of a method that starts a function.
func startsItem(n ast.Node) bool {
	if call, ok := n.(*ast.CallExpr); ok {
		name := calledName(call)
		_, method := call.Fun.(*ast.SelectorExpr)
		return method && (name == "Go" || name == "TryGo")
	}
	_, ok := n.(*ast.GoStmt)
	return ok
}

// groupCall is the call of a method Go around the line of a function without a name that is given to it.
func groupCall(c *code, root stack.Frame) (at Evidence, known bool) {
	s := c.parse(root.File)
	s.onLine(root.Line, func(n ast.Node, _ []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && startsItem(call) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool {
			_, lit := x.(*ast.FuncLit)
			return lit && s.covers(x, root.Line)
		}) {
			first, _ := s.lines(call)
			at, known = c.shownAt(root.File, first, "it is started here"), true
		}
	})
	return at, known
}

// overItems tells of what starts a goroutine, and the nodes around it, that the innermost loop of its function goes through
// items, and does not wait in any turn before it starts one. One that accepts connections goes through no items.
func overItems(start ast.Node, around []ast.Node) bool {
	var body *ast.BlockStmt
	var within ast.Node
	for _, n := range around {
		switch n := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			body, within = nil, n
		case *ast.ForStmt:
			if body = nil; n.Cond != nil {
				body = n.Body
			}
		case *ast.RangeStmt:
			body = n.Body
		}
	}
	if body == nil || hasNode(within, func(n ast.Node) bool { return callsOneOf(n, "SetLimit") }) {
		return false
	}
	free := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			free = false
		case *ast.UnaryExpr:
			free = free && n.Op != token.ARROW
		case *ast.CallExpr:
			free = free && !callsOneOf(n, "Acquire", "TryAcquire", "Wait", "WaitN", "Sleep", "Take", "Accept", "AcceptTCP", "AcceptUnix")
		}
		if n == start {
			return false
		}
		_, lit := n.(*ast.FuncLit)
		return !lit
	})
	return free
}

// callsOneOf tells of a node that it is a call of a function or method with one of these names.
func callsOneOf(n ast.Node, names ...string) bool {
	call, ok := n.(*ast.CallExpr)
	return ok && slices.Contains(names, calledName(call))
}

// itemCrowd is a crowd of goroutines that a loop started, in a look at the goroutines.
type itemCrowd struct {
	launch itemLaunch
	count  int64       // of them in the look
	all    int64       // goroutines in the look
	wait   *facts.Wait // where most of them wait
	at     stack.Frame
	here   int64 // how many wait there
}

// itemCrowdIn finds in a look at the goroutines those of one function that are most of them, of which most wait at one
// place, and which a loop started for its items. Those that only sleep until their time has come are none.
func itemCrowdIn(in *Input, w *facts.AllWaits) (most itemCrowd, ok bool) {
	count, roots := map[string]int64{}, map[string]stack.Frame{}
	rootOf := func(x *facts.Wait) (root stack.Frame, ok bool) {
		for _, f := range slices.Backward(x.Frames) {
			if in.Session.Scope().IsUser(f) && !strings.HasPrefix(f.Func, "created by ") {
				return f, true
			}
		}
		return root, false
	}
	all := int64(0)
	for i := range w.All {
		x := &w.All[i]
		all += x.Count
		if root, known := rootOf(x); known {
			if count[root.Func] += x.Count; count[root.Func] > most.count {
				most.count, most.launch.root = count[root.Func], root.Func
			}
		}
	}
	if most.all = all; most.count == 0 || 2*most.count < all {
		return most, false
	}
	here := map[stack.Frame]int64{}
	for i := range w.All {
		x := &w.All[i]
		root, known := rootOf(x)
		if !known || root.Func != most.launch.root {
			continue
		}
		at := in.code.userFrame(x.Frames)
		at.Address = 0
		if here[at] += x.Count; here[at] > most.here {
			most.here, most.at, most.wait = here[at], at, x
			roots[root.Func] = root
		}
	}
	root := roots[most.launch.root]
	sleeps := slices.ContainsFunc(most.wait.Frames, func(f stack.Frame) bool { return f.Func == "time.Sleep" })
	if 2*most.here < most.count || sleeps && most.at.Func == root.Func {
		return most, false
	}
	most.launch, ok = itemLaunchOf(in.code, root)
	return most, ok
}

// endsByAndBy tells of the readings of a number that it has a peak, from which it falls by and by to less than half.
func endsByAndBy(n []float64) bool {
	if len(n) == 0 {
		return false
	}
	peak := slices.Max(n)
	behind := n[slices.Index(n, peak)+1:]
	between := 0
	for _, x := range behind {
		if x >= 0.1*peak && x <= 0.9*peak {
			between++
		}
	}
	return between >= 3 && 2*behind[len(behind)-1] <= peak
}

// goesAgain tells whether what goroutines of a function have allocated becomes less again: by a later heap profile, or by
// the live heap that the collections found.
func goesAgain(in *Input, all *facts.Retention, root string) bool {
	peak, behind := all.Most.Through(root), false
	for _, look := range all.Looks {
		if behind && 4*look.Through(root) <= 3*peak && !look.Entry.Partial {
			return true
		}
		behind = behind || look == all.Most
	}
	for i := range in.Facts.Rounds {
		if in.Facts.Rounds[i].GC == nil {
			continue
		}
		most := 0.0
		for _, row := range in.Facts.Rounds[i].GC.Cycles {
			if most = max(most, row.HeapLiveMB); 2*row.HeapLiveMB <= most && float64(peak) <= 2*most*(1<<20) {
				return true
			}
		}
	}
	return false
}

// checkItems finds thousands of goroutines, started by a loop for each of its items, that wait and hold memory; false where
// there are none.
func checkItems(r *Rule, in *Input, all []*facts.Readings) (f Finding, ok bool) {
	peak, stacks := 0.0, 0.0
	for _, one := range all {
		n, bytes := one.Values("/sched/goroutines:goroutines"), one.Values("/memory/classes/heap/stacks:bytes")
		if len(n) == 0 || len(bytes) == 0 || slices.Max(n) <= peak || !endsByAndBy(n) {
			continue
		}
		peak, stacks = slices.Max(n), slices.Max(bytes)
	}
	looks, _ := in.Facts.WaitsOf(recording.Goroutine)
	kept, _ := facts.RetentionIn(in.Facts)
	if peak < r.param("items") || len(looks) == 0 || kept == nil {
		return f, false
	}
	crowd, ok := itemCrowdIn(in, looks[0])
	if !ok || 20*float64(crowd.count) < peak || float64(crowd.all) >= r.param("crowd") && takesSlot(in, crowd.at, crowd.wait.Frames) {
		return f, false
	}
	made, use := float64(kept.Most.Through(crowd.launch.root)), float64(kept.Most.Bytes)
	if made+stacks < r.param("held")*(1<<20) || made < r.param("most")*use || !goesAgain(in, kept, crowd.launch.root) {
		return f, false
	}
	at := crowd.launch.at
	f = r.answer(Found, "%s goroutines at once: the loop at %s starts one for each item, without a limit; of %s of them in the goroutine profile, %s wait at %s; what they made takes %s of %s in use near the peak of the heap, all stacks %s",
		unit.Count(int64(peak)), fileLine(at.File, at.Line), unit.Count(crowd.count), unit.Count(crowd.here), place(crowd.at), unit.BytesOf(made), unit.BytesOf(use), unit.BytesOf(stacks))
	f.Title = "A goroutine for each item, without a limit: most of them wait and hold memory"
	f.Impact = exactly(peak, "goroutines alive at once")
	f.Severity, f.Score = Warning, max(50, score(made+stacks, 64<<20, 1<<30))
	f.felt = made / max(1, use) * min(1, (made+stacks)/(256<<20))
	f.crowd = true
	f.Evidence = []Evidence{at, in.fileAt(looks[0].Entry, crowd.at, crowd.wait.Frames, "%s of %s goroutines wait here", unit.Count(crowd.here), unit.Count(crowd.all))}
	f.Advice = fmt.Sprintf("Start no more of them at once than can work: an errgroup with SetLimit, a slot of a semaphore that is taken before the go statement at %s, or a fixed number of workers that receive the items. "+
		"Then only so many hold a stack and what they have made before they wait; what they wait for sets the pace, with as few as keep it busy. Or let each wait first, and make what it needs after that: then only the stacks are left.", fileLine(at.File, at.Line))
	if locked := lockHeld(in.code, stack.Frame{File: at.File, Line: at.Line}); locked != "" {
		f.Advice = fmt.Sprintf("Keep the items in a list, and start a fixed number of workers that take from it. To wait for a slot before the go statement would be a deadlock if the others need the lock that is held there (%s): give it back first.", locked)
	}
	f.Verify = "Record again: the number of goroutines (loupe sched) should follow the limit, and the peak of the heap with it, in about the same time."
	f.Doubts = append(f.Doubts, "where goroutines wait for each other (one for what another one of them makes), a limit below their number would be a deadlock")
	return f, true
}
