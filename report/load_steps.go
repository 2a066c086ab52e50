package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"loupe/analysis/capacity"
	"loupe/format/loadlog"
	"loupe/value/unit"
)

// LoadSteps says how the service did under each load of a run; nil where there was one
// alone. last is the row of the highest load that was not too much, -1 when all were
// borne.
func LoadSteps(l *loadlog.Log) (sheet *Sheet, last int) {
	const enough = 100 // answers, as rule LD01 has it
	steps := capacity.Steps(l, l.Summary(), enough)
	if len(steps) < 2 {
		return nil, -1
	}
	slices.SortStableFunc(steps, func(a, b capacity.Step) int { return cmp.Compare(a.Offered, b.Offered) })
	sheet = &Sheet{Key: "steps", Title: "The service under each load", Columns: []Column{{"offered", "due/s"}, {"rps", "answered/s"},
		{"p99_ns", "99%"}, {"requests", "answers"}, {"start_ns", "from"}, {"end_ns", "to"}}}
	for _, st := range steps {
		sheet.Rows = append(sheet.Rows, []any{st.Offered, st.RPS, Never(st.P99, 0), int64(st.Requests), time.Duration(st.Span.Start), time.Duration(st.Span.End)})
	}
	last, beyond, ok := capacity.Knee(steps, capacity.KneeMore)
	if !ok {
		sheet.Notes = []string{"None of these loads was too much: answers kept growing with the load, or the 99th percentile stayed below twice its previous value (rule LD01)."}
		return sheet, -1
	}
	words := func(d time.Duration) string {
		shown, _, _ := Cell(Never(d, 0))
		return shown
	}
	sheet.Notes = []string{fmt.Sprintf("The service saturates at about %s answers a second: beyond a load of %s it answers hardly more, and at %s the 99th percentile is %s instead of %s (rule LD01).",
		unit.Number(steps[last].RPS), unit.Number(steps[last].Offered), unit.Number(steps[beyond].Offered), words(steps[beyond].P99), words(steps[last].P99))}
	return sheet, last
}
