package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/stack"
	"loupe/value/unit"
)

var gc05 = &Rule{
	ID: "GC05", Title: "Mark assist: goroutines are made to help the collector",
	About: "A goroutine that allocates faster than the collector can mark has to do marking work itself before it continues " +
		"(mark assist). That time is taken from whatever it is working on.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"info", 0.02, "share of the running time", "research"},
		{"warning", 0.05, "share of the running time", "research"},
		{"unit", 0.05, "share of the time", "chosen, of requests or tasks: those that spend less on it do not feel it"},
		{"cycles", 8, "collections", "chosen: fewer in the trace are a burst"},
		{"wall", 0.02, "share of the wall time", "chosen: less is not felt where CPUs are idle"},
		{"idle", 0.5, "share of the Ps' time", "chosen: from here on the CPUs are mostly idle"},
		{"exec", 0.1, "share of all running time", "chosen: of a function to be worth a look"},
	},
	Part:  true,
	Check: onTrace(checkAssist),
}

// leastAssist is the shortest time in mark assists that is told of; chosen: the events of a trace are some dozens of nanoseconds apart at least.
const leastAssist = time.Microsecond

// unitOfServer names what a goroutine of the standard library works on that calls the program;
// empty where it works for itself.
func unitOfServer(function string) string {
	if strings.HasPrefix(function, "net/http.(*conn).serve") || strings.Contains(function, "http2") || strings.HasPrefix(function, "testing.") || strings.HasPrefix(function, "sync.(*WaitGroup).Go") {
		return "the program"
	}
	return ""
}

// assisted is evidence at the line of the program where goroutines assisted most; at none
// where the standard library allocated by itself.
func (t *traced) assisted(a *sched.Assists, format string, args ...any) Evidence {
	if at := t.Site(a.Stack); t.Scope.Of(at) >= stack.Dependency {
		return t.seen(a.Stack, "most of the time of "+format+" began here", args...)
	}
	return t.seen(0, t.name(a.Name)+": "+format, args...)
}

// idle is the share of the Ps' time in which nothing ran on them.
func (t *traced) idle() float64 {
	busy := time.Duration(0)
	for k, d := range t.Parallel.Busy {
		busy += time.Duration(k) * d
	}
	if t.Parallel.Procs == 0 || t.Length() == 0 {
		return 0
	}
	return max(0, 1-t.Share(busy)/float64(t.Parallel.Procs))
}

// programAssists are the mark assists without those that loupe's own agent was made to do, at whatever goroutine it ran: at the end of the
// program it does on that of main.
func programAssists(t *traced) (all []sched.Assists) {
	for _, a := range t.GC.Assists {
		byAgent := false
		var most time.Duration
		for id, p := range a.Places {
			if !ofAgent(t, id) {
				continue
			}
			a.Count, a.Ran, byAgent = a.Count-p.Count, a.Ran-p.Ran, true
		}
		if byAgent {
			a.Stack, a.MostRan = 0, 0
			for id, p := range a.Places {
				if ofAgent(t, id) {
					continue
				}
				if a.MostRan = max(a.MostRan, p.MostRan); p.Time > most || p.Time == most && id < a.Stack {
					a.Stack, most = id, p.Time
				}
			}
		}
		if a.Count > 0 {
			all = append(all, a)
		}
	}
	return all
}

// ofAgent tells of a stack that loupe's own agent runs there, and nothing of the program that it has called.
func ofAgent(t *traced, id stack.ID) bool {
	for _, f := range t.Frames(id) {
		if stack.IsAgentFrame(f) {
			return true
		}
		if t.Scope.Of(f) >= stack.Dependency {
			return false
		}
	}
	return false
}

