package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// A loop that wakes up by a timer so often that this takes a CPU: it polls.

// mostPerWakeup is more CPU time than it costs to set a timer, wait for it and look at some channels. Chosen: some
// microseconds are usual. What takes longer for each time that the timer can have fired was not woken by it.
const mostPerWakeup = 20 * time.Microsecond

// polling is a loop of the source that waits for a timer, and for nothing that it then does anything about.
type polling struct {
	loop  ast.Node
	every time.Duration
	at    int    // the line with the time
	plain bool   // it pauses in each turn, whatever it has found
	waits []int  // the lines of the wait
	does  string // what it does between, in words
}

// pollsByTimer finds loops that poll by the CPU samples at the lines of their waits.
func pollsByTimer(r *Rule, in *Input) (found []Finding) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || float64(w.Total()) < r.param("samples") {
		return nil
	}
	h := &hit{in: in, p: w.Profile, look: &look{of: facts.CPU}}
	used, known := h.cpus()
	for _, x := range pollsIn(in, w) {
		share := stats.Wilson(float64(x.waiting), float64(w.Total()), compare.Confidence)
		cpus := used * share.Estimate
		if share.Low < r.param("share") || float64(x.waiting) < r.param("part")*float64(x.all) || !known || cpus < r.param("cpu") || cpus*x.every.Seconds() > mostPerWakeup.Seconds() {
			continue
		}
		found = append(found, x.finding(r, in, w, share, cpus))
	}
	return found[:min(2, len(found))]
}

// polled is such a loop with its samples.
type polled struct {
	polling
	name, file   string
	all, waiting int64 // samples in its function, and at its waits
	lines        map[int]int64
}

// pollsIn are those with samples, the heaviest first.
func pollsIn(in *Input, w *facts.Weights) []*polled {
	v, known := in.view(w.Profile), map[string][]*polled{}
	for id, n := range w.Profile.Samples(w.Index) {
		seen := map[string]bool{}
		for _, f := range v.t.Frames(id) { // the innermost first
			at := v.t.Frame(f)
			if v.origins[f] != stack.User || seen[at.Func] {
				continue
			}
			seen[at.Func] = true
			if _, ok := known[at.Func]; !ok {
				known[at.Func] = nil
				for _, p := range pollings(in.code, at) {
					known[at.Func] = append(known[at.Func], &polled{polling: p, name: at.Func, file: at.File, lines: map[int]int64{}})
				}
			}
			for _, x := range known[at.Func] {
				x.all += n
				if slices.Contains(x.waits, at.Line) {
					x.waiting += n
					x.lines[at.Line] += n
				}
			}
		}
	}
	all := slices.Concat(slices.Collect(maps.Values(known))...)
	slices.SortFunc(all, func(a, b *polled) int {
		return cmp.Or(cmp.Compare(b.waiting, a.waiting), cmp.Compare(a.name, b.name), cmp.Compare(a.at, b.at))
	})
	return all
}

// pollings are the loops of a frame's function that wait for a timer for a known time, and do nothing about it.
func pollings(c *code, at stack.Frame) (all []polling) {
	fn, s := c.function(at), c.parse(at.File)
	if fn == nil || fn.Body == nil || s == nil {
		return nil
	}
	var body ast.Node = fn.Body
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && s.covers(lit, at.Line) {
			body = lit.Body
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		loop, ok := n.(*ast.ForStmt)
		if !ok {
			return true
		}
		for _, stmt := range loop.Body.List {
			p := polling{loop: loop}
			p.at, _ = s.lines(stmt)
			if p.waitsAt(c, s, fn, stmt) {
				_, p.plain = stmt.(*ast.ExprStmt)
				all = append(all, p)
			}
		}
		return true
	})
	return all
}

// waitsAt tells of a statement of the loop that it waits for a timer: a pause, also one under a condition, after which
// the loop begins anew, or a select of which nothing is done when the timer fires.
func (p *polling) waitsAt(c *code, s *syntax, fn *ast.FuncDecl, stmt ast.Stmt) bool {
	switch stmt := stmt.(type) {
	case *ast.IfStmt:
		if n := len(stmt.Body.List); stmt.Else == nil && n > 0 && n <= 2 && (n == 1 || goesOn(stmt.Body.List)) {
			return p.waitsAt(c, s, fn, stmt.Body.List[0])
		}
	case *ast.SelectStmt:
		for _, clause := range stmt.Body.List {
			one := clause.(*ast.CommClause)
			if one.Comm == nil && len(one.Body) == 1 && p.waitsAt(c, s, fn, one.Body[0]) {
				p.does = "looks at its channels, and"
				return p.add(s, stmt)
			}
			if one.Comm == nil || len(one.Body) > 0 && !(len(one.Body) == 1 && goesOn(one.Body)) {
				continue
			}
			if d := fires(c, s, fn, one.Comm); d > 0 {
				p.every, p.does = d, "waits for its channels, and"
				p.at, _ = s.lines(one)
				return p.add(s, stmt)
			}
		}
	case *ast.ExprStmt:
		d := fires(c, s, fn, stmt)
		if d > 0 {
			p.every = d
			p.at, _ = s.lines(stmt)
			return p.add(s, stmt)
		}
	}
	return false
}

