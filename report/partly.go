package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"loupe/insight"
	"loupe/recording"
	"loupe/value/unit"
)

// halfOfRun is the part of a run from which on a CPU profile is taken for what the whole of it does; chosen. A program that works on more and more data does
// something else in the end.
const halfOfRun = 0.5

// partlyProfiled tells of a program that ends by itself, without a load, that its CPU profile is of less than half of its run.
func partlyProfiled(r *Recording) (seen, of time.Duration, ok bool) {
	whole := wholeRun(r.Manifest)
	for _, p := range r.Phases {
		if p.Name != "cpu" || p.Error != "" || whole == 0 {
			continue
		}
		seen, of = p.Length, runOf(r.Manifest, p.Name, whole)
		return seen, of, float64(seen) < halfOfRun*float64(of)
	}
	return 0, 0, false
}

// inFirstPart says that nothing serious was found in the part of a run that was profiled; empty where that is most of it.
func inFirstPart(r *Recording) string {
	seen, of, ok := partlyProfiled(r)
	if !ok {
		return ""
	}
	return fmt.Sprintf("Nothing serious was found in the %s of a run of %s that were profiled: what takes more and more time towards its end is not seen (record all of it: -phases bare,cpu:%s,trace).", unit.Duration(seen.Round(10*time.Millisecond)), unit.Duration(of), allOf(of))
}

// partNote says the same where something serious was found in that part; empty where the verdict says it, see [inFirstPart].
func partNote(r *Recording) string {
	seen, of, ok := partlyProfiled(r)
	if !ok && of > 0 && float64(seen) < mostOfRun*float64(of) {
		return fmt.Sprintf("the CPU profile is of %s of a run of %s: shares of the CPU time are of those, and what comes later is not in them (record all of it: -phases bare,cpu:%s,trace)", unit.Duration(seen.Round(10*time.Millisecond)), unit.Duration(of), allOf(of))
	}
	if !ok || !slices.ContainsFunc(r.Cards, func(c insight.Card) bool { return r.Findings[c.Finding].Severity.AtLeast(insight.Warning) }) {
		return ""
	}
	return fmt.Sprintf("the CPU profile is of %s of a run of %s: what takes more and more time towards its end is not seen (record all of it: -phases bare,cpu:%s,trace)", unit.Duration(seen.Round(10*time.Millisecond)), unit.Duration(of), allOf(of))
}

// nearlyAllOfRun is the part of a run from which on what was allocated by then stands for all of it; chosen.
const nearlyAllOfRun = 0.95

// allocatedUpTo says of a program that ends by itself up to when its allocations were counted, which bytes and objects are of; empty where that is nearly
// all of its run.
func allocatedUpTo(m *recording.Manifest, whole time.Duration) string {
	p, ok := m.PhaseNamed("allocs")
	if !ok || p.Run < 0 || p.Run >= len(m.Target.Runs) {
		return ""
	}
	run := m.Target.Runs[p.Run]
	upTo, of := p.Span.Start.Sub(run.Span.Start), runOf(m, "allocs", whole)
	if !run.Stopped && p.Span.End >= run.Span.End || of <= 0 || upTo <= 0 || float64(upTo) >= nearlyAllOfRun*float64(of) {
		return ""
	}
	return fmt.Sprintf(", of the first %s of a run of %s", unit.Duration(upTo.Round(10*time.Millisecond)), unit.Duration(of))
}

// allOf is how long a phase has to be for a run of a length, which takes longer while it is profiled: "22s".
func allOf(of time.Duration) string {
	return fmt.Sprintf("%ds", int(math.Ceil(1.25*of.Seconds())))
}
