package insight

import (
	"fmt"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp10 = &Rule{
	ID: "CP10", Title: "Stale PGO profile: it does not match what the program does now",
	About: "The compiler relies on the calls in default.pgo. Code renamed, moved or written since then is not in it, " +
		"and a profile from a different load has different calls.",
	Asks: []facts.Question{facts.Guided, facts.CPU},
	Params: []Param{
		{"unknown", 0.30, "share of CPU time", "research, CP10; the lower bound of the interval counts"},
		{"samples", 200, "samples in each of the two", "chosen: rare calls may be in neither profile"},
	},
	Aside: true,
	Check: checkStalePGO,
}

// edge is a call from one function to another.
type edge struct{ caller, callee string }

func checkStalePGO(r *Rule, in *Input) []Finding {
	e, _ := in.Session.Manifest().Main(recording.PGO)
	old, err := in.Session.ProfileAt(e.Path)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	if n := min(old.Total(0), w.Total()); n < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples and %s %d, %g are needed", e.Path, old.Total(0), w.Entry.Path, w.Total(), r.param("samples"))}
	}
	v := in.view(w.Profile)
	known, cut := edgesOf(old)
	var all, unknown int64
	for id, n := range w.Profile.Samples(w.Index) {
		frames := w.Profile.Stacks.Frames(id)
		at := nextUser(v, frames, 0)
		if at < 0 || at+1 == len(frames) || n <= 0 {
			continue
		}
		all += n
		if callee := v.t.Frame(frames[at]).Func; !known[edge{v.t.Frame(frames[at+1]).Func, callee}] && !cut[callee] {
			unknown += n
		}
	}
	share := stats.Wilson(float64(unknown), float64(max(1, all)), compare.Confidence)
	age := ""
	if begin := in.Session.Manifest().Start; !old.Time.IsZero() && begin.After(old.Time) {
		age = fmt.Sprintf(", which is %s old,", unit.Plural(int64(begin.Sub(old.Time)/(24*time.Hour)), "day"))
	}
	if share.Low < r.param("unknown") || all < int64(r.param("samples")) {
		return []Finding{r.answer(Fine, "%s of the CPU time of the program's own functions goes through calls that %s%s does not have", unit.Percent(share.Estimate), e.Path, age)}
	}
	f := r.answer(Found, "%s of the CPU time of the program's own functions goes through calls that %s%s does not have", unit.Percent(share.Estimate), e.Path, age)
	f.Severity, f.Score = Info, 15
	f.Impact = &Impact{share.Estimate, "share of the CPU time of the program's own functions", share.Low, share.High}
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%d of %d samples", unknown, all), Path: w.Entry.Path, Phase: w.Entry.Phase}}
	f.Advice = "Take a new profile of production and replace the old default.pgo with it: loupe pgo make -replace -for PACKAGE cpu.pb.gz, or with the profiles of several pods."
	f.Verify = "Record again with the new build: this rule should then pass. loupe pgo judge PACKAGE says what still matches the source."
	f.Doubts = []string{"if the load of this recording differs from production, it is the recording that is not typical"}
	return []Finding{f}
}

// edgesOf are the calls in a profile, by the names of the functions. Cut are the functions that its
// stacks begin with: of one that was trimmed to what the compiler reads it is not known who
// called them.
func edgesOf(p *profile.Profile) (known map[edge]bool, cut map[string]bool) {
	known, cut = map[edge]bool{}, map[string]bool{}
	seen := map[stack.ID]bool{}
	for _, id := range p.StackIDs {
		if seen[id] {
			continue
		}
		seen[id] = true
		frames := p.Stacks.Frames(id)
		if len(frames) > 0 {
			cut[p.Stacks.Frame(frames[len(frames)-1]).Func] = true
		}
		for i := 1; i < len(frames); i++ {
			known[edge{p.Stacks.Frame(frames[i]).Func, p.Stacks.Frame(frames[i-1]).Func}] = true
		}
	}
	return known, cut
}
