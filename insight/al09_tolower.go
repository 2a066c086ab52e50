package insight

import (
	"fmt"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var al09 = &Rule{
	ID: "AL09", Title: "Repeated case conversion of text (strings.ToLower)",
	About: "strings.ToLower and ToUpper allocate a copy of every text that is not already in that case. " +
		"In a loop over texts that do not change, or in every request, the same copies are made and discarded.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.03, "share of allocated bytes", "research; staticcheck SA6005 finds the pattern in comparisons"},
		{"samples", 50, "samples", "research, guard g0: below this a share may be chance"},
	},
	Check: checkToLower,
}

// caseFunctions convert a whole text.
var caseFunctions = map[string]bool{
	"strings.ToLower": true, "strings.ToUpper": true, "strings.ToTitle": true,
	"bytes.ToLower": true, "bytes.ToUpper": true, "bytes.ToTitle": true,
}

func checkToLower(r *Rule, in *Input) []Finding {
	allocated, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	p, bytes, entry := allocated.Profile, allocated.Index, allocated.Entry
	report := calltree.Sites(p.Stacks, p.Samples(bytes), calltree.SiteOptions{
		Callee: func(f stack.Frame) bool { return caseFunctions[f.Func] },
		User:   in.Session.Scope().IsUser,
		Counts: observed(p, bytes),
	})
	if report.All < int64(r.param("samples")) {
		return []Finding{r.short("%s rests on %d allocation samples; %g are needed: %s", entry.Path, report.All, r.param("samples"), askMore(in))}
	}
	var found []Finding
	for _, site := range report.Sites {
		if f, ok := toLowerAt(r, in, p, bytes, entry, report, site); ok {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		share := float64(report.Weight) / float64(max(report.Total, 1))
		return []Finding{r.answer(Fine, "strings.ToLower and similar functions allocate %s of all bytes", unit.Percent(share))}
	}
	return found
}

// toLowerAt makes a finding of one line that calls a conversion.
func toLowerAt(r *Rule, in *Input, p *profile.Profile, bytes int, entry recording.Entry, report *calltree.SiteReport, site calltree.Site) (Finding, bool) {
	share := float64(site.Weight) / float64(max(report.Total, 1))
	interval := stats.Wilson(share*float64(report.All), float64(report.All), compare.Confidence)
	if site.Caller.Func == "" || interval.Low < r.param("share") {
		return Finding{}, false
	}
	how, loop := in.code.loopAround(p.Stacks, p.Samples(bytes), site, lineInLoop)
	if loop == loopNo {
		return Finding{}, false
	}
	source := in.code.text(site.Caller.File, site.Caller.Line)
	where := fmt.Sprintf("%s:%d", baseName(site.Caller.File), site.Caller.Line)
	f := r.answer(Found, "%s of all allocated bytes (%s): %s called at %s in %s, %s",
		unit.Percent(share), unit.BytesOf(float64(site.Weight)), site.Callee, where, stack.Short(site.Caller.Func), how)
	f.Severity, f.Score = Info, score(share, 0.10, 0.40)
	if share >= 0.10 && loop == loopYes {
		f.Severity = Warning
	}
	f.Impact = &Impact{share, "share of allocated bytes", interval.Low, interval.High}
	f.Evidence = []Evidence{{
		Text: fmt.Sprintf("%d of %d samples", site.Samples, report.All), Path: entry.Path, Phase: entry.Phase,
		File: site.Caller.File, Line: site.Caller.Line, Function: site.Caller.Func, Source: source,
	}}
	f.costs, f.saves = []cost{{file: site.Caller.File, line: site.Caller.Line, callee: stack.FoldGenerics(site.Callee)}}, true
	f.Advice = "Convert the text once, where it is stored or read, and the search term once before the loop; strings.EqualFold compares without copying."
	if eachOnce(in.code, site.Caller, site.Callee) {
		f.Severity, f.Title = Info, "Case conversion of each text that is read"
		f.Summary += "; by the source, each text is converted once, where it is read, and not to be compared"
		f.Advice = "Nothing is converted twice here. If most texts have come before and the result is the key of a map, convert into a []byte that is reused and look up m[string(buf)], which makes no string; make one only for a new key. For counts the map then needs pointers, as m[string(buf)]++ makes the string."
	}
	f.Verify = "Record again under the same load: this line should be gone from loupe pprof -top -sample_index alloc_space, and the bytes allocated per request should fall by as much."
	f.Doubts = []string{"lower-casing is not the same as folding for some letters outside ASCII: compare the results"}
	return f, true
}
