package insight

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var sc09 = &Rule{
	ID: "SC09", Title: "GOMAXPROCS does not match the available CPUs",
	About: "With more Ps than the quota has CPUs, the program is throttled in each period, and its collector marks on Ps that have no CPU. " +
		"With fewer Ps than CPUs, work waits while CPUs are idle: a runtime.GOMAXPROCS call left in the code.",
	Asks: []facts.Question{facts.Host},
	Params: []Param{
		{"more", 1, "Ps", "research, SC09"},
		{"throttled", 0.05, "share of the periods", "as SC08: without it more Ps than the quota cost little"},
		{"busy", 0.85, "share of the Ps' time", "chosen: having fewer Ps than CPUs matters only if they are in use"},
		{"queue", 0.50, "share of the time goroutines wanted to run", "chosen: time spent waiting, where the Ps are less busy because the load generator lacks CPU"},
		{"half", 0.50, "share of the Ps' time", "chosen: in use, where goroutines wait for as long as they run"},
		{"wait", 0.20, "share of the time goroutines wanted to run", "chosen: of waiting for one of those Ps"},
	},
	Check: checkProcs,
}

func checkProcs(r *Rule, in *Input) []Finding {
	if len(in.Facts.Rounds) == 0 || in.Facts.Noise().Samples == 0 {
		return []Finding{r.short("no sample of the operating system lies in %s", in.where())}
	}
	if !facts.OursToRun(in.Facts) {
		return []Finding{r.answer(TooLittle, "the CPUs of an attached service are not known: the samples are those of the recorder")}
	}
	host := in.Session.Manifest().Host
	set := in.Facts.Settings(nil)
	if set.Procs == 0 || host.CPUs == 0 {
		return []Finding{r.answer(TooLittle, "it is not known how many Ps or CPUs there were")}
	}
	there := fmt.Sprintf("%s, by %s, on %d CPUs%s", unit.Plural(int64(set.Procs), "P"), set.ProcsFrom, host.CPUs, ofQuota(host.Quota))
	if host.Quota > 0 && float64(set.Procs) >= math.Ceil(host.Quota)+r.param("more") {
		t, ok := facts.ThrottledIn(in.Facts)
		if !ok || t.Share < r.param("throttled") {
			return []Finding{r.answer(Fine, "%s; the quota throttled the program in %s of the periods", there, unit.Percent(t.Share))}
		}
		f := r.answer(Found, "%s; the kernel throttled the program in %s of the periods", there, unit.Percent(t.Share))
		f.Impact = exactly(float64(set.Procs)-host.Quota, "Ps more than CPUs")
		f.Severity, f.Score = Warning, score(t.Share, r.param("throttled"), 0.5)
		f.Evidence = append([]Evidence{Evidence{Text: there}.across(t.Rounds)}, setTo(in.code, "runtime", "GOMAXPROCS", int64(set.Procs))...)
		f.Advice = fmt.Sprintf("Set GOMAXPROCS=%d, or build with Go 1.25 and later, whose runtime follows the quota unless GOMAXPROCS is set.", int(max(1, math.Ceil(host.Quota))))
		f.Verify = "Record again under the same load: SC08 should be fine."
		return []Finding{f}
	}
	return []Finding{checkFewProcs(r, in, set.Procs, there)}
}

// checkFewProcs looks whether fewer Ps than CPUs hold the program back.
func checkFewProcs(r *Rule, in *Input, procs int, there string) Finding {
	host := in.Session.Manifest().Host
	may := float64(host.CPUs)
	if host.Quota > 0 {
		may = min(may, host.Quota)
	}
	if float64(procs) > may-1 {
		return r.answer(Fine, "%s", there)
	}
	cpu, wall := time.Duration(0), time.Duration(0)
	for i := range in.Facts.Rounds {
		cpu += in.Facts.Rounds[i].CPU
		wall += in.Facts.Rounds[i].Phase.Span.Len()
	}
	used := float64(cpu) / float64(max(1, wall)) / float64(procs)
	if t := in.trace(); t.Err == nil && t.TooShort() == nil { // a P whose thread waits for a CPU is in use, too
		used = max(used, t.Share(t.Running())/float64(procs))
	}
	wait, known := waitedForP(in)
	queue := known && wait >= r.param("queue") && used >= r.param("half") && in.Facts.Noise().Full()
	if used < r.param("busy") && !queue || known && wait < r.param("wait") {
		return r.answer(Fine, "%s, which were %s busy", there, unit.Percent(min(1, used)))
	}
	if !known {
		return r.short("%s, all of them busy; an execution trace or schedtrace shows whether goroutines wait for them", there)
	}
	f := r.answer(Found, "%s: the Ps were %s busy, and goroutines waited in %s of the time in which they wanted to run", there, unit.Percent(min(1, used)), unit.Percent(wait))
	f.Impact = exactly(may-float64(procs), "CPUs that the program does not use")
	f.Severity, f.Score = Warning, score(wait, r.param("wait"), 0.8)
	if slices.ContainsFunc(in.Session.Manifest().Target.Env, func(kv string) bool { return strings.HasPrefix(kv, "GOMAXPROCS=") }) {
		f.Severity = Info // who recorded it has asked for that
	}
	f.Evidence = append([]Evidence{Evidence{Text: fmt.Sprintf("%s, %s CPUs to use", unit.Plural(int64(procs), "P"), unit.Number(may))}.at(&in.Facts.Rounds[0])}, setTo(in.code, "runtime", "GOMAXPROCS", int64(procs))...)
	f.Advice = "Remove the call to runtime.GOMAXPROCS, or the environment variable: by default the runtime uses all CPUs available to it."
	f.Verify = "Record again: the CPUs used should rise, and the time for the same work should fall."
	f.Doubts = append(in.doubts(), "it may be intentional, to leave CPUs to others")
	return f
}

// waitedForP is the share of the time in which goroutines of the program wanted to run and
// waited for a P, by the execution trace or by samples of the scheduler.
func waitedForP(in *Input) (share float64, known bool) {
	if t := in.trace(); t.Err == nil && t.TooShort() == nil && t.Running() > 0 {
		waits := t.ForP()
		for i := range t.Left { // those that wait still
			if l := &t.Left[i]; t.Own(l.Name) && l.State.String() == "runnable" {
				waits.Sum += l.Longest
			}
		}
		return float64(waits.Sum) / float64(waits.Sum+t.Running()), true
	}
	queued, running := 0.0, 0.0
	for i := range in.Facts.Rounds {
		if s := in.Facts.Rounds[i].Sched; s != nil {
			queued += s.Derived.Queue.Mean * float64(s.Derived.Samples)
			running += s.Derived.MeanRunning * float64(s.Derived.Samples)
		}
	}
	return queued / max(1, queued+running), running > 0
}
