package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var al01 = &Rule{
	ID: "AL01", Title: "Memory allocation uses much of the CPU",
	About: "The CPU time under the runtime's mallocgc: allocating memory, clearing it, and mark assists. The " +
		"collector's own background work is not included (GC03). The rules from AL02 on say which lines cause it, and why.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.15, "share of CPU samples", "Uber PerfInsights, which starts its memory analysis at this share; the lower bound of the interval counts"},
		{"samples", 50, "samples", "research, guard g0"},
	},
	Check: checkAllocating,
}

// allocates tells whether a frame is the allocator. Since Go 1.26 there are
// copies of mallocgc for each small size.
func allocates(f stack.Frame) bool { return strings.HasPrefix(f.Func, "runtime.mallocgc") }

func checkAllocating(r *Rule, in *Input) []Finding {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	p, index, entry := cpu.Profile, cpu.Index, cpu.Entry
	report := calltree.Sites(p.Stacks, p.Samples(index), calltree.SiteOptions{Callee: allocates, User: in.Session.Scope().IsUser, Counts: p.Samples(index)})
	if report.Total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", entry.Path, report.Total, r.param("samples"))}
	}
	share := stats.Wilson(float64(report.Weight), float64(report.Total), compare.Confidence)
	if share.Low < r.param("share") {
		return []Finding{r.answer(Fine, "allocation takes %s of the CPU time", unit.Percent(share.Estimate))}
	}
	f := r.answer(Found, "%s of the CPU time goes into allocation", unit.Percent(share.Estimate))
	// That it is much is no fault: what is one, and where, is what the other rules say.
	f.Severity, f.Score = Info, score(share.Estimate, 0.15, 0.45)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.costs = []cost{{allocating: true}}
	lines := 0
	for _, s := range mergeSites(report.Sites) {
		if s.Caller.Func == "" || s.Samples < minLineSamples || lines == 3 {
			continue
		}
		lines++
		source := in.code.text(s.Caller.File, s.Caller.Line)
		e := Evidence{
			Text: fmt.Sprintf("%d of %d samples allocate for this line", s.Samples, report.Total), Path: entry.Path, Phase: entry.Phase,
			File: s.Caller.File, Line: s.Caller.Line, Function: s.Caller.Func, Source: source,
		}
		if p, ok := in.Session.Manifest().PhaseNamed(entry.Phase); ok {
			e.Span = span(p.Span)
		}
		f.Evidence = append(f.Evidence, e)
	}
	if len(f.Evidence) == 0 {
		f.Evidence = []Evidence{{Text: fmt.Sprintf("%d of %d samples, spread over many lines", report.Weight, report.Total), Path: entry.Path, Phase: entry.Phase}}
	}
	f.Advice = "Look at the lines that allocate most: the findings of the AL rules name those of which they know why, and loupe pprof -top -sample_index alloc_space RECORDING/allocs.pb.gz has all of them."
	f.Verify = "Record again under the same load: the share should fall below " + unit.Percent(r.param("share")) + ", and CPU time per request with it."
	return []Finding{f}
}

// mergeSites joins the sites of one line, which differ in what they call, the
// heaviest first.
func mergeSites(sites []calltree.Site) (out []calltree.Site) {
	type key struct {
		function, file string
		line           int
	}
	at := map[key]int{}
	for _, s := range sites {
		k := key{s.Caller.Func, s.Caller.File, s.Caller.Line}
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, s)
			continue
		}
		out[i].Weight += s.Weight
		out[i].Samples += s.Samples
	}
	slices.SortStableFunc(out, func(a, b calltree.Site) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// fold keeps one cause from having several cards. A line that another rule
// about allocations has found is not repeated by AL02, which knows less of it,
// and AL01 points at the findings that explain it.
func fold(all []Finding) []Finding {
	var lines []Finding
	for _, f := range all {
		if f.State == Found && strings.HasPrefix(f.Rule, "AL") && f.Rule != "AL01" && len(f.Evidence) > 0 {
			lines = append(lines, f)
		}
	}
	taken := func(f Finding) string {
		for _, other := range lines {
			a, b := other.Evidence[0], f.Evidence[0]
			if other.Rule != "AL02" && a.File == b.File && a.Line == b.Line && a.Line > 0 {
				return other.Rule
			}
		}
		return ""
	}
	out := make([]Finding, 0, len(all))
	folded, left := "", false
	for _, f := range all {
		if f.Rule == "AL02" && f.State == Found && len(f.Evidence) > 0 && f.Title != clonesTitle {
			if rule := taken(f); rule != "" {
				folded = rule
				continue
			}
		}
		left = left || f.Rule == "AL02"
		out = append(out, f)
	}
	if folded != "" && !left {
		out = append(out, Finding{Rule: "AL02", Title: al02Title, State: Fine, Summary: "the heavy allocations have findings of their own (" + folded + ")"})
	}
	lines = slices.DeleteFunc(slices.Clone(lines), func(f Finding) bool { return f.Rule == "AL02" && taken(f) != "" })
	for i := range out {
		if f := &out[i]; f.Rule == "AL01" && f.State == Found {
			pointAt(f, lines)
		}
	}
	return out
}

// pointAt names the findings that explain one.
func pointAt(f *Finding, lines []Finding) {
	const most = 4
	named := map[string]bool{}
	for _, l := range lines {
		e := l.Evidence[0]
		where := fmt.Sprintf("%s:%d", baseName(e.File), e.Line)
		if e.File == "" || named[where] || len(named) == most {
			continue
		}
		named[where] = true
		f.Evidence = append(f.Evidence, Evidence{Text: "see " + l.Rule + ": " + l.Title, Path: e.Path, Phase: e.Phase, File: e.File, Line: e.Line, Function: e.Function})
	}
}
