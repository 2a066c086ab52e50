package insight

import (
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var lk04 = &Rule{
	ID: "LK04", Title: "Lock convoy: goroutines queue for one mutex",
	About: "If goroutines arrive at a lock as fast as it is released, a queue forms and never drains (lock convoy): each holds the lock for a moment " +
		"and waits for it many times as long. The total wait, as a multiple of the trace, is how many queued on average. A trace does not show who holds a lock, nor for how long: a goroutine that never had to wait, such as a reader of a RWMutex, may hold it most of the time.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"ratio", 10, "goroutines queued, on average", "research"},
		{"waits", 100, "waits", "chosen: below this, chance dominates"},
	},
	Part:  true,
	Check: onTrace(checkConvoy),
}

// holderUnseen is the doubt where nothing leads from the waits to the one who holds the lock.
const holderUnseen = "a trace does not show who holds a lock, nor for how long: a RWMutex may be held by a reader that never waited"

func checkConvoy(r *Rule, in *Input, t *traced) []Finding {
	all, _ := in.Facts.WaitsOf(recording.ExecTrace)
	if len(all) == 0 {
		return []Finding{r.answer(TooLittle, "the trace has no waits")}
	}
	queues := all[0].Places(facts.ForLock)
	for _, l := range queues {
		ratio := t.Share(l.Time)
		if l.Shared || l.Open == l.Count || ratio < r.param("ratio") || l.Count < int64(r.param("waits")) && float64(l.Open) < r.param("ratio") {
			continue
		}
		f := r.answer(Found, "%s goroutines queued for %s on average: a wait took %s%s",
			unit.Number(ratio), in.code.named(l.At), unit.Duration(l.Dist.Mean()), stillWait(l))
		f.Impact = exactly(ratio, "goroutines queued, on average")
		f.Severity, f.Score = Warning, score(ratio, r.param("ratio"), 10*r.param("ratio"))
		f.Evidence = []Evidence{t.seen(l.Worst.Stack, "%s waits, the longest %s", unit.Count(l.Count), unit.Duration(l.Worst.Len())).during(t, l.Worst.Start, l.Worst.End).ofGoroutine(l.Worst.G)}
		f.Evidence[0].waits = true
		if len(l.By) > 0 && l.By[0].Stack != 0 {
			f.Evidence = append(f.Evidence, t.seen(l.By[0].Stack, "unlocked here, which ended %s of the waits", unit.Count(l.By[0].Count)))
		}
		startedWith(in, t.Frames(l.Worst.Stack), &f)
		f.Advice = "Do more per lock acquisition (collect, then apply a batch), or split what it guards, so that fewer goroutines compete for the same lock."
		adviseConvoy(in, t, l.At, &f)
		f.Verify = "Record again under the same load: the mean wait should fall, and fewer goroutines queue."
		f.Doubts = append(f.Doubts, in.traceDoubts(t, "if this line locks several mutexes, there are as many queues, and shorter ones",
			holderUnseen)...)
		tellConvoyed(in, t, l, &f)
		return []Finding{f}
	}
	if len(queues) > 0 && queues[0].Open == queues[0].Count {
		return []Finding{r.answer(Fine, "%.2f goroutines waited for %s on average, and none of them got it during the trace: in a convoy, one after another does (LK01 says who may hold it)", t.Share(queues[0].Time), in.code.named(queues[0].At))}
	}
	if len(queues) > 0 {
		return []Finding{r.answer(Fine, "%.2f goroutines queued for %s on average, fewer for other locks", t.Share(queues[0].Time), in.code.named(queues[0].At))}
	}
	others, _ := in.Facts.WaitsOf(lockFiles[1:]...)
	for _, w := range others {
		if places := w.Places(facts.ForLock); len(places) > 0 {
			return []Finding{r.answer(TooLittle, "no goroutine waited for a mutex in the trace, but according to the %[2]s one did at %[1]s: record a trace while that happens (-phases trace)", place(places[0].At), w.What)}
		}
	}
	return []Finding{r.answer(Fine, "no goroutine waited for a mutex")}
}

// adviseConvoy says what to do about a lock that goroutines queue for by what its holder does: what LK02 says where that waits, since more
// under the lock would make it worse, and what is done there where it works.
func adviseConvoy(in *Input, t *traced, lock stack.Frame, f *Finding) {
	if u := underLockAt(in, lock); u != nil && 2*u.time >= u.all() {
		var held Finding
		u.advise(in, t, &held)
		f.Advice, f.Doubts = held.Advice, held.Doubts
		f.queuesForTurn(&held)
	} else if held, ok := heldIOAt(in, lock); ok {
		f.Advice = held.Advice
		f.queuesForTurn(&held)
	} else if does := workAdvice(in, lock); does != "" {
		f.Advice = does
	}
}

// tellConvoyed makes a finding about a queue begin with who holds the lock for most of that time.
func tellConvoyed(in *Input, t *traced, l *facts.Place, f *Finding) {
	u, _ := unitsSpend(in, func(row *facts.UnitRow) bool {
		return row.Kind.Key() == "lock" && row.Site.Frame.File == l.At.File && row.Site.Frame.Line == l.At.Line
	})
	h := holderOf(in, t, l.At, t.Frames(l.Worst.Stack), u.rows)
	if h == nil {
		return
	}
	if w := walkHeld(in, l.At, h, t); w != nil {
		f.Advice = w.advice(workAdvice(in, l.At))
	}
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return d == holderUnseen })
	h.tell(in, t, l.At, whileHeld(h.does), false, f)
}
