package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Calls of a loop that need what earlier ones have given: they can be made neither at the same
// time nor as one.

// chainAdvice is what to do about them.
const chainAdvice = "Each call needs what an earlier one has given, so they can be made neither at once nor as one with many keys: have the peer follow the chain itself (one call for several steps), cache answers that do not change, or shorten the round trip. Where several are known at a time, as in a queue, ask for those together."

// chainedAround finds the loop nearest to a call if each of its turns asks for what depends on the
// answers of earlier turns. Where a loop further out goes through items, the calls may be those of the
// items, and nothing is said. inner is the function of a library that the first frame calls.
func chainedAround(c *code, path []stack.Frame, inner string) (at stack.Frame, ok bool) {
	near, ok := nearLoop(c, path, inner)
	return near.at, ok && near.chained && near.items.Func == ""
}

// repeatingLoop is a loop whose turns depend on the answers of earlier ones, or that ends by an answer, and the line within
// a loop further out that goes through items; no line where there is none.
type repeatingLoop struct {
	at, items   stack.Frame
	first, next int  // the lines at which the two loops begin
	chained     bool // each call needs what an earlier one has given
	pages       bool // by its names, what it asks for are the pages of one answer
	retries     bool // it tries again what has failed
	numbered    bool // its pages go by numbers that it counts, so that none needs what an earlier one has given
}

// nearLoop finds the loop nearest to a call if that goes through no items by itself.
func nearLoop(c *code, path []stack.Frame, inner string) (found repeatingLoop, ok bool) {
	for l, f := range loopsOn(c, path) {
		first, _ := l.source.lines(l.stmt)
		if ok {
			if l.items(f.Line) {
				found.items, found.next = f, first
				return found, true
			}
			continue
		}
		callee, i := inner, slices.Index(path, f)
		if i > 0 {
			callee = path[i-1].Func
		}
		found = repeatingLoop{at: f, first: first, pages: turnsPages(l), chained: l.chained(f.Line, ownName(callee)) || i > 0 && l.moves(c, f, path[i-1])}
		if !found.chained {
			a, ends := l.asks(f)
			if !ends || l.items(f.Line) {
				return repeatingLoop{}, false
			}
			found.retries = a.retries
		}
		found.numbered = !found.retries && asksByNumber(l, c, f) == pagesByCount
		ok = true
	}
	return found, ok
}

// within tells whether a loop further out goes through items, whose calls these may be.
func (l repeatingLoop) within() bool { return l.items.Func != "" }

// tell makes a finding about calls that are told at a line further out say what both loops would need.
func (l repeatingLoop) tell(f *Finding) {
	near, out := fileLine(l.at.File, l.first), fileLine(l.items.File, l.next)
	if l.retries {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the loop at %s, within, tries again what has failed: such tries are counted as well", near))
		return
	}
	f.Title = "The same call is made repeatedly, one after another"
	advice := f.Advice
	f.Advice = fmt.Sprintf("If most are one for each item of the loop at %s: %s%s If most are further pages or steps of the loop at %s, in which each needs what an earlier one has given, those cannot be made concurrently: ask for larger pages.", out, strings.ToLower(f.Advice[:1]), f.Advice[1:], near)
	if l.numbered {
		f.Advice = fmt.Sprintf("If most are one for each item of the loop at %s: %s%s If most are further pages of the loop at %s: these go by numbers, so that several can be asked for at a time, with a limit; and larger pages make them fewer.", out, strings.ToLower(advice[:1]), advice[1:], near)
	}
	f.Doubts = append(f.Doubts, "the trace does not tell how many calls each turn of the outer loop makes")
	if !l.pages {
		f.Severity = Info
	}
}

// ofPages are names of what leads from one page of an answer to the next.
var ofPages = lazily(`(?i)page|cursor|token|offset|marker|continue|links?$|^(has)?(next|more)|next(url|link|id)?$`)

// turnsPages tells of a loop that a name in what it sets is one of pages.
func turnsPages(l loop) (found bool) {
	ast.Inspect(l.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, x := range slices.Concat(a.Lhs, a.Rhs) {
				found = found || ofPages.MatchString(lastName(types.ExprString(x)))
			}
		}
		return !found
	})
	return found
}

// innerOf is the function of a library that the frame nearest to a call has called, by the whole
// stack.
func innerOf(frames []stack.Frame, path []stack.Frame) string {
	if i := slices.Index(frames, path[0]); i > 0 {
		return frames[i-1].Func
	}
	return ""
}

// chained tells whether a call of a function on a line is given what such a call of a turn before
// has given, or is called on it.
func (l loop) chained(line int, callee string) (found bool) {
	on := calledOn(l.source, line)
	called := func(call *ast.CallExpr) bool { return on(call) && calledName(call) == callee }
	w := turnsOf(l.source, l.body)
	w.calls = called
	for name, all := range w.named {
		w.named[name] = slices.DeleteFunc(all, func(s *set) bool { return s.sums || s.variable == nil && l.ranges(name) })
	}
	ast.Inspect(l.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && called(call) {
			found = found || w.isGiven(call, called) || w.replaces(call)
		}
		return !found
	})
	return found
}

