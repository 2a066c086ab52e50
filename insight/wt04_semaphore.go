package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A semaphore is found by the source: where goroutines wait to get in, and where its capacity
// is set. Who is inside is seen by the stacks of those who wait behind that line.

// semaphore is a limit on how many goroutines do something at once.
type semaphore struct {
	at stack.Frame // where they wait to get in
	// entries are the lines behind which one is inside: that one, or those of who calls a function which only waits there.
	entries []stack.Frame
	stack   []stack.Frame
	time    time.Duration
	count   int64
	made    Evidence
	limit   string // "runtime.GOMAXPROCS(0)"
	n       int64
	cpus    bool // the limit goes by the number of CPUs
	// inside are the waits for the world outside of those who are in, the longest first.
	inside []insideWait
}

// insideWait is a line behind the semaphore that waits for the world outside.
type insideWait struct {
	at    stack.Frame
	stack []stack.Frame
	what  string
	time  time.Duration
	child bool // for another process
	files bool // in system calls on files
}

// outsideTime is how long those inside waited for the world outside.
func (s *semaphore) outsideTime() (sum time.Duration) {
	for _, x := range s.inside {
		sum += x.time
	}
	return sum
}

// semaphoresOf are the semaphores that goroutines wait for in the trace, the longest wait first.
func semaphoresOf(in *Input) (all []*semaphore, w *facts.AllWaits) {
	traces, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if len(traces) == 0 {
		return nil, nil
	}
	w = traces[0]
	for i := range w.All {
		x := &w.All[i]
		site := w.Site(x)
		if n := slices.IndexFunc(all, func(s *semaphore) bool { return s.at == site }); n >= 0 {
			all[n].time += x.Time
			all[n].count += x.Count
			if entry := entryOf(in.code, site, x.Frames); !slices.Contains(all[n].entries, entry) {
				all[n].entries = append(all[n].entries, entry)
			}
			continue
		}
		if s := semaphoreAt(in, site, x.Frames); s != nil {
			s.time, s.count = x.Time, x.Count
			all = append(all, s)
		}
	}
	for _, s := range all {
		s.lookInside(w)
	}
	slices.SortStableFunc(all, func(a, b *semaphore) int { return cmp.Compare(b.time, a.time) })
	return all, w
}

// semaphoreAt is the semaphore that goroutines wait for at a line, with how many it lets in; nil
// where there is none, or that is not known.
func semaphoreAt(in *Input, at stack.Frame, frames []stack.Frame) *semaphore {
	s := semaphoreOn(in, at, frames)
	if s == nil {
		return nil
	}
	s.at, s.stack, s.entries = at, frames, []stack.Frame{entryOf(in.code, at, frames)}
	if s.cpus {
		s.n = int64(in.Facts.Settings(nil).Procs)
	}
	if s.n <= 0 {
		return nil
	}
	return s
}

// semaphoreOn reads in the source of a line at which goroutines wait that they wait for a
// semaphore, and its limit; nil where that is not so.
func semaphoreOn(in *Input, at stack.Frame, frames []stack.Frame) (found *semaphore) {
	called := func(name string) bool {
		return slices.ContainsFunc(frames, func(f stack.Frame) bool { return f.Func == name })
	}
	weighted, group := called("golang.org/x/sync/semaphore.(*Weighted).Acquire"), called("golang.org/x/sync/errgroup.(*Group).Go")
	if !weighted && !group && !called("runtime.chansend1") && !called("runtime.chanrecv1") && !called("runtime.selectgo") {
		return nil
	}
	s := in.code.parse(at.File)
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		if first, _ := s.lines(n); first != at.Line || found != nil {
			return
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			switch {
			case !ok:
			case weighted && f.Sel.Name == "Acquire":
				found = semaphoreMade(in.code, at.File, f.X, func(call *ast.CallExpr) ast.Expr { return argOf(call, "NewWeighted", 1) })
			case group && f.Sel.Name == "Go":
				found = semaphoreMade(in.code, at.File, f.X, nil)
			}
		case *ast.SendStmt:
			found = semaphoreMade(in.code, at.File, n.Chan, roomOf)
		case *ast.ExprStmt:
			if x, ok := n.X.(*ast.UnaryExpr); ok {
				found = semaphoreMade(in.code, at.File, x.X, roomOf)
			}
		}
	})
	return found
}

