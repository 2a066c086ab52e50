package insight

import (
	"fmt"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var gc17 = &Rule{
	ID: "GC17", Title: "The program itself stops the world",
	About: "runtime.ReadMemStats, a goroutine profile, the stacks of all goroutines, runtime.GOMAXPROCS and debug.SetGCPercent stop the world while they work. The collector's own " +
		"pauses are covered by GC01, and those of forced collections by GC12.",
	Asks: []facts.Question{facts.WorldStops},
	Params: []Param{
		{"share", 0.01, "share of the time", "chosen: less is not worth a change"},
		{"warn", 0.05, "share of the time", "chosen: as much as the 5% at which the collector takes too much"},
		{"stops", 10, "stops", "chosen: below this it is not a pattern"},
		{"long", 0.05, "s", "chosen: a single pause that a user notices"},
	},
	Part:  true,
	Check: checkStops,
}

// notForced are the stops that are no collections.
func notForced(s *facts.Stop) bool { return !s.Forced }

func checkStops(r *Rule, in *Input) []Finding {
	t := in.trace()
	if t.Err != nil || t.TooShort() != nil {
		return []Finding{checkStopsCounted(r, in)}
	}
	s, err := facts.StopsIn(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	sum, count := s.Sum(notForced)
	share := t.Share(sum)
	// A verdict holds if it holds with the stops of which nobody knows what they were for.
	if n := s.Unnamed; float64(count+n.Count) >= r.param("stops") && t.Share(sum+n.Time) >= r.param("share") && share < r.param("share") {
		return []Finding{r.answer(TooLittle, "the trace does not say what %s, %s in total, were for", unit.Plural(n.Count, "stop"), unit.Duration(n.Time))}
	}
	if count == 0 {
		return []Finding{r.answer(Fine, "the program itself never stopped the world in %s of the execution trace", unit.Duration(t.Length()))}
	}
	var top *facts.Stop
	for i := range s.All {
		if one := &s.All[i]; notForced(one) && (top == nil || one.Sum > top.Sum) {
			top = one
		}
	}
	text := fmt.Sprintf("the world was stopped for %s of the time at the program's request: %s, %s a second%s; mostly for %s",
		unit.Percent(share), unit.Plural(count, "stop"), unit.Number(t.Rate(count)), perRequest(in, t.Entry.Phase, t.Rate(count)), top.For)
	if top.At.Func != "" {
		text += " in " + place(top.At)
	}
	longest := time.Duration(0)
	for i := range s.All {
		if notForced(&s.All[i]) {
			longest = max(longest, s.All[i].Longest)
		}
	}
	habit := share >= r.param("share") && float64(count) >= r.param("stops")
	if !habit && longest.Seconds() < r.param("long") {
		return []Finding{r.answer(Fine, "%s", text)}
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(share, "share of the time in which no goroutine ran")
	f.Severity, f.Score = Info, score(share, r.param("share"), 0.2)
	if share >= r.param("warn") || !habit {
		f.Severity = Warning
	}
	f.Evidence = stopEvidence(t, s, notForced)
	f.Advice = stopAdvice(top.For)
	f.Verify = "Record again under the same load: loupe trace stw lists each kind of stop, and this one should be gone or rare."
	f.Doubts = in.traceDoubts(t)
	if !habit {
		in.public().weigh(&f)
		if c, ok := facts.CountStops(in.Facts); ok && c.Other == 0 && c.Length >= t.Length() {
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("runtime/metrics count no such stop in %s without the trace: it may come at the start or the end alone, or with the trace", unit.Duration(c.Length)))
		}
	}
	if in.Facts.Noise().Full() {
		f.Doubts = append(f.Doubts, inUse(in, in.Facts.Noise())+": a stop also includes time when the kernel runs something else")
	}
	return []Finding{f}
}

// stopEvidence shows the places that stop the world most.
func stopEvidence(t *traced, s *facts.Stops, keep func(*facts.Stop) bool) (out []Evidence) {
	for i := range s.All {
		one := &s.All[i]
		if !keep(one) || len(out) == 3 {
			continue
		}
		e := t.seenAt(one.Frames, one.At, "%s of %s, %s in total, the longest %s", unit.Plural(one.Count, "stop"), one.For, unit.Duration(one.Sum), unit.Duration(one.Longest))
		out = append(out, e)
	}
	return out
}

// stopAdvice is what to do about stops of a kind.
func stopAdvice(what string) string {
	switch what {
	case "runtime.ReadMemStats":
		return "Read runtime/metrics instead, which does not stop the world (metrics.Read): /memory/classes/heap/objects:bytes is HeapAlloc, /memory/classes/total:bytes is Sys, /gc/heap/allocs:bytes is TotalAlloc, /gc/cycles/total:gc-cycles is NumGC. Or read the statistics every ten seconds, not on each request."
	case "runtime.GOMAXPROCS", "debug.SetGCPercent", "debug.SetMemoryLimit", "a change of GOMAXPROCS, GOGC or the memory limit":
		return "Set it once, at startup: each call that changes something stops the world. To read the setting, use runtime/metrics (/sched/gomaxprocs:threads, /gc/gogc:percent)."
	case "debug.WriteHeapDump":
		return "Do not dump the heap of a program in service: take a heap profile, which does not stop the world."
	}
	if strings.HasPrefix(what, "testing.") {
		return "Take StopTimer and StartTimer out of the loop: each reads the memory statistics, which stops the world. Prepare the inputs before the loop, b.N of them or as many as fit into memory, or measure once with the preparation and once without it."
	}
	return "Do it less often, and not on the request path. To count goroutines, use runtime.NumGoroutine; for a single stack, runtime.Stack with all=false: neither stops the world."
}

// checkStopsCounted goes by what the runtime has counted, where there is no trace.
func checkStopsCounted(r *Rule, in *Input) Finding {
	c, ok := facts.CountStops(in.Facts)
	if !ok || c.Length <= 0 {
		return r.answer(TooLittle, "neither an execution trace nor runtime/metrics shows stop-the-world events (runtime/metrics has them from Go 1.22 on)")
	}
	rate := c.Other / c.Length.Seconds()
	// Half of the stops took as long as the median and longer.
	least := c.Other / 2 * c.Typical.Seconds() / c.Length.Seconds()
	text := fmt.Sprintf("the world was stopped %s times a second for something other than the collector%s, half of the times for %s or longer", unit.Number(rate), perRequest(in, "bare", rate), unit.Duration(c.Typical))
	if least < r.param("share") || c.Other < r.param("stops") {
		return r.answer(Fine, "the world was stopped %s times in %s for something other than the collector", unit.Count(int64(c.Other)), unit.Duration(c.Length))
	}
	f := r.answer(Found, "%s: at least %s of the time", text, unit.Percent(least))
	f.Impact = &Impact{least, "share of the time in which no goroutine ran", least, 1}
	f.Severity, f.Score = Info, score(least, r.param("share"), 0.2)
	if least >= r.param("warn") {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{{Text: fmt.Sprintf("runtime/metrics count %s stops in %s", unit.Count(int64(c.Other)), unit.Duration(c.Length)), Path: c.Entry.Path, Span: span(c.Time)}}
	if lines, cpu := facts.CallsInProfile(in.Facts, facts.StopsWorld); len(lines) > 0 {
		for _, l := range lines[:min(3, len(lines))] {
			f.Evidence = append(f.Evidence, in.fileAt(cpu.Entry, l.At, l.Frames, "a call here that stops the world takes %s of the CPU time", unit.Percent(float64(l.Weight)/float64(max(1, cpu.Samples)))))
		}
	} else {
		f.Doubts = append(f.Doubts, "an execution trace shows where the program requests it (record with -phases trace)")
	}
	f.Advice = "Look for frequent calls of runtime.ReadMemStats, goroutine profiles and changes of settings. Memory statistics can be read from runtime/metrics, which does not stop the world."
	f.Verify = "Record again under the same load: the number of stops per second should fall to nearly 0."
	f.Doubts = append(f.Doubts, in.doubts()...)
	return f
}

// perRequest says how often something happens for each request: ", 2.1 for each request".
func perRequest(in *Input, phase string, rate float64) string {
	requests := facts.RequestRate(in.Facts, phase)
	if requests <= 0 || rate <= 0 {
		return ""
	}
	if each := rate / requests; each >= 0.1 {
		return fmt.Sprintf(", %s for each request", unit.Number(each))
	}
	return fmt.Sprintf(", one for %s requests", unit.Number(requests/rate))
}
