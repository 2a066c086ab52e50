package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

var sc08 = &Rule{
	ID: "SC08", Title: "CPU throttling: the cgroup quota keeps stopping the program",
	About: "A cgroup with a CPU quota may use that much CPU time in each period, most often of 100 ms. When the quota is used up, all threads are stopped until " +
		"the next period (CPU throttling): a program on many Ps uses up its quota in a fraction of the period.",
	Asks: []facts.Question{facts.Host},
	Params: []Param{
		{"info", 0.05, "share of the periods", "research, SC08"},
		{"warn", 0.20, "share of the periods", "chosen: one request in five is affected"},
		{"periods", 20, "periods", "chosen: two seconds of them"},
	},
	Part:  true,
	Check: checkThrottled,
}

func checkThrottled(r *Rule, in *Input) []Finding {
	t, ok := facts.ThrottledIn(in.Facts)
	if !facts.OursToRun(in.Facts) {
		return []Finding{r.answer(TooLittle, "the quota of an attached service is not known: the samples are those of the recorder")}
	}
	if !ok {
		return []Finding{r.short("%s has fewer than two samples of the operating system", in.where())}
	}
	quota := in.Session.Manifest().Host.Quota
	if t.Share < r.param("info") || t.ByPeriods && t.Periods < r.param("periods") {
		if quota <= 0 {
			return []Finding{r.answer(Fine, "the program has no CPU quota")}
		}
		return []Finding{r.answer(Fine, "the quota of %s CPUs throttled it in %s of the periods", unit.Number(quota), unit.Percent(t.Share))}
	}
	of := "periods"
	if !t.ByPeriods {
		of = "time, all CPUs together"
	}
	f := r.answer(Found, "the kernel throttled the program in %s of the %s%s", unit.Percent(t.Share), of, ofQuota(quota))
	f.Impact = exactly(t.Share, "share of the "+of)
	f.Severity, f.Score = Info, score(t.Share, r.param("info"), 0.5)
	if t.Share >= r.param("warn") {
		f.Severity = Warning
	}
	procs := in.Facts.Settings(nil)
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("%s periods; GOMAXPROCS was %d, by %s", unit.Count(int64(t.Periods)), procs.Procs, procs.ProcsFrom), Path: in.Session.Manifest().Of(recording.OS)[0].Path}.across(t.Rounds)}
	if quota > 0 && float64(procs.Procs) >= quota+1 {
		f.Advice = fmt.Sprintf("Set GOMAXPROCS to the quota, %d: the same CPU time is then spread over the whole period. Since Go 1.25 the runtime does this by default, unless the program or go.mod prevents it.", int(max(1, quota+0.5)))
	} else {
		f.Advice = "Raise the quota, or do less work: the program needs more CPU time than it is allowed. A smaller GOMAXPROCS would not give it more."
	}
	f.Verify = "Record again under the same load: the share should fall below 5%."
	return []Finding{f}
}

// ofQuota says what the quota is.
func ofQuota(quota float64) string {
	if quota <= 0 {
		return ""
	}
	return ", at a quota of " + unit.Number(quota) + " CPUs"
}
