package report

import (
	"cmp"
	"slices"
	"time"

	"loupe/analysis/calltree"
	"loupe/analysis/sched"
	"loupe/value/unit"
)

// TraceProfile ranks the functions of a profile that a trace has in it.
func TraceProfile(p *sched.StateProfile, top int) *Trace {
	weights := p.ByTime()
	value := func(v int64) any { return time.Duration(v) }
	if p.Nanos == nil {
		weights, value = p.ByCount(), func(v int64) any { return v }
	}
	r := calltree.Top(p.Stacks, calltree.Samples(weights), calltree.Options{Order: calltree.ByFlat, Counts: calltree.Samples(p.ByCount())})
	s := &Sheet{Key: "top", Title: "Functions by time " + p.Kind.About(), Columns: []Column{
		{Key: "flat", Head: "flat"}, {Key: "flat_share", Head: "share"}, {Key: "cum", Head: "cum"}, {Key: "cum_share", Head: "share"}, {Key: "count", Head: "times"}, {Key: "function", Head: "function"},
	}}
	rows := slices.Clone(r.Rows)
	slices.SortStableFunc(rows, func(a, b calltree.Row) int { return cmp.Or(cmp.Compare(b.Flat, a.Flat), cmp.Compare(b.Cum, a.Cum)) })
	for _, x := range rows[:min(top, len(rows))] {
		s.Rows = append(s.Rows, []any{value(x.Flat), Share(r.Share(x.Flat)), value(x.Cum), Share(r.Share(x.Cum)), x.CumSamples, x.Name})
	}
	if more := len(rows) - top; more > 0 {
		s.Notes = append(s.Notes, unit.Count(int64(more))+" more functions"+byFlag+"n shows more of them, -o FILE.pb.gz writes a profile for loupe pprof or go tool pprof")
	}
	total := p.Total()
	facts := []Fact{{Key: "kind", Value: p.Kind.String()}, {Key: "total", Head: "in all", Value: value(cmp.Or(int64(total.Time), total.Count))}, {Key: "count", Head: "times", Value: total.Count}}
	if p.Unfinished.Count > 0 {
		facts = append(facts, Fact{Key: "unfinished_ns", Head: "cut off by the end", Value: p.Unfinished.Time})
	}
	return &Trace{Facts: facts, Sheets: []*Sheet{s}}
}
