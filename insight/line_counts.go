package insight

import (
	"go/ast"

	"loupe/value/stack"
)

// How often a line was come to, in the run that counts.

// lineReached is that of a frame's line; it is false where it was not counted, or that run did not come there.
func lineReached(c *code, at stack.Frame) (n int64, ok bool) {
	n, ok = lineCounted(c, at)
	return n, ok && n > 0
}

// lineCounted is the same, with 0 where that run did not come there.
func lineCounted(c *code, at stack.Frame) (n int64, ok bool) {
	counts := blockCountsOf(c)
	if counts == nil {
		return 0, false
	}
	in, found := counts.d.at(at)
	if !found {
		return 0, false
	}
	var stmt ast.Stmt
	var outside []ast.Node
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		x, is := n.(ast.Stmt)
		if _, block := n.(*ast.BlockStmt); !is || block || !coversLine(counts.d, n, at.Line) || inOtherLiteral(in, around) {
			return
		}
		if _, first, _ := counts.d.t.at(n.Pos()); stmt == nil || first == at.Line || len(around) > len(outside) {
			stmt, outside = x, append([]ast.Node(nil), around...)
		}
	})
	if stmt == nil || inClause(outside, stmt) {
		return 0, false
	}
	if n, ok = counts.reaches(outside, stmt); !ok && len(blocksOf(outside)) == 1 { // of a function without branches the calls are counted
		n, ok = calledTimes(counts, in)
	}
	return n, ok
}

// calledTimes is how often a function was called.
func calledTimes(counts *countedTurns, in frameCode) (n int64, ok bool) {
	if n, ok = counts.entered(in.body().Lbrace); ok {
		return n, true
	}
	var decl ast.Node = in.decl
	if in.lit != nil {
		decl = in.lit
	}
	file, line, _ := counts.d.t.at(decl.Pos())
	n, ok = counts.blocks.Called(file, line)
	return n, ok && n > 0
}

// inOtherLiteral tells of what is around a node that a function literal is among it, besides that of the frame.
func inOtherLiteral(in frameCode, around []ast.Node) bool {
	for _, n := range around {
		if lit, is := n.(*ast.FuncLit); is && lit != in.lit {
			return true
		}
	}
	return false
}

// inClause tells of a statement that it is what a for statement does between its turns, which its block does not count.
func inClause(around []ast.Node, stmt ast.Stmt) bool {
	if len(around) == 0 {
		return false
	}
	loop, ok := around[len(around)-1].(*ast.ForStmt)
	return ok && (loop.Post == stmt || loop.Init == stmt)
}

// blocksOf are the blocks among some nodes.
func blocksOf(around []ast.Node) (blocks []ast.Node) {
	for _, n := range around {
		switch n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			blocks = append(blocks, n)
		}
	}
	return blocks
}
