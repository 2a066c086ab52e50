package report

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/sched"
	"loupe/value/unit"
)

// TraceComparison lays two traces side by side.
func TraceComparison(c *sched.Comparison, nameA, nameB string, top int) *Trace {
	facts := []Fact{
		{"a", "A", fmt.Sprintf("%s: %s, %s events", nameA, unit.Duration(c.A.Info.Span.Len()), unit.Count(c.A.Info.Events))},
		{"b", "B", fmt.Sprintf("%s: %s, %s events", nameB, unit.Duration(c.B.Info.Span.Len()), unit.Count(c.B.Info.Events))},
		{"sched_wait_a", "A waits for a P", spread(&c.A.Latency.All)},
		{"sched_wait_b", "B waits for a P", spread(&c.B.Latency.All)},
	}
	var sheets []*Sheet
	picks := c.A.Picks || c.B.Picks
	if !picks {
		facts = slices.Insert(facts, 2, Fact{"side_by_side_a", "A running", sideBySide(c.A)}, Fact{"side_by_side_b", "B running", sideBySide(c.B)})
		facts = append(facts, Fact{"gc_a", "A collector", collector(c.A)}, Fact{"gc_b", "B collector", collector(c.B)})
	}
	for _, part := range []struct {
		key, title, name string
		list             []sched.Delta
	}{
		{"functions", "Running, by function, per second of trace", "function", c.Functions},
		{"waits", "Waiting for a P, by function, per second of trace", "function", c.Waits},
		{"reasons", "Waiting, by reason, per second of trace", "waits for", c.Reasons},
		{"tasks", "Tasks, per second of trace", "task", c.Tasks},
		{"regions", "Regions, per second of trace", "region", c.Regions},
	} {
		whole := part.key == "tasks" || part.key == "regions" // which no filter of stays divides
		if len(part.list) > 0 && !(picks && whole) {
			sheets = append(sheets, deltaSheet(part.key, part.title, part.name, part.list, top))
		}
	}
	if picks {
		sheets = append(sheets, &Sheet{Notes: []string{"The figures cover only what the filter selects. Figures of the whole program are left out: how many ran in parallel, the collector's work, tasks and regions."}})
	}
	sheets = append(sheets, &Sheet{Notes: []string{"Two single traces have no spread: they cannot show whether a change is chance. loupe compare can, with recordings of several rounds."}})
	return &Trace{Facts: facts, Sheets: sheets}
}

func deltaSheet(key, title, name string, list []sched.Delta, top int) *Sheet {
	s := &Sheet{Key: key, Title: title, Columns: []Column{{"name", name}, {"time_a_ns", "A"}, {"time_b_ns", "B"}, {"change", "change"},
		{"count_a", "A count"}, {"count_b", "B count"}, {"p50_a_ns", "A p50"}, {"p50_b_ns", "B p50"}, {"p99_a_ns", "A p99"}, {"p99_b_ns", "B p99"}}}
	for _, d := range head(list, top) {
		label := d.Name
		if label == "" {
			label = "(not named)"
		}
		s.Rows = append(s.Rows, []any{label, there(d.A, d.A.Time), there(d.B, d.B.Time), changeOf(d), d.CountA, d.CountB,
			there(d.A, d.A.P50), there(d.B, d.B.P50), there(d.A, d.A.P99), there(d.B, d.B.P99)})
	}
	return s.More(len(list)-top, "rows")
}

func there(f sched.Figure, d time.Duration) any {
	if !f.There {
		return nil
	}
	return d
}

// changeOf is the change in words: new, gone, or by how much.
func changeOf(d sched.Delta) string {
	switch {
	case !d.A.There:
		return "new"
	case !d.B.There:
		return "gone"
	case d.A.Time == 0:
		return "–"
	}
	return unit.Change(float64(d.B.Time) / float64(d.A.Time))
}
