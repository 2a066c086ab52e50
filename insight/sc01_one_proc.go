package insight

import (
	"fmt"

	"loupe/compare"
	"loupe/recording"
	"loupe/stats"
	"loupe/unit"
)

var sc01 = &Rule{
	ID: "SC01", Title: "Only one P works, though there are more",
	About: "While the program is busy, a single P runs goroutines and the others are idle: the work is not spread out, " +
		"or everything waits for one lock. More cores would change nothing.",
	Needs: []recording.Kind{recording.Stderr},
	Params: []Param{
		{"share", 0.80, "share of busy samples", "research, from seed document 000's first trace"},
		{"samples", 5, "busy samples", "chosen: schedtrace gives one a second"},
		{"cpus", 0.5, "CPUs", "chosen: a program that uses less is waiting for something else"},
	},
	Check: checkOneProc,
}

func checkOneProc(r *Rule, in *Input) []Finding {
	busy, one, procs := 0, 0, 0
	cpu, wall := 0.0, 0.0
	var seen []*compare.Round
	for i := range in.Facts.Rounds {
		round := &in.Facts.Rounds[i]
		if round.Sched == nil {
			continue
		}
		d := round.Sched.Derived
		busy, one, procs = busy+d.Busy, one+d.OneRunning, max(procs, d.GOMAXPROCS)
		cpu += round.CPU.Seconds()
		wall += round.Phase.Span.Len().Seconds()
		seen = append(seen, round)
	}
	switch {
	case procs == 1:
		return []Finding{r.answer(NotApplicable, "GOMAXPROCS is 1")}
	case busy < int(r.param("samples")):
		return []Finding{r.short("the program was busy in %d scheduler samples of the bare phases, %g are needed: record longer or under load", busy, r.param("samples"))}
	}
	used := cpu / max(wall, 1e-9)
	share := stats.Wilson(float64(one), float64(busy), compare.Confidence)
	text := fmt.Sprintf("in %s of %d busy samples exactly one of %d Ps ran; the program used %.2f CPUs", unit.Percent(share.Estimate), busy, procs, used)
	// Nearly all of the samples, and the CPU time says the same: one CPU's
	// worth, the collector's background work included.
	if share.Estimate < r.param("share") || used > 1.35 {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	if used < r.param("cpus") {
		return []Finding{r.answer(Fine, "%s: it waits for something else than a P", text)}
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Warning, score(1-used/float64(procs), 0.3, 0.8)
	f.Impact = &Impact{share.Estimate, "share of busy samples with one P running", share.Low, share.High}
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("schedtrace: %d of %d samples", one, busy)}.across(seen)}
	f.Advice = "Find what could run side by side: split the work over goroutines, about as many as there are Ps for computing; if they exist already, look for the lock that lets one through at a time (-phases mutex,block)."
	f.Verify = "Record again: the CPUs used should rise and the wall time fall."
	f.Doubts = in.doubts()
	return []Finding{f}
}
