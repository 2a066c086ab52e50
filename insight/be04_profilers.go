package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/unit"
)

var be04 = &Rule{
	ID: "BE04", Title: "Several profilers ran at once and distort each other",
	About: "The tracer, a block profile of every event and a memory profile of every allocation cost CPU time at the places they watch. If " +
		"the CPU profiler runs at the same time, it shows that cost as the program's own.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "chosen: as for the rules that judge shares; measured: the tracer 2.2 times, every blocking event 1.6 times the CPU time"},
		g0,
	},
	Measurement: true,
	Check:       checkProfilers,
}

// profilers are those whose cost a CPU profile shows, by the set of their functions.
var profilers = []struct{ set, name, advice string }{
	{"profiler.trace", "the execution tracer", "Take the trace in a separate run."},
	{"profiler.block", "the block or mutex profiler", "Sample blocking events: runtime.SetBlockProfileRate(10000) keeps those of 10 µs or more, runtime.SetMutexProfileFraction(100) one in a hundred."},
	{"profiler.memory", "the memory profiler", "Leave runtime.MemProfileRate at 512 KiB."},
}

func checkProfilers(r *Rule, in *Input) []Finding {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	s := spentOf(in)
	if s == nil || s.total < int64(r.param("samples")) {
		return []Finding{r.short("%s rests on %d samples; %g are needed: record longer (-phases cpu:30s) or under load", w.Entry.Path, w.Total(), r.param("samples"))}
	}
	f := r.answer(Found, "")
	sum, parts := make([]bool, len(s.stacks)), []string(nil)
	for _, p := range profilers {
		if p.set == "profiler.trace" && w.Entry.Kind == recording.ExecTrace {
			continue // its samples were taken for it
		}
		m := s.with(s.v.marks(p.set))
		if share := s.interval(m); share.Low >= r.param("share") {
			for i := range m {
				sum[i] = sum[i] || m[i]
			}
			parts = append(parts, fmt.Sprintf("%s took %s of the CPU time", p.name, unit.Percent(share.Estimate)))
			f.Advice += p.advice + " "
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%d of %d samples are in %s", s.weight(m), s.total, p.name), Path: w.Entry.Path, Phase: w.Entry.Phase})
		}
	}
	if len(parts) == 0 {
		return []Finding{r.answer(Fine, "no other profiler took %s of the CPU time while the CPU profiler ran", unit.Percent(r.param("share")))}
	}
	share := s.interval(sum)
	f.Summary = strings.Join(parts, ", ") + " while the CPU profiler ran"
	f.Severity, f.Score = Info, score(share.Estimate, 0.1, 0.4)
	f.Impact = &Impact{share.Estimate, "share of CPU time of other profilers", share.Low, share.High}
	f.Advice += "One profiler at a time, as loupe run does."
	f.Verify = "Record again: runtime.mProf_Malloc, runtime.blockevent and runtime.traceLocker should be gone from the CPU profile."
	return []Finding{f}
}

// periodOf is how many bytes are allocated between two samples of a profile of memory; 0
// where it does not say.
func periodOf(p *profile.Profile) int64 {
	if p.PeriodType.Type == "space" && p.PeriodType.Unit == "bytes" {
		return p.Period
	}
	return 0
}
