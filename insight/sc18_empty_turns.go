package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var sc18 = &Rule{
	ID: "SC18", Title: "Wasted wakeups: goroutines wake up and find nothing to do",
	About: "A goroutine that wakes up, finds nothing to do and waits again costs two passes through the scheduler, and others have waited for the P. sync.Cond.Broadcast wakes all for what only " +
		"one can take (thundering herd), short tickers and sleeps poll, and runtime.Gosched in a loop spins.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.2, "share of all turns", "chosen: less is lost among the others"},
		{"rate", 5000, "turns a second", "chosen: the scheduler takes about a microsecond for each; less is no loss"},
		{"warning", 20000, "turns a second", "chosen: a few hundredths of a CPU, and every wait for a P grows"},
		{"half", 0.5, "share of the turns at the line", "chosen: else it mostly finds something"},
		{"woken", 4, "goroutines woken by a Broadcast", "chosen: of these at most one may have found something"},
	},
	Check: onTrace(checkEmptyTurns),
}

func checkEmptyTurns(r *Rule, in *Input, t *traced) []Finding {
	turns, err := facts.TurnsIn(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	var found []Finding
	lines := slices.DeleteFunc(slices.Clone(turns.Lines), func(x facts.Turn) bool {
		return !in.Session.Scope().IsOutsideStandard(t.Site(x.Stack)) || x.Wake == facts.ByYield && runtimeYields(t.Frames(x.Stack)) // such as the collector's own goroutines
	})
	for i := range lines {
		x := &lines[i]
		herd := x.Wake != facts.ByBroadcast || float64(x.Turns) >= r.param("woken")*float64(x.Calls)
		empty := forNothing(x)
		if herd && float64(empty) >= r.param("share")*float64(turns.All) && t.Rate(empty) >= r.param("rate") && float64(empty) >= r.param("half")*float64(x.Turns) {
			found = append(found, emptyTurnsFinding(r, in, t, turns, x))
		}
	}
	if len(found) > 0 {
		return found[:min(2, len(found))]
	}
	if len(lines) == 0 {
		return []Finding{r.answer(Fine, "no goroutine was woken by a Broadcast, a timer or runtime.Gosched only to wait again at once")}
	}
	x := &lines[0]
	return []Finding{r.answer(Fine, "goroutines were woken at most %s times a second at one line only to wait again at once, %s of all turns", unit.Number(t.Rate(forNothing(x))), unit.Percent(float64(forNothing(x))/float64(max(1, turns.All))))}
}

// runtimeYields tells whether it is the runtime that called Gosched, as debug.FreeOSMemory and
// runtime.GC do while they wait for the sweep.
func runtimeYields(frames []stack.Frame) bool {
	for _, f := range frames {
		if f.Func != "runtime.Gosched" {
			pkg := stack.Package(f.Func)
			return pkg == "runtime" || pkg == "runtime/debug"
		}
	}
	return true
}

// forNothing is how many turns at a line were for nothing: of each Broadcast one may have been
// for something without an event that tells.
func forNothing(x *facts.Turn) int64 {
	if x.Wake == facts.ByBroadcast {
		return max(0, x.Empty-x.Calls)
	}
	return x.Empty
}

func emptyTurnsFinding(r *Rule, in *Input, t *traced, turns *facts.Turns, x *facts.Turn) Finding {
	at, share := t.Site(x.Stack), float64(forNothing(x))/float64(max(1, turns.All))
	what := map[bool]string{true: "a Broadcast", false: "a timer"}[x.Wake == facts.ByBroadcast]
	text := fmt.Sprintf("%s of the turns that goroutines got were wasted at %s: woken by %s, they waited again at once, %s times a second, %s", unit.Percent(share), place(at), what, unit.Number(t.Rate(forNothing(x))), unit.Plural(x.Goroutines, "goroutine"))
	switch x.Wake {
	case facts.ByBroadcast:
		text += fmt.Sprintf("; each Broadcast woke %s on average", unit.Number(float64(x.Turns)/float64(max(1, x.Calls))))
	case facts.ByYield:
		text = fmt.Sprintf("%s of the turns that goroutines got were of runtime.Gosched at %s, which was called again at once: %s times a second, %s", unit.Percent(share), place(at), unit.Number(t.Rate(forNothing(x))), unit.Plural(x.Goroutines, "goroutine"))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(share, "share of all turns")
	f.Score = score(t.Rate(forNothing(x)), r.param("warning"), 10*r.param("warning"))
	f.Severity = Info
	if t.Rate(forNothing(x)) >= r.param("warning") && share >= r.param("half") {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{t.seen(x.Stack, "%s of %s turns were wasted; they ran %s in total", unit.Count(forNothing(x)), unit.Count(x.Turns), unit.Duration(x.Ran))}
	switch x.Wake {
	case facts.ByBroadcast:
		f.Advice = "Wake only as many as can continue: use Signal when one item has arrived, or a channel, which hands each item to one waiter. Broadcast is for what all of them wait for, such as the end."
		f.Doubts = in.traceDoubts(t, "for each Broadcast one goroutine is assumed to have found something, though no event shows it")
	case facts.ByTick:
		f.Advice = "Wait for the event (a channel, a sync.Cond, a context), not for the clock; if polling is unavoidable, let one goroutine poll for all, and less often."
		f.Doubts = in.traceDoubts(t, "a turn that only updates memory leaves no event: it is counted as empty here")
	case facts.ByYield:
		f.Advice = "Do not spin: wait on a channel, a sync.Cond or a WaitGroup, which lets the goroutine sleep until there is something to do."
		f.Doubts = in.traceDoubts(t)
	}
	f.Verify = "Record again under the same load: loupe trace summary should show fewer transitions, and the CPU time in runtime.schedule and runtime.findRunnable should fall."
	return f
}
