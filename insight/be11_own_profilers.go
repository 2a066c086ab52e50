package insight

import (
	"fmt"
	"go/ast"
	"go/types"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var be11 = &Rule{
	ID: "BE11", Title: "The program's own block or mutex profiler costs CPU (SetBlockProfileRate)",
	About: "runtime.SetBlockProfileRate(1) records a stack for every wait that ends, and SetMutexProfileFraction(1) for every contended unlock, as long as the program runs, " +
		"whether or not anybody reads the profile.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "as BE04's and BE05's: from there on it is worth a warning"},
		g0,
	},
	Check: checkOwnProfilers,
}

func checkOwnProfilers(r *Rule, in *Input) []Finding {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	s := spentOf(in)
	if s == nil || s.total < int64(r.param("samples")) {
		return []Finding{r.short("%s rests on %d samples, %g are needed: record longer (-phases cpu:30s) or under load", w.Entry.Path, w.Total(), r.param("samples"))}
	}
	m := s.with(s.v.marks("profiler.block"))
	share := s.interval(m)
	text := fmt.Sprintf("noting waits and unlocks for the block and mutex profiles took %s of the CPU time", unit.Percent(share.Estimate))
	if share.Low < r.param("share") {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	if p, ok := in.Session.Manifest().PhaseNamed(w.Entry.Phase); ok && (p.Profiler == "block" || p.Profiler == "mutex") {
		return []Finding{r.answer(Fine, "%s, in a phase that takes one", text)}
	}
	set := switchesOnWaits(in.code)
	if len(set) == 0 {
		return []Finding{r.answer(TooLittle, "%s, and no source that the recording keeps says who has switched it on: whoever records may have, or a module that it uses", text)}
	}
	f := r.answer(Found, "%s, as long as the program runs", text)
	f.Severity, f.Score = Warning, score(share.Estimate, r.param("share"), 0.4)
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.Evidence = append(set, Evidence{Text: fmt.Sprintf("%d of %d samples", s.weight(m), s.total), Path: w.Entry.Path, Phase: w.Entry.Phase})
	f.costs, f.saves = []cost{{callee: "runtime.saveblockevent"}}, true
	f.Advice = "Switch it on only while a profile is taken, by a signal or an endpoint for operators; or sample: runtime.SetBlockProfileRate(100_000_000) keeps waits of 100 ms and more and few of the others, " +
		"runtime.SetMutexProfileFraction(100) keeps one contended unlock in a hundred."
	f.Verify = "Record again: runtime.blockevent and runtime.saveblockevent should be gone from the CPU profile."
	f.Doubts = in.doubts()
	return []Finding{f}
}

// switchesOnWaits are the places in the sources that switch the block or mutex profiler on, or
// may: those with a rate that is zero are left out, and of the block profiler those with one
// that is a millisecond and more, which costs nothing to speak of.
func switchesOnWaits(c *code) []Evidence {
	return c.callsIn("it", func(file *ast.File, call *ast.CallExpr) bool {
		name := importedAs(file, "runtime")
		if name == "" || len(call.Args) != 1 {
			return false
		}
		n, known := numberOf(call.Args[0])
		switch types.ExprString(call.Fun) {
		case name + ".SetBlockProfileRate":
			return !known || n > 0 && n < 1_000_000
		case name + ".SetMutexProfileFraction":
			return !known || n > 0 && n < 10
		}
		return false
	})
}
