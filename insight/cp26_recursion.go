package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// recursionTitle is the title of a function that computes the same parts again, within one call of it.
const recursionTitle = "A function asks itself for the same results again and again"

// repeatsWithin are the findings about functions that ask themselves again.
func repeatsWithin(r *Rule, in *Input) (found []Finding) {
	all, err := repetition.RecursionsIn(in.Session)
	if err != nil {
		return nil
	}
	for _, x := range all {
		if x.Few && !asksNothingElse(in.code, x) {
			continue
		}
		share, measured := timeWithin(in, x)
		if measured && share.Estimate >= r.param("share") && len(found) < 2 {
			found = append(found, recursionFinding(r, in, x, share))
		}
	}
	return found
}

// timeWithin is the part of the CPU time that the calls again take: that of the function in the profile, as far as its calls are such ones. It is false
// without a profile.
func timeWithin(in *Input, x repetition.Recursion) (share stats.Interval, ok bool) {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return share, false
	}
	within, all := int64(0), int64(0)
	for id, w := range cpu.Profile.Samples(cpu.Index) {
		all += w
		if slices.ContainsFunc(facts.Frames(cpu.Profile.Stacks, id), func(f stack.Frame) bool { return ofCounted(in.code, f, x) }) {
			within += w
		}
	}
	if all == 0 {
		return share, false
	}
	share = stats.Wilson(float64(within), float64(all), compare.Confidence)
	share.Estimate, share.Low, share.High = x.Share*share.Estimate, x.Share*share.Low, x.Share*share.High
	return share, true
}

// ofCounted tells of a frame that it is of the function, which may be a literal within another one.
func ofCounted(c *code, f stack.Frame, x repetition.Recursion) bool {
	if !namesLiteral(x.Func.Name) {
		return isCounted(f.Func, x.Func.Name)
	}
	if f.File != x.Func.File || f.Line < x.Func.Line || !strings.HasPrefix(bareGenerics(f.Func), x.Func.Name) {
		return false
	}
	own := countedScope(c, stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line})
	if own == nil {
		return true
	}
	last := c.parse(x.Func.File).fset.PositionFor(own.body.End(), false).Line
	return f.Line <= last
}

// namesLiteral tells of the name of a function that was counted that it is a literal in the one with that name.
func namesLiteral(name string) bool { return strings.HasSuffix(name, ".func") }

// countedScope is the function that begins on a line, with the name of the frame; nil where the source has no such one.
func countedScope(c *code, decl stack.Frame) *scope {
	if namesLiteral(decl.Func) {
		return c.scopeAt(decl)
	}
	fn := c.function(decl)
	if fn == nil || fn.Body == nil || fn.Name.Name != ownName(decl.Func) {
		return nil
	}
	return scopeOf(fn)
}

func recursionFinding(r *Rule, in *Input, x repetition.Recursion, share stats.Interval) Finding {
	name := stack.Short(x.Func.Name)
	decl := stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}
	own, state, out := countedScope(in.code, decl), "", recursionOut{}
	if own != nil {
		state = undoes(own.body)
	}
	if own != nil && x.Void {
		out = recursionOutOf(in.code, own, decl, state)
	}
	does := "and returned the same each time"
	switch {
	case x.Void:
		does = out.text()
	case x.Traits.Vague:
		does = "and returned what looks the same each time"
	}
	least := ""
	if x.Func.Cut {
		least = "at least "
	}
	f := r.answer(Found, "%s calls itself: %s%s within one call from outside, with %s different arguments, %s; what had been computed before takes %s of its time, which is %s of the CPU time",
		name, least, unit.Plural(x.Most, "call"), unit.Count(x.MostDistinct), does, unit.Percent(x.Share), unit.Percent(share.Estimate))
	f.Title, f.Severity, f.Score = recursionTitle, Info, score(share.Estimate, 0.10, 0.40)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.costs, f.part = []cost{{function: x.Func.Name}}, x.Share
	if share.Low >= r.param("warn") {
		f.Severity, f.saves = Warning, true
	}
	at := decl
	if own != nil {
		lines := callsItself(in.code, own, decl)
		if len(lines) > 0 {
			at.Line = lines[0]
		}
		for _, line := range lines { // what the calls within it call is theirs
			f.costs = append(f.costs, cost{file: decl.File, line: line})
		}
	}
	f.Evidence = []Evidence{in.fileAt(x.Entry, at, []stack.Frame{at}, "%s within %s of it, %s of them with arguments of one that had ended", unit.Plural(x.Calls, "call"), unit.Plural(x.Around, "call"), unit.Count(x.Again))}
	f.Advice = "Keep the results by their arguments for as long as one call from outside lasts, in a map or in a field of what it is asked about, and look there first: then each is computed once. Or compute them in an order in which what is needed is there already."
	if x.Void {
		f.Advice = out.advice()
	}
	f.Verify = "Record again: the number of calls, and the function's share of the CPU time, should fall (-phases repeats)."
	recursionDoubts(in, x, own, decl, out, state, &f)
	return f
}

