package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Goroutines that are started for each item of a list, without a limit, are there with all that they hold, whatever they wait for: to let
// fewer of them make a call at once changes little about that.

// unlimited is a statement in a loop that starts a goroutine in each turn, as often as the loop goes on.
type unlimited struct {
	at    stack.Frame
	calls string // "go", or what is called: "g.Go"
	again bool   // the goroutine goes through the same statement itself
}

// makesRoom are beginnings of names of functions that wait until there is room for one more.
var makesRoom = lazily(`(?i)^(acquire|setlimit|wait|take|reserve|tryacquire)`)

// startedUnlimited finds the statement that started the goroutine of a stack, where the source has it as one for each turn of a loop, and shows nothing
// that limits how many there are.
func startedUnlimited(in *Input, frames []stack.Frame) (x unlimited, ok bool) {
	i := len(frames) - 1
	for i >= 0 && !in.Session.Scope().IsUser(frames[i]) {
		i--
	}
	if i < 0 {
		return x, false
	}
	first := frames[i]
	if literalsIn(first.Func) > 0 {
		s := in.code.parse(first.File)
		if s == nil {
			return x, false
		}
		return startsAt(s, first, func(n ast.Node, depth int) bool {
			lit, is := n.(*ast.FuncLit)
			return is && depth == literalsIn(first.Func) && s.covers(lit, first.Line)
		})
	}
	found := 0
	in.code.eachSource(func(file string, s *syntax) {
		if y, is := startsAt(s, stack.Frame{Func: first.Func, File: file}, func(n ast.Node, _ int) bool {
			e, is := n.(ast.Expr)
			return is && lastName(types.ExprString(e)) == ownName(first.Func)
		}); is {
			x, found = y, found+1
		}
	})
	return x, found == 1
}

// startsAt finds the only statement of a file that starts a goroutine with a function, in a loop without a limit.
func startsAt(s *syntax, of stack.Frame, is func(function ast.Node, literals int) bool) (x unlimited, ok bool) {
	found := 0
	eachNode(s.file, func(n ast.Node, around []ast.Node) {
		call, isCall := n.(*ast.CallExpr)
		if !isCall {
			return
		}
		literals := 1
		for _, a := range around {
			if _, lit := a.(*ast.FuncLit); lit {
				literals++
			}
		}
		calls := ""
		if _, by := parent(around).(*ast.GoStmt); by && is(call.Fun, literals) {
			calls = "go"
		} else if startsWork(calledName(call)) && slices.ContainsFunc(call.Args, func(a ast.Expr) bool { return is(a, literals) }) {
			calls = types.ExprString(call.Fun)
		}
		if calls == "" {
			return
		}
		found++
		body := loopWithin(around)
		line, _ := s.lines(call)
		decl, _ := around[min(1, len(around)-1)].(*ast.FuncDecl)
		if ok = body != nil && decl != nil && !isLimited(decl, body, call); ok {
			x = unlimited{at: stack.Frame{Func: outerFunction(of.Func), File: of.File, Line: line}, calls: calls,
				again: hasCall(call, func(c *ast.CallExpr) bool { return c != call && calledName(c) == decl.Name.Name })}
		}
	})
	return x, ok && found == 1
}

// outerFunction is the name of the function that has one without a name in it; empty of one that has its own.
func outerFunction(name string) string {
	if i := strings.LastIndex(name, ".func"); i > 0 && literalsIn(name) > 0 {
		return name[:i]
	}
	return ""
}

// loopWithin is the innermost loop around a node in its own function, that goes through items; nil where there is none, or where it counts to a number.
func loopWithin(around []ast.Node) *ast.BlockStmt {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.ForStmt:
			if n.Cond != nil && !hasCall(n.Cond, takesPart) && n.Post != nil && !hasCall(n.Cond, func(c *ast.CallExpr) bool { return isNamed(c.Fun, "len") }) {
				return nil // as many as a number says
			}
			return n.Body
		case *ast.RangeStmt:
			if n.Key == nil || n.Value == nil && ofWorkers(n.X) {
				return nil
			}
			return n.Body
		}
	}
	return nil
}

// ofWorkers tells of what a loop ranges over that it is, or by its name may be, a number.
func ofWorkers(x ast.Expr) bool {
	_, literal := x.(*ast.BasicLit)
	return literal || numberNames.MatchString(lastName(types.ExprString(x)))
}

// numberNames are names of numbers of goroutines.
var numberNames = lazily(`(?i)^n$|^num|workers|parallel|concurren|procs|limit|count|GOMAXPROCS|NumCPU|^max|jobs$`)

