package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"slices"

	"loupe/value/stack"
	"loupe/value/unit"
)

// A loop with a select that does not wait spends its time on turns that find nothing: these cost what the select takes, and what else is done in each of
// them. What its other cases do, and what stands under a condition, is work that somebody asked for.

// emptyTurns are the lines that run in each turn in which the select of a line finds nothing: its own, those of its default case and of the loop around
// it. None of a select without a default case.
func emptyTurns(c *code, at stack.Frame) []int {
	s := c.parse(at.File)
	var t *turnLines
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		sel, ok := n.(*ast.SelectStmt)
		if !ok || t != nil {
			return
		}
		x := &turnLines{s: s, runs: map[int]bool{at.Line: true}, other: map[int]bool{}}
		for _, clause := range sel.Body.List {
			switch one, ok := clause.(*ast.CommClause); {
			case !ok:
			case one.Comm == nil:
				x.first(one)
				x.list(one.Body)
				t = x
			default:
				x.leave(one.Body)
			}
		}
		x.first(sel)
		x.around(sel, around)
	})
	if t == nil {
		return nil
	}
	delete(t.other, at.Line)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.runs)), func(line int) bool { return t.other[line] })
}

// turnLines are lines that run in each turn, and those that run in others.
type turnLines struct {
	s           *syntax
	runs, other map[int]bool
}

// first adds the line on which a node begins.
func (t *turnLines) first(n ast.Node) {
	line, _ := t.s.lines(n)
	t.runs[line] = true
}

// whole adds the lines of a node, but for those of functions in it, which may run at another time.
func (t *turnLines) whole(n ast.Node) {
	first, last := t.s.lines(n)
	for line := first; line <= last; line++ {
		t.runs[line] = true
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok {
			t.leave(lit.Body.List)
			return false
		}
		return true
	})
}

// leave leaves out the lines of statements.
func (t *turnLines) leave(list []ast.Stmt) {
	for _, stmt := range list {
		for line, last := t.s.lines(stmt); line <= last; line++ {
			t.other[line] = true
		}
	}
}

// list adds what runs of statements in each turn: not what stands under a condition.
func (t *turnLines) list(stmts []ast.Stmt) {
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
		case *ast.IfStmt:
			t.condition(stmt)
		case *ast.ForStmt:
			t.header(stmt)
			t.list(stmt.Body.List)
		case *ast.RangeStmt:
			t.header(stmt)
			t.list(stmt.Body.List)
		case *ast.BlockStmt:
			t.list(stmt.List)
		case *ast.LabeledStmt:
			t.list([]ast.Stmt{stmt.Stmt})
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			t.first(stmt)
			for _, clause := range bodyOfSwitch(stmt).List {
				t.leave(statements(clause))
			}
		default:
			t.whole(stmt)
		}
	}
}

// bodyOfSwitch is the body of a switch or a select.
func bodyOfSwitch(stmt ast.Stmt) *ast.BlockStmt {
	switch stmt := stmt.(type) {
	case *ast.SwitchStmt:
		return stmt.Body
	case *ast.TypeSwitchStmt:
		return stmt.Body
	case *ast.SelectStmt:
		return stmt.Body
	}
	return &ast.BlockStmt{}
}

// condition adds the conditions of an if and of those behind its else, and leaves out what stands under them.
func (t *turnLines) condition(stmt *ast.IfStmt) {
	if stmt.Init != nil {
		t.whole(stmt.Init)
	}
	t.whole(stmt.Cond)
	t.leave(stmt.Body.List)
	switch other := stmt.Else.(type) {
	case *ast.IfStmt:
		t.condition(other)
	case *ast.BlockStmt:
		t.leave(other.List)
	}
}

// header adds the lines of a loop up to its body.
func (t *turnLines) header(loop ast.Stmt) {
	first, _ := t.s.lines(loop)
	body, _ := t.s.lines(bodyOfLoop(loop))
	for line := first; line <= body; line++ {
		t.runs[line] = true
	}
}

// around adds, of the loop around a select, its header and the conditions beside the select, which each turn asks.
func (t *turnLines) around(sel *ast.SelectStmt, around []ast.Node) {
	for _, n := range slices.Backward(around) {
		if _, lit := n.(*ast.FuncLit); lit {
			return
		}
		body := bodyOfLoop(n)
		if body == nil {
			continue
		}
		t.header(n.(ast.Stmt))
		for _, stmt := range body.List {
			if cond, ok := stmt.(*ast.IfStmt); ok && !(cond.Pos() <= sel.Pos() && sel.End() <= cond.End()) {
				t.condition(cond)
			}
		}
		return
	}
}

// weightThrough is the weight of the stacks that go through some lines of a file, and by the innermost of these lines.
func weightThrough(h *hit, file string, lines []int) (sum int64, by map[int]int64) {
	by = map[int]int64{}
	for id, w := range h.p.Samples(h.index) {
		for _, x := range h.p.Stacks.Frames(id) {
			if f := h.p.Stacks.Frame(x); w > 0 && f.File == file && slices.Contains(lines, f.Line) {
				sum += w
				by[f.Line] += w
				break
			}
		}
	}
	return sum, by
}

// tellEmptyTurns makes a finding about a select that spins one about all that the loop's turns take that find nothing; it returns the weight of that.
func tellEmptyTurns(h *hit, f *Finding) int64 {
	at := h.lines[0].Caller
	lines := emptyTurns(h.in.code, at)
	sum, by := weightThrough(h, at.File, lines)
	if sum <= h.weight {
		f.Summary += ", which has a default case and does not wait"
		return h.weight
	}
	share := h.interval(sum)
	f.Summary = fmt.Sprintf("%s of the CPU time goes into turns of a loop that find nothing%s, which has a default case and does not wait (%s), and what each such turn does beside it",
		unit.Percent(share.Estimate), h.where(), unit.Percent(h.part(h.weight)))
	if f.Score = score(share.Estimate, 0.10, 0.40); share.Low >= h.rule.param(h.warn) {
		f.Severity = Warning
	}
	f.Impact = &Impact{share.Estimate, "share of " + ofUnit[h.sample], share.Low, share.High}
	f.costs = nil
	for _, line := range lines {
		f.costs = append(f.costs, cost{file: at.File, line: line})
	}
	for _, line := range slices.SortedFunc(maps.Keys(by), func(a, b int) int { return cmp.Or(cmp.Compare(by[b], by[a]), a-b) }) {
		if line != at.Line && by[line] >= minHits && len(f.Evidence) < evidenceLines {
			f.Evidence = append(f.Evidence, h.in.code.shownAt(at.File, line, "%d of %d samples, in turns that find nothing", by[line], h.all))
		}
	}
	return sum
}