// argOf is the one argument of a call of a function; nil of another.
func argOf(call *ast.CallExpr, name string, of int) ast.Expr {
	if calledName(call) != name || len(call.Args) != of {
		return nil
	}
	return call.Args[of-1]
}

// roomOf is the room of a channel of nothing, or of truth values, that a call makes; nil of
// anything else.
func roomOf(call *ast.CallExpr) ast.Expr {
	if !isNamed(call.Fun, "make") || len(call.Args) != 2 {
		return nil
	}
	ch, ok := call.Args[0].(*ast.ChanType)
	if !ok {
		return nil
	}
	if of := types.ExprString(ch.Value); of != "struct{}" && of != "bool" && of != "int" {
		return nil
	}
	return call.Args[1]
}

// semaphoreMade finds where the source sets the limit of what has a name: by what it is made with, or,
// without make, by SetLimit. It is nil where that is not known, or there are several of the name.
func semaphoreMade(c *code, file string, x ast.Expr, made func(call *ast.CallExpr) ast.Expr) (found *semaphore) {
	name, many := lastName(types.ExprString(x)), false
	note := func(in string, s *syntax, limit ast.Expr) {
		if limit == nil {
			return
		}
		in, s, limit = limitGiven(c, in, s, limit)
		line := s.fset.PositionFor(limit.Pos(), false).Line
		if found != nil && found.made.File == file && in != file {
			return // the one of the same file
		}
		ownFirst := in == file && (found == nil || found.made.File != file)
		many = !ownFirst && (many || found != nil && (found.made.File != in || found.made.Line != line))
		found = &semaphore{made: c.shownAt(in, line, "the limit is set here"), limit: types.ExprString(unconverted(limit)), cpus: byCPUs(s, limit), n: constant(c, unconverted(limit))}
	}
	c.eachSource(func(in string, s *syntax) {
		pair := func(lhs, rhs ast.Expr) {
			if call, ok := rhs.(*ast.CallExpr); ok && made != nil && lastName(types.ExprString(lhs)) == name {
				note(in, s, made(call))
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			assigned(n, pair)
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				pair(n.Key, n.Value)
			case *ast.CompositeLit:
				fieldMade(c, n, name, pair)
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && made == nil && lastName(types.ExprString(f.X)) == name {
					note(in, s, argOf(n, "SetLimit", 1))
				}
			}
			return true
		})
	})
	if many {
		return nil
	}
	return found
}

// unconverted is an expression without a conversion around it.
func unconverted(x ast.Expr) ast.Expr {
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && slices.Contains([]string{"int", "int64", "uint", "int32"}, types.ExprString(call.Fun)) {
		return call.Args[0]
	}
	return x
}

// byCPUs tells whether a limit is the number of CPUs or of Ps, itself or by a variable of the
// file that is set to it, and to nothing else.
func byCPUs(s *syntax, limit ast.Expr) bool {
	counts := func(x ast.Expr) bool {
		call, ok := unconverted(x).(*ast.CallExpr)
		name := ""
		if ok {
			name = types.ExprString(call.Fun)
		}
		return name == "runtime.NumCPU" || name == "runtime.GOMAXPROCS" && types.ExprString(call.Args[0]) == "0"
	}
	if counts(limit) {
		return true
	}
	id, ok := unconverted(limit).(*ast.Ident)
	if !ok {
		return false
	}
	set, by := 0, 0
	eachAssigned(s.file, func(lhs, rhs ast.Expr) {
		if !isNamed(lhs, id.Name) {
			return
		}
		if set++; counts(rhs) {
			by++
		}
	})
	return set == 1 && by == 1
}

// lookInside finds what those wait for who are inside: behind the line in its function, or in a
// function literal within it.
func (s *semaphore) lookInside(w *facts.AllWaits) {
	for i := range w.All {
		x := &w.All[i]
		for n, f := range x.Frames {
			if !s.behind(f) || !waitsForIO(x, n) {
				continue
			}
			at := w.Site(x)
			k := slices.IndexFunc(s.inside, func(o insideWait) bool { return o.at == at })
			if k < 0 {
				k, s.inside = len(s.inside), append(s.inside, insideWait{at: at, stack: x.Frames, what: outside(x.Frames[:n]), child: isChild(x.Frames[:n]), files: isOnFiles(x)})
			}
			s.inside[k].time += x.Time
			break
		}
	}
	slices.SortStableFunc(s.inside, func(a, b insideWait) int { return cmp.Compare(b.time, a.time) })
}

