package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"iter"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/value/stack"
)

// inLoop says whether a line lies inside a loop.
type inLoop int

const (
	loopUnknown inLoop = iota // no source, or it does not parse
	loopNo
	loopYes
)

// lineInLoop says whether the frame's line lies in a for or range statement. The condition
// runs once in every turn, like the body.
func lineInLoop(c *code, f stack.Frame) inLoop { return loopAround(c, f, false) }

// lineInOwnLoop says whether the frame's line lies in a loop of its own goroutine: a function
// that a loop starts on another one each time runs beside the others, and shares nothing with
// the turn before.
func lineInOwnLoop(c *code, f stack.Frame) inLoop { return loopAround(c, f, true) }

// loopAround looks at the statements around a line, the outermost first. Own
// leaves out loops that lie outside of a function that is started on a goroutine.
func loopAround(c *code, f stack.Frame, own bool) inLoop {
	s := c.parse(f.File)
	if s == nil {
		return loopUnknown
	}
	loop := loopNo
	s.onLine(f.Line, func(n ast.Node, around []ast.Node) {
		switch n := n.(type) {
		case *ast.ForStmt:
			if s.covers(n.Body, f.Line) || n.Cond != nil && s.covers(n.Cond, f.Line) {
				loop = loopYes
			}
		case *ast.RangeStmt:
			if s.covers(n.Body, f.Line) {
				loop = loopYes
			}
		case *ast.FuncLit:
			if own && startsGoroutine(n, around) {
				loop = loopNo
			}
		}
	})
	return loop
}

// startsGoroutine tells whether a function without a name is what a go statement runs, or is
// given to a method Go, as those of sync.WaitGroup and errgroup.Group are named.
func startsGoroutine(lit *ast.FuncLit, around []ast.Node) bool {
	if len(around) < 2 {
		return false
	}
	call, ok := around[len(around)-1].(*ast.CallExpr)
	if !ok {
		return false
	}
	if _, ok := around[len(around)-2].(*ast.GoStmt); ok && call.Fun == lit {
		return true
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && call.Fun != ast.Expr(lit) && (method.Sel.Name == "Go" || method.Sel.Name == "TryGo")
}

// loop is a for or range statement around a line, the line being in its body or condition.
type loop struct {
	cond   ast.Expr // nil where it has none
	body   *ast.BlockStmt
	stmt   ast.Node
	source *syntax
}

// loopsOn are the loops around the lines of a way through the code, the innermost first.
func loopsOn(c *code, path []stack.Frame) iter.Seq2[loop, stack.Frame] {
	return func(yield func(loop, stack.Frame) bool) {
		for _, f := range path {
			for _, l := range slices.Backward(loopsAround(c, f)) {
				if !yield(l, f) {
					return
				}
			}
		}
	}
}

// loopsAround are the loops of a frame's function around its line, the outermost first.
func loopsAround(c *code, f stack.Frame) (loops []loop) {
	s := c.parse(f.File)
	var beside ast.Node // a function literal that begins on the line, which the frame is not in
	literals := 0
	s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		if beside != nil && covers(beside, n) {
			return
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			loops, literals = nil, 0
		case *ast.FuncLit:
			if literals++; beginsBeside(s, f, n, literals) {
				beside = n
				return
			}
			loops = nil
		case *ast.ForStmt:
			loops = append(loops, loop{n.Cond, n.Body, n, s})
		case *ast.RangeStmt:
			loops = append(loops, loop{nil, n.Body, n, s})
		}
	})
	return loops
}

// beginsBeside tells of a function literal, the literals-th one within the other, that it begins on a frame's line without being what runs there. Counts
// have literals without a number.
func beginsBeside(s *syntax, f stack.Frame, lit *ast.FuncLit, literals int) bool {
	first, _ := s.lines(lit)
	return first == f.Line && besideByName(f, literals)
}

// besideByName tells of the literals-th function literal around a line that a frame's function has fewer, by its name.
func besideByName(f stack.Frame, literals int) bool {
	return f.Func != "" && !strings.HasSuffix(f.Func, ".func") && literals > literalsIn(f.Func)
}

// literalParts are the parts of a function's name that number function literals, and what they are within.
var literalParts = lazily(`\.func\d+(\.\d+)*`)

// literalsIn is how many function literals, one within the other, a function is in by its name: two of main.f.func1.2.
func literalsIn(fn string) (n int) {
	for _, part := range literalParts.FindAllString(fn, -1) {
		n += strings.Count(part, ".")
	}
	return n
}

// helperDepth is how many of the user's functions above a call are asked for
// a loop: a small helper, and one more around it. Further up there is always
// a loop, that of the program's life.
const helperDepth = 2

// iterates holds the packages whose functions call back for every element.
var iterates = []string{"slices", "sort", "maps", "iter"}

