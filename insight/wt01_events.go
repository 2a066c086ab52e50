package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// Waits for an event: a unit receives one after another from a channel until one suits it, and another goroutine of the program reads these from a
// stream of a peer, as a watch has it. When the event comes is up to the world outside: that the unit waits for it is no fault.

// eventAdvice is what to do about it.
const eventAdvice = "The wait ends with an event that the peer's stream delivers: a watch or a long poll is there to wait for it, and nothing here makes it come sooner. If what it asks for may be true already, look first (a read, or what was seen last); " +
	"if the stream is the answer to a query, ask the peer for what suits alone."

// eventDoubt is why it is a remark.
const eventDoubt = "a request that is meant to wait for an event (a watch, long polling) loses nothing"

// tellEvent says it of a wait that is one for an event.
func tellEvent(in *Input, t *traced, w *waiting, reason string, f *Finding) {
	if w.kind != "channel" || reason != "network" || w.outside() || len(w.causes) == 0 || !untilItSuits(in.code, w.site.Frame) {
		return
	}
	frames := t.Frames(w.causes[0].Cause.Site.Stack)
	i := slices.IndexFunc(frames, t.Scope.IsUser)
	if i < 0 || !readsStream(in.code, frames[i]) {
		return
	}
	f.Severity, f.Advice = Info, eventAdvice
	f.Doubts = append(f.Doubts, eventDoubt)
}

// untilItSuits tells of a line that it receives from a channel in a loop which is left when what has come suits, by a condition that asks for it.
func untilItSuits(c *code, at stack.Frame) (found bool) {
	s := c.parse(at.File)
	if s == nil {
		return false
	}
	suits := func(body *ast.BlockStmt, names ...string) {
		found = found || slices.ContainsFunc(exits(body.List), func(x exit) bool {
			return !x.fails && !comparesNil(x.cond) && slices.ContainsFunc(names, func(name string) bool { return name != "" && name != "_" && mentions(x.cond, name) })
		})
	}
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if r, ok := n.(*ast.RangeStmt); ok && r.Key != nil && r.Value == nil && firstOn(s, r, at.Line) {
			suits(r.Body, types.ExprString(r.Key))
		}
	})
	loops := loopsAround(c, at)
	if found || len(loops) == 0 {
		return found
	}
	body := loops[len(loops)-1].body
	eachInTurn(body, func(n ast.Node) {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && receivedFrom(a) != nil {
			suits(body, types.ExprString(a.Lhs[0]))
		}
		if clause, ok := n.(*ast.CommClause); ok {
			if a, ok := clause.Comm.(*ast.AssignStmt); ok && receivedFrom(a) != nil {
				suits(body, types.ExprString(a.Lhs[0]))
			}
		}
	})
	return found
}

// pieceReaders are the names of methods that read the next piece of a stream.
var pieceReaders = []string{"Scan", "Decode", "ReadString", "ReadBytes", "ReadLine", "ReadSlice", "ReadJSON", "ReadMessage", "Recv", "RecvMsg"}

// readsStream tells of a line that a loop of its function reads there the next piece of something that is made before the loop.
func readsStream(c *code, at stack.Frame) (found bool) {
	for _, l := range loopsAround(c, at) {
		l.source.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(pieceReaders, calledName(call)) {
				return
			}
			of, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && rootName(of.X) != "" && !makesHere(l.body, rootName(of.X))
		})
	}
	return found
}

// firstOn tells of a node that it begins on a line.
func firstOn(s *syntax, n ast.Node, line int) bool {
	first, _ := s.lines(n)
	return first == line
}