// ranges tells of a variable that it is a new one in each turn of a range statement.
func (l loop) ranges(name string) bool {
	r, ok := l.stmt.(*ast.RangeStmt)
	return ok && (r.Key != nil && isNamed(r.Key, name) || r.Value != nil && isNamed(r.Value, name))
}

// isGiven tells whether an argument of a call, or of those that it is called on the results of,
// has a value that is looked for. What it is to write to, and a buffer that it may use again,
// are none.
func (w *turns) isGiven(call *ast.CallExpr, called func(*ast.CallExpr) bool) bool {
	for _, x := range call.Args {
		switch x := x.(type) {
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				continue
			}
		case *ast.SliceExpr:
			if x.High != nil && types.ExprString(x.High) == "0" {
				continue
			}
		}
		if !isError(rootName(x)) && w.hasAt(x, call.Pos()) && !hasCall(x, called) {
			return true
		}
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	before, ok := f.X.(*ast.CallExpr)
	return ok && w.isGiven(before, called)
}

// replaces tells whether the variable that a call is a method of has been set to a value that is
// looked for: b = b.parent().
func (w *turns) replaces(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := f.X.(*ast.Ident)
	return ok && w.hasAt(id, call.Pos()) && slices.ContainsFunc(w.named[id.Name], func(s *set) bool { return !s.part && !s.declares && w.derived(s) })
}

// moves tells whether a turn of a loop calls a method that, behind its call of a peer, changes a
// field that it asks the peer with: the same receiver in each turn.
func (l loop) moves(c *code, f, callee stack.Frame) bool {
	fn := c.scopeAt(callee)
	if fn == nil || fn.receiver == "" {
		return false
	}
	w := turnsOf(l.source, l.body)
	same := slices.ContainsFunc(c.lineCalls(f), func(call *ast.CallExpr) bool {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != fn.name {
			return false
		}
		root := rootName(sel.X)
		return root != "" && !l.ranges(root) && w.declaration(root, call.Pos()) == nil
	})
	return same && len(carried(c, fn, callee, fn.receiver)) > 0
}

// carried are the fields of a variable that a function asks a peer with, on a frame's line, and
// changes behind it.
func carried(c *code, fn *scope, f stack.Frame, of string) (fields []string) {
	s := c.parse(f.File)
	answered := answeredIn(s, fn.body, f.Line)
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		if first, _ := s.lines(n); first <= f.Line {
			return true
		}
		for _, x := range slices.Concat(placesSet(n), filledWith(n, answered)) {
			sel, ok := x.(*ast.SelectorExpr)
			if !ok || !isNamed(sel.X, of) {
				continue
			}
			name := types.ExprString(sel)
			if !slices.Contains(fields, name) && s.asksWith(fn.body, f.Line, name) {
				fields = append(fields, name)
			}
		}
		return true
	})
	return fields
}

// answeredIn are the variables of a function that a line sets, and those that the lines behind it make of them, errors left out.
func answeredIn(s *syntax, body ast.Node, line int) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		if first, last := s.lines(a); first <= line && line <= last || first > line && slices.ContainsFunc(a.Rhs, func(x ast.Expr) bool { return mentionsNames(x, names) }) {
			for _, x := range a.Lhs {
				if id, ok := x.(*ast.Ident); ok && id.Name != "_" && !isError(id.Name) {
					names[id.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// mentionsNames tells of a part of the source that it has one of some names.
func mentionsNames(n ast.Node, names map[string]bool) bool {
	return hasNode(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && names[id.Name]
	})
}

// filledWith are the fields into which a statement puts something of an answer, by a key or by a method such as Set.
func filledWith(n ast.Node, answered map[string]bool) (places []ast.Expr) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, x := range n.Lhs {
			if at, ok := x.(*ast.IndexExpr); ok && mentionsNames(n.Rhs[min(i, len(n.Rhs)-1)], answered) {
				places = append(places, at.X)
			}
		}
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return nil
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && (fillers.MatchString(f.Sel.Name) || f.Sel.Name == "Store") && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return mentionsNames(x, answered) }) {
			places = append(places, f.X)
		}
	}
	return places
}

// asksWith tells whether what is called on a line is given the value of an expression, by its
// text, or what the lines before have made of it.
func (s *syntax) asksWith(body *ast.BlockStmt, line int, text string) bool {
	w := s.flow(body, line, text)
	called := calledOn(s, line)
	return hasCall(body, func(call *ast.CallExpr) bool {
		return called(call) && slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return w.has(x) })
	})
}

// flow follows the value that an expression has up to a line, by its text, through a function.
func (s *syntax) flow(body *ast.BlockStmt, line int, text string) *turns {
	w := turnsOf(s, body)
	w.text, w.until = text, body.End()
	if f := s.fset.File(body.Pos()); line < f.LineCount() {
		w.until = f.LineStart(line + 1)
	}
	return w
}
