package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/format/loadlog"
	"loupe/value/stats"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var ld05 = &Rule{
	ID: "LD05", Title: "Requests failed",
	About: "A refused request is quick, and one that timed out is not in the times at all: with failures among them, neither times nor rates can be compared with those of another run.",
	Asks:  []facts.Question{facts.Requests},
	Params: []Param{
		{"info", 0.001, "share of the requests", "research: that failed, or got a status of 500 or above, or 429"},
		{"warning", 0.01, "share of the requests", "chosen"},
		{"critical", 0.5, "share of the requests", "chosen: from here on it is not the service that is measured"},
	},
	Check: onLoads(checkErrors),
}

// failure is one way in which requests failed.
type failure struct {
	text  string
	count int
	first timeline.Time
	sent  timeline.Time // of the first one
	last  timeline.Time
	load  *loadRound
}

// neverSent is what became of requests that were due while all connections waited
// for answers, until the run was over.
const neverSent = "due and never sent"

func checkErrors(r *Rule, in *Input, all []loadRound) []Finding {
	ways := map[string]*failure{}
	n, failed, refused := 0, 0, 0
	for i := range all {
		l := &all[i]
		for q := range l.Log.All() {
			n++
			text := ""
			switch {
			case q.Error != 0:
				if text = l.Log.ErrorText(q.Error); text == loadlog.GivenUp {
					continue // nobody waited for it any more
				}
			case q.Status >= 500 || q.Status == 429:
				text = fmt.Sprintf("status %d", q.Status)
			case q.Status >= 400:
				refused++
				continue
			default:
				continue
			}
			failed++
			w := ways[text]
			if w == nil {
				w = &failure{text: text, first: q.Begin, sent: q.Sent(), load: l}
				ways[text] = w
			}
			w.count++
			if w.load == l {
				w.first, w.sent, w.last = min(w.first, q.Begin), min(w.sent, q.Sent()), max(w.last, q.End())
			}
		}
		if unsent := int(l.Log.Unsent); unsent > 0 {
			n, failed = n+unsent, failed+unsent
			end := timeline.Time(l.Log.Elapsed)
			w := ways[neverSent]
			if w == nil {
				w = &failure{text: neverSent, first: end, sent: end, last: end, load: l}
				ways[neverSent] = w
			}
			w.count += unsent
		}
	}
	share := stats.Wilson(float64(failed), float64(n), compare.Confidence)
	if share.Estimate < r.param("info") {
		text := fmt.Sprintf("%s of %s requests failed", unit.Count(int64(failed)), unit.Count(int64(n)))
		if refused > 0 {
			text += fmt.Sprintf("; %s got a status from 400 to 499, which may be intended", unit.Count(int64(refused)))
		}
		return []Finding{r.answer(Fine, "%s", text)}
	}
	list := make([]*failure, 0, len(ways))
	for _, w := range ways {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b *failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.text, b.text))
	})
	f := r.answer(Found, "%s of %s requests failed (%s), most with: %s", unit.Count(int64(failed)), unit.Count(int64(n)), unit.Percent(share.Estimate), list[0].text)
	f.Severity, f.Score = Info, score(share.Estimate, 0.01, 0.2)
	switch {
	case share.Estimate >= r.param("critical"):
		f.Severity = Critical
	case share.Estimate >= r.param("warning"):
		f.Severity = Warning
	}
	f.Impact = &Impact{share.Estimate, "share of the requests that failed", share.Low, share.High}
	for _, w := range list[:min(3, len(list))] {
		when, at := "the first was sent", w.sent
		switch {
		case w.text == neverSent:
			when = "given up when the run was over," // when the first of them was due is not in the log
		case !strings.HasPrefix(w.text, "status "): // it may not have been sent, as where no connection was made
			when, at = "the first began", w.first
		}
		f.Evidence = append(f.Evidence, w.load.during(fmt.Sprintf("%s: %s requests, %s %s after the start", w.text, unit.Count(int64(w.count)), when, unit.Duration(at.Sub(0))), w.first, w.last))
	}
	if list[0].text == neverSent {
		f.Title = "Requests were due and never sent"
		f.Summary = fmt.Sprintf("%s of %s requests were due and never sent: at their times all connections were still waiting for earlier answers, until the run was over", unit.Count(int64(list[0].count)), unit.Count(int64(n)))
		if rest := failed - list[0].count; rest > 0 {
			f.Summary += fmt.Sprintf("; %s more failed, most with: %s", unit.Count(int64(rest)), list[1].text)
		}
		f.Advice = "They count as slower than all answers. The service does not keep up with this rate over so many connections: send with more of them (-c), or less often (LD01 finds the rate). Where the sender itself waited for a CPU (LD04), it may be the machine that does not."
		f.Verify = "Send again: none should stay unsent."
		if busy := in.Facts.Noise().Competing; busy > facts.NoisyCompeting && f.Severity == Warning {
			f.Severity = Info
			f.Advice = fmt.Sprintf("They count as slower than all answers. Other programs used %s of the CPUs meanwhile: that may be why answers came late, and not the service. Send again on a quiet machine; if it is the same, send with more connections (-c), or less often (LD01 finds the rate).", unit.Percent(busy))
		}
		return []Finding{f}
	}
	f.Advice = "Do not compare this run's times and rates with others. Find out what rejects the requests: connection or file limits, timeouts, a full queue; or send less (LD01 finds the rate)."
	f.Verify = "Send again: fewer than one in a thousand should fail."
	return []Finding{f}
}
