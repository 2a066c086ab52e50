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

// Goroutines that never end may be meant to: one that keeps its thread, those that the program starts once, or one for each of
// what it keeps.

// heldThread is the line at which a goroutine locks its thread and never unlocks it, going by the function around a frame; 0
// where there is none.
func heldThread(c *code, at stack.Frame) (line int) {
	s := c.parse(at.File)
	for fn := c.scopeAt(at); fn != nil && line == 0; fn = fn.outer {
		unlocks := hasCall(fn.body, func(call *ast.CallExpr) bool { return types.ExprString(call.Fun) == "runtime.UnlockOSThread" })
		hasCall(fn.body, func(call *ast.CallExpr) bool {
			if first, _ := s.lines(call); !unlocks && types.ExprString(call.Fun) == "runtime.LockOSThread" && first <= at.Line {
				line = first
			}
			return line != 0
		})
		if fn.name == "" {
			break // what is around it runs in another goroutine
		}
	}
	return line
}

// begunOnce tells of the function at a frame that all go statements that start it are in main or init, outside of loops that do
// not end: there are only so many of them.
func begunOnce(c *code, at stack.Frame) bool {
	if strings.HasPrefix(at.Func, "main.main.func") && literalsIn(at.Func) == 1 {
		return !startedEndlessly(c, func(file string, s *syntax, g *ast.GoStmt) bool {
			lit, ok := g.Call.Fun.(*ast.FuncLit)
			return ok && file == at.File && s.covers(lit, at.Line)
		})
	}
	if literalsIn(at.Func) > 0 {
		return false
	}
	name := ownName(at.Func)
	return len(c.functions()[name]) == 1 && !startedEndlessly(c, func(_ string, _ *syntax, g *ast.GoStmt) bool { return calledName(g.Call) == name })
}

// startedEndlessly tells of the go statements that are wanted that there is none, or that one is outside of the program's main and of
// init, in a function without a name there, or in a loop that does not end by itself.
func startedEndlessly(c *code, wanted func(file string, s *syntax, g *ast.GoStmt) bool) bool {
	starts, endless := 0, false
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			once := fn.Recv == nil && (fn.Name.Name == "main" && s.file.Name.Name == "main" || fn.Name.Name == "init")
			eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
				g, ok := n.(*ast.GoStmt)
				if !ok || !wanted(file, s, g) {
					return
				}
				starts++
				endless = endless || !once || slices.ContainsFunc(around, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncLit:
						return true
					case *ast.ForStmt:
						return n.Cond == nil || n.Post == nil
					case *ast.RangeStmt:
						return n.Value == nil && n.Key != nil // perhaps a channel
					}
					return false
				})
			})
		}
	})
	return starts == 0 || endless
}

// tellMeant says of goroutines that nothing can wake up that the source gives a reason why that may be meant.
func (s *stuck) tellMeant(c *code) {
	if line := heldThread(c, s.at); line > 0 {
		s.Title, s.Severity = "Goroutines that have not finished: they keep their threads", Info
		s.Evidence = append(s.Evidence, c.shownAt(s.at.File, line, "the goroutine keeps its thread from here on"))
		s.Advice = "Leave it as it is if the thread has to stay for as long as the program runs: what the kernel ties to a thread (a signal when the parent ends, a namespace, a priority, thread-local state of a library) ends with it, and the goroutine that has locked it ends the thread when it returns. If the thread is needed for a time only, end the goroutine then; and see that their number has a bound."
		s.Doubts = append(s.Doubts, fmt.Sprintf("the goroutine locks its thread (runtime.LockOSThread at %s) and then waits for ever, which may be its purpose: only if there are more of them with time is it a leak", fileLine(s.at.File, line)))
		return
	}
	if begunOnce(c, s.at) {
		s.Severity = Info
		s.Doubts = append(s.Doubts, "the source starts these when the program begins, and only so many of them: what they keep does not grow, and it may be meant that they never end")
	}
}

// keptTitle is the title of goroutines that do not end, of which there is one for each of what a map keeps.
const keptTitle = "Goroutines that have not finished: one for each element of a map"

// tellKept says of goroutines that become more that each is of something that the program keeps in a map, whose number the source
// bounds.
func (s *stuck) tellKept(c *code) {
	at, kept, ok := keptInMap(c, s.at)
	if !ok {
		return
	}
	s.Title, s.Severity = keptTitle, Info
	s.Evidence = append(s.Evidence, c.shownAt(at.File, at.Line, "what each goroutine is for is kept here"))
	s.Advice = fmt.Sprintf("There is one goroutine for each element of %s, of which the source allows only so many. If these stay in use for as long as the program runs, nothing is wrong. Otherwise remove the elements that are not in use any more, and end their goroutines then (close what they wait for).", kept)
	s.Doubts = append(s.Doubts, "going by the source, their number ends where the map is full: a recording that is longer shows it")
}

// keptInMap finds where a function that starts the goroutine at a frame puts what it is called on into a map, after it has
// asked how many that has.
func keptInMap(c *code, frame stack.Frame) (at stack.Frame, kept string, ok bool) {
	name := ownName(frame.Func)
	if literalsIn(frame.Func) > 0 || len(c.functions()[name]) != 1 {
		return at, "", false
	}
	starts := 0
	c.eachSource(func(file string, s *syntax) {
		for _, d := range s.file.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				g, is := n.(*ast.GoStmt)
				if !is || calledName(g.Call) != name {
					return true
				}
				starts++
				if f, is := g.Call.Fun.(*ast.SelectorExpr); is && isIdent(f.X) {
					line, text := putsIntoBounded(s, fn, f.X)
					at, kept, ok = stack.Frame{File: file, Line: line}, text, line > 0
				}
				return true
			})
		}
	})
	return at, kept, ok && starts == 1
}

// putsIntoBounded is the line at which a function puts a variable into a map of which it asks that it has fewer elements than a
// number; 0 where it does not.
func putsIntoBounded(s *syntax, fn *ast.FuncDecl, x ast.Expr) (line int, kept string) {
	eachNode(fn.Body, func(n ast.Node, around []ast.Node) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || types.ExprString(a.Rhs[0]) != types.ExprString(x) {
			return
		}
		i, ok := a.Lhs[0].(*ast.IndexExpr)
		if !ok || !isPart(i.X) {
			return
		}
		size := "len(" + types.ExprString(i.X) + ")"
		if slices.ContainsFunc(around, func(n ast.Node) bool {
			f, ok := n.(*ast.IfStmt)
			return ok && a.Pos() > f.Body.Pos() && a.End() < f.Body.End() && hasNode(f.Cond, func(n ast.Node) bool {
				b, ok := n.(*ast.BinaryExpr)
				return ok && (b.Op == token.LSS || b.Op == token.LEQ) && types.ExprString(b.X) == size
			}) && !hasNode(f.Cond, func(n ast.Node) bool { b, ok := n.(*ast.BinaryExpr); return ok && b.Op == token.LOR })
		}) {
			line, _ = s.lines(a)
			kept = types.ExprString(i.X)
		}
	})
	return line, kept
}
