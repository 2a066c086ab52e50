package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var bm02 = &Rule{
	ID: "BM02", Title: "A benchmark stops its timer in the loop, or times its setup",
	About: "StartTimer and StopTimer read the runtime's memory statistics, which stops the world: inside the loop each iteration pays for it, and the CPU caches are cold afterwards. What " +
		"a benchmark with b.N does before its loop is also timed unless ResetTimer follows.",
	Asks: []facts.Question{facts.Benchmarks},
	Params: []Param{
		{"prepared", 0.05, "share of the benchmark's CPU time", "chosen: the lower bound of the interval counts"},
		{"warn", 0.10, "share of the CPU time in StartTimer and StopTimer", "chosen"},
		g0,
	},
	Measurement: true,
	Check:       checkTimer,
}

// bench is a benchmark in the sources.
type bench struct {
	file, name string
	body       *ast.BlockStmt
	b          string // what its *testing.B is called
	loop       ast.Stmt
	counted    bool // the loop counts to b.N
	first      int  // its first line
}

func checkTimer(r *Rule, in *Input) []Finding {
	all := benchesIn(in)
	if len(all) == 0 {
		if _, none := r.benchmarks(in); none != nil {
			return none
		}
		return []Finding{r.answer(TooLittle, "the benchmarks' source is not available: loupe run -test PACKAGE -bench . keeps it")}
	}
	if all = thoseThatRan(in, all); len(all) == 0 {
		return []Finding{r.answer(Fine, "none of the benchmarks that ran has a loop in the sources")}
	}
	var found []Finding
	if f, ok := timedInLoop(r, in, all); ok {
		found = append(found, f)
	}
	if f, ok := timedBefore(r, in, all); ok {
		found = append(found, f)
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "none of %s in the sources stops its timer in the loop", unit.Plural(int64(len(all)), "benchmark"))}
	}
	return found
}

// thoseThatRan leaves out the benchmarks that have a name and no result, where there are
// results: what they do was not measured. A function literal may be a part of any.
func thoseThatRan(in *Input, all []bench) []bench {
	results, err := facts.BenchmarksIn(in.Facts)
	if err != nil {
		return all
	}
	ran := map[string]bool{}
	for _, b := range results {
		name, _, _ := strings.Cut(b.Name, "/")
		ran["Benchmark"+strings.TrimPrefix(name, "Benchmark")] = true
	}
	return slices.DeleteFunc(all, func(b bench) bool { return strings.HasPrefix(b.name, "Benchmark") && !ran[b.name] })
}

// benchesIn are the benchmarks with a loop in the sources that the recording keeps.
func benchesIn(in *Input) (all []bench) {
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		s := in.code.parse(e.Source)
		if s == nil || !strings.HasSuffix(e.Source, "_test.go") {
			continue
		}
		testing := importedAs(s.file, "testing")
		ast.Inspect(s.file, func(n ast.Node) bool {
			var fn *ast.FuncType
			b := bench{file: e.Source}
			switch n := n.(type) {
			case *ast.FuncDecl:
				fn, b.body, b.name = n.Type, n.Body, n.Name.Name
			case *ast.FuncLit:
				fn, b.body = n.Type, n.Body
			default:
				return true
			}
			if b.b = benchParam(fn, testing); b.b != "" && b.body != nil {
				if b.findLoop(); b.loop != nil {
					b.first, _ = s.lines(b.loop)
					all = append(all, b)
				}
			}
			return true
		})
	}
	return all
}

// benchParam is the name of the parameter of type *testing.B; empty where there is none.
func benchParam(fn *ast.FuncType, testing string) string {
	for _, p := range fn.Params.List {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok || len(p.Names) == 0 {
			continue
		}
		if sel, ok := star.X.(*ast.SelectorExpr); ok && sel.Sel.Name == "B" {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == testing {
				return p.Names[0].Name
			}
		}
	}
	return ""
}

// findLoop finds the first loop over b.N or b.Loop in the function itself.
func (b *bench) findLoop() {
	ast.Inspect(b.body, func(n ast.Node) bool {
		if b.loop != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			counted, loop := b.uses(n.Cond, "N"), b.uses(n.Cond, "Loop")
			if counted || loop {
				b.loop, b.counted = n, counted
			}
		case *ast.RangeStmt:
			if b.uses(n.X, "N") {
				b.loop, b.counted = n, true
			}
		}
		return true
	})
}

// uses tells whether an expression has b.NAME in it.
func (b *bench) uses(x ast.Expr, name string) (found bool) {
	if x == nil {
		return false
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == name {
			id, ok := sel.X.(*ast.Ident)
			found = found || ok && id.Name == b.b
		}
		return true
	})
	return found
}

