package insight

import (
	"go/ast"
	"go/types"

	"loupe/value/stack"
)

// A send that nobody receives blocks forever. A buffer with room for one helps who sends once; who sends again and again fills it.

const (
	wayOutAdvice     = "Give the wait a way out: a context, or a channel that is closed when nobody listens any more; where each of them sends once, a buffer with room for one (make(chan T, 1)) lets it finish as well."
	wayOutOnceAdvice = "Give the wait a way out: a context, a channel that is closed when nobody listens any more, or a buffer with room for one (make(chan T, 1)) so that a sender can finish."
	wayOutLoopAdvice = "Give the send a way out: a select with the Done of a context that ends with whoever receives, or with a channel that is closed when nobody listens any more. It sends again and again, so that a buffer would only fill up; " +
		"or let the receiver go on receiving until the channel is closed."
	wayOutWaitAdvice = "Give the wait a way out: a context, or a channel that is closed when nobody listens any more."
)

// leaveAdvice is what to do about goroutines that wait at a line of the program forever, by what the source shows there.
func leaveAdvice(c *code, at stack.Frame) string {
	switch sends, loops, known := sendsAt(c, at); {
	case !known:
		return wayOutAdvice
	case sends == 0:
		return wayOutWaitAdvice
	case loops:
		return wayOutLoopAdvice
	case sends == 1 && startedAlone(c, at):
		return wayOutOnceAdvice
	}
	return wayOutAdvice
}

// SendsAgain tells of the line of a send that it is in a loop of its function.
func SendsAgain(in *Input, at stack.Frame) bool {
	sends, loops, _ := sendsAt(in.code, at)
	return sends > 0 && loops
}

// sendsAt tells how often the function around a line sends on the channel that the line sends on, 0 where the line sends nothing, and whether one of
// these sends is in a loop.
func sendsAt(c *code, at stack.Frame) (sends int, loops, known bool) {
	s, fn := c.parse(at.File), c.scopeAt(at)
	if s == nil || fn == nil {
		return 0, false, false
	}
	channel := ""
	eachOwn(fn.body, func(n ast.Node, _ []ast.Node) {
		if x, ok := n.(*ast.SendStmt); ok && s.covers(x, at.Line) {
			channel = types.ExprString(x.Chan)
		}
		if x, ok := n.(*ast.SelectStmt); ok && channel == "" {
			if first, _ := s.lines(x); first == at.Line {
				for _, clause := range x.Body.List {
					if send, ok := clause.(*ast.CommClause).Comm.(*ast.SendStmt); ok {
						channel = types.ExprString(send.Chan)
					}
				}
			}
		}
	})
	if channel == "" {
		return 0, false, true
	}
	eachOwn(fn.body, func(n ast.Node, around []ast.Node) {
		if x, ok := n.(*ast.SendStmt); ok && types.ExprString(x.Chan) == channel {
			sends++
			loops = loops || loopBody(around) != nil
		}
	})
	return sends, loops, true
}

// eachOwn visits the nodes of a function, but for those of functions within it.
func eachOwn(body *ast.BlockStmt, visit func(n ast.Node, around []ast.Node)) {
	eachNode(body, func(n ast.Node, around []ast.Node) {
		if !withinLit(around) {
			visit(n, around)
		}
	})
}

// startedAlone tells of the function around a line that a go statement starts it which is in no loop: no other one of it sends on the same channel, as far
// as the function goes that starts it.
func startedAlone(c *code, at stack.Frame) bool {
	fn := c.scopeAt(at)
	alone, started := true, false
	c.eachSource(func(_ string, s *syntax) {
		eachNode(s.file, func(n ast.Node, around []ast.Node) {
			g, ok := n.(*ast.GoStmt)
			if !ok {
				return
			}
			lit, is := g.Call.Fun.(*ast.FuncLit)
			if is && lit.Body == fn.body || !is && fn.name != "" && calledName(g.Call) == fn.name {
				started, alone = true, alone && loopBody(around) == nil
			}
		})
	})
	return started && alone
}
