package insight

import (
	"cmp"
	"go/ast"
	"slices"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Through is a line of the program through which most of the CPU time goes that several hot functions
// have together.
type Through struct {
	Share float64 `json:"share"`
	// Line is the share of the line alone, where Share is that of its function.
	Line float64  `json:"line,omitempty"`
	At   Evidence `json:"at"`
}

// throughOf finds the function that has most of the CPU time, with its closures; or else the innermost line that calls
// several hot functions, itself or further down, and has most of it; nil where that line is one of main.
func throughOf(in *Input, s *spent, all []Finding) *Through {
	if s == nil {
		return nil
	}
	hot := map[string]bool{}
	for _, f := range all {
		if f.Rule != cp01.ID || f.State != Found || len(f.costs) == 0 || f.Impact == nil {
			continue
		}
		if f.Impact.Value >= halfOfAll {
			return familyOf(in, s)
		}
		hot[f.costs[0].function] = true
	}
	if family := familyOf(in, s); len(hot) < 2 || family != nil {
		return family
	}
	type seenLine struct {
		of, in int64 // samples of all, and of the hot functions
		depth  int
	}
	lines, within := map[stack.Frame]*seenLine{}, int64(0)
	for i, id := range s.stacks {
		frames := s.v.t.Frames(id)
		at := nextUser(s.v, frames, 0)
		if at < 0 {
			continue
		}
		isHot := hot[s.v.t.Frame(frames[at]).Func]
		if isHot {
			within += s.counts[i]
		}
		seen := map[stack.Frame]bool{}
		for ; at >= 0; at = nextUser(s.v, frames, at+1) {
			f := lineOnly(s.v.t.Frame(frames[at]))
			if seen[f] {
				continue
			}
			seen[f] = true
			if lines[f] == nil {
				lines[f] = &seenLine{}
			}
			l := lines[f]
			l.depth = max(l.depth, len(frames)-at)
			if l.of += s.counts[i]; isHot {
				l.in += s.counts[i]
			}
		}
	}
	var best *stack.Frame
	for _, f := range sortedLines(lines, func(a, b *seenLine) int { return cmp.Or(b.depth-a.depth, cmp.Compare(a.of, b.of)) }) {
		l := lines[f]
		if float64(l.of) >= halfOfAll*float64(s.total) && float64(l.in) >= nearlyAll*float64(within) {
			best = &f
			break
		}
	}
	if best != nil && handsRequestsOn(in.code, s, *best) {
		return mostBelow(in, s, *best)
	}
	if best == nil || best.Func == "main.main" {
		return nil
	}
	at := []Evidence{in.code.shownAt(best.File, best.Line, "%s of the CPU time goes through this line", unit.Percent(float64(lines[*best].of)/float64(s.total)))}
	at[0].Function = best.Func
	shorten(in, []Finding{{Evidence: at}})
	return &Through{Share: float64(lines[*best].of) / float64(s.total), At: at[0]}
}

// ofItself is the part of the samples of a function that only hands requests on which it may have for itself. Chosen: a few, for a log or
// a count of them.
const ofItself = 0.1

// handsRequestsOn tells of a line that it is one through which all requests go: it calls the handler that its function was given, or that is in
// what its function was made for, and next to nothing is spent in the function otherwise.
func handsRequestsOn(c *code, s *spent, at stack.Frame) bool {
	if !slices.ContainsFunc(c.lineCalls(at), func(call *ast.CallExpr) bool { return callsNext(c.scopeAt(at), call) }) {
		return false
	}
	of, rest := int64(0), int64(0)
	for i, id := range s.stacks {
		for k, f := range s.v.ownLines(id) {
			if f.Func != at.Func {
				continue
			}
			of += s.counts[i]
			if f != at || k == 0 {
				rest += s.counts[i]
			}
			break
		}
	}
	return float64(rest) <= ofItself*float64(of)
}

// callsNext tells of a call in a function that it hands a request on: to the ServeHTTP of a handler, to the Next of a context without
// arguments, or to a function that this function, or one around it, was given, with its own parameters alone.
func callsNext(fn *scope, call *ast.CallExpr) bool {
	if fn == nil {
		return false
	}
	switch name := calledName(call); {
	case isMethodCall(call) && name == "ServeHTTP":
		return len(call.Args) == 2
	case isMethodCall(call) && name == "Next":
		root := rootName(receiverOf(call))
		return len(call.Args) == 0 && fn.parameter(root) >= 0
	}
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || len(call.Args) == 0 {
		return false
	}
	given := false
	for s := fn; s != nil && !given; s = s.outer {
		given = s.parameter(id.Name) >= 0
	}
	return given && !slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return fn.parameter(rootName(x)) < 0 || !isIdent(x) })
}

// mostBelow is the function that most of what goes through a line goes through next, with its heaviest line, where that is most of the CPU
// time; nil where the work divides there into smaller parts.
func mostBelow(in *Input, s *spent, at stack.Frame) *Through {
	functions, lines := map[string]int64{}, map[stack.Frame]int64{}
	for i, id := range s.stacks {
		own := s.v.ownLines(id)
		if k := slices.Index(own, at); k > 0 {
			functions[own[k-1].Func] += s.counts[i]
			lines[own[k-1]] += s.counts[i]
		}
	}
	for _, f := range sortedLines(lines, func(a, b int64) int { return cmp.Compare(b, a) }) {
		share, line := float64(functions[f.Func])/float64(s.total), float64(lines[f])/float64(s.total)
		if share < halfOfAll {
			continue
		}
		e := []Evidence{in.code.shownAt(f.File, f.Line, "%s of the CPU time is in this function and what it calls", unit.Percent(share))}
		e[0].Function = f.Func
		shorten(in, []Finding{{Evidence: e}})
		return &Through{Share: share, Line: line, At: e[0]}
	}
	return nil
}

// sortedLines are lines in an order, and in that of the sources where they are the same in it.
func sortedLines[T any](lines map[stack.Frame]T, order func(a, b T) int) []stack.Frame {
	var all []stack.Frame
	for f := range lines {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b stack.Frame) int {
		return cmp.Or(order(lines[a], lines[b]), cmp.Compare(a.File, b.File), a.Line-b.Line)
	})
	return all
}
