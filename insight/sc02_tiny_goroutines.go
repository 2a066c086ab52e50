package insight

import (
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc02 = &Rule{
	ID: "SC02", Title: "A goroutine is started for every tiny item",
	About: "Starting, scheduling and ending a goroutine takes a fraction of a microsecond. If one is started for work that takes no longer, the " +
		"program is busy with scheduling.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"rate", 1000, "goroutines a second", "research"},
		{"run", 10e-6, "s", "research: median running time of a goroutine"},
	},
	Check: onTrace(checkTinyGoroutines),
}

// launch is a go statement with all goroutines that it made.
type launch struct {
	site          stack.Frame
	stack         stack.ID
	name          exectrace.NameID
	created, peak int64
	most          int64 // created with stack, the most of all stacks
	exec          time.Duration
	outside       time.Duration // in system calls, on the network, asleep
	inside        time.Duration // waiting for what others in the program send or close, or for a timer
	queued, total time.Duration // waiting for a P, and all of their time
	each, life    sched.Histogram
}

// launches are the go statements of the program, those that made most
// goroutines first. The same statement may have been reached in many ways.
func (t *traced) launches() []*launch {
	bySite := map[stack.Frame]*launch{}
	var all []*launch
	for _, g := range t.Creators {
		if !t.Own(g.Name) {
			continue
		}
		site := t.Site(g.Creator)
		l := bySite[site]
		if l == nil {
			l = &launch{site: site, stack: g.Creator, name: g.Name, most: g.Created}
			bySite[site] = l
			all = append(all, l)
		}
		if g.Created > l.most {
			l.stack, l.name, l.most = g.Creator, g.Name, g.Created
		}
		l.created += g.Created
		l.peak += g.Peak
		l.exec += g.Exec
		l.queued += g.SchedWait
		l.total += g.Total
		l.outside += g.Syscall + g.SyscallBlock + g.Blocked.Get(exectrace.NameNetwork) + g.Blocked.Get(exectrace.NameSleep)
		l.inside += g.Blocked.Get(exectrace.NameSelect) + g.Blocked.Get(exectrace.NameChanReceive)
		l.each.Merge(&g.Each)
		l.life.Merge(&g.Life)
	}
	slices.SortStableFunc(all, func(a, b *launch) int { return int(min(1, max(-1, b.created-a.created))) })
	return all
}

// givenToGo are names of functions that start a goroutine for what they are given: Go, TryGo, GoContext.
var givenToGo = lazily(`(^|[a-z])Go([A-Z]|$)`)

// startedInside tells whether the go statement is one of a library that works for itself, as
// database/sql does for each query: how much such a goroutine does is not up to the program. What is
// given to a method Go, as of an errgroup, is.
func startedInside(t *traced, id stack.ID) bool {
	frames := t.Frames(id)
	return len(frames) > 0 && t.Scope.Of(frames[0]) != stack.User && !givenToGo.MatchString(ownName(frames[0].Func))
}

func checkTinyGoroutines(r *Rule, in *Input, t *traced) []Finding {
	all := t.launches()
	if len(all) == 0 {
		return []Finding{r.answer(Fine, "no goroutine was started during the trace")}
	}
	var found []Finding
	for _, l := range all {
		if t.Scope.Of(l.site) < stack.Dependency {
			continue // the standard library starts them, as net/http does for a connection: nobody can change that
		}
		if startedInside(t, l.stack) {
			continue
		}
		run := l.each.Quantile(0.5)
		if t.Rate(l.created) < r.param("rate") || l.each.Count == 0 || run.Seconds() >= r.param("run") || l.outside > l.exec || l.inside > 10*l.exec { // it is there to wait: others wait meanwhile
			continue
		}
		f := r.answer(Found, "%s goroutines were started at %s, %s a second; half of them ran for less than %s in all, %s for less than 1 µs",
			unit.Count(l.created), place(l.site), unit.Number(t.Rate(l.created)), unit.Duration(run), unit.Percent(l.each.Below(time.Microsecond)))
		f.Impact = exactly(t.Rate(l.created), "goroutines started a second")
		f.Severity, f.Score = Info, score(t.Rate(l.created), 5e3, 1e5)
		if t.Rate(l.created) >= 10*r.param("rate") {
			f.Severity = Warning
		}
		f.Evidence = []Evidence{t.seen(l.stack, "they ran for %s in total, half of them lived for less than %s, and %s were alive at once",
			unit.Duration(l.exec), unit.Duration(l.life.Quantile(0.5)), unit.Count(l.peak))}
		f.Advice = "Give each goroutine more to do: a row, a block or a range of items; or hand batches to workers. Measure several batch sizes."
		f.Verify = "Record again: CPU time should fall, and the median run should be far above 10 µs."
		f.Doubts = in.traceDoubts(t, "tracing makes starting a goroutine more expensive")
		found = append(found, f)
	}
	if len(found) > 0 {
		return found[:min(3, len(found))]
	}
	l := all[0]
	return []Finding{r.answer(Fine, "most of those started, %s (%s a second), were at %s; half of them ran for less than %s", unit.Plural(l.created, "goroutine"), unit.Number(t.Rate(l.created)), place(l.site), unit.Duration(l.each.Quantile(0.5)))}
}
