package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/format/benchmark"
	"loupe/value/unit"
)

// BenchmarkSchema is the version of the JSON form of tables of benchmarks.
const BenchmarkSchema = "loupe.benchmarks/1"

// Benchmarks are tables of the output of go test -bench: the figures and their
// forms are those of benchstat, the interval of the change and the verdict are ours.
func Benchmarks(r *benchmark.Result) *Trace {
	t := &Trace{Schema: BenchmarkSchema}
	for i, table := range r.Tables {
		t.Sheets = append(t.Sheets, BenchmarkSheet(table))
		t.Sheets[i].Key = fmt.Sprintf("table%d", i+1)
		t.Facts = append(t.Facts, Fact{Key: t.Sheets[i].Key + "_unit", Value: table.Unit})
		if i == 0 || !slices.Equal(table.Config, r.Tables[i-1].Config) {
			t.Sheets[i].Title = configText(table.Config)
		}
	}
	for _, p := range r.Problems {
		t.Sheets = append(t.Sheets, &Sheet{Notes: []string{p}})
	}
	return t
}

func configText(config []benchmark.Pair) string {
	var words []string
	for _, p := range config {
		words = append(words, p.Key+": "+p.Value)
	}
	return strings.Join(words, ", ")
}

// sample is a figure of a benchmark: its value and how it is printed.
type sample struct {
	value float64
	shown string
}

func (s sample) text() string { return s.shown }
func (s sample) plain() any {
	if math.IsNaN(s.value) || math.IsInf(s.value, 0) {
		return nil
	}
	return s.value
}

// BenchmarkSheet is one table. What is to be said of a figure stands below it,
// with the number that the figure has.
func BenchmarkSheet(t *benchmark.Table) *Sheet {
	s := &Sheet{Key: t.Unit, Columns: []Column{{"name", t.Unit}}}
	for i, f := range t.Files {
		s.Columns = append(s.Columns, Column{fmt.Sprintf("center_%d", i+1), f}, Column{fmt.Sprintf("range_%d", i+1), "±"})
		if i > 0 {
			s.Columns = append(s.Columns, Column{fmt.Sprintf("delta_%d", i+1), "vs base"}, Column{fmt.Sprintf("interval_%d", i+1), "interval"}, Column{fmt.Sprintf("p_%d", i+1), "p"}, Column{fmt.Sprintf("verdict_%d", i+1), "verdict"})
		}
	}
	mark := func(warnings ...string) string {
		text := ""
		for _, w := range warnings {
			at := slices.Index(s.Notes, w)
			if at < 0 {
				at = len(s.Notes)
				s.Notes = append(s.Notes, w)
			}
			text += " " + superscript(at+1)
		}
		return text
	}
	judged := compare.Benchmarks(t)
	for k := range t.Rows {
		r := &t.Rows[k]
		row := []any{r.Name}
		for i, c := range r.Cells {
			switch {
			case c == nil && i == 0:
				row = append(row, nil, nil)
				continue
			case c == nil:
				row = append(row, nil, nil, nil, nil, nil, nil)
				continue
			}
			row = append(row, sample{c.Center, c.Shown}, sample{(c.High - c.Low) / 2, c.Range + mark(c.Warnings...)})
			switch {
			case i > 0 && c.Against != nil:
				a := c.Against
				row = append(row, sample{a.Ratio, a.Delta}, interval(judged[k][i]), sample{a.P, a.Test + mark(a.Warnings...)}, string(judged[k][i].Verdict))
			case i > 0:
				row = append(row, nil, nil, nil, nil)
			}
		}
		s.Rows = append(s.Rows, row)
	}
	if len(t.Rows) > 1 {
		row := []any{"geomean"}
		for i, m := range t.Means {
			row = append(row, sample{m.Center, m.Shown + mark(m.Warnings...)}, "")
			if i > 0 {
				row = append(row, sample{m.Ratio, m.Delta}, "", "", "")
			}
		}
		s.Rows = append(s.Rows, row)
	}
	for i, n := range s.Notes {
		s.Notes[i] = superscript(i+1) + " " + n
	}
	return s
}

// ends are those of the interval of a change: "[-21%, -19%]", and as ratios for programs.
type ends struct{ low, high float64 }

func (e ends) text() string {
	print := unit.Change
	if e.high >= factor {
		print = times
	}
	return fmt.Sprintf("[%s, %s]", print(e.low), print(e.high))
}
func (e ends) plain() any { return []float64{e.low, e.high} }

// interval is that of a change; nil where it has none.
func interval(c *compare.Change) any {
	if !c.Low.Known() || !c.High.Known() {
		return nil
	}
	return ends{float64(c.Low), float64(c.High)}
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var out []rune
	for _, d := range fmt.Sprint(n) {
		out = append(out, digits[d-'0'])
	}
	return string(out)
}
