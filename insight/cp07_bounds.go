package insight

import (
	"fmt"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/compiler"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp07 = &Rule{
	ID: "CP07", Title: "Bounds checks in a hot loop",
	About: "An index or slice expression whose bounds the compiler cannot prove is checked in every iteration: a comparison and a branch. " +
		"The compiler says which lines have such checks, the profile says which of them are hot.",
	Asks: []facts.Question{facts.CPU, facts.Compiled},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "chosen, above the 2 % of the research: the checks are only part of the line's time; the lower bound of the interval counts"},
		g0,
	},
	Check: checkBounds,
}

func checkBounds(r *Rule, in *Input) []Finding {
	p, index, entry, set, answer := compiledCPU(r, in)
	if answer != nil {
		return answer
	}
	total := p.Total(index)
	sum := int64(0)
	var hot []*ownLine
	for _, l := range in.ownLines(p, index, []string{interrupted}, lineOf) {
		file, ok := set.File(l.at.File)
		if !ok {
			continue
		}
		for _, d := range set.At(file, l.at.Line) {
			if d.Kind == compiler.BoundsCheck || d.Kind == compiler.SliceCheck {
				l.words = append(l.words, d)
			}
		}
		if len(l.words) == 0 || l.samples < minHits {
			continue
		}
		if lineInLoop(in.code, l.at) != loopNo {
			hot = append(hot, l)
			sum += l.samples
		}
	}
	share := stats.Wilson(float64(sum), float64(total), compare.Confidence)
	if share.Low < r.param("share") {
		return []Finding{r.answer(Fine, "%s of the CPU time is in lines with bounds checks in loops", unit.Percent(share.Estimate))}
	}
	top := hot[0].at
	f := r.answer(Found, "%s of the CPU time is in lines with bounds checks in loops; %s of it at %s:%d in %s, %s",
		unit.Percent(share.Estimate), unit.Percent(float64(hot[0].samples)/float64(sum)), baseName(top.File), top.Line, stack.Short(top.Func), checkWords(hot[0].words))
	f.Severity, f.Score = Info, score(share.Estimate, 0.30, 0.90)
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	for i, l := range hot[:min(len(hot), evidenceLines)] {
		if i > 0 && l.samples < sum/20 {
			break
		}
		source := in.code.text(l.at.File, l.at.Line)
		f.Evidence = append(f.Evidence, Evidence{
			Text: fmt.Sprintf("%d of %d samples; the compiler leaves %s", l.samples, total, checkWords(l.words)), Path: entry.Path, Phase: entry.Phase,
			File: l.at.File, Line: l.at.Line, Function: l.at.Func, Source: source,
		})
		f.costs = append(f.costs, cost{file: l.at.File, line: l.at.Line})
	}
	f.Advice = "Let the compiler prove the bounds once before the loop: range over the slice itself, s = s[:n] with the n of the loop, _ = s[n-1], or an array of fixed size; index by a type or a mask that cannot be too large."
	f.Verify = "go build -gcflags=-d=ssa/check_bce names the remaining checks; compare rounds for the time (loupe run -vs), or the benchmark."
	f.Doubts = []string{"the share is that of the lines: a well-predicted check is a small part of it, often a tenth. Keep the change only if you can measure the gain"}
	return []Finding{f}
}

// checkWords counts the checks of a line.
func checkWords(words []*compiler.Diagnostic) string {
	places := map[compiler.Pos]bool{}
	for _, d := range words {
		at := d.Pos
		if n := len(d.Inline); n > 0 {
			at = d.Inline[n-1]
		}
		places[at] = true
	}
	if len(places) == 1 {
		return "1 check"
	}
	return fmt.Sprintf("%d checks", len(places))
}