// loopAround says in words how the call of a site is repeated: by a loop
// around its line, or by one in which its function is called. What most of the
// weight goes through decides.
//
// in is [lineInLoop], or [lineInOwnLoop] where what one turn makes is to serve the next.
func (c *code) loopAround(t *stack.Table, weights calltree.Samples, site calltree.Site, in func(*code, stack.Frame) inLoop) (how string, loop inLoop) {
	if loop = in(c, site.Caller); loop == loopYes {
		return "in a loop", loop
	}
	known := map[stack.FrameID]inLoop{}
	by := map[string]int64{}
	total := int64(0)
	for id, w := range weights {
		above, ok := callersOf(t, id, site)
		if !ok || w <= 0 {
			continue
		}
		total += w
		if how := c.loopAbove(t, above, known, in); how != "" {
			by[how] += w
		}
	}
	inLoops, best := int64(0), ""
	for text, w := range by {
		inLoops += w
		if best == "" || w > by[best] || w == by[best] && text < best {
			best = text
		}
	}
	if best != "" && 2*inLoops >= total {
		return best, loopYes
	}
	return "without its source it is not known whether it is in a loop", loop
}

// calledInLoop says in words which loop calls the function of the heaviest line, empty where
// none does within reach. A loop in which the function, or what it calls, calls itself is no such one: that is the recursion, and the loop
// is asked for above it.
func (h *hit) calledInLoop() (how string, recursive bool) {
	if len(h.lines) == 0 || h.lines[0].Caller.Func == "" {
		return "", false
	}
	t := h.p.Stacks
	above, ok := callersOf(t, h.lines[0].heavy, h.lines[0].Site)
	if !ok {
		return "", false
	}
	if outer := aboveRecursion(t, above, h.lines[0].Caller.Func); len(outer) < len(above) {
		above, recursive = outer, true
	}
	if how = h.in.code.loopAbove(t, above, map[stack.FrameID]inLoop{}, lineInLoop); strings.HasPrefix(how, "called in a loop") {
		return how, recursive
	}
	return "", recursive
}

// aboveRecursion leaves out those of the callers, from the leaf to the root, that are within the outermost call of a function.
func aboveRecursion(t *stack.Table, above []stack.FrameID, fn string) []stack.FrameID {
	for i := len(above) - 1; i >= 0; i-- {
		if t.Frame(above[i]).Func == fn {
			return above[i+1:]
		}
	}
	return above
}

// callersOf returns the frames above a site's call in a stack, from the leaf
// to the root.
func callersOf(t *stack.Table, id stack.ID, site calltree.Site) ([]stack.FrameID, bool) {
	frames := t.Frames(id)
	for i := 1; i < len(frames); i++ {
		f := t.Frame(frames[i])
		if f.Func != site.Caller.Func || f.File != site.Caller.File || f.Line != site.Caller.Line {
			continue
		}
		if slices.ContainsFunc(frames[:i], func(id stack.FrameID) bool { return t.Frame(id).Func == site.Callee }) {
			return frames[i+1:], true
		}
	}
	return nil, false
}

// loopAbove looks through the callers for the nearest loop; empty when there
// is none within reach.
func (c *code) loopAbove(t *stack.Table, above []stack.FrameID, known map[stack.FrameID]inLoop, in func(*code, stack.Frame) inLoop) string {
	isUser := c.session.Scope().IsUser
	users := 0
	for _, id := range above {
		f := t.Frame(id)
		if !isUser(f) {
			if slices.Contains(iterates, stack.Package(f.Func)) {
				return "called back for every element by " + stack.FoldGenerics(f.Func)
			}
			continue
		}
		if users++; users > helperDepth {
			break
		}
		loop, ok := known[id]
		if !ok {
			loop = in(c, f)
			known[id] = loop
		}
		if loop == loopYes {
			return fmt.Sprintf("called in a loop of %s at %s:%d", stack.Short(f.Func), baseName(f.File), f.Line)
		}
	}
	return ""
}

// isAnew tells of an expression that it is another one in each turn of one of some loops: it has a variable of the loop, one that a turn sets, or
// makes a value.
func isAnew(loops []loop, x ast.Expr) bool {
	if hasNode(x, func(n ast.Node) bool { _, lit := n.(*ast.CompositeLit); return lit }) {
		return true
	}
	return slices.ContainsFunc(loops, func(l loop) bool {
		own := l.variables()
		return hasNode(x, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			return ok && (own[id.Name] || setInTurn(l, id.Name))
		})
	})
}

// setInTurn tells of a variable that a turn of a loop gives it a value.
func setInTurn(l loop, name string) bool {
	return hasNode(l.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return types.ExprString(x) == name })
	})
}
