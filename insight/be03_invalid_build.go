package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
)

var be03 = &Rule{
	ID: "BE03", Title: "The measured build is not the one that users run",
	About: "A race detector, a sanitizer, coverage counters or a build without optimisation change what code costs by different factors in different places: times and shares " +
		"of time are then those of the instrumentation.",
	Asks: []facts.Question{facts.Built},
	Params: []Param{
		{"race", 2, "times", "go.dev/doc/articles/race_detector: 2 to 20 times the time; the smallest factor reported as a warning"},
	},
	Measurement: true,
	Check:       checkInvalidBuild,
}

func checkInvalidBuild(r *Rule, in *Input) []Finding {
	b, err := facts.BuildOf(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	all := b.Instruments()
	if len(all) == 0 {
		if len(b.Settings) == 0 {
			return []Finding{r.answer(TooLittle, "built by %s; its settings are not known", b.Go)}
		}
		return []Finding{r.answer(Fine, "built by %s, optimised and without a detector", b.Go)}
	}
	var flags, what []string
	for _, i := range all {
		flags, what = append(flags, i.Flag), append(what, i.Flag+": "+i.What)
	}
	f := r.answer(Found, "the program was built with %s: its times, and shares of times, mean little", strings.Join(flags, " and "))
	f.Severity, f.Score = Warning, 75
	if len(all) == 1 && all[0].Flag == "-cover" {
		f.Severity, f.Score = Info, 25 // the places stay the same
		f.Summary = "the program was built with -cover: its times are longer than those of the build that users run, most of all in short functions"
	}
	for _, text := range what {
		f.Evidence = append(f.Evidence, Evidence{Text: text, Path: b.Entry.Path})
	}
	f.Advice = fmt.Sprintf("Build without %s and record again; run a test that needs it separately.", strings.Join(flags, " and "))
	f.Verify = "go version -m PROGRAM lists the settings of the build."
	return []Finding{f}
}

// builtOtherwise is what speaks against times of a build that is not the users'; empty for
// one that is.
func builtOtherwise(in *Input) string {
	if f := checkInvalidBuild(be03, in); f[0].State == Found && f[0].Severity.AtLeast(Warning) {
		return "the build slows it down: " + f[0].Summary
	}
	return ""
}
