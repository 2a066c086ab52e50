package compare

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/value/unit"
)

// failingRow is the share of the requests that ended in an error. It stands before
// all times, and is shown only when there were errors.
const failingRow = "error_share"

// failing is that row. What was never answered is an error, and so is a status from
// 400 on: a side that refuses quickly is not fast. A load that is meant to be refused
// is refused by both sides alike.
var failing = metric{failingRow, "Errors, including status ≥ 400", Share, Lower, true, func(r *facts.Round) float64 {
	if r.Load == nil || r.Load.Due() == 0 {
		return unknown
	}
	return float64(r.Load.Unanswered()+int64(r.Load.BadStatus())) / float64(r.Load.Due())
}}

// manyMore is how much larger the share of errors of one side has to be for its
// times to be those of another work: from where rule LD05 warns.
const manyMore = 0.01

// ofRequests tells whether a row is about what requests took, or what was done for
// each.
func ofRequests(id string) bool {
	switch id {
	case "requests", "requests_per_sec", "cpu_per_request", "bytes_per_request", "service_cpu_per_request", "generator_cpu", "requests_per_collection":
		return true
	}
	return strings.HasPrefix(id, "latency_") || strings.HasPrefix(id, "service_")
}

// errorsDecide lets the errors decide where one side has many more of them: no verdict
// on what requests took is in its favour, which would praise who fails fast.
func (t *Table) errorsDecide() {
	row, ok := t.Row(failingRow)
	if !ok {
		return
	}
	for i, c := range row.Changes {
		a, b := row.Cells[0].Median, row.Cells[i+1].Median
		if !a.Known() || !b.Known() || max(a-b, b-a) < gc.Figure(manyMore) {
			continue
		}
		worse, share, than, favour := t.Titles[i+1], b, a, Improved
		if a > b {
			worse, share, than, favour = t.Titles[0], a, b, Regressed
		}
		for r := range t.Rows {
			if c := &t.Rows[r].Changes[i]; ofRequests(t.Rows[r].ID) && c.Verdict == favour {
				c.Verdict = Undecided
			}
		}
		text := fmt.Sprintf("errors decide: %s of the requests of %s ended in an error, against %s; its request times are no reason to call it better", unit.Percent(float64(share)), worse, unit.Percent(float64(than)))
		if c.Verdict == NoVerdict {
			text = strings.Replace(text, "errors decide", "errors come first", 1)
		}
		t.Notes = append(t.Notes, text)
	}
}
