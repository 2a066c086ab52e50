package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/format/loadlog"
	"loupe/value/unit"
)

var ld04 = &Rule{
	ID: "LD04", Title: "The load generator was the bottleneck",
	About: "The load generator needs CPU too. If it has none left, it sends too late or too little, and the measurement shows its limits instead of the service's.",
	Asks:  []facts.Question{facts.Requests},
	Params: []Param{
		{"busy", 0.9, "share of a thread's time", "research: of the CPU time available to the sending threads"},
		{"waited", 0.5, "share of the slowest requests' time", "chosen: spent waiting to be sent; from here on the reason has to be known"},
		{"floor", 1e-3, "s", "research: less is nothing to worry about"},
		{"half", 0.5, "share of the CPU time", "chosen: the generator's share of the CPU time of both, if no CPU is idle"},
		{"part", 0.25, "share of all CPUs", "chosen: what it takes of a machine where no CPU is idle, and not less than all other programs"},
		{"delayed", 0.05, "share of the time", "chosen: for which it waited for a CPU, where that is known"},
	},
	Measurement: true,
	Check:       onLoads(checkGenerator),
}

func checkGenerator(r *Rule, in *Input, all []loadRound) []Finding {
	if by := all[0].Log.Foreign; by != "" {
		return []Finding{r.answer(TooLittle, "the results of %s do not say what sending cost: loupe load measures it", by)}
	}
	most, beside := 0.0, 0.0
	late := ""
	var unknown *Finding
	for i := range all {
		l := &all[i]
		g := &l.Load.Generator
		used := g.Busy
		if used == 0 && l.Log.Threads > 0 && l.Log.Elapsed > 0 {
			used = l.Log.CPU.Seconds() / l.Log.Elapsed.Seconds() / float64(l.Log.Threads)
		}
		most = max(most, used)
		ofBoth := 0.0
		if l.Round.CPU > 0 { // of the service and of the processes that have come from it
			ofBoth = float64(l.Log.CPU) / float64(l.Log.CPU+l.Round.CPU+l.Round.Family)
			beside = max(beside, ofBoth)
		}
		ofAll := ofCPUs(in, l)
		var why string
		severity, slow := Warning, false // slow: of what was sent, some was sent late
		switch {
		case g.Limited != "":
			why = g.Limited
		case g.Starved != "":
			why, severity = g.Starved, Warning
		case used >= r.param("busy"):
			why = "the sending thread was busy for " + unit.Percent(used) + " of the time"
		case ofBoth >= r.param("half") && ofAll >= r.param("part") && delayed(l) >= r.param("delayed") && in.Facts.Noise().Full() && ofAll >= in.Facts.Noise().Competing:
			why, severity = fmt.Sprintf("no CPU was idle, and the generator took %s of all CPUs, %s of the CPU time that it and the service used together", unit.Percent(ofAll), unit.Percent(ofBoth)), Info
		default:
			why = lateness(r, l, &late, &unknown)
			severity, slow = Info, true
		}
		if why == "" {
			continue
		}
		verdict := fmt.Sprintf("%s answers a second are a lower bound on the service's capacity, and the times an upper bound on its latency", unit.Number(l.Load.RPS))
		slow = slow || g.Limited == "" && g.Starved != ""
		if slow {
			verdict = "the times are an upper bound on the service's"
		}
		f := r.answer(Found, "%s: %s", why, verdict)
		if slow {
			f.Title = "The load generator had to wait for a CPU" // which says nothing of what the service could do
		}
		f.Severity, f.Score = severity, score(max(used, ofBoth), 0.5, 1)
		f.Impact = exactly(max(used, ofBoth), "share of the generator's time in use, or of the CPU time of both")
		text := fmt.Sprintf("the generator used %.2f s of CPU time in %s", g.CPUSeconds, unit.Duration(l.Log.Elapsed))
		if g.RunDelay != nil {
			text += fmt.Sprintf(" and %s", waitedForCPU(l))
		}
		if l.Log.Open {
			text += fmt.Sprintf("; requests were sent late by a median of %s, 99%% by less than %s", unit.Duration(g.LagP50), unit.Duration(g.LagP99))
		}
		f.Evidence = []Evidence{l.seen(text)}
		f.Advice = "Send from another machine, or send less: a lower rate, fewer connections. With one CPU reserved for the generator (taskset), it and the service do not wait for each other."
		f.Verify = "Send again: the last section of the report shows how busy the generator was, and how late requests were."
		f.Doubts = in.doubts()
		return []Finding{f}
	}
	if unknown != nil {
		return []Finding{*unknown}
	}
	text := "the generator had time to spare"
	if most > 0 {
		text += ": the busiest thread was " + unit.Percent(most) + " busy"
	}
	if beside > 0 {
		text += "; it used " + unit.Percent(beside) + " of the CPU time of both"
	}
	return []Finding{r.answer(Fine, "%s%s", text, late)}
}

