package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/unit"
)

var sc01 = &Rule{
	ID: "SC01", Title: "No parallelism: one P does all the work",
	About: "While the program is busy, a single P runs goroutines and the others are idle: the work is not parallel, or " +
		"everything waits for one lock. More cores would change nothing. An execution trace distinguishes the program's goroutines from the collector's; samples of schedtrace do not.",
	Asks: []facts.Question{facts.Parallelism},
	Params: []Param{
		{"share", 0.80, "share of the busy time", "research, from the trace of a program that ran on one of its Ps"},
		{"samples", 5, "busy samples", "chosen: schedtrace gives one a second"},
		{"busy", 0.3, "s", "chosen: a shorter trace may cover only the program's startup"},
		{"cpus", 0.7, "CPUs", "chosen: a program that uses less spends a third of the time waiting for something else"},
		{"others", 0.1, "share of the time of requests", "chosen: time spent waiting for each other; with less, it is the load that sends one request at a time"},
		{"alone", 0.9, "share of the running time", "chosen: a single goroutine with more means a sequential program, which may be right"},
	},
	Part:  true,
	Check: checkOneProc,
}

// spreadAdvice is what to do when a single P works.
const (
	spreadAdvice = "Find what could run in parallel: split the work over goroutines; " +
		"if they exist already, look for the lock that lets only one through at a time (-phases mutex,block)."
	spreadVerify = "Record again: CPU use should rise and wall time should fall."
)

func checkOneProc(r *Rule, in *Input) []Finding {
	t, logged := in.trace(), len(in.Session.Manifest().Of(recording.Stderr)) > 0
	switch {
	case t.Err != nil && !logged:
		return []Finding{r.answer(TooLittle, "%v", t.Err)}
	case t.Err == nil && t.Parallel.Procs > 0:
		if f := checkOneProcTraced(r, in, t); f.State != TooLittle || !logged {
			return []Finding{f}
		}
	}
	return checkOneProcSampled(r, in)
}

// checkOneProcTraced goes by the time for which exactly one goroutine of the
// program ran.
func checkOneProcTraced(r *Rule, in *Input, t *traced) Finding {
	p := &t.Parallel
	busy := time.Duration(0)
	for _, d := range p.Running[min(1, len(p.Running)):] {
		busy += d
	}
	share, used := p.Share(1), t.Share(t.Running())
	text := fmt.Sprintf("exactly one of %d Ps ran the program's goroutines in %s of the %s in which any did, %.2f on average", p.Procs, unit.Percent(share), unit.Duration(busy), p.Mean())
	switch {
	case p.Procs == 1:
		return r.answer(NotApplicable, "GOMAXPROCS is 1")
	case busy.Seconds() < r.param("busy"):
		return r.short("the program's goroutines ran for %s of the trace; %g s are needed", unit.Duration(busy), r.param("busy"))
	case share < r.param("share"):
		return r.answer(Fine, "%s", text)
	case used < r.param("cpus"):
		return r.answer(Fine, "%s: for the rest of %s it waited for something other than a P", text, unit.Duration(t.Length()))
	}
	if share, ok := forEachOther(in); ok && share < r.param("others") {
		return r.answer(Fine, "%s; each request runs on a goroutine of its own, and spends %s of its time waiting for others: more of them at once would use more Ps", text, unit.Percent(share))
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Warning, score(1-p.Mean()/float64(p.Procs), 0.3, 0.8)
	f.Impact = exactly(share, "share of the busy time with one P at work")
	if e, ok := hottest(in); ok {
		f.Evidence = append(f.Evidence, e)
	} else if len(in.Session.Manifest().Of(recording.CPU)) == 0 {
		f.Doubts = append(f.Doubts, "a trace does not show where its time goes: a CPU profile does (record with -phases cpu)")
	}
	groups := t.OwnGroups()
	if inARow(groups) >= r.param("alone") {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "one goroutine does nearly all of the work, and nothing is ready to run beside it: whether its work can be split cannot be seen here")
	}
	for _, g := range groups[:min(2, len(groups))] {
		f.Evidence = append(f.Evidence, t.seen(0, "%s ran for %s of the time, %s", t.name(g.Name), unit.Percent(t.Share(g.Exec)), unit.Plural(g.Count, "goroutine")))
	}
	f.Advice, f.Verify = spreadAdvice, spreadVerify
	if h := t.handOvers(); len(h) > 0 && 2*h[0].count >= h[0].all && t.Rate(h[0].count) >= sc03.param("rate") {
		f.Advice = "The goroutines exist, but run one at a time: each waits for the next at " + place(t.Site(h[0].blocks[0].Stack)) + ". Hand over more at a time, see SC03."
	}
	f.Doubts = in.traceDoubts(t, f.Doubts...)
	late(in, &f, t.Entry.Phase)
	return f
}