// recursionDoubts says what could make each of the calls necessary.
func recursionDoubts(in *Input, x repetition.Recursion, own *scope, decl stack.Frame, out recursionOut, state string, f *Finding) {
	remark := func(format string, args ...any) {
		f.Severity, f.saves = Info, false
		f.Doubts = append(f.Doubts, fmt.Sprintf(format, args...))
	}
	if own == nil {
		remark("its source is not in the recording: what else it does is not known")
		return
	}
	if x.Void {
		out.doubts(in, own, decl, state, f, remark)
		return
	}
	if given := callsGiven(own); given != "" {
		remark("it calls %s, a function that it is given: if that has to be called each time, each call is needed", given)
	}
	if x.Traits.Refers {
		for _, line := range callsItself(in.code, own, decl) {
			at := stack.Frame{Func: strings.TrimSuffix(decl.Func, ".func"), File: decl.File, Line: line}
			if where := changesResult(in.code, at, nameOfSelf(in.code, own, decl)); where != "" {
				remark("what it returns may be changed, or is handed on, at %s: whoever changes it needs a copy of his own (slices.Clone), also where append may find room behind it", where)
				break
			}
		}
	}
	if fn := in.code.function(decl); fn != nil && own.body == fn.Body {
		if at, what := effectOfCall(in.code, decl, x.Traits.Partial || !x.Given); what != "" && state == "" {
			remark("it %s at %s: if each call has to do that, split it from what can be kept", what, at.text())
		}
		if why, _ := maybeOther(in.code, fn, decl.File); why != "" {
			remark("another call may give another result: %s", why)
		}
	} else if set := setsOutside(own); set != "" && state == "" {
		remark("it changes %s, which is not its own: if each call has to do that, split it from what can be kept", set)
	}
	switch {
	case x.Changed > 0:
		remark("what it returned was changed afterwards: whoever changes it needs a value of his own")
	case x.Traits.Handles:
		remark("what it returns has a connection, a file, a channel or a function in it: only one may be able to use that at a time")
	case makesPointers(own):
		remark("it returns pointers: if each has to lead to a value of its own, none can be kept for another call")
	case x.Traits.Refers:
		f.Doubts = append(f.Doubts, "what it returns has pointers, slices or maps: whoever changes what they hold needs a copy of his own")
	}
	switch {
	case state != "":
		f.Doubts = append(f.Doubts, fmt.Sprintf("it marks in %s where it is, and takes that back: here the same argument gave the same result on each path, but where paths come back to where they were (a cycle), a result may depend on the path, and must not be kept then", state))
	case !x.Given:
		f.Doubts = append(f.Doubts, "what lies behind its arguments, or around it, was not the same in all calls; the results were")
	}
}

// makesPointers tells of a function that a result is a pointer, or a list or map of them.
func makesPointers(own *scope) bool {
	return own.results != nil && hasNode(own.results, func(n ast.Node) bool { _, ok := n.(*ast.StarExpr); return ok })
}

