package insight

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var gc03 = &Rule{
	ID: "GC03", Title: "The garbage collector uses a large share of the CPU",
	About: "The share of the program's busy time spent on garbage collection, excluding marking on otherwise idle Ps. Fewer " +
		"allocations, or a larger heap, could win it back.",
	Asks: []facts.Question{facts.Collections},
	Params: []Param{
		{"info", 0.05, "share", "JDK Mission Control, GC pause ratio"},
		{"warning", 0.15, "share", "chosen: six of the repaired and healthy programs of the corpus are at 10 to 14%, and half of the garbage gains half of that"},
		{"critical", 0.25, "share", "the pacer's own target for background marking (mgcpacer.go)"},
		{"cycles", 20, "collections", "chosen: below this, chance dominates"},
		{"few", 4, "collections", "chosen: this many are enough if they take the critical share: each is long then"},
		{"samples", 200, "samples", "chosen: a CPU profile with fewer contradicts nothing"},
	},
	Part:  true,
	Check: checkGCShare,
}

// gcShare is the collector's share of the busy time of the Ps in one round,
// and where it comes from.
func gcShare(in *Input, r *facts.Round) (share float64, source string) {
	if set, err := in.Session.Metrics(r.Phase.Run); err == nil {
		total := set.Series("/cpu/classes/total:cpu-seconds").In(r.Phase.Span)
		part := brought(in, r, total.Times, total.Values)
		// Marking on Ps that had nothing else to do counts on neither side.
		marking := set.Delta("/cpu/classes/gc/mark/idle:cpu-seconds", part)
		gc := set.Delta("/cpu/classes/gc/total:cpu-seconds", part) - marking
		busy := set.Delta("/cpu/classes/total:cpu-seconds", part) - set.Delta("/cpu/classes/idle:cpu-seconds", part) - marking
		if s := gc / busy; !math.IsNaN(s) && busy > 0 {
			return min(1, s), "runtime/metrics, of the busy time"
		}
	}
	if r.GC == nil || !r.GC.Derived.CPUPercent.Known() {
		return math.NaN(), ""
	}
	d := r.GC.Derived
	ofPs := float64(d.CPUPercent) / 100
	// A program that leaves most of its Ps idle may still spend most of what
	// it uses on collecting. But Ps that wait for a CPU collect no less by
	// gctrace's clock: CPU time is a base for it only where nobody waits.
	if host := in.Session.Manifest().Host; r.CPU <= 0 || in.Facts.Noise().Reason != "" || in.Facts.Noise().Full() || host.Quota > 0 || d.Procs > host.CPUs {
		return ofPs, "gctrace, of the time of all Ps"
	}
	collecting := ofPs * float64(d.Procs) * float64(d.DurationMS) * 1e6
	return min(1, collecting/float64(r.CPU)), "gctrace, of the CPU time used"
}

// brought is the part of a round whose CPU time the metrics tell of. The runtime brings these counters up to date when a
// collection ends (times and cpu are what they show in all): the first change in a round is of the time since the collection before, which began before the round where
// the process did. That may be a start that the round is not about.
func brought(in *Input, r *facts.Round, times []timeline.Time, cpu []float64) timeline.Span {
	span := r.Phase.Span
	runs := in.Session.Manifest().Target.Runs
	if r.Phase.Run < 0 || r.Phase.Run >= len(runs) || runs[r.Phase.Run].Span.Start >= span.Start {
		return span
	}
	for i, v := range cpu {
		if v != cpu[0] {
			span.Start = times[i]
			break
		}
	}
	return span
}

func checkGCShare(r *Rule, in *Input) []Finding {
	if none := uncollected(r, in); none != nil {
		return none
	}
	var shares []float64
	cycles, source, most := int64(0), "", 0.0
	var worst *facts.Round
	for i := range in.Facts.Rounds {
		round := &in.Facts.Rounds[i]
		if round.GC != nil {
			cycles += round.GC.Derived.Collections
		}
		if s, from := gcShare(in, round); !math.IsNaN(s) {
			shares, source = append(shares, s), from
			if worst == nil || s > most {
				worst, most = round, s
			}
		}
	}
	few := cycles < int64(r.param("cycles"))
	if few {
		if f, ok := endedCollecting(r, in, cycles); ok {
			return []Finding{f}
		}
	}
	if few && (cycles < int64(r.param("few")) || most < r.param("critical")) {
		return []Finding{fewCollections(r, in, cycles)}
	}
	if len(shares) == 0 {
		return []Finding{r.answer(TooLittle, "neither runtime/metrics nor gctrace gives the collector's time")}
	}
	slices.Sort(shares)
	share := stats.Quantile(shares, 0.5)
	profile, known := sampledCollecting(r, in)
	refuted := known && share >= r.param("info") && profile.High < share
	if refuted { // by samples: time of Ps is no CPU time where threads wait for a CPU
		shares = []float64{profile.Estimate, share}
		share, source = profile.Estimate, "the CPU profile "+profile.path+", of the CPU time used"
	}
	_, base, _ := strings.Cut(source, ", of the ")
	if share < r.param("info") {
		return []Finding{r.answer(Fine, "the collector used %s of the %s", unit.Percent(share), base)}
	}
	f := r.answer(Found, "the collector used %s of the %s in %s collections", unit.Percent(share), base, unit.Count(cycles))
	f.Impact = &Impact{share, "share of the " + base, shares[0], shares[len(shares)-1]}
	f.Score = score(share, r.param("info"), r.param("critical"))
	switch {
	case share >= r.param("critical") && !few:
		f.Severity = Critical
	case share >= r.param("warning"):
		f.Severity = Warning
	default:
		f.Severity = Info
	}
	text := "by " + source + ", excluding idle-time marking"
	if len(shares) > 1 && !refuted {
		text += fmt.Sprintf("; most in phase %s, %s", worst.Phase.Name, unit.Percent(most))
	}
	f.Evidence = []Evidence{Evidence{Text: text}.at(worst)}
	f.Advice = lessAllocated(in)
	adviseRun(r, in, &f, worst, share)
	f.Verify = "Record again under the same load: the share should fall below 5%."
	switch {
	case refuted:
		f.Doubts = append(f.Doubts, fmt.Sprintf("the runtime's clocks say up to %s, which includes waiting for a CPU", unit.Percent(most)))
	case known:
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s of the %s samples of the CPU profile are in the collector, its assists, or its write barriers", unit.Percent(profile.Estimate), unit.Count(profile.samples)), Path: profile.path})
	}
	f.Doubts = append(f.Doubts, in.doubts()...)
	if !known {
		f.Doubts = append(f.Doubts, "the runtime counts the time of Ps: if more threads want to run than there are CPUs, that is more than CPU time")
	}
	return []Finding{f}
}

// collectingSamples is the collector's share of the samples of a CPU profile.
type collectingSamples struct {
	stats.Interval
	samples int64
	path    string
}

// sampledCollecting is that of the recording's CPU profile; unknown below a number of samples.
func sampledCollecting(r *Rule, in *Input) (x collectingSamples, known bool) {
	cpu, err := in.Facts.CPU()
	if err != nil {
		return x, false
	}
	share := cpu.Collecting(r.param("samples"))
	if math.IsNaN(share) {
		return x, false
	}
	n := float64(cpu.Samples)
	return collectingSamples{stats.Wilson(share*n, n, compare.Confidence), cpu.Samples, cpu.Entry.Path}, true
}