func (s *semaphore) behind(f stack.Frame) bool {
	return slices.ContainsFunc(s.entries, func(e stack.Frame) bool {
		return f.File == e.File && (f.Func == e.Func && f.Line > e.Line || f.Line >= e.Line && strings.HasPrefix(f.Func, e.Func+".func"))
	})
}

// checkSemaphore looks for a semaphore that the work of a group waits for, in other goroutines
// than its own, while those inside wait for the world outside.
func checkSemaphore(r *Rule, in *Input, t *traced, g facts.UnitGroup) (Finding, bool) {
	all, w := semaphoresOf(in)
	for _, s := range all {
		slots := float64(s.outsideTime()) / (float64(s.n) * float64(max(1, w.Length)))
		if float64(s.count) < r.param("waits") || w.Mean(s.time) < 1 || slots < r.param("slots") || len(s.inside) == 0 {
			continue
		}
		if rows := s.rowsOf(g); g.All.Share(timeOf(rows)) >= r.param("share") {
			return semaphoreFinding(r, in, t, w, s, g, rows, slots), true
		}
	}
	return Finding{}, false
}

// rowsOf are the waits of a group for what is done inside, or to get in.
func (s *semaphore) rowsOf(g facts.UnitGroup) (rows []*facts.UnitRow) {
	for i := range g.All.Rows {
		row := &g.All.Rows[i]
		in := slices.ContainsFunc(s.inside, func(x insideWait) bool { return x.at == row.Cause.Site.Frame })
		if in && row.Kind.Key() != "running" || row.Site.Frame == s.at {
			rows = append(rows, row)
		}
	}
	return rows
}

// timeOf is the time of rows together.
func timeOf(rows []*facts.UnitRow) (sum time.Duration) {
	for _, row := range rows {
		sum += row.Time
	}
	return sum
}

func semaphoreFinding(r *Rule, in *Input, t *traced, w *facts.AllWaits, s *semaphore, g facts.UnitGroup, rows []*facts.UnitRow, slots float64) Finding {
	share, first := g.All.Share(timeOf(rows)), s.inside[0]
	limit := fmt.Sprintf("%d at once", s.n)
	if s.cpus {
		limit += fmt.Sprintf(" (%s)", s.limit)
	}
	text := fmt.Sprintf("%s waits %s of its time for goroutines that share a semaphore, which lets %s in, by %s:%d; on average %s of them wait at %s:%d to get in, while the slots are taken up %s of the time by those who wait for the world outside, mostly in %s at %s:%d",
		unitOf(g), unit.Percent(share), limit, baseName(s.made.File), s.made.Line, unit.Number(w.Mean(s.time)), baseName(s.at.File), s.at.Line, unit.Percent(min(1, slots)), first.what, baseName(first.at.File), first.at.Line)
	text += overUnits(g)
	f := r.answer(Found, "%s", text)
	f.Title = "A semaphore lets too few wait at once"
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.9)
	f.Severity = Info
	if s.cpus && share >= r.param("warning") {
		f.Severity = Warning
	}
	s.made.Text = "the semaphore lets " + limit + " in"
	f.Evidence = []Evidence{s.made, in.fileAt(w.Entry, s.at, s.stack, "goroutines wait here to get in: %s together, in %s", unit.Duration(s.time), unit.Plural(s.count, "wait"))}
	for _, x := range s.inside[:min(2, len(s.inside))] {
		f.Evidence = append(f.Evidence, in.fileAt(w.Entry, x.at, x.stack, "those inside wait here: %s in %s", unit.Duration(x.time), x.what))
	}
	f.Advice = "Let more of them in at once: they mostly wait inside. Raise the limit as far as what they wait for can handle."
	if s.cpus {
		f.Advice = "Do not tie the limit to the number of CPUs: those inside mostly wait. Set a fixed one, as high as what they wait for can handle."
	}
	f.Verify = "Record again with a higher limit: this wait should shrink, until what is behind it is the limit."
	f.Doubts = in.traceDoubts(t, "the limit may be there to protect what is behind it: then that has to become faster")
	if p := s.oneStep(in.code); p != nil {
		p.tellOneStep(&f, "Do not just let more in at once:")
	} else if why := s.needsCPU(in, t); why != "" {
		f.Title = "Goroutines queue for a semaphore"
		doubtLimit(in, &f, why)
	} else {
		f.Doubts = append(f.Doubts, "if what they wait for computes on the same machine (a service of your own, a child process), more at once compete for its CPUs")
	}
	f.waits = rows
	return f
}
