package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/stats"
	"loupe/value/unit"
)

var gc01 = &Rule{
	ID: "GC01", Title: "Long stop-the-world pause",
	About: "Each collection stops the program twice: before marking, when all goroutines must reach a safe point, and after it. " +
		"Each pause should take less than 100 µs. A longer one adds to the latency of everything that was running.",
	Asks: []facts.Question{facts.Pauses},
	Params: []Param{
		{"pause", 100e-6, "s", "the runtime's goal: stop-the-world time should not add up to more than 100 µs"},
		{"p99", 500e-6, "s", "chosen: a warning if one pause in a hundred is five times that"},
		{"cycles", 20, "collections", "chosen: below this, a percentile means little"},
	},
	Part:  true,
	Check: checkLongPause,
}

// pause is one stop-the-world phase.
type pause struct {
	round *facts.Round
	row   *gc.Row
	first bool // sweep termination, else mark termination
	ms    float64
}

func (p pause) name() string {
	if p.first {
		return facts.SweepTermination
	}
	return facts.MarkTermination
}

func pauses(rounds []facts.Round) []pause {
	var all []pause
	for i := range rounds {
		r := &rounds[i]
		if r.GC == nil {
			continue
		}
		all = slices.Grow(all, 2*len(r.GC.Cycles))
		for n := range r.GC.Cycles {
			row := &r.GC.Cycles[n]
			all = append(all, pause{r, row, true, row.STW1MS}, pause{r, row, false, row.STW2MS})
		}
	}
	return all
}

func checkLongPause(r *Rule, in *Input) []Finding {
	if t := in.trace(); t.Err == nil {
		if whole, _ := t.ForCollector(); whole.Count >= int64(2*r.param("cycles")) {
			return []Finding{checkLongPauseTraced(r, in, t, &whole)}
		}
	}
	return checkLongPauseLogged(r, in)
}

// checkLongPauseLogged goes by gctrace in the bare phases.
func checkLongPauseLogged(r *Rule, in *Input) []Finding {
	if none := uncollected(r, in); none != nil {
		return none
	}
	all := pauses(in.Facts.Rounds)
	if len(all) < int(2*r.param("cycles")) {
		return []Finding{fewCollections(r, in, int64(len(all)/2))}
	}
	limit := r.param("pause") * 1e3
	ms := make([]float64, len(all))
	long, first := 0, 0
	for i, p := range all {
		ms[i] = p.ms
		if p.ms > limit {
			long++
			if p.first {
				first++
			}
		}
	}
	slices.Sort(ms)
	p99 := stats.Quantile(ms, 0.99)
	if long == 0 {
		return []Finding{r.answer(Fine, "none of %s pauses was longer than 100 µs (99%% within %s)", unit.Count(int64(len(all))), inMS(p99))}
	}
	f := r.answer(Found, "%s of %s pauses were longer than 100 µs: %s before marking, %s after it; 99%% were within %s, the longest took %s",
		unit.Count(int64(long)), unit.Count(int64(len(all))), unit.Count(int64(first)), unit.Count(int64(long-first)), inMS(p99), inMS(ms[len(ms)-1]))
	share := stats.Wilson(float64(long), float64(len(all)), compare.Confidence)
	f.Impact = &Impact{share.Estimate, "share of pauses over 100 µs", share.Low, share.High}
	f.Severity, f.Score = Info, score(p99, limit, 5*limit)
	if p99/1e3 > r.param("p99") {
		f.Severity = Warning
	}
	slices.SortStableFunc(all, func(a, b pause) int { return int(min(max((b.ms-a.ms)*1e6, -1), 1)) })
	for _, p := range all[:min(3, len(all))] {
		f.Evidence = append(f.Evidence, Evidence{
			Text:  fmt.Sprintf("gc %d at %.3f s: %s %s", p.row.GC, p.row.AtS, p.name(), inMS(p.ms)),
			Phase: p.round.Phase.Name, Line: p.row.Line, Span: pauseSpan(in, p),
		})
	}
	adviseOnPauses(in, &f, all[0].round.Phase.Name, in.doubts())
	return []Finding{f}
}

// inMS prints milliseconds with a fitting unit.
func inMS(ms float64) string { return unit.Nanoseconds(ms * float64(time.Millisecond)) }
