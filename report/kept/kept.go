// Package kept makes tables of what a server of profiles answers.
package kept

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/profile"
	"loupe/format/querier"
	"loupe/report"
)

// Types are the types of profiles that a server keeps.
func Types(types []querier.ProfileType) *report.Sheet {
	s := &report.Sheet{Key: "types", Columns: []report.Column{{Key: "type", Head: "type"}, {Key: "unit", Head: "unit"}, {Key: "over_time", Head: "over time"}, {Key: "id", Head: "id"}}}
	for _, t := range types {
		over := "added up"
		if stateOf(t) {
			over = "a state, averaged"
		}
		s.Rows = append(s.Rows, []any{t.Name + ":" + t.SampleType, t.SampleUnit, over, t.ID})
	}
	return s
}

// stateOf tells whether values of a type are a state, see [profile.ValueType.IsState].
func stateOf(t querier.ProfileType) bool {
	return profile.ValueType{Type: t.SampleType, Unit: t.SampleUnit}.IsState() || profile.ValueType{Type: t.Name}.IsState()
}

// Names are names or values of labels.
func Names(key string, names []string) *report.Sheet {
	s := &report.Sheet{Key: key, Columns: []report.Column{{Key: "name", Head: key}}}
	for _, n := range names {
		s.Rows = append(s.Rows, []any{n})
	}
	return s
}

// Series are totals over time, the largest first: of what happens how much in all and a
// second, of a state its mean.
func Series(t querier.ProfileType, all []querier.Series, span, step time.Duration) *report.Sheet {
	state := stateOf(t)
	s := &report.Sheet{Key: "series", Columns: []report.Column{{Key: "labels", Head: "labels"}, {Key: "total_" + t.SampleUnit, Head: "total"}, rateColumn(t), {Key: "steps", Head: "steps"}, {Key: "course", Head: "over time"}}}
	if state {
		s.Columns[1] = report.Column{Key: "mean_" + t.SampleUnit, Head: "mean"}
		s.Columns = slices.Delete(s.Columns, 2, 3)
	}
	type one struct {
		sum float64
		row []any
	}
	var rows []one
	for i := range all {
		x := &all[i]
		sum := 0.0
		for _, p := range x.Points {
			sum += p.Value
		}
		amount := sum
		if state && len(x.Points) > 0 {
			amount /= float64(len(x.Points))
		}
		row := []any{labelsText(x.Labels), report.Value(int64(amount), t.SampleUnit)}
		if !state {
			row = append(row, rate(sum/span.Seconds(), t.SampleUnit))
		}
		rows = append(rows, one{sum, append(row, len(x.Points), course(x.Points, step))})
	}
	slices.SortStableFunc(rows, func(a, b one) int { return cmp.Compare(b.sum, a.sum) })
	for _, r := range rows {
		s.Rows = append(s.Rows, r.row)
	}
	return s
}

// course is the points as they follow each other; a step without a profile has none.
func course(points []querier.Point, step time.Duration) report.Course {
	if len(points) == 0 {
		return report.Course{Width: step}
	}
	first := points[0].Timestamp
	c := report.Course{Start: time.Duration(first) * time.Millisecond, Width: step}
	for _, p := range points {
		at := min(max((p.Timestamp-first)/max(1, step.Milliseconds()), 0), maxCourse)
		for int64(len(c.Values)) <= at {
			c.Values = append(c.Values, 0)
		}
		c.Values[at] = p.Value
		c.Top = max(c.Top, p.Value)
	}
	return c
}

// rateColumn is how much there is a second: of time how many CPUs, or waiters, that is.
func rateColumn(t querier.ProfileType) report.Column {
	switch {
	case t.SampleType == "cpu" && t.SampleUnit == "nanoseconds":
		return report.Column{Key: "cpus", Head: "CPUs"}
	case t.SampleUnit == "nanoseconds":
		return report.Column{Key: "at_once", Head: "at once"}
	}
	return report.Column{Key: t.SampleUnit + "_per_second", Head: "a second"}
}

func rate(perSecond float64, unit string) any {
	if unit == "nanoseconds" {
		return perSecond / 1e9
	}
	return report.Value(int64(perSecond), unit)
}

// maxCourse bounds the steps of a course that is drawn.
const maxCourse = 100_000

func labelsText(labels []querier.Label) string {
	if len(labels) == 0 {
		return "(all)"
	}
	parts := make([]string, len(labels))
	for i, l := range labels {
		parts[i] = l.Name + "=" + l.Value
	}
	return strings.Join(parts, " ")
}

// Heatmap counts profiles by time and by how large they are: a line for each step, and
// what stands in it from the smallest to the largest.
func Heatmap(t querier.ProfileType, all []querier.HeatmapSeries) *report.Sheet {
	s := &report.Sheet{Key: "heatmap", Columns: []report.Column{{Key: "labels", Head: "labels"}, {Key: "until", Head: "until"}, {Key: "profiles", Head: "profiles"}, {Key: "least_" + t.SampleUnit, Head: "least"}, {Key: "most_" + t.SampleUnit, Head: "most"}, {Key: "counts", Head: "by size"}}}
	for _, x := range all {
		for _, slot := range x.Slots {
			n, counts := int64(0), make([]float64, len(slot.Counts))
			least, most := -1, -1
			for i, c := range slot.Counts {
				n += int64(c)
				counts[i] = float64(c)
				if c > 0 && least < 0 {
					least = i
				}
				if c > 0 {
					most = i
				}
			}
			if most < 0 || most >= len(slot.YMin) {
				continue
			}
			s.Rows = append(s.Rows, []any{
				labelsText(x.Labels), time.UnixMilli(slot.Timestamp).UTC().Format(time.RFC3339), n,
				report.Value(int64(slot.YMin[least]), t.SampleUnit), report.Value(int64(slot.YMin[most]), t.SampleUnit), report.Course{Values: counts},
			})
		}
	}
	if len(s.Rows) > 0 {
		s.Notes = append(s.Notes, "least and most are the lower bounds of the buckets, of which there are twenty of equal size")
	}
	return s
}