// isLimited tells whether something waits for room before a goroutine is started: a token of a channel, a semaphore, or the limit of a group.
func isLimited(decl *ast.FuncDecl, body *ast.BlockStmt, call *ast.CallExpr) bool {
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		group := types.ExprString(sel.X)
		if calledName(call) != "Go" && calledName(call) != "TryGo" || hasCall(decl.Body, func(c *ast.CallExpr) bool { return calledName(c) == "SetLimit" && calledOf(c) == group }) {
			return true // a pool has its own
		}
	}
	limited := false
	inside(body, func(n ast.Node) {
		if n.Pos() >= call.Pos() && n.Pos() < call.End() {
			return
		}
		switch n := n.(type) {
		case *ast.SendStmt:
			limited = true
		case *ast.UnaryExpr:
			ends, is := n.X.(*ast.CallExpr)
			limited = limited || n.Op == token.ARROW && !(is && calledName(ends) == "Done")
		case *ast.CallExpr:
			limited = limited || makesRoom.MatchString(calledName(n))
		}
	})
	return limited
}

// unlimitedTitle is the title of threads that such goroutines keep.
const unlimitedTitle = "One goroutine for each item, without a limit: very many threads"

// tellUnlimited says of goroutines in system calls that one statement has started most of them, and where they can be limited.
func tellUnlimited(in *Input, lines []*facts.Line, f *Finding) {
	by, of := map[string]int64{}, map[string]unlimited{}
	all, most := int64(0), ""
	for _, l := range lines {
		all += l.Weight
		if x, ok := startedUnlimited(in, l.Frames); ok {
			at := evidenceLine(Evidence{File: x.at.File, Line: x.at.Line})
			of[at] = x
			if by[at] += l.Weight; by[at] > by[most] {
				most = at
			}
		}
	}
	if 2*by[most] <= all {
		return
	}
	x := of[most]
	f.Title = unlimitedTitle
	f.Summary += fmt.Sprintf("; %s of these were started at %s:%d, one in each turn of a loop%s", unit.Count(by[most]), baseName(x.at.File), x.at.Line, goroutinesOnce(in))
	e := in.code.shownAt(x.at.File, x.at.Line, "one goroutine is started here in each turn, without a limit")
	e.Function = x.at.Func
	f.Evidence = slices.Insert(f.Evidence, 1, e)
	f.Advice = "Limit how many there are at once, where they are started: "
	if x.calls == "go" || !strings.HasSuffix(x.calls, ".Go") {
		f.Advice += "take a token of a semaphore (a channel of that capacity) before the go statement and give it back when the goroutine ends, let N workers take the items from a channel, or use errgroup with SetLimit. "
	} else {
		f.Advice += fmt.Sprintf("with errgroup, call SetLimit before the loop; otherwise take a token of a semaphore (a channel of that capacity) before %s and give it back when the goroutine ends, or let N workers take the items from a channel. ", x.calls)
	}
	f.Advice += "A semaphore around the system call alone leaves all goroutines where they are, with their stacks and buffers."
	f.Verify = "Record again under the same load: the number of goroutines and of threads should follow the limit, the memory should fall, and the run should take about as long."
	if x.again {
		f.Doubts = append(f.Doubts, "these goroutines may start others at the same line and wait for them: a semaphore that all levels share could then deadlock, and a limit of each group is one for each level")
	}
}

// goroutinesOnce says how many goroutines there were at most, by what the runtime tells; empty where it does not.
func goroutinesOnce(in *Input) string {
	most := 0.0
	for _, one := range facts.ReadingsOf(in.Facts) {
		for _, n := range one.Values("/sched/goroutines:goroutines") {
			most = max(most, n)
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("; there were up to %s goroutines at once", unit.Count(int64(most)))
}

// startedWith adds to a finding about goroutines that wait where they are started, where SC12 finds that there are too many of these.
func startedWith(in *Input, frames []stack.Frame, f *Finding) {
	if x, ok := startedUnlimited(in, frames); ok && checkThreads(sc12, in)[0].Title == unlimitedTitle {
		f.Evidence = append(f.Evidence, in.code.shownAt(x.at.File, x.at.Line, "those who wait are started here, one in each turn of a loop"))
	}
}

// ofUnlimited tells of a finding about goroutines that queue for a lock that these are those which another one says to be too many.
func ofUnlimited(a, b *Finding) bool {
	return (a.Rule == lk01.ID || a.Rule == lk04.ID) && b.Rule == sc12.ID && b.Title == unlimitedTitle && b.Severity.AtLeast(a.Severity) && shows(a, firstLine(b))
}
