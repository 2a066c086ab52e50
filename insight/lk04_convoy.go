package insight

import (
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

var lk04 = &Rule{
	ID: "LK04", Title: "Lock convoy: goroutines queue for one mutex",
	About: "Where goroutines come to a lock as fast as it is let go, a queue forms and never ends: each holds the lock for a moment and waits for it " +
		"many times as long. What all waited, as a multiple of the trace, is how many queued in the mean. A trace does not see who holds a lock, nor for how long: " +
		"who never had to wait for it, such as a reader of a RWMutex, may hold it for most of the time.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"ratio", 10, "goroutines that queue, in the mean", "research"},
		{"waits", 100, "waits", "chosen: below this chance rules"},
	},
	Part:  true,
	Check: onTrace(checkConvoy),
}

func checkConvoy(r *Rule, in *Input, t *traced) []Finding {
	all, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if len(all) == 0 {
		return []Finding{r.answer(TooLittle, "the trace has no waits")}
	}
	queues := all[0].Places(facts.ForLock)
	for _, l := range queues {
		ratio := t.Share(l.Time)
		if l.Shared || ratio < r.param("ratio") || l.Count < int64(r.param("waits")) && float64(l.Open) < r.param("ratio") {
			continue
		}
		f := r.answer(Found, "%s goroutines queued for %s in the mean: a wait took %s%s",
			unit.Number(ratio), in.code.named(l.At), unit.Duration(l.Dist.Mean()), stillWait(l))
		f.Impact = exactly(ratio, "goroutines that queue, in the mean")
		f.Severity, f.Score = Warning, score(ratio, r.param("ratio"), 10*r.param("ratio"))
		f.Evidence = []Evidence{t.seen(l.Worst.Stack, "%s waits, the longest %s", unit.Count(l.Count), unit.Duration(l.Worst.Len())).during(t, l.Worst.Start, l.Worst.End).ofGoroutine(l.Worst.G)}
		if len(l.By) > 0 && l.By[0].Stack != 0 {
			f.Evidence = append(f.Evidence, t.seen(l.By[0].Stack, "here it was let go, %s times", unit.Count(l.By[0].Count)))
		}
		f.Advice = "Do more under the lock in one go (collect, then apply a batch), or split what it guards, so that fewer come to the same lock."
		f.Verify = "Record again under the same load: the mean wait should fall, and fewer goroutines queue."
		f.Doubts = in.traceDoubts(t, "if this line locks several mutexes, the queues are as many and shorter",
			"a trace does not see who holds a lock, nor for how long: of a RWMutex a reader that never waited may hold it, and no finding names it")
		return []Finding{f}
	}
	if len(queues) > 0 {
		return []Finding{r.answer(Fine, "%.2f goroutines queued for %s in the mean, for others fewer", t.Share(queues[0].Time), in.code.named(queues[0].At))}
	}
	others, _ := in.Facts.WaitsOf(lockFiles[1:]...)
	for _, w := range others {
		if places := w.Places(facts.ForLock); len(places) > 0 {
			return []Finding{r.answer(TooLittle, "no goroutine waited for a mutex in the trace, but at %s one did, as the %s has it: record a trace while that happens (-phases trace)", place(places[0].At), w.What)}
		}
	}
	return []Finding{r.answer(Fine, "no goroutine waited for a mutex")}
}