// add notes the lines of a wait: of a select those of what it waits for alone.
func (p *polling) add(s *syntax, wait ast.Stmt) bool {
	first, last := s.lines(wait)
	sel, ok := wait.(*ast.SelectStmt)
	if !ok {
		for ; first <= last; first++ {
			p.waits = append(p.waits, first)
		}
		return true
	}
	p.waits = append(p.waits, first)
	for _, clause := range sel.Body.List {
		line, _ := s.lines(clause)
		p.waits = append(p.waits, line)
	}
	return true
}

// fires is after which time a statement is over that pauses, or receives from a timer; 0 of any other and where the
// source does not tell.
func fires(c *code, s *syntax, fn *ast.FuncDecl, stmt ast.Stmt) time.Duration {
	x, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return 0
	}
	pkg := importedAs(s.file, "time")
	made := func(x ast.Expr, names ...string) time.Duration {
		call, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || pkg == "" {
			return 0
		}
		for _, name := range names {
			if types.ExprString(call.Fun) == pkg+"."+name {
				return waitTime(c, s, call.Args[0], 0)
			}
		}
		return 0
	}
	receive, ok := ast.Unparen(x.X).(*ast.UnaryExpr)
	if !ok {
		return made(x.X, "Sleep")
	}
	if receive.Op != token.ARROW {
		return 0
	}
	if d := made(receive.X, "After", "Tick"); d > 0 {
		return d
	}
	channel := types.ExprString(receive.X)
	if sel, ok := ast.Unparen(receive.X).(*ast.SelectorExpr); ok && sel.Sel.Name == "C" {
		channel = types.ExprString(sel.X)
	}
	d := time.Duration(0)
	eachAssigned(fn.Body, func(lhs, rhs ast.Expr) {
		if types.ExprString(lhs) == channel {
			d = max(d, made(rhs, "NewTicker", "NewTimer", "Tick", "After"))
		}
	})
	return d
}

// waitTime is the time that an expression stands for: of numbers, units, and constants of the package.
func waitTime(c *code, s *syntax, x ast.Expr, depth int) time.Duration {
	if n, known := numberOf(x); known {
		return time.Duration(n)
	}
	if d := durationOf(x); d > 0 || depth > 3 {
		return d
	}
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && calledName(call) == "Duration" {
		return waitTime(c, s, call.Args[0], depth+1)
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return 0
	}
	d := time.Duration(0)
	for _, decl := range s.file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec)
			if i := slices.IndexFunc(v.Names, func(n *ast.Ident) bool { return n.Name == id.Name }); i >= 0 && i < len(v.Values) {
				d = waitTime(c, s, v.Values[i], depth+1)
			}
		}
	}
	return d
}

// finding says which loop polls, how often it may, and what that takes.
func (x *polled) finding(r *Rule, in *Input, w *facts.Weights, share stats.Interval, cpus float64) Finding {
	first, _ := in.code.parse(x.file).lines(x.loop)
	f := r.answer(Found, "%s of the CPU time goes into the waits of one loop of %s (%s): it %s begins anew after %s at the latest, whether there is something to do or not; that is %s CPUs, and what it does beside takes %s",
		unit.Percent(share.Estimate), stack.Short(x.name), fileLine(x.file, first), cmp.Or(x.does, "pauses, and"), unit.Duration(x.every), unit.Number(cpus), unit.Percent(float64(x.all-x.waiting)/float64(max(1, w.Total()))))
	f.Title = "A loop polls: a timer wakes it up all the time"
	f.takes(r, share)
	f.Score = score(share.Estimate, r.param("share"), 0.5)
	f.Evidence = []Evidence{in.code.shownAt(x.file, x.at, "it waits for %s here; %d of %d samples are in the loop's waits", unit.Duration(x.every), x.waiting, w.Total())}
	for _, line := range slices.SortedFunc(maps.Keys(x.lines), func(a, b int) int { return cmp.Or(cmp.Compare(x.lines[b], x.lines[a]), a-b) }) {
		if line != x.at && len(f.Evidence) < 3 {
			f.Evidence = append(f.Evidence, in.code.shownAt(x.file, line, "%d samples go through this line", x.lines[line]))
		}
	}
	for _, line := range x.waits {
		f.costs = append(f.costs, cost{file: x.file, line: line})
	}
	f.Advice = "Wait for the event alone: a select without the timer wakes up when one of its channels is ready, and not before. What is no channel yet (a flag, a list under a lock) can be announced by one, by a sync.Cond or a context. If nothing announces it, look less often: each ten milliseconds costs next to nothing."
	if x.plain {
		f.Advice += " If it keeps a rate, do several at a time and pause for longer."
	}
	f.Doubts = []string{"where the answer has to come within microseconds and a CPU may be spent on it, polling may be meant"}
	f.Verify = fmt.Sprintf("Record again: the CPU time of %s should nearly vanish, and what it does should not take longer.", stack.Short(x.name))
	return f
}
