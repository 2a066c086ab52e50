package insight

import (
	"fmt"
	"go/ast"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

var be05 = &Rule{
	ID: "BE05", Title: "The memory profiler samples too often (runtime.MemProfileRate)",
	About: "runtime.MemProfileRate says how many bytes are allocated between two samples of the memory profile, 512 KiB by default. " +
		"For each sample the runtime walks the stack; a rate of 1 does so for every allocation, in production as well.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"rate", 64 << 10, "bytes", "research, BE05: an eighth of the default"},
		{"share", 0.05, "share of CPU time", "chosen: from here on it is worth a warning"},
	},
	Check: checkMemRate,
}

func checkMemRate(r *Rule, in *Input) []Finding {
	p, entry, err := in.Session.Profile(recording.Allocs)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	rate := periodOf(p)
	if rate == 0 {
		return []Finding{r.answer(TooLittle, "%s does not say how many bytes lie between two samples", entry.Path)}
	}
	if float64(rate) >= r.param("rate") {
		return []Finding{r.answer(Fine, "one sample for each %s allocated", unit.BytesOf(float64(rate)))}
	}
	if strings.HasPrefix(entry.Source, recording.TestFlag) {
		return []Finding{r.answer(Fine, "one sample for each %s allocated, in a test run made for this purpose", unit.BytesOf(float64(rate)))}
	}
	f := r.answer(Found, "the memory profile has a sample for each %s allocated, where %s is the default", unit.BytesOf(float64(rate)), unit.BytesOf(512<<10))
	f.Severity, f.Score = Info, 25
	f.Evidence = append([]Evidence{{Text: fmt.Sprintf("runtime.MemProfileRate was %d", rate), Path: entry.Path, Phase: entry.Phase}}, rateSetIn(in)...)
	if s := spentOf(in); s != nil {
		m := s.with(s.v.marks("profiler.memory"))
		share := s.interval(m)
		f.Summary += fmt.Sprintf("; sampling took %s of the CPU time", unit.Percent(share.Estimate))
		f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
		f.Score = score(share.Estimate, 0.1, 0.4)
		if share.Low >= r.param("share") {
			f.Severity = Warning
			f.costs, f.saves = []cost{{callee: "runtime.profilealloc"}}, true
		}
	}
	f.Advice = "Leave runtime.MemProfileRate, and memprofilerate in GODEBUG, at the default: 512 KiB find every line that allocates much, at negligible cost. If every allocation counts, measure in a test with -memprofilerate=1."
	f.Verify = "Record again: the CPU profile should have no runtime.profilealloc, and the same lines should lead the allocs profile."
	f.Doubts = in.doubts()
	return []Finding{f}
}

// rateSetIn are the places in the sources that set runtime.MemProfileRate.
func rateSetIn(in *Input) (out []Evidence) {
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		s := in.code.parse(e.Source)
		if s == nil {
			continue
		}
		name := importedAs(s.file, "runtime")
		ast.Inspect(s.file, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			if !ok || name == "" || len(out) == 3 {
				return true
			}
			for _, x := range set.Lhs {
				if sel, ok := x.(*ast.SelectorExpr); ok && sel.Sel.Name == "MemProfileRate" {
					if id, ok := sel.X.(*ast.Ident); ok && id.Name == name {
						line, _ := s.lines(set)
						out = append(out, Evidence{Text: "the source sets it here", File: e.Source, Line: line, Source: in.code.text(e.Source, line)})
					}
				}
			}
			return true
		})
	}
	return out
}
