package insight

import (
	"fmt"

	"loupe/recording"
	"loupe/unit"
)

var ld04 = &Rule{
	ID: "LD04", Title: "The load generator was the limit",
	About: "What sends requests needs CPU too. When it has none left, it sends too late or too few, and what was measured are its limits and not those of the service.",
	Needs: []recording.Kind{recording.Load},
	Params: []Param{
		{"busy", 0.9, "share of a thread's time", "research: of the CPU time that the threads that send can have"},
		{"half", 0.5, "share of the CPU time", "chosen: what the generator may take of the CPU time of both, where no CPU is idle"},
	},
	Check: onLoads(checkGenerator),
}

func checkGenerator(r *Rule, in *Input, all []loadRound) []Finding {
	most, beside := 0.0, 0.0
	for i := range all {
		l := &all[i]
		g := &l.Load.Generator
		used := g.Busy
		if used == 0 && l.log.Threads > 0 && l.log.Elapsed > 0 {
			used = l.log.CPU.Seconds() / l.log.Elapsed.Seconds() / float64(l.log.Threads)
		}
		most = max(most, used)
		ofBoth := 0.0
		if l.Round.CPU > 0 {
			ofBoth = float64(l.log.CPU) / float64(l.log.CPU+l.Round.CPU)
			beside = max(beside, ofBoth)
		}
		var why string
		severity := Warning
		switch {
		case g.Limited != "":
			why = g.Limited
		case used >= r.param("busy"):
			why = "the thread that sends was busy for " + unit.Percent(used) + " of the time"
		case ofBoth >= r.param("half") && in.busyHost():
			why, severity = "no CPU was idle, and it took "+unit.Percent(ofBoth)+" of the CPU time that it and the service used", Info
		default:
			continue
		}
		f := r.answer(Found, "%s: %s answers a second are a lower bound of what the service can do, and its times an upper one", why, unit.Number(l.Load.RPS))
		f.Severity, f.Score = severity, score(max(used, ofBoth), 0.5, 1)
		f.Impact = exactly(max(used, ofBoth), "share of the generator's time in use, or of the CPU time of both")
		text := fmt.Sprintf("the generator used %.2f s of CPU time in %s", g.CPUSeconds, unit.Duration(l.log.Elapsed))
		if l.log.Open {
			text += fmt.Sprintf("; requests were sent late by %s in the median, 99%% by less than %s", unit.Duration(g.LagP50), unit.Duration(g.LagP99))
		}
		f.Evidence = []Evidence{l.seen(text)}
		f.Advice = "Send from another machine, or send less: a lower rate, fewer connections. With one CPU for the generator alone (taskset) it and the service do not wait for each other."
		f.Verify = "Send again: the last section of the report has the share that was busy, and how late requests were."
		f.Doubts = in.doubts()
		return []Finding{f}
	}
	text := "the generator had time left"
	if most > 0 {
		text += ": the busiest thread used " + unit.Percent(most) + " of its"
	}
	if beside > 0 {
		text += "; it used " + unit.Percent(beside) + " of the CPU time of both"
	}
	return []Finding{r.answer(Fine, "%s", text)}
}
