package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/unit"
)

var gc18 = &Rule{
	ID: "GC18", Title: "GOGC is below its default and costs CPU",
	About: "GOGC says by how many per cent the heap grows before the next collection. A lower value saves memory and costs CPU time: half the value means twice as many collections of the same " +
		"heap. What counts is the value in force, which debug.SetGCPercent may have set, not the environment.",
	Asks: []facts.Question{facts.Collections},
	Params: []Param{
		{"default", 100, "percent", "the runtime's own"},
		{"info", 0.05, "share of the busy time", "as GC03's"},
		{"warn", 0.10, "share of the busy time", "as GC03's"},
		{"cycles", 20, "collections", "chosen: below this, chance dominates"},
	},
	Check: checkGOGC,
}

func checkGOGC(r *Rule, in *Input) []Finding {
	if none := uncollected(r, in); none != nil {
		return none
	}
	share, source, round := mostCollecting(in)
	if round == nil {
		return []Finding{r.answer(TooLittle, "neither runtime/metrics nor gctrace gives the collector's time")}
	}
	set := in.Facts.Settings(round)
	usual := int(r.param("default"))
	if set.Collector == nil {
		return []Finding{r.answer(TooLittle, "the GOGC value in force is not known")}
	}
	text := fmt.Sprintf("%s was in force, by %s", set.Collector, set.From)
	cycles := in.Facts.Collector().Collections
	switch {
	case set.Collector.GOGC == usual && roomForRun(in, round):
		return []Finding{r.answer(NotApplicable, "%s: it is the default, and GC03 says what a larger one gains", text)}
	case set.Collector.GOGC < 0 || set.Collector.GOGC >= usual:
		return []Finding{r.answer(Fine, "%s", text)}
	case cycles < int64(r.param("cycles")):
		return []Finding{fewCollections(r, in, cycles)}
	case share < r.param("info"):
		return []Finding{r.answer(Fine, "%s; garbage collection took %s", text, unit.Percent(share))}
	}
	for _, one := range facts.ReadingsOf(in.Facts) {
		if one.Round == round && limited(one) >= 0.5 {
			return []Finding{r.answer(Fine, "%s, but the memory limit triggered most collections (GC07)", text)}
		}
	}
	to := gc.Settings{GOGC: usual, Limit: set.Collector.Limit}
	m := predicted(in, round, to)
	if m.Unlikely {
		return []Finding{r.answer(Fine, "%s; garbage collection took %s, but %s", text, unit.Percent(share), m.Why)}
	}
	f := r.answer(Found, "%s; garbage collection took %s (%s)", text, unit.Percent(share), source)
	f.Impact = exactly(share, "share of the busy time")
	f.Severity, f.Score = Info, score(share, r.param("info"), 0.25)
	if share >= r.param("warn") {
		f.Severity = Warning
	}
	f.Evidence = append([]Evidence{Evidence{Text: fmt.Sprintf("GOGC=%d by %s, %s collections", set.Collector.GOGC, set.From, unit.Count(cycles))}.at(round)}, m.Evidence...)
	f.Evidence = append(f.Evidence, setTo(in.code, "runtime/debug", "SetGCPercent", int64(set.Collector.GOGC))...)
	f.Advice = fmt.Sprintf("Leave GOGC at %d if memory allows: by the pacer's formula the same heap is then collected %s times less often. To keep memory below a bound, set GOMEMLIMIT.",
		usual, unit.Number(float64(usual)/float64(max(1, set.Collector.GOGC))))
	f.Verify = "Record again under the same load: the collector's share should fall, and the peak of the heap rise."
	f.Doubts = in.doubts()
	if m.Why != "" {
		f.Doubts = append(f.Doubts, "how much it gains: "+m.Why)
	}
	return []Finding{f}
}
