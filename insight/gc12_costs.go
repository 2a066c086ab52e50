package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// forcedWait is what the units of a group wait for the collections that they force.
type forcedWait struct {
	group facts.UnitGroup
	share float64 // of the time of all such units
	line  string
}

// waitsForced finds the group whose units spend the largest part of their time in calls that force a collection: these
// return when it is over. Not ok where the trace shows none.
func waitsForced(in *Input) (most forcedWait, ok bool) {
	t := in.trace()
	if t.Err != nil {
		return most, false
	}
	u := in.Facts.Units()
	if u.Err != nil {
		return most, false
	}
	for _, g := range u.Judged {
		if g.Unit.String() == "main" && !facts.EndsByItself(in.Session) {
			continue // what it waits for says nothing
		}
		sum, longest, line := time.Duration(0), time.Duration(0), ""
		for _, row := range g.All.Rows {
			if slices.Contains(purpose, row.Kind.Key()) || !slices.ContainsFunc(t.Frames(row.Site.Stack), facts.ForcesCollection) {
				continue // a stack of what ran is the last that was seen
			}
			if sum += row.Time; row.Time > longest && row.Site.Frame.Line > 0 {
				longest, line = row.Time, fmt.Sprintf("%s:%d", baseName(row.Site.Frame.File), row.Site.Frame.Line)
			}
		}
		if share := ofAll(in, g, g.All.Share(sum)); sum > 0 && share > most.share {
			most, ok = forcedWait{g, share, line}, true
		}
	}
	return most, ok
}

// collectorSamples is the part of a CPU profile that the collector's goroutines have, with what they mark while a P has
// nothing else to do.
func collectorSamples(in *Input) (share float64, seen Evidence, ok bool) {
	s := spentOf(in)
	cpu, err := in.Facts.CPU()
	if err != nil || s == nil || s.total < enoughOfCPU || s.collector == 0 {
		return 0, seen, false
	}
	seen = Evidence{Text: fmt.Sprintf("the collector's goroutines have %s of the CPU samples, idle-time marking included", unit.Percent(s.collector)), Path: cpu.Entry.Path, Phase: cpu.Entry.Phase}
	return s.collector, seen, true
}

// tellForcedCosts adds what the busy time leaves out: that who forces a collection waits for it, and what is marked while a
// P has nothing else to do. The largest of them, of the forced part of all collections, is what the finding is about.
func tellForcedCosts(r *Rule, in *Input, forced float64, f *Finding) {
	if cpu, seen, ok := collectorSamples(in); ok {
		f.Evidence = append(f.Evidence, seen)
		if forced*cpu > f.Impact.Value {
			f.Summary += fmt.Sprintf("; with idle-time marking, %s of the CPU time", unit.Percent(cpu))
			f.Impact = &Impact{forced * cpu, "share of the CPU time", forced * cpu, cpu}
		}
	}
	if w, ok := waitsForced(in); ok && w.share >= r.param("info") {
		f.Summary += fmt.Sprintf("; %s waits for %s of its time in these calls", unitOf(w.group), unit.Percent(w.share))
		if w.line != "" {
			f.Summary += ", at " + w.line
		}
		if w.share > f.Impact.Value {
			f.Impact = exactly(w.share, "share of the "+timeOfUnits(w.group))
		}
	}
	f.Score = max(f.Score, score(f.Impact.Value, r.param("info"), 0.25))
	if f.Impact.Value >= r.param("warn") {
		f.Severity = Warning
	}
}
