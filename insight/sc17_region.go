package insight

import (
	"fmt"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/unit"
)

var sc17 = &Rule{
	ID: "SC17", Title: "One region is most of a task",
	About: "If a program marks its tasks and their regions (runtime/trace), the trace shows what a task's time is spent on, waiting included: " +
		"where a change would matter, and where it would not.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.5, "share of the tasks' time", "chosen: more than all the rest"},
		{"tasks", 20, "tasks", "chosen: below this, chance dominates"},
	},
	Check: onTrace(checkRegions),
}

func checkRegions(r *Rule, in *Input, t *traced) []Finding {
	var all []Finding
	for _, g := range t.Tasks {
		if g.Name != exectrace.NameNone && len(g.Regions) > 0 {
			all = append(all, checkTask(r, in, t, g))
		}
	}
	if len(all) == 0 {
		return []Finding{r.answer(NotApplicable, "the program marks no regions within tasks (runtime/trace.NewTask and WithRegion)")}
	}
	return all[:min(3, len(all))]
}

// checkTask looks at one type of task.
func checkTask(r *Rule, in *Input, t *traced, g *sched.TaskGroup) Finding {
	name, top := t.Reader.Name(g.Name), g.Regions[0]
	if whole := g.Count - g.Incomplete; whole < int64(r.param("tasks")) {
		return r.short("the trace has %d complete tasks %s; %g are needed", whole, name, r.param("tasks"))
	}
	share := func(d time.Duration) float64 { return float64(d) / float64(max(1, g.Latency.Sum)) }
	var parts []string
	for _, region := range g.Regions[:min(5, len(g.Regions))] {
		parts = append(parts, fmt.Sprintf("%s %s", t.Reader.Name(region.Name), unit.Percent(share(region.Total))))
	}
	text := fmt.Sprintf("of the time of %s tasks %s (p50 %s, p99 %s) %s", unit.Count(g.Count), name,
		unit.Duration(g.Latency.Quantile(0.5)), unit.Duration(g.Latency.Quantile(0.99)), strings.Join(parts, ", "))
	if share(top.Total) < r.param("share") {
		return r.answer(Fine, "%s: no region is more than half", text)
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Info, score(share(top.Total), 0.5, 0.9)
	f.Impact = exactly(share(top.Total), "share of the tasks' time in region "+t.Reader.Name(top.Name))
	waited := top.Blocked.Sum() + top.Syscall + top.SyscallBlock
	f.Evidence = []Evidence{t.seen(top.Stack, "region %s: %s in all, of which %s running, %s waiting for a P, %s in waits and system calls; p50 %s, p99 %s", t.Reader.Name(top.Name),
		unit.Duration(top.Total), unit.Duration(top.Exec), unit.Duration(top.SchedWait), unit.Duration(waited), unit.Duration(top.Time.Quantile(0.5)), unit.Duration(top.Time.Quantile(0.99)))}
	switch {
	case top.SchedWait > top.Exec && top.SchedWait > waited:
		f.Advice = "Most of the region is waiting for a P: too much computes at once (SC05, SC07)."
	case waited > top.Exec:
		f.Advice = "Most of the region is waiting: look at what it waits for (loupe trace blocked), not at a CPU profile."
	default:
		f.Advice = "Start here: the region computes, so a CPU profile shows what it computes; no change to the other regions can save more than " + unit.Percent(max(0, 1-share(top.Total))) + "."
	}
	f.Verify = "Record again: the share of the region should fall, and the tasks' p50 with it."
	f.Doubts = in.traceDoubts(t, "a nested region counts for both")
	return f
}
