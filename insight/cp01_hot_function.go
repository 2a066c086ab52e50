package insight

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp01 = &Rule{
	ID: "CP01", Title: "Hot function: one function uses much of the CPU",
	About: "The CPU time of each function in the user's own code, including what it calls in the standard library, the runtime and other " +
		"modules: this is where the user can change something.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU samples", "JDK Mission Control, rule HotMethods; the lower bound of the interval counts"},
		{"samples", 20, "samples", "chosen: the interval says how certain a share is; research, guard g0, has 50"},
	},
	Check: checkHotFunction,
}

// hotFunction is a user's function and the heaviest line of it, with what most of that line's samples call.
type hotFunction struct {
	samples int64
	line    calltree.Site
	called  int64 // samples of the line that are in what it calls most
}

func checkHotFunction(r *Rule, in *Input) []Finding {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	p, index, entry := cpu.Profile, cpu.Index, cpu.Entry
	report := calltree.Sites(p.Stacks, p.Samples(index), calltree.SiteOptions{User: in.Session.Scope().IsUser, Counts: p.Samples(index)})
	if report.Total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", entry.Path, report.Total, r.param("samples"))}
	}
	hot, called := map[string]*hotFunction{}, map[stack.Frame]int64{}
	for _, s := range report.Sites {
		if at := lineOnly(s.Caller); called[at] == 0 {
			called[at] = s.Weight // the heaviest comes first
		}
	}
	for _, s := range mergeSites(report.Sites) {
		if s.Caller.Func == "" {
			continue
		}
		h, ok := hot[s.Caller.Func]
		if !ok {
			h = &hotFunction{line: s, called: called[lineOnly(s.Caller)]}
			hot[s.Caller.Func] = h
		}
		h.samples += s.Weight
	}
	if len(hot) == 0 && len(in.Session.Scope().Modules) == 0 { // nothing says which module the program's is
		return []Finding{r.answer(TooLittle, "none of the %d samples of %s is in a function of the program; all are in the standard library, other modules and the runtime: %s",
			report.Total, entry.Path, profiled(entry, "-top -cum"))}
	}
	var found []Finding
	most := 0.0
	for _, h := range hot {
		share := stats.Wilson(float64(h.samples), float64(report.Total), compare.Confidence)
		most = max(most, share.Estimate)
		if share.Low >= r.param("share") {
			f := hotFinding(r, in, entry, report, h, share)
			explainHot(in, cpu, h, share, &f)
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "no function of the program has more than %s of the CPU time", unit.Percent(most))}
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Impact.Value, a.Impact.Value), cmp.Compare(a.Summary, b.Summary))
	})
	return found[:min(len(found), 5)]
}

func hotFinding(r *Rule, in *Input, entry recording.Entry, report *calltree.SiteReport, h *hotFunction, share stats.Interval) Finding {
	at := h.line.Caller
	source := in.code.text(at.File, at.Line)
	calls := ""
	if h.line.Callee != "" && h.called < h.line.Weight {
		calls = ", " + unit.Percent(float64(h.called)/float64(report.Total))
	}
	if h.line.Callee != "" {
		calls += " calling " + stack.FoldGenerics(h.line.Callee)
	}
	f := r.answer(Found, "%s of the CPU time is spent in %s, with the libraries that it calls; the heaviest line is %s:%d with %s%s",
		unit.Percent(share.Estimate), stack.Short(at.Func), baseName(at.File), at.Line,
		unit.Percent(float64(h.line.Weight)/float64(report.Total)), calls)
	f.Severity, f.Score = Info, score(share.Estimate, 0.20, 0.60)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.costs = []cost{{function: at.Func}}
	f.Evidence = []Evidence{{
		Text: fmt.Sprintf("%d of %d samples, %d of them through this line", h.samples, report.Total, h.line.Weight), Path: entry.Path, Phase: entry.Phase,
		File: at.File, Line: at.Line, Function: at.Func, Source: source,
	}}
	if p, ok := in.Session.Manifest().PhaseNamed(entry.Phase); ok {
		f.Evidence[0].Span = span(p.Span)
	}
	f.Advice = "Look at its lines: " + profiled(entry, "-list "+Pattern(at.Func)) + ". A large share is not a fault in itself: it is where an improvement would show."
	f.Verify = "Compare rounds before and after a change: CPU time per request should fall (loupe run -vs)."
	return f
}

// profiled is the command that shows the CPU samples in an entry.
func profiled(entry recording.Entry, flags string) string {
	if entry.Kind == recording.ExecTrace {
		return "loupe trace profile -kind cpu -o cpu.pb.gz RECORDING/" + entry.Path + ", and then loupe pprof " + flags + " cpu.pb.gz"
	}
	return "loupe pprof " + flags + " RECORDING/" + entry.Path
}

// plainName is what Go names its functions with. A profile may hold any other
// text, which must not become part of a command that somebody copies.
var plainName = lazily(`^[\pL\pN_./()*\[\],·%-]+$`)

// Pattern quotes a function's name for a shell, as the regular expression that
// loupe pprof -list wants: with its package, for "find" alone would also list
// the runtime's findRunnable. That of a generic function is one of all its instances.
func Pattern(function string) string {
	name := stack.FoldGenerics(function)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if !plainName.MatchString(name) {
		return "NAME"
	}
	return "'" + strings.ReplaceAll(regexp.QuoteMeta(name), regexp.QuoteMeta("[...]"), `\[.*\]`) + "$'"
}
