package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/unit"
)

var sc15 = &Rule{
	ID: "SC15", Title: "System calls lose their P",
	About: "A system call that takes longer than a few tens of microseconds loses its P to others, and must wait for one when it returns. " +
		"Thousands of these a second are small reads or writes that a buffer would combine.",
	Asks:   []facts.Question{facts.Scheduling},
	Params: []Param{{"rate", 1000, "Ps taken away a second", "research"}},
	Part:   true,
	Check:  onTrace(checkStolen),
}

func checkStolen(r *Rule, in *Input, t *traced) []Finding {
	rate := t.Rate(t.Parallel.Steals)
	text := fmt.Sprintf("system calls lost %s, %s a second", unit.Plural(t.Parallel.Steals, "P"), unit.Number(rate))
	if rate < r.param("rate") {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(rate, "Ps taken away a second")
	f.Severity, f.Score = Info, score(rate, r.param("rate"), 10*r.param("rate"))
	if rate >= 10*r.param("rate") {
		f.Severity = Warning
	}
	calls := t.OwnBlocks(func(b *sched.Block) bool { return b.State == exectrace.Syscall })
	for _, b := range calls[:min(3, len(calls))] {
		f.Evidence = append(f.Evidence, t.seen(b.Stack, "%s system calls, %s in all, 99%% within %s", unit.Count(b.Wait.Count), unit.Duration(b.Wait.Sum), unit.Duration(b.Wait.Quantile(0.99))))
	}
	f.Advice = "Do more in each call: bufio around small reads or writes, larger blocks, fewer files opened one by one."
	f.Verify = "Record again under the same load: system calls a second should fall."
	f.Doubts = in.traceDoubts(t, "a trace does not show which system call lost its P: the places are those with the most time in system calls")
	return []Finding{f}
}
