package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/exectrace"
	"loupe/recording"
	"loupe/sched"
	"loupe/unit"
)

var sc10 = &Rule{
	ID: "SC10", Title: "Goroutines never finish",
	About: "Goroutines that wait at one place for ever are a leak: their stacks, and all that they refer to, stay. " +
		"A trace shows those that came there while it was taken and did not leave; that more come all the time tells a leak from a pool.",
	Needs: []recording.Kind{recording.ExecTrace},
	Params: []Param{
		{"goroutines", 100, "goroutines", "chosen: at one place, started in the trace, when it ends"},
		{"quarter", 0.10, "share of them", "chosen: that came in each quarter of the trace"},
		{"stayed", 0.5, "share of the trace", "research: the first has been there for most of it"},
	},
	Check: onTrace(checkNeverFinish),
}

func checkNeverFinish(r *Rule, in *Input, t *traced) []Finding {
	var found []Finding
	var most *sched.Left
	for i := range t.Left {
		l := &t.Left[i]
		// On the network, asleep or for the collector: somebody else decides
		// when it goes on.
		if !t.own(l.Name) || l.State != exectrace.Waiting || l.Reason == exectrace.NameNetwork || l.Reason == exectrace.NameSleep ||
			strings.HasPrefix(t.Reader.Name(l.Reason), "GC ") {
			continue
		}
		if most == nil || l.Created > most.Created {
			most = l
		}
		if float64(l.Created) < r.param("goroutines") || float64(slices.Min(l.Quarters[:])) < r.param("quarter")*float64(l.Count) || t.share(l.Longest) < r.param("stayed") {
			continue
		}
		f := r.answer(Found, "%s goroutines of %s wait at %s when the trace ends, %s of them started while it was taken and none gone on; the first has been there for %s",
			unit.Count(l.Count), t.name(l.Name), place(t.site(l.Stack)), unit.Count(l.Created), unit.Duration(l.Longest))
		f.Impact = exactly(t.rate(l.Created), "goroutines more every second")
		f.Severity, f.Score = Warning, score(float64(l.Created), 100, 1000)
		f.Evidence = []Evidence{t.seen(l.Stack, "%s; in the quarters of the trace came %s", t.Reader.Name(l.Reason), fmt.Sprint(l.Quarters))}
		f.Advice = "Give the wait an end: a context or a channel that is closed when nobody listens any more, or room for one (make(chan T, 1)) so that a sender can leave."
		f.Verify = "Record again for as long: the number of goroutines should stay the same (-phases goroutine before and after)."
		f.Doubts = in.traceDoubts(t, "a trace cannot know whether somebody will wake them up later: more connections, or a pool that still grows, look the same")
		found = append(found, f)
	}
	if len(found) > 0 {
		return found[:min(3, len(found))]
	}
	if most == nil || most.Created == 0 {
		return []Finding{r.answer(Fine, "no goroutine that was started in the trace waits for another when it ends")}
	}
	return []Finding{r.answer(Fine, "at most %s of those started in the trace wait at one place when it ends (%s)", plural(most.Created, "goroutine"), place(t.site(most.Stack)))}
}
