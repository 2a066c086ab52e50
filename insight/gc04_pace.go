package insight

import (
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

var gc04 = &Rule{
	ID: "GC04", Title: "GC runs very often",
	About: "How much time, and how many requests, lie between two collections. Frequent collections alone do no " +
		"harm; they mean that little work is done between two of them, most often because a small live heap fills up quickly.",
	Asks: []facts.Question{facts.Collections},
	Params: []Param{
		{"info", 10e-3, "s", "chosen: a pace of 1 to 2 ms is common under load"},
		{"cycles", 20, "collections", "research: needs 20 cycles under load"},
	},
	Part:  true,
	Check: checkPace,
}

func checkPace(r *Rule, in *Input) []Finding {
	if none := uncollected(r, in); none != nil {
		return none
	}
	var paces, perGC, live []float64
	cycles, forced := int64(0), 0
	var fastest *facts.Round
	for i := range in.Facts.Rounds {
		round := &in.Facts.Rounds[i]
		if round.GC == nil || round.GC.Derived.Collections == 0 {
			continue
		}
		d := round.GC.Derived
		cycles, forced = cycles+d.Collections, forced+d.Forced
		paces = append(paces, float64(d.PaceMS)/1e3)
		if fastest == nil || d.PaceMS < fastest.GC.Derived.PaceMS {
			fastest = round
		}
		if d.RequestsPerCollection.Known() && d.Requests > 0 {
			perGC = append(perGC, float64(d.RequestsPerCollection))
		}
		for _, row := range round.GC.Cycles {
			live = append(live, row.HeapLiveMB)
		}
	}
	if cycles < int64(r.param("cycles")) {
		return []Finding{fewCollections(r, in, cycles)}
	}
	if 2*int64(forced) > cycles {
		return []Finding{r.answer(NotApplicable, "%d of %d collections were forced by the program (runtime.GC): it sets the pace itself", forced, cycles)}
	}
	slices.Sort(paces)
	pace := stats.Quantile(paces, 0.5)
	text := fmt.Sprintf("a collection every %s", unit.Nanoseconds(pace*1e9))
	if len(perGC) > 0 {
		text += fmt.Sprintf(", %s requests for each", unit.Number(stats.Median(perGC)))
	}
	text += ", " + liveText(live)
	if pace >= r.param("info") {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Info, score(r.param("info")/pace-1, 1, 10)
	f.Impact = &Impact{pace * 1e9, "ns from one collection to the next", paces[0] * 1e9, paces[len(paces)-1] * 1e9}
	seen := fmt.Sprintf("%s collections in %s", unit.Count(cycles), in.where())
	if len(paces) > 1 {
		seen += fmt.Sprintf("; the fastest in phase %s, one every %s", fastest.Phase.Name, unit.Nanoseconds(paces[0]*1e9))
	}
	f.Evidence = []Evidence{Evidence{Text: seen}.at(fastest)}
	f.Advice = "The pace alone is not a fault: GC03 says what the collections cost. If that is much, allocate less per unit of work, so that more work fits between two collections."
	f.Verify = "Record again under the same load: requests per collection should rise; the pace itself may stay."
	f.Doubts = in.doubts()
	return []Finding{f}
}

// muchAbove is how many MB more than the median are told of. Chosen: what a program has at its start may well be twice what is next
// to nothing.
const muchAbove = 8

// liveText is the live heap that the collections have found: the median, and the largest where that is much more, so that nobody
// takes the one for the other.
func liveText(live []float64) string {
	middle, most := math.Max(stats.Median(live), 0), 0.0
	if len(live) > 0 {
		most = slices.Max(live)
	}
	if most <= 2*middle || most <= middle+muchAbove {
		return fmt.Sprintf("live heap %s MB", unit.Number(middle))
	}
	return fmt.Sprintf("live heap %s MB (median; up to %s MB)", unit.Number(middle), unit.Number(most))
}
