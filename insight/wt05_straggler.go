package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var wt05 = &Rule{
	ID: "WT05", Title: "Straggler: the last goroutine of a fan-out takes much longer than the others",
	About: "A request starts several goroutines at one place and waits for all of them (fan-out). It is done when the last one is: if that takes several times as long as the median one, " +
		"the others finish early for nothing. A loop that starts goroutines in batches, and waits for the whole of each, pays for that each time, also where it is in a goroutine that main has started.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.25, "share of the time", "chosen: the gain if the last one were as fast as the median one"},
		{"warning", 0.4, "share of the time", "chosen: a factor of two is within reach"},
		{"times", 3, "times the median", "chosen: among goroutines that wait for each other in turn, or for a P, the last one takes twice the median"},
		{"goroutines", 4, "goroutines in one", "chosen: fewer have no median"},
		{"each", 200e-6, "s", "chosen: a unit's wait for the last one alone"},
		{"batches", 10, "batches", "chosen: of fewer, how long the slowest takes is chance"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: checkStragglers,
}

// checkStragglers looks at what units wait for, and at who works for them in batches.
func checkStragglers(r *Rule, in *Input) []Finding {
	found := onUnits(checkStraggler)(r, in)
	if slices.ContainsFunc(found, func(f Finding) bool { return f.State == Found }) {
		return found
	}
	if t := in.trace(); t.Err == nil {
		if batches := checkBatches(r, in, t); len(batches) > 0 {
			return batches
		}
	}
	return found
}

func checkStraggler(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	for i := range g.Fans {
		x := &g.Fans[i]
		several := float64(x.Goroutines) >= r.param("goroutines")*float64(x.Count)
		late := float64(x.Last) >= r.param("times")*float64(x.Median)
		often := g.Wall.Count < 2 || float64(x.Units) >= min(r.param("units"), float64(g.Wall.Count)/2)
		if several && late && often && g.All.Share(x.Excess) >= r.param("share") && (x.Excess/unitCount(g)).Seconds() >= r.param("each") {
			found = append(found, stragglerFinding(r, in, t, g, x))
		}
	}
	if len(found) > 0 {
		return found[:1], ""
	}
	if len(g.Fans) == 0 {
		return nil, "in the trace, " + unitOf(g) + " starts no group of goroutines that it waits for together"
	}
	x := &g.Fans[0]
	return nil, fmt.Sprintf("%s waits%s for goroutines of which the last one takes %s times the median, %s of its time", unitOf(g), atPlace(x.Waits), unit.Number(float64(x.Last)/float64(max(1, x.Median))), unit.Percent(g.All.Share(x.Excess)))
}

func stragglerFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup, x *facts.UnitFan) Finding {
	share, n := g.All.Share(x.Excess), time.Duration(x.Count)
	text := fmt.Sprintf("%s waits%s for %s: the last one takes %s, the median one %s; that is %s of its time", unitOf(g), atPlace(x.Waits),
		plurals(float64(x.Goroutines)/float64(x.Count), "goroutine"), unit.Duration(x.Last/n), unit.Duration(x.Median/n), unit.Percent(share))
	if over := overUnits(g); over != "" {
		text += "," + over
	}
	known := x.Did.Kind.Key() != "none" && x.Did.Kind.Key() != "unknown" && x.Did.Site.Frame.Func != ""
	if known {
		text += fmt.Sprintf("; the last one is %s%s meanwhile", x.Did.Kind.Clause(), atPlace(x.Did.Site))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.9)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seen(x.Waits.Stack, "%s for the last one alone in each", unit.Duration(x.Excess/unitCount(g)))}
	if known {
		f.Evidence = append(f.Evidence, t.seen(x.Did.Site.Stack, "the last one is %s here: %s in each", x.Did.Kind.Clause(), unit.Duration(x.DidTime/unitCount(g))))
	}
	f.Evidence = append(f.Evidence, t.seen(x.Made, "the goroutines are started here"))
	f.Advice = "Look at what the last one does: start it first, split its work into pieces as large as the others, give it a deadline and answer without it, or do not wait for it. If it is a different one each time, the peer's times vary: send a second request when the answer is late (hedging), and look at the peer's slow requests."
	if finishes, ok := barrierAt(in.code, x.Waits.Frame); ok {
		f.Summary += "; the loop around the wait starts a batch and waits for all of it before the next one"
		f.Advice = "The others are idle until the slowest of a batch is done. Do not wait for whole batches: let a fixed number of workers take the next item as soon as they are free (a channel of items, errgroup.SetLimit, a semaphore), and wait once, after the loop. " +
			"If a failure has to stop the rest, or the items of a batch belong together, look at what the last one does instead."
		finishes.tell(in.code, &f)
	}
	f.Verify = "Record again under the same load: the last one should take about as long as the median one, and the median of the requests should fall."
	f.Doubts = in.traceDoubts(t)
	if kind := x.Did.Kind.Key(); kind == "running" || kind == "runnable" || kind == "lock" {
		full(in, &f)
	}
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Site == x.Waits && row.Kind.Key() != "running" && row.Kind.Key() != "runnable" {
			f.waits = append(f.waits, row)
		}
	}
	return f
}
