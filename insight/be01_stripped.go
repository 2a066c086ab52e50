package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var be01 = &Rule{
	ID: "BE01", Title: "Symbols or sources are missing because of how the program was built",
	About: "A program without its symbol table (-ldflags=-s, or strip) has no names for C functions. One built with -trimpath names its source files without the folders of this machine. Go " +
		"functions and lines stay known: it matters only if much of the profile has no name, or no source was found.",
	Asks: []facts.Question{facts.Built, facts.Work},
	Params: []Param{
		{"unnamed", 0.05, "share of the samples", "chosen: the rules look for shares of a few hundredths"},
		{"sources", 0.50, "share of the samples in the user's code", "chosen: then most evidence lacks its source text"},
		g0,
	},
	Measurement: true,
	Check:       checkStripped,
}

func checkStripped(r *Rule, in *Input) []Finding {
	b, err := facts.BuildOf(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	trimmed, cut := b.Settings["-trimpath"] == "true", stripped(b.Settings["-ldflags"]) || in.Session.Manifest().Target.Stripped
	if !trimmed && !cut {
		return []Finding{r.answer(Fine, "the program has its symbol table and the paths of its sources")}
	}
	p, e, err := in.Session.Profile(recording.CPU)
	if err != nil {
		p, e, err = in.Session.Profile(recording.Allocs)
	}
	switch {
	case err != nil:
		return []Finding{r.answer(TooLittle, "%v", err)}
	case p.Len() == 0:
		return []Finding{r.short("%s has no samples", e.Path)}
	}
	unnamed, unseen := missingOf(in, p)
	f := r.answer(Found, "")
	var parts, do []string
	if cut && unnamed >= r.param("unnamed") {
		parts = append(parts, fmt.Sprintf("the program is stripped, and %s of %s is in functions without a name, from C or a library", unit.Percent(unnamed), e.Path))
		do = append(do, "build without -ldflags=-s and -w, and record before strip")
	}
	if trimmed && unseen >= r.param("sources") {
		parts = append(parts, fmt.Sprintf("the program was built with -trimpath, and the sources of %s of the time in its own code in %s were not found", unit.Percent(unseen), e.Path))
		do = append(do, "build without -trimpath, or record in the folder of the module (loupe run PACKAGE)")
	}
	if len(parts) == 0 {
		return []Finding{r.answer(Fine, "the program is %s, and nothing is missing because of it", how(cut, trimmed))}
	}
	f.Summary = strings.Join(parts, "; ")
	f.Severity, f.Score = Info, score(max(unnamed, unseen/2), 0.1, 0.5)
	f.Evidence = []Evidence{{Text: "built with " + strings.TrimSpace(flagText(b, "-ldflags")+flagText(b, "-trimpath")), Path: e.Path, Phase: e.Phase}}
	f.Advice = strings.ToUpper(do[0][:1]) + strings.Join(do, "; ")[1:] + "."
	f.Verify = "Record again: findings should show their source lines, and profiles their names."
	return []Finding{f}
}

// flagText is a setting of the build as it is written; empty where it is not set.
func flagText(b *facts.Build, flag string) string {
	if b.Settings[flag] == "" {
		return ""
	}
	return flag + "=" + b.Settings[flag] + " "
}

func how(cut, trimmed bool) string {
	switch {
	case cut && trimmed:
		return "stripped and built with -trimpath"
	case cut:
		return "stripped"
	}
	return "built with -trimpath"
}

// missingOf is the part of a profile whose innermost function has no name, and the part of
// what goes through the user's code whose nearest line has no source in the recording.
func missingOf(in *Input, p *profile.Profile) (unnamed, unseen float64) {
	kept := map[string]bool{}
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		kept[e.Source] = true
	}
	scope := in.Session.Scope()
	var all, nameless, own, without int64
	for id, w := range p.Samples(len(p.SampleTypes) - 1) {
		frames := p.Stacks.Frames(id)
		if w <= 0 || len(frames) == 0 {
			continue
		}
		all += w
		if !isName(p.Stacks.Frame(frames[0]).Func) {
			nameless += w
		}
		if at := slices.IndexFunc(frames, func(f stack.FrameID) bool { return scope.IsUser(p.Stacks.Frame(f)) }); at >= 0 {
			if own += w; !kept[p.Stacks.Frame(frames[at]).File] {
				without += w
			}
		}
	}
	return float64(nameless) / float64(max(1, all)), float64(without) / float64(max(1, own))
}
