package insight

import (
	"cmp"
	"slices"
	"strings"

	"loupe/exectrace"
	"loupe/recording"
	"loupe/sched"
	"loupe/stack"
	"loupe/unit"
)

var lk01 = &Rule{
	ID: "LK01", Title: "Goroutines wait for a lock",
	About: "The time that goroutines waited for a mutex, at one place, as a share of what all Ps could have done meanwhile.",
	Needs: []recording.Kind{recording.ExecTrace},
	Params: []Param{
		{"info", 0.01, "share of the time of all Ps", "research"},
		{"warning", 0.10, "share of the time of all Ps", "research"},
		{"waits", 10, "waits", "chosen: fewer are of a moment, such as the filling of a cache"},
	},
	Part:  true,
	Check: onTrace(checkContention),
}

// lock is one line at which goroutines waited for a mutex.
type lock struct {
	site    stack.Frame
	wait    sched.Histogram
	worst   sched.Interval
	holders []sched.Waker // where it was let go
	shared  bool          // several may hold it: RLock
}

// locks are the places at which the program waited for a mutex, the longest
// time first.
func (t *traced) locks() []*lock {
	bySite := map[stack.Frame]*lock{}
	var all []*lock
	for _, b := range t.blocks(func(b *sched.Block) bool {
		return b.Reason == exectrace.NameSync && t.calls(b.Stack, "Mutex).") && !exectrace.IsCollectorWait(t.Reader.Stacks(), b.Stack, b.Reason)
	}) {
		site := t.site(b.Stack)
		l := bySite[site]
		if l == nil {
			l = &lock{site: site, worst: b.Worst}
			bySite[site] = l
			all = append(all, l)
		}
		l.wait.Merge(&b.Wait)
		if b.Worst.Len() > l.worst.Len() {
			l.worst = b.Worst
		}
		l.holders = append(l.holders, b.Wakers...)
		l.shared = l.shared || t.calls(b.Stack, ").RLock")
	}
	for _, l := range all {
		slices.SortStableFunc(l.holders, func(a, b sched.Waker) int { return cmp.Compare(b.Count, a.Count) })
	}
	slices.SortStableFunc(all, func(a, b *lock) int { return cmp.Compare(b.wait.Sum, a.wait.Sum) })
	return all
}

// calls tells whether a stack has a function of package sync with these words
// in its name. What the runtime waits for itself has none.
func (t *traced) calls(id stack.ID, words string) bool {
	for _, f := range t.Reader.Stacks().Frames(id) {
		name := t.Reader.Stacks().Frame(f).Func
		if (strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "internal/sync.")) && strings.Contains(name, words) {
			return true
		}
	}
	return false
}

func checkContention(r *Rule, in *Input, t *traced) []Finding {
	all := t.locks()
	if len(all) == 0 {
		return []Finding{r.answer(Fine, "no goroutine waited for a mutex")}
	}
	var found []Finding
	share := func(l *lock) float64 { return t.share(l.wait.Sum) / float64(max(1, t.Parallel.Procs)) }
	for _, l := range all {
		if share(l) < r.param("info") {
			break
		}
		if float64(l.wait.Count) < r.param("waits") {
			continue
		}
		f := r.answer(Found, "goroutines waited %s for the lock at %s, in a trace of %s: %s of the time of %d Ps; %s waits, 99%% within %s",
			unit.Duration(l.wait.Sum), place(l.site), unit.Duration(t.length()), unit.Percent(share(l)), max(1, t.Parallel.Procs), unit.Count(l.wait.Count), unit.Duration(l.wait.Quantile(0.99)))
		f.Impact = exactly(share(l), "share of the time of all Ps")
		f.Severity, f.Score = Info, score(share(l), r.param("info"), 5*r.param("warning"))
		if share(l) >= r.param("warning") {
			f.Severity = Warning
		}
		f.Evidence = []Evidence{t.seen(l.worst.Stack, "the longest wait, %s, %s after the trace began", unit.Duration(l.worst.Len()), t.since(l.worst.Start)).during(t, l.worst.Start, l.worst.End)}
		if len(l.holders) > 0 && l.holders[0].Stack != 0 {
			f.Evidence = append(f.Evidence, t.seen(l.holders[0].Stack, "here it was let go, %s times", unit.Count(l.holders[0].Count)))
		}
		f.Advice = "Hold the lock for less: compute, allocate and wait before it; split the data over several locks; or copy what is only read (atomic.Pointer)."
		f.Verify = "Record again under the same load: the waits should fall by more than the requests."
		f.Doubts = in.traceDoubts(t, "where goroutines wait for Ps too (SC07), a holder that has no P makes everybody wait for it")
		found = append(found, f)
	}
	if len(found) > 0 {
		return found[:min(3, len(found))]
	}
	return []Finding{r.answer(Fine, "goroutines waited %s for the lock at %s, %s of the time of all Ps, in %s; for others less", unit.Duration(all[0].wait.Sum), place(all[0].site), unit.Percent(share(all[0])), plural(all[0].wait.Count, "wait"))}
}
