package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Bodies that are streams: they are read a piece at a time until who reads has what it wants, or its context ends. To read such a one to its end would take
// as long as the stream lasts.

// tellStream makes a remark of a finding where the function that a frame is in reads the body of the answer so.
func tellStream(f *Finding, c *code, at stack.Frame) {
	line := leavesStream(c, at)
	if line == 0 {
		return
	}
	f.Severity = Info
	f.Evidence = append(f.Evidence, c.shownAt(at.File, line, "the source stops here to read the body, before its end"))
	f.Advice = fmt.Sprintf("By the source, the body is a stream that is read a piece at a time, and left when no more of it is wanted (%s:%d): each of these costs its connection, and to read the rest would wait for as long as the stream lasts. "+
		"If many want the same, let one stream serve all of them; over HTTP/2 a stream that is left does not cost the connection. Otherwise leave it so. If the peer ends the body soon by itself, read it to its end ("+drainBody+"), and the connection is used again.", baseName(at.File), line)
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == restDoubt })
}

// drainBody reads what is left of a body, up to a limit, and endlessBody says what a limit of bytes does not help against.
const (
	drainBody   = "io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))"
	endlessBody = "a body whose end may not come soon (a feed, a stream) is only to be closed, and costs its connection"
)

// restDoubt is what speaks against reading a body to its end.
const restDoubt = "to read the rest of a large body may cost more than a new connection: where only a part is wanted, ask for that (a Range header)"

// leavesStream is the line at which the function that a frame is in leaves a loop that reads pieces of the body of an answer, other than at the end of it or
// because of an error; 0 where it does not.
func leavesStream(c *code, at stack.Frame) (line int) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil || s == nil {
		return 0
	}
	readers := map[string]bool{}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		call, ok := a.Rhs[0].(*ast.CallExpr)
		if ok && strings.HasPrefix(calledName(call), "New") && len(call.Args) > 0 && strings.HasSuffix(types.ExprString(call.Args[0]), ".Body") {
			readers[types.ExprString(a.Lhs[0])] = true
		}
		return true
	})
	piece := func(call *ast.CallExpr) bool {
		of, ok := call.Fun.(*ast.SelectorExpr)
		return ok && slices.Contains(pieceReaders, of.Sel.Name) && readers[types.ExprString(of.X)]
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if l, ok := n.(*ast.ForStmt); ok && line == 0 && hasCall(l, piece) {
			if left := leftAt(l.Body, piece); left != nil {
				line, _ = s.lines(left)
			}
		}
		return line == 0
	})
	return line
}

// leftAt is what leaves a loop over pieces before their end: a case for the end of a context, or a condition that asks neither for an error nor for the end.
func leftAt(body *ast.BlockStmt, piece func(*ast.CallExpr) bool) (left ast.Node) {
	for _, x := range exits(body.List) {
		b, compares := ast.Unparen(x.cond).(*ast.BinaryExpr)
		atEnd := mentionsText(x.cond, "io.EOF") || hasCall(x.cond, piece) || compares && (isNamed(b.X, "nil") || isNamed(b.Y, "nil")) || hasCall(x.cond, func(call *ast.CallExpr) bool { return calledName(call) == "Is" })
		if !x.fails && !atEnd {
			return x.cond
		}
	}
	eachInTurn(body, func(n ast.Node) {
		clause, ok := n.(*ast.CommClause)
		if !ok || left != nil {
			return
		}
		if from := receivedFrom(clause.Comm); from != nil && strings.HasSuffix(types.ExprString(from), ".Done()") && returnsAtEnd(clause.Body) {
			left = clause
		}
	})
	return left
}