// callsItself are the lines of a function at which it calls itself: by its name, or by that of the variable which holds it.
func callsItself(c *code, own *scope, decl stack.Frame) (lines []int) {
	name, s := nameOfSelf(c, own, decl), c.parse(decl.File)
	ast.Inspect(own.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && name != "" && ownCallName(call) == name {
			line, _ := s.lines(call)
			lines = append(lines, line)
		}
		return true
	})
	return lines
}

// nameOfSelf is how a function calls itself; empty where a literal is in no variable.
func nameOfSelf(c *code, own *scope, decl stack.Frame) (name string) {
	if !namesLiteral(decl.Func) {
		return ownName(decl.Func)
	}
	c.parse(decl.File).onLine(decl.Line, func(n ast.Node, _ []ast.Node) {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if lit, ok := a.Rhs[0].(*ast.FuncLit); ok && lit.Body == own.body {
				name = types.ExprString(a.Lhs[0])
			}
		}
	})
	return name
}

// callsGiven is a function that a body is given as an argument, and calls; empty where there is none.
func callsGiven(own *scope) (name string) {
	given := map[string]bool{}
	if own.params != nil {
		for _, f := range own.params.List {
			_, function := f.Type.(*ast.FuncType)
			for _, id := range f.Names {
				given[id.Name] = function
			}
		}
	}
	ast.Inspect(own.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && name == "" {
			if id, ok := call.Fun.(*ast.Ident); ok && given[id.Name] {
				name = id.Name
			}
		}
		return name == ""
	})
	return name
}

// pureCalls are what a function may call that computes from its arguments alone.
var pureCalls = lazily(`^(len|cap|min|max|append|string|byte|rune|u?int\d*|float\d\d|bool|\[\]byte|\[\]rune|(strings|bytes|unicode|utf8|math|bits|cmp)\.\w+)$`)

// asksNothingElse tells of a function literal that it changes nothing but its own variables, and calls itself and what computes from arguments alone: what it
// returns for the same arguments is the same as long as nobody changes the variables around it, which its own calls do not.
func asksNothingElse(c *code, x repetition.Recursion) bool {
	decl := stack.Frame{Func: x.Func.Name, File: x.Func.File, Line: x.Func.Line}
	own := countedScope(c, decl)
	if own == nil || !namesLiteral(decl.Func) || setsOutside(own) != "" {
		return false
	}
	name := nameOfSelf(c, own, decl)
	return name != "" && !hasNode(own.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			text := types.ExprString(n.Fun)
			return text != name && !pureCalls.MatchString(text)
		case *ast.UnaryExpr:
			return n.Op == token.ARROW
		case *ast.SendStmt, *ast.GoStmt:
			return true
		}
		return false
	})
}

// undoes is what a function sets and takes back: entries of a map that it deletes again, or sets to another fixed value. It is empty where there is
// nothing.
func undoes(body *ast.BlockStmt) (what string) {
	set := map[string]string{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				index, ok := x.(*ast.IndexExpr)
				if !ok || len(n.Lhs) != len(n.Rhs) {
					continue
				}
				key, value := types.ExprString(index), types.ExprString(n.Rhs[i])
				if was, ok := set[key]; ok && was != value && isFixed(n.Rhs[i]) {
					what = types.ExprString(index.X)
				}
				set[key] = value
			}
		case *ast.CallExpr:
			if isNamed(n.Fun, "delete") && len(n.Args) == 2 {
				if _, ok := set[types.ExprString(n.Args[0])+"["+types.ExprString(n.Args[1])+"]"]; ok {
					what = types.ExprString(n.Args[0])
				}
			}
		}
		return what == ""
	})
	return what
}

// setsOutside is a variable that a function literal changes and that is not its own.
func setsOutside(own *scope) (what string) {
	names := givenNames(own.params)
	for name := range givenNames(own.results) {
		names[name] = true
	}
	ast.Inspect(own.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
					names[id.Name] = true
				}
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if id, ok := x.(*ast.Ident); ok {
					names[id.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		}
		for _, x := range changedBy(n) {
			if root := rootName(x); root != "" && root != "_" && !names[root] && what == "" {
				what = root
			}
		}
		return what == ""
	})
	return what
}
