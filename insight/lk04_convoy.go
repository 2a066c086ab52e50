package insight

import (
	"loupe/recording"
	"loupe/unit"
)

var lk04 = &Rule{
	ID: "LK04", Title: "A queue stands before a lock",
	About: "Where goroutines come to a lock as fast as it is let go, a queue forms and never ends: each holds the lock for a moment and waits for it " +
		"many times as long. What all waited, as a multiple of the trace, is how many queued in the mean. A trace does not see who holds a lock, nor for how long: " +
		"who never had to wait for it, such as a reader of a RWMutex, may hold it for most of the time.",
	Needs: []recording.Kind{recording.ExecTrace},
	Params: []Param{
		{"ratio", 10, "goroutines that queue, in the mean", "research"},
		{"waits", 100, "waits", "chosen: below this chance rules"},
	},
	Part:  true,
	Check: onTrace(checkConvoy),
}

func checkConvoy(r *Rule, in *Input, t *traced) []Finding {
	for _, l := range t.locks() {
		ratio := t.share(l.wait.Sum)
		if l.shared || ratio < r.param("ratio") || l.wait.Count < int64(r.param("waits")) {
			continue
		}
		f := r.answer(Found, "%s goroutines queued for the lock at %s in the mean: a wait took %s",
			unit.Number(ratio), place(l.site), unit.Duration(l.wait.Mean()))
		f.Impact = exactly(ratio, "goroutines that queue, in the mean")
		f.Severity, f.Score = Warning, score(ratio, r.param("ratio"), 10*r.param("ratio"))
		f.Evidence = []Evidence{t.seen(l.worst.Stack, "%s waits, the longest %s", unit.Count(l.wait.Count), unit.Duration(l.worst.Len())).during(t, l.worst.Start, l.worst.End)}
		if len(l.holders) > 0 && l.holders[0].Stack != 0 {
			f.Evidence = append(f.Evidence, t.seen(l.holders[0].Stack, "here it was let go, %s times", unit.Count(l.holders[0].Count)))
		}
		f.Advice = "Do more under the lock in one go (collect, then apply a batch), or split what it guards, so that fewer come to the same lock."
		f.Verify = "Record again under the same load: the mean wait should fall, and fewer goroutines queue."
		f.Doubts = in.traceDoubts(t, "if this line locks several mutexes, the queues are as many and shorter",
			"a trace does not see who holds a lock, nor for how long: of a RWMutex a reader that never waited may hold it, and no finding names it")
		return []Finding{f}
	}
	if all := t.locks(); len(all) > 0 {
		return []Finding{r.answer(Fine, "%.2f goroutines queued for the lock at %s in the mean, for others fewer", t.share(all[0].wait.Sum), place(all[0].site))}
	}
	return []Finding{r.answer(Fine, "no goroutine waited for a mutex")}
}
