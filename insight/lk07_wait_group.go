package insight

import (
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var lk07 = &Rule{
	ID: "LK07", Title: "Most of the blocked time is at one WaitGroup",
	About: "A goroutine that waits on a WaitGroup waits for the slowest goroutine it started. If that is most of the waiting in the program, and the Ps are idle meanwhile, the time goes into what " +
		"those goroutines do one after another or wait for.",
	Asks: []facts.Question{facts.WaitTimes},
	Params: []Param{
		{"share", 0.5, "share of the blocked time", "research, LK07"},
		{"waits", 100, "waits", "chosen: fewer are a momentary effect"},
		{"each", 200e-6, "s", "chosen, as for WT05: the length of one wait"},
		{"busy", 0.5, "share of the Ps' time", "chosen: if these are busy, waiting for the work to be done is to be expected"},
	},
	Check: checkWaitGroup,
}

func checkWaitGroup(r *Rule, in *Input) []Finding {
	if t := in.trace(); t.Err == nil {
		if u := in.Facts.Units(); u.Err == nil && len(u.Judged) > 0 {
			return []Finding{r.answer(Fine, "WT01 and WT05 say what waiting for a WaitGroup costs %s", unitOf(u.Judged[0]))}
		}
	}
	sources, err := in.Facts.WaitsOf(recording.Block, recording.ExecTrace)
	if len(sources) == 0 {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	w := *sources[0]
	// Main, a test and a benchmark wait for all that they do: that is their purpose.
	w.All = slices.DeleteFunc(slices.Clone(w.All), func(x facts.Wait) bool { return len(x.Frames) == 0 || waitsForAll(x.Frames[len(x.Frames)-1].Func) })
	total := w.Total()
	places := w.Places(facts.ForGroup)
	switch {
	case len(places) == 0:
		return []Finding{r.answer(Fine, "no goroutine but main waited for a WaitGroup")}
	case total <= 0:
		return []Finding{r.answer(TooLittle, "%s does not say how long anybody waited", w.Entry.Path)}
	}
	p := places[0]
	share := float64(p.Time) / float64(total)
	text := unit.Percent(share) + " of the waiting of goroutines other than main was for the WaitGroup at " + place(p.At)
	busy, known := busyPs(in)
	switch {
	case share < r.param("share") || (p.Time/time.Duration(max(1, p.Count))).Seconds() < r.param("each"):
		return []Finding{r.answer(Fine, "%s", text)}
	case float64(p.Count) < r.param("waits"):
		return []Finding{r.short("%s, in %s; %g are needed", text, unit.Plural(p.Count, "wait"), r.param("waits"))}
	case !known:
		return []Finding{r.answer(TooLittle, "%s; it is not known whether the Ps were busy meanwhile", text)}
	case busy >= r.param("busy"):
		return []Finding{r.answer(Fine, "%s; the Ps were %s busy", text, unit.Percent(busy))}
	}
	f := r.answer(Found, "%s: %s, %s each, while the Ps were %s busy", text, unit.Plural(p.Count, "wait"), unit.Duration(p.Time/time.Duration(p.Count)), unit.Percent(busy))
	f.Severity, f.Score = Info, score(share, 0.5, 0.95)
	f.Impact = exactly(share, "share of the blocked time")
	f.Evidence = []Evidence{in.fileAt(w.Entry, p.At, p.Frames, "waiting for the others here: %s", unit.Plural(p.Count, "wait"))}
	f.Advice = "Record an execution trace (-phases trace): WT01 and WT05 then say what the last goroutine does. Start the slow ones first, divide the work evenly, and give anything that can fail or hang a timeout."
	f.Verify = "Record again under the same load: each wait should be shorter."
	f.Doubts = []string{"if all of them wait for something else, such as other services, the wait is theirs: it is as long as the slowest"}
	return []Finding{f}
}

// waitsForAll tells of the function that a goroutine began with that it is there to wait
// for the rest.
func waitsForAll(function string) bool {
	return slices.Contains([]string{"runtime.main", "main.main", "testing.tRunner", "testing.(*B).run1.func1", "testing.(*B).launch", "testing.runTests.func1"}, function) || stack.Package(function) == "runtime"
}

// busyPs is the part of the Ps' time in the rounds that they worked.
func busyPs(in *Input) (share float64, known bool) {
	procs := float64(in.Facts.Settings(nil).Procs)
	cpu, wall := time.Duration(0), time.Duration(0)
	for i := range in.Facts.Rounds {
		if r := &in.Facts.Rounds[i]; r.CPU > 0 {
			cpu += r.CPU
			wall += r.Phase.Span.Len()
		}
	}
	if procs == 0 || wall == 0 || cpu == 0 {
		return 0, false
	}
	return float64(cpu) / float64(wall) / procs, true
}
