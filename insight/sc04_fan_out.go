package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc04 = &Rule{
	ID: "SC04", Title: "Goroutine fan-out: many more goroutines at once than Ps",
	About: "More goroutines do not compute faster: beyond the number of Ps they only wait in run queues, hold their stacks, and delay " +
		"everything else. Hundreds today may be a million tomorrow.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"alive", 100, "goroutines for each P", "research: alive at once, from one go statement"},
		{"queue", 5, "waiting for each P", "schedstat: a burst of runnable goroutines"},
		{"time", 0.05, "share of the trace", "research: the queue's 95th percentile"},
		{"warn", 1000, "goroutines of a service", "the healthy programs: a scrape of node_exporter starts 45, and four scrapes 180; of others ten times as many"},
		{"flat", 0.6, "share of the readings", "chosen: in so many the number of goroutines is near its peak: something bounds it"},
		{"near", 0.7, "share of the peak", "chosen: a number that grows steadily is there in 30% of the readings"},
	},
	Check: onTrace(checkFanOut),
}

// queued is the share of the trace in which at least n goroutines waited for
// a P, and how many waited most of that time.
func (t *traced) queued(n int) (share float64) {
	sum := time.Duration(0)
	for k, d := range t.Parallel.Queued {
		if k >= n {
			sum += d
		}
	}
	return t.Share(sum)
}

// lasting tells that most of the goroutines of a go statement have not ended: they wait for
// ever (SC10), or are workers and connections. A bound would let none start any more.
func (l *launch) lasting() bool { return 2*l.each.Count < l.created }

// starter is the package of a library that started the goroutines, in a call of the program;
// empty where the go statement is the program's own, or the call is one to start a goroutine.
func (t *traced) starter(l *launch) string {
	frames := slices.DeleteFunc(t.Frames(l.stack), func(f stack.Frame) bool { return t.Scope.Of(f) <= stack.Runtime })
	if len(frames) == 0 || t.Scope.Of(frames[0]) == stack.User {
		return ""
	}
	for i, f := range frames[1:] {
		if t.Scope.Of(f) == stack.User { // which calls frames[i]
			if startsWork(frames[i].Func) {
				return ""
			}
			break
		}
	}
	return stack.Package(frames[0].Func)
}

// startsWork tells of a function of a library, by its name, that it is called to start a
// goroutine: sync.(*WaitGroup).Go, errgroup.(*Group).TryGo, a pool's Submit.
func startsWork(function string) bool {
	name := lastName(strings.TrimSuffix(function, "[...]"))
	return slices.ContainsFunc([]string{"Go", "TryGo", "Submit", "Spawn"}, func(verb string) bool { return strings.HasPrefix(name, verb) })
}

// levelled tells whether the goroutines of the program stayed near their highest number for most
// of a round, in which there were about as many as now, and between which numbers.
func (r *Rule) levelled(in *Input, now int64) (low, high int64, share float64, ok bool) {
	for _, one := range facts.ReadingsOf(in.Facts) {
		all := one.Values("/sched/goroutines:goroutines")
		if len(all) < 5 {
			continue
		}
		top := slices.Max(all)
		near := slices.DeleteFunc(slices.Clone(all), func(n float64) bool { return n < r.param("near")*top })
		if int64(top) > high {
			low, high, share = int64(slices.Min(near)), int64(top), float64(len(near))/float64(len(all))
		}
	}
	return low, high, share, share >= r.param("flat") && 2*now >= high && 2*high >= now
}

func checkFanOut(r *Rule, in *Input, t *traced) []Finding {
	procs := max(1, t.Parallel.Procs)
	limit := int(r.param("queue")) * procs
	share := t.queued(limit)
	var most *launch
	for _, l := range t.launches() {
		if in.Session.Scope().IsOutsideStandard(l.site) && !l.lasting() && (most == nil || l.peak > most.peak) { // nobody can change the library
			most = l
		}
	}
	if most == nil {
		return []Finding{r.answer(Fine, "no goroutine was started and ended during the trace")}
	}
	if float64(most.peak) < r.param("alive")*float64(procs) || share < r.param("time") {
		return []Finding{r.answer(Fine, "at most %s from one go statement (%s) were alive at once; %d or more waited for one of %d Ps in %s of the time",
			unit.Plural(most.peak, "goroutine"), place(most.site), limit, procs, unit.Percent(share))}
	}
	low, high, level, flat := r.levelled(in, most.peak)
	if flat && 2*most.queued < most.total { // they are there to wait, and something bounds them
		return []Finding{r.answer(Fine, "%s from one go statement (%s) were alive at once, and spent %s of their time waiting for a P; the number of all goroutines stayed between %s and %s in %s of the readings",
			unit.Plural(most.peak, "goroutine"), place(most.site), unit.Percent(float64(most.queued)/float64(most.total)), unit.Count(low), unit.Count(high), unit.Percent(level))}
	}
	f := r.answer(Found, "%s goroutines that were started at %s were alive at once, on %d Ps; in %s of the time %d or more waited for a P",
		unit.Count(most.peak), place(most.site), procs, unit.Percent(share), limit)
	f.Impact = exactly(float64(most.peak), "goroutines alive at once")
	f.Severity, f.Score = Info, score(float64(most.peak)/float64(procs), 100, 5000)
	if warn := int64(r.param("warn")); most.peak >= 10*warn || in.public().serves() && most.peak >= warn {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{t.seen(most.stack, "%s goroutines were started here, and ran for a median of %s each", unit.Count(most.created), unit.Duration(most.each.Quantile(0.5)))}
	f.Advice = "Limit them with a semaphore (a channel of capacity n) before the go statement, and measure the throughput at several n: pure computation gains nothing from more goroutines than Ps, waiting for others needs many more."
	f.Verify = "Record again: the number of goroutines should follow the limit, and the wall time should stay the same or fall."
	f.Doubts = in.traceDoubts(t, "if the number is known and small, a few hundred do little harm")
	if flat {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("the number of all goroutines stayed between %s and %s in %s of the readings: something bounds it", unit.Count(low), unit.Count(high), unit.Percent(level)))
	}
	if library := t.starter(most); library != "" {
		f.Severity = Info
		f.Summary += fmt.Sprintf("; %s starts them, in calls from that line", library)
		f.Advice = "The go statement is not the program's own: make fewer calls at that line (one that asks for many things at once, if the library has it), or let fewer goroutines make them at the same time."
		f.Verify = "Record again: fewer goroutines should be started there."
	}
	return []Finding{f}
}