// forEachOther is the part of the time of requests in which they wait for what another
// goroutine has: a lock, a channel, a slot. Where that is little, it is the load that has no
// more than one of them at work at a time.
func forEachOther(in *Input) (share float64, ok bool) {
	if len(in.Session.Manifest().Of(recording.Load)) == 0 {
		return 0, false
	}
	u, ok := unitsSpend(in, func(row *facts.UnitRow) bool {
		return slices.Contains([]string{"lock", "channel", "wait_group", "cond", "pool", "other"}, row.Kind.Key())
	})
	return u.own(), ok && u.name == "requests"
}

// inARow is the share of the time in which the program's goroutines ran that the busiest
// function has of which there was one goroutine.
func inARow(groups []*sched.Group) float64 {
	var most, all time.Duration
	for _, g := range groups {
		all += g.Exec
		if g.Count == 1 {
			most = max(most, g.Exec)
		}
	}
	return float64(most) / float64(max(1, all))
}

// hottest is the line of the user's that the CPU profile has most of. A run that
// a trace shows has a stack for where it ended, which is another place.
func hottest(in *Input) (Evidence, bool) {
	cpu, err := in.Facts.CPU()
	if err != nil {
		return Evidence{}, false
	}
	if lines := cpu.Lines(); len(lines) > 0 && lines[0].Weight >= minHits {
		return in.lineAt(cpu.Entry, lines[0].At, "%s of the CPU time goes through this line", unit.Percent(float64(lines[0].Weight)/float64(cpu.Samples))), true
	}
	return Evidence{}, false
}

// checkOneProcSampled goes by schedtrace.
func checkOneProcSampled(r *Rule, in *Input) []Finding {
	// Samples in which there was one P only say nothing: GOMAXPROCS may change.
	busy, one, procs, least, last := 0, 0, 0, 0, 0
	cpu, wall := 0.0, 0.0
	var seen []*facts.Round
	for i := range in.Facts.Rounds {
		round := &in.Facts.Rounds[i]
		if round.Sched == nil {
			continue
		}
		d := round.Sched.Derived
		busy, one, procs = busy+d.BusyOfSeveral, one+d.OneRunning, max(procs, d.GOMAXPROCS)
		last = d.LastGOMAXPROCS
		if least == 0 || d.LeastGOMAXPROCS < least {
			least = d.LeastGOMAXPROCS
		}
		cpu += round.CPU.Seconds()
		wall += round.Phase.Span.Len().Seconds()
		seen = append(seen, round)
	}
	switch {
	case procs == 1:
		return []Finding{r.answer(NotApplicable, "GOMAXPROCS is 1")}
	case last == 1:
		return []Finding{r.answer(NotApplicable, "GOMAXPROCS is 1 at the end, down from %d", procs)}
	case busy < int(r.param("samples")):
		return []Finding{r.short("the program was busy in %d scheduler samples of %s; %g are needed: record longer or under load", busy, in.where(), r.param("samples"))}
	}
	used := cpu / max(wall, 1e-9)
	share := stats.Wilson(float64(one), float64(busy), compare.Confidence)
	there := fmt.Sprint(procs)
	if least < procs {
		there = fmt.Sprintf("%d to %d", max(2, least), procs)
	}
	text := fmt.Sprintf("in %s of %d busy samples exactly one of %s Ps ran", unit.Percent(share.Estimate), busy, there)
	known := cpu > 0 // of a log that stands alone it is not
	if known {
		text += fmt.Sprintf("; the program used %.2f CPUs", used)
	}
	// Nearly all of the samples, and the CPU time says the same: one CPU's
	// worth, the collector's background work included.
	if share.Estimate < r.param("share") || used > 1.35 {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	if known && used < r.param("cpus") {
		return []Finding{r.answer(Fine, "%s: it waits for something other than a P", text)}
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Warning, score(1-used/float64(max(last, 1)), 0.3, 0.8)
	f.Impact = &Impact{share.Estimate, "share of busy samples with one P running", share.Low, share.High}
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("schedtrace: %d of %d samples", one, busy)}.across(seen)}
	f.Advice, f.Verify = spreadAdvice, spreadVerify
	f.Doubts = in.doubts()
	if !known {
		f.Severity, f.Score = Info, score(1-1/float64(max(last, 1)), 0.3, 0.8)
		f.Doubts = append(f.Doubts, "the CPU time is not known: the program may have waited for something other than a P")
	}
	return []Finding{f}
}
