package insight

import (
	"fmt"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp09 = &Rule{
	ID: "CP09", Title: "CPU-bound program built without PGO",
	About: "With a CPU profile as default.pgo in the folder of package main, the compiler inlines hot calls and devirtualises interface calls (PGO). That gains a " +
		"few per cent of the CPU time in call-heavy code.",
	Asks: []facts.Question{facts.Built, facts.CPU},
	Params: []Param{
		{"low", 0.02, "share of CPU time", "Go 1.21 release notes: 2 to 7% for most programs; measured here: 3.7 and 4.7%, and nothing for one that allocates"},
		{"high", 0.07, "share of CPU time", "the same"},
		{"cpus", 0.8, "CPUs", "chosen: below this, less CPU time hardly means less wall time"},
		{"code", 0.5, "share of CPU time in Go code outside the runtime", "chosen: PGO gains nothing in the runtime and the kernel"},
		{"length", 10, "s", "chosen: a shorter program is not worth a profile in the repository"},
		{"samples", 200, "samples", "chosen: a smaller profile helps the compiler little"},
	},
	Aside: true,
	Check: checkNoPGO,
}

func checkNoPGO(r *Rule, in *Input) []Finding {
	b, err := facts.BuildOf(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	switch {
	case b.Settings["-pgo"] != "":
		return []Finding{r.answer(Fine, "built with the profile %s", baseName(b.Settings["-pgo"]))}
	case len(b.Settings) == 0:
		return []Finding{r.answer(TooLittle, "built by %s; its settings are not known", b.Go)}
	case in.Session.Manifest().Target.Kind == "test":
		return []Finding{r.answer(NotApplicable, "it is a test")}
	}
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	s := spentOf(in)
	if s == nil || s.total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", w.Entry.Path, w.Total(), r.param("samples"))}
	}
	code := goCode(s)
	length := longestRun(in)
	switch {
	case max(s.cpus, s.wanted) < r.param("cpus"):
		return []Finding{r.answer(Fine, "the program used %.2f CPUs: it is not CPU-bound", s.cpus)}
	case code.Low < r.param("code"):
		return []Finding{r.answer(Fine, "%s of the CPU time is in Go code outside the runtime, where a profile helps", unit.Percent(code.Estimate))}
	case length < r.param("length"):
		return []Finding{r.answer(Fine, "it ran for %.3g s", length)}
	}
	used := fmt.Sprintf("used %.2f CPUs", s.cpus)
	if s.cpus < r.param("cpus") { // others had the rest
		used += fmt.Sprintf(", and would have used about %.2f on a quiet machine", s.wanted)
	}
	f := r.answer(Found, "built without a profile; %s of the CPU time is in Go code outside the runtime, in a program that %s", unit.Percent(code.Estimate), used)
	f.Severity, f.Score = Info, 10
	low, high := r.param("low"), r.param("high")
	f.Impact = &Impact{(low + high) / 2, "share of CPU time that other programs have gained", low, high}
	f.Evidence = []Evidence{{Text: fmt.Sprintf("the build has no -pgo; %d samples", s.total), Path: w.Entry.Path, Phase: w.Entry.Phase}}
	f.Advice = "Make default.pgo from a CPU profile of production (loupe pgo make -for PACKAGE cpu.pb.gz), put it in the folder of package main, and rebuild. Others have gained 2 to 7%, some nothing."
	f.Verify = "Measure it: loupe pgo judge PACKAGE -- ARGUMENTS runs the program with and without the profile, alternating; -bench does so with benchmarks."
	f.Doubts = append(in.doubts(), "doing less work gains more: follow the other findings first, and then take the profile")
	return []Finding{f}
}

// goCode is the part of the CPU time whose innermost function is Go code outside the
// runtime.
func goCode(s *spent) stats.Interval {
	m := make([]bool, len(s.stacks))
	for i, id := range s.stacks {
		frames := s.v.t.Frames(id)
		if len(frames) == 0 || s.v.origins[frames[0]] == stack.Runtime {
			continue
		}
		m[i] = stack.CategoryOf(s.v.t.Frame(frames[0]).Func) == stack.Plain
	}
	return stats.Wilson(float64(s.weight(m)), float64(s.total), compare.Confidence)
}

// longestRun is how long a process of the program was seen to run, in seconds.
func longestRun(in *Input) (longest float64) {
	m := in.Session.Manifest()
	for _, run := range m.Target.Runs {
		longest = max(longest, run.Span.Len().Seconds())
	}
	if len(m.Target.Runs) == 0 { // attached
		longest = float64(m.End) / 1e9
	}
	return longest
}
