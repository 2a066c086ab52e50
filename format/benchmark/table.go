package benchmark

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// fill computes the rows of a table.
func (t *Table) fill(c *cells, q Query, assume benchmath.Assumption) {
	rows, cols := sorted(c.rows), sorted(c.cols)
	for _, col := range cols {
		var values []string
		for _, f := range col.Projection().FlattenedFields() {
			values = append(values, col.Get(f))
		}
		t.Files, t.Columns = append(t.Files, col.StringValues()), append(t.Columns, values)
	}
	class := benchunit.ClassOf(t.Unit)
	thresholds := benchmath.DefaultThresholds
	thresholds.CompareAlpha = q.Alpha
	for _, k := range rows {
		row := Row{Name: k.StringValues(), Cells: make([]*Cell, len(cols))}
		var base *benchmath.Sample
		var centers []float64
		for i, col := range cols {
			s := c.samples[cell{k, col}]
			if s == nil {
				continue
			}
			sample := benchmath.NewSample(slices.Clone(s.values), &thresholds)
			now := summary(sample, assume, q.Confidence, sorted(s.residue))
			now.Runs = s.values
			if !slices.Contains(s.blocks, unmarked) {
				now.Blocks = s.blocks
			}
			if i == 0 {
				base = sample
			} else if base != nil {
				now.Against = against(base, sample, assume, row.Cells[0].Center, now.Center)
			}
			row.Cells[i], centers = now, append(centers, now.Center)
		}
		row.scale = benchunit.CommonScale(centers, class)
		for _, cell := range row.Cells {
			if cell != nil {
				cell.Shown = row.scale.Format(cell.Center)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.means(class)
}

// summary is a cell by itself. What its results differ in besides is told.
func summary(sample *benchmath.Sample, assume benchmath.Assumption, confidence float64, residue []benchproc.Key) *Cell {
	s := assume.Summary(sample, confidence)
	c := &Cell{Values: sample.Values, Center: s.Center, Low: s.Lo, High: s.Hi, Range: s.PctRangeString()}
	var names []string
	for _, f := range benchproc.NonSingularFields(residue) {
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		c.Warnings = append(c.Warnings, "benchmarks vary in "+strings.Join(names, ", "))
	}
	c.Warnings = append(c.Warnings, texts(sample.Warnings, s.Warnings)...)
	return c
}

// against compares a sample with that of the first column.
//
// Note: Mann and Whitney's test in go-moremath, and benchstat with it, does not end when
// a value is not a number: such a value equals nothing, not even itself, and has no rank.
func against(base, sample *benchmath.Sample, assume benchmath.Assumption, old, new float64) *Comparison {
	if slices.ContainsFunc(base.Values, math.IsNaN) || slices.ContainsFunc(sample.Values, math.IsNaN) {
		n1, n2 := len(base.Values), len(sample.Values)
		return &Comparison{Delta: "?", Ratio: math.NaN(), P: math.NaN(), N1: n1, N2: n2, Test: "p=?", Warnings: []string{"a value is NaN: samples with such values cannot be compared"}}
	}
	c := assume.Compare(base, sample)
	out := &Comparison{Delta: c.FormatDelta(old, new), Significant: c.P <= c.Alpha && old != new, Ratio: math.NaN(), P: c.P, N1: c.N1, N2: c.N2, Test: c.String(), Warnings: texts(c.Warnings)}
	switch {
	case old == new:
		out.Ratio = 1
	case old != 0:
		out.Ratio = new / old
	}
	return out
}

func texts(lists ...[]error) (all []string) {
	for _, list := range lists {
		for _, err := range list {
			all = append(all, err.Error())
		}
	}
	return all
}

// means computes the geometric mean of each column, and that of the ratios to the
// first one: where the sets of benchmarks differ, the ratio of the means would
// compare what has nothing to do with each other.
func (t *Table) means(class benchunit.Class) {
	paired := 0
	for _, r := range t.Rows {
		if r.Cells[0] != nil {
			paired++
		}
	}
	for i := range t.Files {
		var centers, ratios []float64
		bad := false // a change from zero, of which there is no ratio
		for _, r := range t.Rows {
			cell := r.Cells[i]
			if cell == nil {
				continue
			}
			centers = append(centers, cell.Center)
			if cell.Against != nil {
				old := r.Cells[0].Center
				bad = bad || old == 0 && cell.Center != old
				ratios = append(ratios, cell.Against.Ratio)
			}
		}
		m := Mean{Center: stats.GeoMean(centers), Ratio: math.NaN(), Delta: "?"}
		if i > 0 && paired != len(ratios) {
			m.Warnings = append(m.Warnings, "benchmark set differs from baseline; geomeans may not be comparable")
		}
		if math.IsNaN(m.Center) {
			m.Warnings = append(m.Warnings, "summaries must be >0 to compute geomean")
		} else {
			m.Shown = benchunit.Scale(m.Center, class)
		}
		if i > 0 && !bad {
			if m.Ratio = stats.GeoMean(ratios); math.IsNaN(m.Ratio) {
				m.Warnings = append(m.Warnings, "ratios must be >0 to compute geomean")
			} else {
				m.Delta = fmt.Sprintf("%+.2f%%", (m.Ratio-1)*100)
			}
		}
		if i == 0 {
			m.Delta = ""
		}
		t.Means = append(t.Means, m)
	}
}
