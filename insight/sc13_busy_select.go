package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc13 = &Rule{
	ID: "SC13", Title: "Busy loop: a select with a default case spins",
	About: "A select with a default case does not wait. In a loop that does little else it polls its channels as fast as it can and keeps a CPU busy (busy loop). " +
		"A loop that a timer wakes after some microseconds each time does the same.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, SC13; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU time", "chosen"},
		{"cpu", 0.3, "CPUs", "chosen: the function uses at least this much of one"},
		{"part", 0.5, "share of its function's time", "chosen: polling a channel between pieces of work is not spinning"},
		g0,
	},
	Check: checkBusyLoops(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "select", skip: []string{"startup"},
		perLine: true, direct: true, accept: spins, what: "goes into select statements", tell: tellBusySelect}),
}

// checkBusyLoops looks for selects that do not wait, and for loops that a timer wakes too often.
func checkBusyLoops(l *look) func(*Rule, *Input) []Finding {
	selects := check(l)
	return func(r *Rule, in *Input) []Finding {
		all := selects(r, in)
		polls := pollsByTimer(r, in)
		if len(polls) == 0 {
			return all
		}
		all = slices.DeleteFunc(all, func(f Finding) bool { return f.State != Found })
		return append(all, polls...)
	}
}

// spins tells whether a line is a select that does not wait and is most of what its
// function does.
func spins(h *hit, line *hitLine) bool {
	at := line.Caller
	if line.Callee != "runtime.selectnbrecv" && line.Callee != "runtime.selectnbsend" && !h.in.code.hasDefault(at) {
		return false // a select that waits costs something, too
	}
	here := int64(0)
	for id, w := range h.p.Samples(h.index) {
		if w > 0 && slices.ContainsFunc(h.p.Stacks.Frames(id), func(f stack.FrameID) bool { return h.p.Stacks.Frame(f).Func == at.Func }) {
			here += w
		}
	}
	used, known := h.cpus()
	if known && used*h.part(here) < h.rule.param("cpu") {
		return false
	}
	// The loop itself and the select's own line are of the spinning as well.
	return float64(h.atLine(at)) >= h.rule.param("part")*float64(here)
}

// atLine is the weight of all stacks that go through a line.
func (h *hit) atLine(at stack.Frame) (sum int64) {
	for id, w := range h.p.Samples(h.index) {
		if w > 0 && slices.ContainsFunc(h.p.Stacks.Frames(id), func(f stack.FrameID) bool {
			x := h.p.Stacks.Frame(f)
			return x.Func == at.Func && x.Line == at.Line && x.File == at.File
		}) {
			sum += w
		}
	}
	return sum
}

// hasDefault tells whether a line of the source begins a select with a default clause, or
// is one of its cases.
func (c *code) hasDefault(at stack.Frame) (found bool) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		s, ok := n.(*ast.SelectStmt)
		if !ok {
			return
		}
		found = slices.ContainsFunc(s.Body.List, func(clause ast.Stmt) bool {
			one, ok := clause.(*ast.CommClause)
			return ok && one.Comm == nil
		})
	})
	return found
}

// defaultOf is the default clause of the select that a line begins or has a case of, and whether the loop around it does nothing
// but to wait: no condition, nothing before or after the select, and nothing in the default clause.
func defaultOf(c *code, at stack.Frame) (line int, onlyWaits, known bool) {
	s := c.parse(at.File)
	s.onLine(at.Line, func(n ast.Node, around []ast.Node) {
		sel, ok := n.(*ast.SelectStmt)
		if !ok {
			return
		}
		for _, clause := range sel.Body.List {
			one, ok := clause.(*ast.CommClause)
			if !ok || one.Comm != nil {
				continue
			}
			known = true
			line, _ = s.lines(one)
			onlyWaits = !slices.ContainsFunc(one.Body, func(stmt ast.Stmt) bool { return !goesOn([]ast.Stmt{stmt}) && !yields(stmt) })
			for i := len(around) - 1; i >= 0; i-- {
				if loop, is := around[i].(*ast.ForStmt); is {
					onlyWaits = onlyWaits && loop.Cond == nil && loop.Post == nil && len(loop.Body.List) == 1
					return
				}
				if _, is := around[i].(*ast.RangeStmt); is {
					onlyWaits = false
					return
				}
			}
			onlyWaits = false // what runs it again is not known
		}
	})
	return line, onlyWaits, known
}

// yields tells of a statement that it only lets others run.
func yields(stmt ast.Stmt) bool {
	x, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	return ok && types.ExprString(call.Fun) == "runtime.Gosched"
}

func tellBusySelect(h *hit, f *Finding) {
	spins := tellEmptyTurns(h, f)
	if line, onlyWaits, known := defaultOf(h.in.code, h.lines[0].Caller); known && onlyWaits {
		f.Advice = "Remove the default case, so that the goroutine sleeps until a channel is ready."
	} else {
		f.Advice = "Let the goroutine sleep until a channel is ready. Without the default case alone it would do nothing else until then, and might wait forever: " +
			"what ends the loop has to be a case of its own (the Done channel of a context, a channel that is closed), work that is there has to be announced by a channel, and what has to be looked at from time to time goes into a case with a time.Ticker."
		if known {
			f.Evidence = append(f.Evidence, h.in.code.shownAt(h.lines[0].Caller.File, line, "the default case"))
		}
	}
	f.Verify = fmt.Sprintf("Record again: the CPU time of %s should nearly vanish, and what it does should not take longer.", stack.Short(h.lines[0].Caller.Func))
	if used, ok := h.cpus(); ok {
		f.Summary += fmt.Sprintf("; that is %s CPUs", unit.Number(used*h.part(spins)))
	}
}
