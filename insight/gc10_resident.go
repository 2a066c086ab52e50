package insight

import (
	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc10 = &Rule{
	ID: "GC10", Title: "Much memory is outside the Go runtime (cgo, mmap)",
	About: "The operating system counts more memory than the runtime knows about: C allocations, C thread stacks, and memory that the program maps itself. No heap profile shows " +
		"it, and neither GOGC nor GOMEMLIMIT bounds it.",
	Asks: []facts.Question{facts.Counters, facts.Host},
	Params: []Param{
		{"share", 0.20, "share of the resident memory", "research, GC10"},
		{"least", 100, "MB", "research, GC10"},
	},
	Part:  true,
	Check: checkResident,
}

func checkResident(r *Rule, in *Input) []Finding {
	m, most, ok := facts.ResidentIn(in.Facts)
	if !ok {
		return []Finding{r.answer(TooLittle, "no moment in %s has both the resident memory without files (which Linux reports) and the runtime's own figure", in.where())}
	}
	rest := m.Anon - m.Go
	share := rest / max(1, m.Anon)
	if -rest >= r.param("least")*1e6 {
		return []Finding{r.short("%s are resident (excluding files), and the runtime holds %s, which it has not touched all of: up to %s outside it would not show", mib(m.Anon), mib(m.Go), mib(-rest))}
	}
	if rest < r.param("least")*1e6 || share < r.param("share") {
		if over := most.Anon - most.Go; over >= r.param("least")*1e6 { // memory may have come and gone between two readings
			return []Finding{r.answer(Fine, "at half of the moments or more, no more than %s are resident outside of what the runtime holds", mib(max(0, rest)))}
		} else if over > 0 {
			return []Finding{r.answer(Fine, "of at most %s resident (excluding files), the runtime accounted for %s", mib(most.Anon), mib(most.Go))}
		}
		return []Finding{r.answer(Fine, "at the samples, at most %s were resident (excluding files), no more than what the runtime held then (%s)", mib(most.Anon), mib(most.Go))}
	}
	f := r.answer(Found, "%s are resident (excluding files), and the runtime accounts for %s: %s are outside it", mib(m.Anon), mib(m.Go), mib(rest))
	f.Impact = exactly(share, "share of the resident memory")
	f.Severity, f.Score = Info, score(rest, 100e6, 1e9)
	f.Evidence = []Evidence{Evidence{Text: unit.Percent(share) + " of the resident memory is outside the runtime"}.at(m.Round)}
	f.Advice = "Look at what is not Go: C libraries (-phases cpu shows runtime.cgocall), explicit mmap calls, and hundreds of threads (SC12). /proc/PID/smaps lists the mappings."
	f.Verify = "Record again: resident memory should come close to what the runtime accounts for."
	f.Doubts = []string{"memory that the runtime has released may stay resident for a while on kernels that reclaim it lazily (GODEBUG=madvdontneed=0)"}
	return []Finding{f}
}
