package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc12 = &Rule{
	ID: "GC12", Title: "Forced garbage collections (runtime.GC)",
	About: "runtime.GC and debug.FreeOSMemory run a full collection, however little there is to collect, and the caller waits for " +
		"it. The runtime collects on its own when it is worth it.",
	Asks: []facts.Question{facts.Collections},
	Params: []Param{
		{"forced", 0.5, "share of the collections", "JDK Mission Control, explicit collections"},
		{"info", 0.01, "share of the busy time", "chosen: less is not worth a change"},
		{"warn", 0.05, "share of the busy time", "as GC03's first limit"},
		{"requests", 0.01, "for each request", "chosen: one in a hundred waits for a whole collection"},
		{"cycles", 5, "forced collections", "chosen: below this it is not a pattern"},
	},
	Part:  true,
	Check: checkForced,
}

// isForced are the stops of collections that the program forces.
func isForced(s *facts.Stop) bool { return s.Forced }

func checkForced(r *Rule, in *Input) []Finding {
	if none := uncollected(r, in); none != nil {
		return none
	}
	if slices.ContainsFunc(in.Facts.Rounds, func(round facts.Round) bool {
		return slices.Contains([]string{"growth", "heap", "allocs"}, round.Phase.Profiler)
	}) {
		return []Finding{r.answer(TooLittle, "the recording itself requested collections in this time")}
	}
	c := in.Facts.Collector()
	if c.Collections == 0 {
		return []Finding{r.short("no collection was seen in %s", in.where())}
	}
	share, forced := float64(c.Forced)/float64(c.Collections), float64(c.Forced)
	text := fmt.Sprintf("the program forced %s of %s", unit.Count(c.Forced), unit.Plural(c.Collections, "collection"))
	if share < r.param("forced") || forced < r.param("cycles") {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	cost, source, worst := mostCollecting(in)
	if worst == nil {
		return []Finding{r.answer(TooLittle, "%s, at an unknown cost", text)}
	}
	part, rate := cost*share, forced/c.Length.Seconds()
	text += fmt.Sprintf(", %s a second%s", unit.Number(rate), perRequest(in, worst.Phase.Name, rate))
	requests := facts.RequestRate(in.Facts, worst.Phase.Name)
	waits := requests > 0 && rate/requests >= r.param("requests")
	if w, _ := waitsForced(in); part < r.param("info") && !waits && w.share < r.param("warn") {
		return []Finding{r.answer(Fine, "%s, which cost %s of the busy time", text, unit.Percent(part))}
	}
	f := r.answer(Found, "%s; garbage collection took %s (%s)", text, unit.Percent(cost), source)
	f.Impact = &Impact{part, "share of the busy time", part, cost}
	f.more = true // memory that FreeOSMemory returns is faulted in and zeroed again, caches are cold
	f.Severity, f.Score = Info, score(part, r.param("info"), 0.25)
	if part >= r.param("warn") || waits {
		f.Severity = Warning
	}
	if waits {
		f.Score = max(f.Score, score(rate/requests, r.param("requests"), 0.25))
	}
	f.Evidence = forcedEvidence(in)
	if len(f.Evidence) == 0 {
		f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("%s of %s collections are marked “(forced)”", unit.Count(c.Forced), unit.Count(c.Collections))}.at(worst)}
		f.Doubts = append(f.Doubts, "an execution trace shows where (record with -phases trace)")
	}
	tellForcedCosts(r, in, share, &f)
	f.Advice = "Delete the call: the runtime collects when the heap has grown by GOGC percent, and returns memory on its own. To keep memory below a bound, set GOMEMLIMIT."
	f.Verify = "Record again under the same load: no line of gctrace should end in “(forced)”, and CPU time per request should fall."
	f.Doubts = append(f.Doubts, in.doubts()...)
	tellMeasured(in, waits, &f)
	return []Finding{f}
}

// forcedEvidence are the lines that force collections, by the execution trace or the CPU
// profile.
func forcedEvidence(in *Input) []Evidence {
	if t := in.trace(); t.Err == nil {
		if s, err := facts.StopsIn(in.Facts); err == nil {
			if e := stopEvidence(t, s, isForced); len(e) > 0 {
				return e
			}
		}
	}
	lines, cpu := facts.CallsInProfile(in.Facts, facts.ForcesCollection)
	var out []Evidence
	for _, l := range lines[:min(3, len(lines))] {
		out = append(out, in.fileAt(cpu.Entry, l.At, l.Frames, "collections are forced here; the call itself takes %s of the CPU time", unit.Percent(float64(l.Weight)/float64(max(1, cpu.Samples)))))
	}
	return out
}