// ofCPUs is the share of all CPUs of the machine that the generator used; 0 where that is not known.
func ofCPUs(in *Input, l *loadRound) float64 {
	cpus := in.Session.Manifest().Host.CPUs
	if cpus == 0 || l.Log.Elapsed <= 0 {
		return 0
	}
	return l.Log.CPU.Seconds() / l.Log.Elapsed.Seconds() / float64(cpus)
}

// delayed is for which share of the time the generator waited for a CPU, each of its threads on average; all
// of it where that is not known.
func delayed(l *loadRound) float64 {
	g := &l.Load.Generator
	if g.RunDelay == nil || l.Log.Elapsed <= 0 {
		return 1
	}
	share := g.RunDelay.Seconds() / l.Log.Elapsed.Seconds()
	if l.Log.Engine != "epoll" { // of several threads that cannot be told apart the sum is known
		share /= float64(max(1, l.Log.Threads))
	}
	return share
}

// waitedForCPU says how long the generator had no CPU; of several threads it is the sum.
func waitedForCPU(l *loadRound) string {
	text := "waited " + unit.Duration(*l.Load.Generator.RunDelay) + " for a CPU"
	if l.Log.Engine != "epoll" && l.Log.Threads > 1 {
		text += " (all its threads together)"
	}
	return text
}

// lateness looks at the slowest requests of a schedule that waited to be sent for
// most of their time: either no connection was free, which is the service's doing,
// or what sends had no CPU. It returns why it was the generator, adds to said what
// is known, and sets unknown where nobody can tell.
func lateness(r *Rule, l *loadRound, said *string, unknown **Finding) string {
	g := &l.Load.Generator
	if g.RunDelay != nil {
		*said = fmt.Sprintf("; it %s", waitedForCPU(l))
	}
	late, took := lateOfSlowest(l.Log)
	if took == 0 || late.Seconds() < r.param("floor") || float64(late) < r.param("waited")*float64(took) {
		return ""
	}
	text := fmt.Sprintf("the slowest requests spent %s of their time waiting to be sent", unit.Percent(float64(late)/float64(took)))
	switch {
	case g.RunDelay == nil:
		f := r.answer(TooLittle, "%s; it is not known whether no connection was free or the generator had no CPU: the system does not report it, or the log is too old to have it", text)
		*unknown = &f
	case *g.RunDelay >= late/2:
		return text + fmt.Sprintf(", and the generator had no CPU for %s", unit.Duration(*g.RunDelay))
	default:
		*said += "; " + text + ", for a connection and not for a CPU"
	}
	return ""
}

// lateOfSlowest returns how long the slowest hundredth of the requests waited to be
// sent in the mean, and how long they took.
func lateOfSlowest(log *loadlog.Log) (late, took time.Duration) {
	if !log.Open {
		return 0, 0
	}
	all := loadlog.Distribution(log.All(), (*loadlog.Request).Latency)
	from := time.Duration(all.Quantile(0.99))
	n := time.Duration(0)
	for q := range log.All() {
		if q.Latency() >= from {
			late, took, n = late+q.Late, took+q.Latency(), n+1
		}
	}
	return late / max(1, n), took / max(1, n)
}
