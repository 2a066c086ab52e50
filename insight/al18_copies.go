package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/compiler"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var al18 = &Rule{
	ID: "AL18", Title: "Large values are copied on a hot line",
	About: "for _, x := range xs copies each element, and passing a large struct by value copies it. " +
		"The compiler says which lines copy 128 bytes or more; the profile says which of them are hot. The time counted is that spent on the line itself, or in the runtime's copying for it.",
	Asks: []facts.Question{facts.CPU, facts.Compiled},
	Params: []Param{
		{"share", 0.02, "share of CPU samples", "research; the lower bound of the interval counts"},
		{"warn", 0.25, "share of CPU samples", "chosen: of copies of 512 bytes and more, beside which the rest of a line is little"},
		{"bytes", 128, "B", "the size from which the compiler reports a copy"},
		{"samples", 50, "samples", "research, guard g0"},
	},
	Check: checkCopies,
}

func checkCopies(r *Rule, in *Input) []Finding {
	p, index, entry, set, answer := compiledCPU(r, in)
	if answer != nil {
		return answer
	}
	total := p.Total(index)
	most := 0.0
	var found []Finding
	for _, l := range in.ownLines(p, index, copyFunctions, lineOf) {
		if l.words = copiesOn(set, l.at, int64(r.param("bytes"))); len(l.words) == 0 {
			continue
		}
		share := stats.Wilson(float64(l.samples), float64(total), compare.Confidence)
		most = max(most, share.Estimate)
		if share.Low >= r.param("share") && l.samples >= minLineSamples && len(found) < mostLines {
			found = append(found, copiesAt(r, in, entry, l, total, share))
		}
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "no line that copies %g bytes or more has more than %s of the CPU time", r.param("bytes"), unit.Percent(most))}
	}
	return found
}

// muchCopied is the size in bytes from which on a copy is most of what a short line does: chosen, eight cache lines.
const muchCopied = 512

// copyFunctions are what the compiler calls to copy, as it does not for small
// values, where the time stays on the line; and what stands on the line when the
// sample interrupts it.
var copyFunctions = []string{"runtime.duffcopy", "runtime.memmove", "runtime.typedmemmove", "runtime.wbMove", interrupted}

// copiesOn are the large copies of a line, the largest first.
func copiesOn(set *compiler.Set, f stack.Frame, least int64) (out []*compiler.Diagnostic) {
	file, ok := set.File(f.File)
	if !ok {
		return nil
	}
	for _, d := range set.At(file, f.Line) {
		if d.Kind == compiler.Copy && d.Size >= least {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b *compiler.Diagnostic) int { return cmp.Compare(b.Size, a.Size) })
	return out
}

func copiesAt(r *Rule, in *Input, entry recording.Entry, l *ownLine, total int64, share stats.Interval) Finding {
	source, loop := in.code.text(l.at.File, l.at.Line), lineInLoop(in.code, l.at)
	f := r.answer(Found, "%s of the CPU time is spent at %s:%d in %s, which copies %s at a time", unit.Percent(share.Estimate),
		baseName(l.at.File), l.at.Line, stack.Short(l.at.Func), unit.BytesOf(float64(l.words[0].Size)))
	f.Severity, f.Score = Info, score(share.Estimate, 0.05, 0.30)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	f.costs = []cost{{file: l.at.File, line: l.at.Line}}
	if share.Low >= r.param("warn") && l.words[0].Size >= muchCopied {
		f.Severity, f.saves = Warning, true
	}
	f.Evidence = []Evidence{{
		Text: fmt.Sprintf("%d of %d samples; the compiler copies %s here", l.samples, total, unit.BytesOf(float64(l.words[0].Size))),
		Path: entry.Path, Phase: entry.Phase, File: l.at.File, Line: l.at.Line, Function: l.at.Func, Source: source,
	}}
	if p, ok := in.Session.Manifest().PhaseNamed(entry.Phase); ok {
		f.Evidence[0].Span = span(p.Span)
	}
	needed := copiedAt(in.code, l.at)
	switch {
	case needed.tell(&f):
	case strings.HasPrefix(source, "for ") && strings.Contains(source, "range"):
		f.Advice = "Iterate over the indices and take a pointer to the element (x := &xs[i]), or store pointers: the copy is made even if only one field is used."
	case loop == loopYes:
		f.Advice = "Pass a pointer, or only the fields that are needed; take a pointer to the element instead of copying it."
	default:
		f.Advice = "Pass the value by pointer along this path, or make it smaller."
	}
	f.Verify = "Compare rounds before and after: CPU time per request should fall (loupe run -vs)."
	f.Doubts = []string{"the time includes whatever else the line does"}
	return f
}
