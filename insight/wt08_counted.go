package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A trace shows that requests wait for the same line at once, and not what for. The run that counts calls knows their arguments: which of
// them go on at once with the same, while others that ask for the same find it done.

// checkStampedes looks at the trace, and where that shows nothing at the counts.
func checkStampedes(r *Rule, in *Input) []Finding {
	found := onUnits(checkStampede)(r, in)
	for _, f := range found {
		if f.State == Found && f.Severity.AtLeast(Warning) {
			return found
		}
	}
	all, _, err := repetition.TogetherIn(in.Session)
	if err != nil {
		return found
	}
	for _, x := range all {
		if x.Share >= r.param("share") && (!x.Outer.Void || refreshes(in.code, x)) && (!x.Apart || putByKey(in.code, x)) {
			return []Finding{newJoined(in, x).finding(r, in)}
		}
	}
	return found
}

// refreshes is renewsAsked of counted calls.
func refreshes(c *code, x repetition.Together) bool {
	fn := c.function(stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line})
	caller := c.function(stack.Frame{Func: x.Caller.Name, File: x.Caller.File, Line: x.Caller.Line})
	return fn != nil && caller != nil && renewsAsked(c, declaration{fn, x.Func.File}, caller)
}

// renewsAsked tells of a function that it sets what its caller asks for before it makes the call, by the source, to something that it has got or
// counted: what is kept is renewed. A mark that is only taken away says nothing of what else the call does.
func renewsAsked(c *code, fn declaration, caller *ast.FuncDecl) bool {
	sets := map[string]bool{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		a, assigns := n.(*ast.AssignStmt)
		for i, y := range changedBy(n) {
			if assigns && isFixed(a.Rhs[min(i, len(a.Rhs)-1)]) {
				continue
			}
			if root, fields := chain(y); len(fields) > 0 && outlivesCalls(fn, y) {
				sets[fields[len(fields)-1]] = true
			} else if isPackageVariable(c, root) {
				sets[root] = true
			}
		}
		return true
	})
	asks := func(cond ast.Node) bool {
		return hasNode(cond, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				return sets[n.Name]
			case *ast.CallExpr:
				of := c.functions()[ownCallName(n)]
				return len(of) > 0 && len(of) <= effectNames && hasNode(of[0].Body, func(m ast.Node) bool {
					id, ok := m.(*ast.Ident)
					return ok && sets[id.Name]
				})
			}
			return false
		})
	}
	at := token.Pos(0)
	ast.Inspect(caller.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && ownCallName(call) == fn.Name.Name {
			at = call.Pos()
		}
		return at == 0
	})
	return hasNode(caller.Body, func(n ast.Node) bool {
		s, ok := n.(*ast.IfStmt)
		return ok && s.Pos() < at && asks(s.Cond)
	})
}

// callsNamedIn tells of a function that it calls one of a name.
func callsNamedIn(f *ast.FuncDecl, name string) bool {
	return hasCall(f.Body, func(call *ast.CallExpr) bool { return ownCallName(call) == name })
}

// isFixed tells of an expression that it is a literal, true, false or nil.
func isFixed(x ast.Expr) bool {
	_, literal := x.(*ast.BasicLit)
	return literal || isNamed(x, "true") || isNamed(x, "false") || isNamed(x, "nil")
}

// doesOnly tells of a function that it returns nothing, or an error alone: it is called for what it does.
func doesOnly(fn *ast.FuncDecl) bool {
	r := fn.Type.Results
	return r == nil || len(r.List) == 0 || len(r.List) == 1 && len(r.List[0].Names) < 2 && isNamed(r.List[0].Type, "error")
}

// joinedCall is a function that several call at once for the same.
type joinedCall struct {
	repetition.Together
	countedCall
}

func newJoined(in *Input, x repetition.Together) *joinedCall {
	return &joinedCall{x, newCounted(in, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}, stack.Frame{Func: x.Caller.Name, File: x.Caller.File, Line: x.Caller.Line}, true)}
}