func checkAssist(r *Rule, in *Input, t *traced) []Finding {
	all := t.Running()
	if all == 0 {
		return []Finding{r.answer(TooLittle, "no goroutine of the program ran during the trace")}
	}
	total := time.Duration(0)
	worst, most := -1, 0.0
	assists := programAssists(t)
	for i := range assists {
		a := &assists[i]
		g := t.OwnGroup(a.Name)
		if g == nil {
			continue
		}
		total += a.Ran
		if float64(g.Exec) < r.param("exec")*float64(all) {
			continue
		}
		if s := float64(a.Ran) / float64(max(1, g.Exec)); s > most {
			worst, most = i, s
		}
	}
	share := float64(total) / float64(all)
	if total < leastAssist {
		return []Finding{r.answer(Fine, "none of the program's goroutines did mark assists for a time that can be measured")}
	}
	if worst < 0 || share < r.param("info") && most < r.param("warning") {
		return []Finding{r.answer(Fine, "mark assists took %s, %s of the time that the program's goroutines ran", unit.Duration(total), unit.Percent(share))}
	}
	a := &assists[worst]
	f := r.answer(Found, "mark assists took %s, %s of the time that the program's goroutines ran; for %s it was %s",
		unit.Duration(total), unit.Percent(share), t.name(a.Name), unit.Percent(most))
	f.Impact = exactly(share, "share of the running time")
	f.Severity, f.Score = Info, score(max(share, most), r.param("info"), 4*r.param("warning"))
	// Of goroutines of the standard library that work for all, the program's part is in share.
	if name := t.Reader.Name(a.Name); t.Scope.Origin(name) < stack.Dependency && unitOfServer(name) == "" {
		most = 0
	}
	if max(share, most) >= r.param("warning") {
		f.Severity = Warning
	}
	if longest := longestAssist(assists); 2*longest > total && f.Severity.AtLeast(Warning) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("one of them, of %s, has most of that time: its thread may have waited for a CPU meanwhile", unit.Duration(longest)))
	}
	f.Evidence = []Evidence{t.assisted(a, "%s, 99%% of them done within %s, waits included; %s in the trace", unit.Plural(a.Count, "assist"), unit.Duration(a.Quantile(0.99)), unit.Plural(int64(len(t.GC.Cycles)), "collection"))}
	f.Advice = "Allocate less in bursts (-phases allocs says where)."
	adviseRoom(in, &f, facts.MostCollections(in.Facts.Rounds), 200)
	f.Verify = "Record again under the same load: the assists should fall below 2%."
	f.Doubts = append(f.Doubts, in.traceDoubts(t, "a program that has just started does more mark assists than later")...)
	in.public().weigh(&f)
	if n := len(t.GC.Cycles); n > 0 && float64(n) < r.param("cycles") {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s are too few to tell a burst from a habit", unit.Plural(int64(n), "collection")))
	}
	if u, ok := unitsSpend(in, func(row *facts.UnitRow) bool { return row.Kind.Key() == "mark_assist" }); ok {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%s goes into mark assists, %s of the slowest", u, unit.Percent(u.slow)), Path: t.Entry.Path, Phase: t.Entry.Phase})
		if max(u.share(), u.slow) < r.param("unit") && f.Severity.AtLeast(Warning) {
			f.Severity = Info
			f.Doubts = append(f.Doubts, "it is little of the time of "+u.name+"; what is not marked there would be marked concurrently")
		}
	} else if idle := t.idle(); f.Severity.AtLeast(Warning) && t.Share(total) < r.param("wall") && idle >= r.param("idle") {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("it is %s of the wall time, in which the Ps were idle for %s of theirs: without it the program would hardly be faster", unit.Percent(t.Share(total)), unit.Percent(idle)))
	}
	tellSampled(r, in, &f)
	return []Finding{f}
}

// longestAssist is how long the longest of some mark assists ran.
func longestAssist(assists []sched.Assists) (longest time.Duration) {
	for i := range assists {
		longest = max(longest, assists[i].MostRan)
	}
	return longest
}

// tellSampled makes a remark of assists that the CPU profile, which counts running alone, has as less than a warning is
// worth: in a trace, what else runs on the machine is in their time.
func tellSampled(r *Rule, in *Input, f *Finding) {
	s := spentOf(in)
	if !f.Severity.AtLeast(Warning) || s == nil || s.total < leastAssistSamples {
		return
	}
	assists := make([]bool, len(s.stacks))
	for i, id := range s.stacks {
		assists[i] = slices.ContainsFunc(s.v.t.Frames(id), func(f stack.FrameID) bool { return s.v.t.Frame(f).Func == "runtime.gcAssistAlloc" })
	}
	if part := s.interval(assists); part.High < r.param("warning") {
		f.Severity = Info
		f.Doubts = append(f.Doubts, fmt.Sprintf("by the CPU profile assists take %s of the CPU time: in a trace their time counts what else ran on their CPU meanwhile", unit.Percent(part.Estimate)))
	}
}

// leastAssistSamples is how many samples of the CPU can speak against the trace; chosen: of 500, a true share of 5 % is
// hardly ever seen as one whose interval ends below that.
const leastAssistSamples = 500
