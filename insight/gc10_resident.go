package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc10 = &Rule{
	ID: "GC10", Title: "Much memory is outside the Go runtime (cgo, mmap)",
	About: "The operating system counts more memory than the runtime knows of: C code that allocates by itself, its threads' stacks, and memory that the program maps by hand. " +
		"No heap profile has it, and neither GOGC nor GOMEMLIMIT bounds it.",
	Asks: []facts.Question{facts.Counters, facts.Host},
	Params: []Param{
		{"share", 0.20, "share of the resident memory", "research, GC10"},
		{"least", 100, "MB", "research, GC10"},
	},
	Part:  true,
	Check: checkResident,
}

func checkResident(r *Rule, in *Input) []Finding {
	m, ok := facts.ResidentIn(in.Facts)
	if !ok {
		return []Finding{r.answer(TooLittle, "no moment in %s has both the resident memory without files (which Linux tells) and the runtime's own", in.where())}
	}
	rest := m.Anon - m.Go
	share := rest / max(1, m.Anon)
	if rest < r.param("least")*1e6 || share < r.param("share") {
		return []Finding{r.answer(Fine, "of %s resident, files left out, the runtime knows %s", mib(m.Anon), mib(min(m.Go, m.Anon)))}
	}
	f := r.answer(Found, "%s are resident, files left out, and the runtime knows of %s: %s are none of its memory", mib(m.Anon), mib(m.Go), mib(rest))
	f.Impact = exactly(share, "share of the resident memory")
	f.Severity, f.Score = Info, score(rest, 100e6, 1e9)
	f.Evidence = []Evidence{Evidence{Text: unit.Percent(share) + " of what is resident is no memory of the runtime"}.at(m.Round)}
	f.Advice = "Look at what is not Go: libraries in C (-phases cpu shows runtime.cgocall), mmap by hand, and hundreds of threads (SC12). /proc/PID/smaps has the mappings one by one."
	f.Verify = "Record again: resident memory should come near what the runtime knows."
	f.Doubts = []string{"memory that the runtime has given back may stay resident for a while on kernels that take it lazily (GODEBUG=madvdontneed=0)"}
	return []Finding{f}
}
