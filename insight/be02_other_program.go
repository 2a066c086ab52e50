package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/session"
)

var be02 = &Rule{
	ID: "BE02", Title: "A profile is from a different build",
	About: "Each profile names the build of its program. If one is from another build, its functions and lines do not match the sources shown, and it must not be compared with the other files: a service was replaced " +
		"while it was recorded, or a file was swapped for another.",
	Asks: []facts.Question{facts.Captures},
	Params: []Param{
		{"profiles", 2, "profiles with a build id", "one alone differs from nothing"},
	},
	Measurement: true,
	Check:       checkOtherProgram,
}

func checkOtherProgram(r *Rule, in *Input) []Finding {
	strays, known := in.Session.Strays()
	switch {
	case known == 0:
		return []Finding{r.answer(TooLittle, "no profile says which build it is from")}
	case len(strays) == 0:
		return []Finding{r.answer(Fine, "all profiles with a build id are from one build")}
	}
	f := r.answer(Found, "")
	var parts []string
	for _, s := range strays {
		parts = append(parts, s.Path+": "+StrayText(s))
		f.Evidence = append(f.Evidence, Evidence{Text: StrayText(s), Path: s.Path})
	}
	f.Summary = strings.Join(parts, "; ")
	f.Severity, f.Score = Warning, 75
	f.Advice = "Record everything from one build, or look at each file separately (loupe report FILE)."
	f.Verify = "loupe verify says for each file whether it is from the same build."
	return []Finding{f}
}

// StrayText says of a profile that it is of another program.
func StrayText(s session.Stray) string {
	short := func(id string) string { return id[:min(len(id), 12)] }
	return fmt.Sprintf("it is from another build: its build id is %s, that of the others %s", short(s.BuildID), short(s.Others))
}
