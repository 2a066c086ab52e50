package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp08 = &Rule{
	ID: "CP08", Title: "A hot small function is just too large to be inlined",
	About: "The compiler inlines functions up to a cost of 80. One slightly above that pays for a call every time, about two nanoseconds, and prevents further " +
		"optimisation across the call.",
	Asks: []facts.Question{facts.CPU, facts.Compiled},
	Params: []Param{
		{"share", 0.02, "share of CPU time", "research, CP08; for the function's own lines; the lower bound of the interval counts"},
		{"cost", 100, "cost", "research: a quarter above the budget of 80"},
		{"own", 0.5, "share of the function's time", "chosen: a function that mostly calls others gains nothing"},
		g0,
	},
	Check: checkInlinable,
}

func checkInlinable(r *Rule, in *Input) []Finding {
	p, index, entry, set, answer := compiledCPU(r, in)
	if answer != nil {
		return answer
	}
	total := p.Total(index)
	var found []Finding
	for _, l := range in.ownLines(p, index, []string{interrupted}, func(f stack.Frame) string { return f.Func }) {
		d := tooLarge(set, l.at)
		share := stats.Wilson(float64(l.samples), float64(total), compare.Confidence)
		if d == nil || float64(d.Cost) > r.param("cost") || share.Low < r.param("share") || l.samples < minHits || len(found) == 3 {
			continue
		}
		whole, caller := callersOfFunction(p, index, l.at.Func)
		if float64(l.samples) < r.param("own")*float64(whole) || caller.Func == "" {
			continue
		}
		found = append(found, inlinableAt(r, in, entry, l, d, share, caller))
	}
	if len(found) == 0 {
		return []Finding{r.answer(Fine, "no hot function of the program is just above the inlining budget")}
	}
	return found
}

// tooLarge is what the compiler says of a function that costs more than the
// budget and nothing else.
func tooLarge(set *compiler.Set, f stack.Frame) *compiler.Diagnostic {
	file, ok := set.File(f.File)
	if !ok || f.StartLine == 0 {
		return nil
	}
	list := set.At(file, f.StartLine)
	i := slices.IndexFunc(list, func(d *compiler.Diagnostic) bool {
		return d.Kind == compiler.CannotInline && d.Cost > d.Budget && d.Budget > 0 && strings.Contains(d.Reason, "too complex")
	})
	if i < 0 {
		return nil
	}
	return list[i]
}

// callersOfFunction is the weight of all that goes through a function, and the
// line that calls it most.
func callersOfFunction(p *profile.Profile, index int, function string) (whole int64, caller stack.Frame) {
	calls := map[stack.FrameID]int64{}
	best := int64(0)
	for id, w := range p.Samples(index) {
		frames := p.Stacks.Frames(id)
		i := slices.IndexFunc(frames, func(f stack.FrameID) bool { return p.Stacks.Frame(f).Func == function })
		if i < 0 {
			continue
		}
		whole += w
		if i+1 < len(frames) {
			calls[frames[i+1]] += w
			if n := calls[frames[i+1]]; n > best {
				best, caller = n, p.Stacks.Frame(frames[i+1])
			}
		}
	}
	return whole, caller
}

func inlinableAt(r *Rule, in *Input, entry recording.Entry, l *ownLine, d *compiler.Diagnostic, share stats.Interval, caller stack.Frame) Finding {
	f := r.answer(Found, "%s of the CPU time is spent in %s itself, whose inlining cost is %d with a budget of %d; called most at %s:%d in %s",
		unit.Percent(share.Estimate), stack.Short(l.at.Func), d.Cost, d.Budget, baseName(caller.File), caller.Line, stack.Short(caller.Func))
	f.Severity, f.Score = Info, score(share.Estimate, 0.20, 0.80)
	f.Impact = &Impact{share.Estimate, "share of CPU time", share.Low, share.High}
	f.costs = []cost{{file: caller.File, line: caller.Line, callee: stack.FoldGenerics(l.at.Func)}}
	source := in.code.text(l.at.File, l.at.StartLine)
	call := in.code.text(caller.File, caller.Line)
	f.Evidence = []Evidence{{
		Text: fmt.Sprintf("%d samples; the compiler says: %s", l.samples, d.Reason), Path: entry.Path, Phase: entry.Phase,
		File: l.at.File, Line: l.at.StartLine, Function: l.at.Func, Source: source,
	}, {
		Text: "called most here", Path: entry.Path, Phase: entry.Phase,
		File: caller.File, Line: caller.Line, Function: caller.Func, Source: call,
	}}
	f.Advice = "Move rare paths (errors, growing, logging) into a separate function, so that the rest fits the budget; or build with a profile (default.pgo), which raises the budget for hot calls."
	f.Verify = "go build -gcflags=-m names it under \"can inline\"; compare rounds for the time (loupe run -vs), or the benchmark."
	f.Doubts = []string{"what is saved is the call, about two nanoseconds, and what the compiler can then optimise: little if one call does much work"}
	return f
}