// calls are the calls of methods of b in a statement, in their order.
func (b *bench) calls(in ast.Node, methods ...string) (all []*ast.CallExpr) {
	ast.Inspect(in, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(methods, sel.Sel.Name) {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == b.b {
					all = append(all, call)
				}
			}
		}
		return true
	})
	return all
}

// timedInLoop tells of benchmarks that start and stop their timer in the loop.
func timedInLoop(r *Rule, in *Input, all []bench) (f Finding, ok bool) {
	f = r.answer(Found, "")
	for _, b := range all {
		for _, call := range b.calls(b.loop, "StopTimer", "StartTimer", "ResetTimer") {
			line, _ := in.code.parse(b.file).lines(call)
			if len(f.Evidence) < evidenceLines {
				f.Evidence = append(f.Evidence, Evidence{Text: "the timer is set in the loop here", File: b.file, Line: line, Function: b.name, Source: in.code.text(b.file, line)})
			}
		}
	}
	if len(f.Evidence) == 0 {
		return f, false
	}
	f.Summary = fmt.Sprintf("the timer is started and stopped in each iteration of a benchmark's loop, %s:%d", baseName(f.Evidence[0].File), f.Evidence[0].Line)
	f.Severity, f.Score = Info, 25
	if s := spentOf(in); s != nil && s.total >= int64(r.param("samples")) {
		share := s.interval(s.with(s.v.marks("bench.timer")))
		f.Summary += fmt.Sprintf("; that took %s of the CPU time", unit.Percent(share.Estimate))
		f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
		if f.Score = max(25, score(share.Estimate, 0.1, 0.4)); share.Low >= r.param("warn") {
			f.Severity = Warning
		}
	}
	f.Advice = "Prepare all inputs before the loop, or time a batch of operations in each iteration. If each operation needs a fresh input, benchmark the preparation separately and subtract it."
	f.Verify = "go test -bench NAME: it should take about the time that it reports, not many times that."
	return f, true
}

// timedBefore tells of a benchmark over b.N whose preparation is timed, and how much that is.
func timedBefore(r *Rule, in *Input, all []bench) (f Finding, ok bool) {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return f, false
	}
	for i := range all {
		b := &all[i]
		if !b.counted || b.timerBeforeLoop() {
			continue
		}
		before, whole, line := b.timeOf(in, w)
		share := stats.Wilson(float64(before), float64(max(1, whole)), compare.Confidence)
		if whole < int64(r.param("samples")) || share.Low < r.param("prepared") {
			continue
		}
		f = r.answer(Found, "%s of the time of %s is spent before its loop, and is timed: %s:%d", unit.Percent(share.Estimate), b.name, baseName(b.file), line)
		f.Severity, f.Score = Warning, score(share.Estimate, 0.1, 0.5)
		f.Impact = &Impact{share.Estimate, "share of the benchmark's CPU time", share.Low, share.High}
		f.Evidence = []Evidence{{Text: fmt.Sprintf("%d of %d samples are before the loop", before, whole), Path: w.Entry.Path, Phase: w.Entry.Phase, File: b.file, Line: line, Function: b.name, Source: in.code.text(b.file, line)}}
		f.Advice = "Write the loop as for b.Loop() (Go 1.24), which times the loop alone and prepares once; or call b.ResetTimer() before it."
		f.Verify = "go test -bench NAME: the time per operation should fall, and no longer depend on -benchtime."
		return f, true
	}
	return f, false
}

// timerBeforeLoop tells whether the timer is set between the preparation and the loop.
func (b *bench) timerBeforeLoop() bool {
	for _, call := range b.calls(b.body, "ResetTimer", "StartTimer", "StopTimer") {
		if call.Pos() < b.loop.Pos() {
			return true
		}
	}
	return false
}

// timeOf counts the samples below a benchmark, and those of them that are below a line
// before its loop, with the line that has most.
func (b *bench) timeOf(in *Input, w *facts.Weights) (before, whole int64, line int) {
	p, s := w.Profile, in.code.parse(b.file)
	begin, end := s.lines(b.body)
	by := map[int]int64{}
	for id, n := range p.Samples(w.Index) {
		at := slices.IndexFunc(p.Stacks.Frames(id), func(f stack.FrameID) bool {
			x := p.Stacks.Frame(f)
			return x.File == b.file && begin <= x.Line && x.Line <= end
		})
		if at < 0 || n <= 0 {
			continue
		}
		whole += n
		if l := p.Stacks.Frame(p.Stacks.Frames(id)[at]).Line; l < b.first {
			before += n
			if by[l] += n; by[l] > by[line] || line == 0 {
				line = l
			}
		}
	}
	return before, whole, line
}
