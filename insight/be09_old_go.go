package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var be09 = &Rule{
	ID: "BE09", Title: "A newer Go version is faster at what is hot here",
	About: "Go 1.24 has new maps (Swiss tables), Go 1.26 a new garbage collector (Green Tea). A program built by an older Go version that spends much of its " +
		"CPU time there gains by being rebuilt.",
	Asks: []facts.Question{facts.Built, facts.CPU},
	Params: []Param{
		{"maps", 0.10, "share of CPU time", "chosen: Go 1.24 release notes and go.dev/blog/swisstable say up to 60% of it in microbenchmarks, 1.5% of all CPU time on average"},
		{"collector", 0.10, "share of CPU time", "chosen: Go 1.26 release notes say 10 to 40% of it"},
		g0,
	},
	Aside: true,
	Check: checkOldGo,
}

// newer are what releases of Go have made cheaper.
var newer = []struct {
	minor            int
	experiment       string
	param, set, what string
	gain             string
}{
	{24, "swissmap", "maps", "map", "maps", "Go 1.24 has new maps (Swiss tables), which are up to 60% faster in microbenchmarks"},
	{26, "greenteagc", "collector", "collector", "the collector's own goroutines", "Go 1.26 has a new collector (Green Tea), which takes 10 to 40% less CPU time in programs with much garbage collection"},
}

func checkOldGo(r *Rule, in *Input) []Finding {
	b, err := facts.BuildOf(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	minor := b.Minor()
	if minor == 0 {
		return []Finding{r.answer(TooLittle, "the Go version %q does not say how old it is", b.Go)}
	}
	s := spentOf(in)
	if s == nil || s.total < int64(r.param("samples")) {
		return []Finding{r.short("%s rests on %d samples; %g are needed: record longer (-phases cpu:30s) or under load", w.Entry.Path, w.Total(), r.param("samples"))}
	}
	f := r.answer(Found, "")
	var parts, gains []string
	most, old := 0.0, false
	for _, n := range newer {
		if minor >= n.minor && !b.Without(n.experiment) {
			continue
		}
		old = true
		m := s.with(s.v.marks(n.set))
		if share := s.interval(m); share.Low >= r.param(n.param) {
			parts, gains = append(parts, fmt.Sprintf("%s take %s of the CPU time", n.what, unit.Percent(share.Estimate))), append(gains, n.gain)
			f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%d of %d samples are in %s", s.weight(m), s.total, n.what), Path: w.Entry.Path, Phase: w.Entry.Phase})
			if share.Estimate > most {
				most, f.Impact = share.Estimate, &Impact{share.Estimate, "share of CPU time in " + n.what, share.Low, share.High}
			}
		}
	}
	if !old {
		return []Finding{r.answer(Fine, "built by %s, which has the new maps and the new collector", b.Go)}
	}
	if len(parts) == 0 {
		return []Finding{r.answer(Fine, "built by %s; what newer releases made cheaper is a small part here", b.Go)}
	}
	f.Summary = fmt.Sprintf("built by %s%s, and %s", b.Go, switchedOff(b), strings.Join(parts, ", "))
	f.Severity, f.Score = Info, score(most, 0.1, 0.6)
	f.Advice = strings.Join(gains, "; ") + ". Build with it and compare."
	f.Verify = "loupe run -rounds 5 -vs OLD NEW, or the benchmark: the gain is part of the share above, not all of it."
	return []Finding{f}
}

// switchedOff says that a build has switched off what its Go would have.
func switchedOff(b *facts.Build) string {
	if e := b.Settings["GOEXPERIMENT"]; strings.Contains(e, "noswissmap") || strings.Contains(e, "nogreenteagc") {
		return " with GOEXPERIMENT=" + e
	}
	return ""
}