func (j *joinedCall) finding(r *Rule, in *Input) Finding {
	x, name, around := j.Func, stack.Short(j.Func.Name), stack.Short(j.Caller.Name)
	f := r.answer(Found, "%s of %s of %s began while another goroutine was in one with the same arguments, up to %s at once, and %s; of %s of %s that had the arguments of others %s made the call, and the rest found it done: these take %s of the time of %s",
		unit.Count(x.Together), unit.Plural(x.Calls, "call"), name, unit.Count(x.AtOnce), j.gave(), unit.Plural(j.Inner.Same, "call"), around, unit.Count(j.Inner.Made), unit.Percent(j.Share), stack.Short(j.Unit.Name))
	f.Impact = exactly(j.Share, "share of the time of "+stack.Short(j.Unit.Name))
	f.Score = score(j.Share, r.param("share"), 0.5)
	f.Severity = Info
	if j.Share >= r.param("warning") {
		f.Severity = Warning
	}
	j.evidence(in, &f, j.Entry, stack.Frame{Func: x.Name, File: x.File, Line: x.Line},
		fmt.Sprintf("%s, %s of them while the same was under way", unit.Plural(x.Calls, "call"), unit.Count(x.Together)), "which several call at once for the same")
	f.Advice = fmt.Sprintf("Let one goroutine make the call, and the others that ask for the same wait for what it returns: golang.org/x/sync/singleflight around the call of %s in %s, by the key under which the result is kept. Or renew the result before it expires, and serve the old one meanwhile; if many expire at the same moment, spread their expiry times.", name, around)
	f.Verify = "Record again under the same load: fewer calls, and none that begins while the same is under way (-phases repeats)."
	f.costs, f.waits, f.saves = j.costs, j.rows, true
	if j.Apart {
		f.Doubts = append(f.Doubts, "what they return differs, as answers do that have a time or a number in them: whoever waits gets what another one was told a moment before, as those do who find it kept")
	}
	f.Doubts = append(f.Doubts, "calls take longer while they are counted, and on a busy machine: fewer of them may meet otherwise")
	f.Doubts = append(f.Doubts, fmt.Sprintf("if the result belongs to who asks, by something that is no argument of %s (a user in a context), it cannot be shared", name))
	if fn := in.code.function(stack.Frame{Func: x.Name, File: x.File, Line: x.Line}); fn != nil {
		if why, _ := maybeOther(in.code, fn, x.File); why != "" {
			f.Severity = Info
			f.Doubts = append(f.Doubts, "another call may give another result: "+why)
		}
	}
	if tellTaken(in.code, []stack.Frame{{Func: x.Name, File: x.File, Line: x.Line}, {Func: j.Caller.Name, File: j.Caller.File, Line: j.Caller.Line}}, &f) {
		return f
	}
	if line, waits := waitsWithin(in.code, stack.Frame{Func: x.Name, File: x.File, Line: x.Line}); waits {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s waits for others at %s: if one of them does the work already, there is nothing to gain", name, fileLine(x.File, line)))
	}
	return f
}

// gave is what calls had that went on together.
func (j *joinedCall) gave() string {
	switch {
	case j.Outer.Void:
		return "did the same"
	case j.Apart:
		return "the result of each is kept by its key"
	}
	return "returned the same"
}

// waiters are methods that wait for other goroutines.
var waiters = lazily(`^(Lock|RLock|Wait|Do|DoChan|Acquire)$`)

// runsOnce tells of a method Do that it may be one which runs a function for all who ask: it is given a key and a function, and is none of the
// program's own, as that of a client is.
func runsOnce(c *code, call *ast.CallExpr) bool {
	if len(call.Args) != 2 {
		return false
	}
	_, lit := call.Args[1].(*ast.FuncLit)
	return lit || len(c.functions()["Do"]) == 0
}

// waitsWithin finds a line of a function at which it may wait for another goroutine that does the work for it. Behind a lock that needs a question: who
// takes it to set the result, or does the work under it in any case, has nothing done by another one.
func waitsWithin(c *code, at stack.Frame) (line int, waits bool) {
	fn := c.function(at)
	if fn == nil {
		return 0, false
	}
	s := c.parse(at.File)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if waits {
			return false
		}
		switch n := n.(type) {
		case *ast.UnaryExpr:
			waits = n.Op.String() == "<-"
		case *ast.CallExpr:
			switch name := calledName(n); {
			case !isMethodCall(n) || !waiters.MatchString(name):
			case name == "Do":
				waits = runsOnce(c, n)
			case strings.HasSuffix(name, "Lock") || name == "Acquire":
				waits = asksBehind(fn.Body, n.End())
			default:
				waits = true
			}
		}
		if waits {
			line, _ = s.lines(n)
		}
		return !waits
	})
	return line, waits
}

// asksBehind tells of a body that behind a position something is asked that is no error.
func asksBehind(body *ast.BlockStmt, pos token.Pos) bool {
	return hasNode(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			return n.Pos() > pos && !errorCheck(n.Cond)
		case *ast.SwitchStmt, *ast.SelectStmt:
			return n.Pos() > pos
		}
		return false
	})
}
