// Package benchmark makes tables of the output of go test -bench, as benchstat
// does: a table for each unit and configuration, a row for each benchmark, a
// column for each file, with medians, their intervals, and what of the differences
// is more than chance.
//
// The statistics are those of golang.org/x/perf, which benchstat uses: the figures
// are the same. What the package adds are the single samples, and which way is
// better.
package benchmark

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
	"golang.org/x/perf/benchunit"
)

// Confidence is that of the intervals.
const Confidence = 0.95

// File is the output of one or several runs of go test -bench, also as go test -json
// prints it.
type File struct {
	Name string
	Data []byte
}

// Options say what is put together. The zero value does as benchstat does without
// flags.
type Options struct {
	// Ignore are keys of the configuration, such as "cpu", in which results of
	// one table may differ.
	Ignore []string
	// Filter is an expression as benchstat -filter has it: ".name:Encode
	// .unit:ns/op"; "" is all.
	Filter string
}

// Result is what files come to.
type Result struct {
	// Files are the names of the files, each once: equal ones have #0 and #1 behind
	// them.
	Files  []string
	Tables []*Table
	// Varying are the keys of the configuration that not all results have in
	// common, which is why there are several tables of a unit.
	Varying []string
	// Results counts the lines of results, Problems tells of those that could
	// not be read.
	Results  int
	Problems []string
	// Failed are those of them that tell of a failure of go test.
	Failed []string
}

// Pair is a key of the configuration with its value.
type Pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Table is all that was measured in one unit under one configuration.
type Table struct {
	Config []Pair
	Unit   string
	// Better is +1 where more is better, -1 where less is, 0 where nobody knows.
	Better int
	// Files are the columns; the first is what the others are compared with.
	Files []string
	Rows  []Row
	// Means are of each column.
	Means []Mean
}

// Row is one benchmark.
type Row struct {
	Name  string
	Cells []*Cell // of each column; nil where the file does not have it
	scale benchunit.Scaler
}

// Cell is one benchmark in one file.
type Cell struct {
	// Values are the samples, in ascending order, Runs the same in the order of the file.
	Values, Runs []float64
	// Center is the median, Low and High the ends of its interval; of few
	// samples they are not finite.
	Center, Low, High float64
	// Shown is the center with its prefix, in that of its row, and Range its
	// interval in percent: "2.29µ" and "1%".
	Shown, Range string
	Warnings     []string
	// Against compares it with the first column; nil where that has none.
	Against *Comparison
}

// Comparison is a cell in comparison with that of the first column.
type Comparison struct {
	// Delta is the change of the center: "-17.20%", or "~" when it may be
	// chance, which Significant says; Ratio is new over old, NaN where that
	// means nothing.
	Delta       string
	Significant bool
	Ratio       float64
	P           float64
	N1, N2      int
	// Test is "p=0.000 n=10".
	Test     string
	Warnings []string
}

// Mean is the geometric mean of a column.
type Mean struct {
	// Center is NaN where there is none. Shown has its prefix.
	Center float64
	Shown  string
	// Ratio is that of the ratios to the first column, Delta the same as a
	// change; "?" where there is none.
	Ratio    float64
	Delta    string
	Warnings []string
}

// Looks tells by the begin of a file whether it is the output of go test -bench: a
// line of it is a result.
func Looks(head []byte) bool {
	for line := range bytes.Lines(head) {
		if !bytes.HasPrefix(line, []byte("Benchmark")) {
			continue
		}
		r := benchfmt.NewReader(bytes.NewReader(line), "")
		if r.Scan() {
			if _, ok := r.Result().(*benchfmt.Result); ok {
				return true
			}
		}
	}
	return false
}

// cells collects the samples of one table.
type cells struct {
	rows, cols map[benchproc.Key]bool
	values     map[[2]benchproc.Key][]float64
	residue    map[[2]benchproc.Key]map[benchproc.Key]bool
}

// Tabulate reads files and makes the tables. An error says what is wrong with the
// options; lines that cannot be read are told in the result.
func Tabulate(files []File, opt Options) (*Result, error) {
	query := opt.Filter
	if strings.TrimSpace(query) == "" {
		query = "*"
	}
	filter, err := benchproc.NewFilter(query)
	if err != nil {
		return nil, fmt.Errorf("cannot read filter %q: %w", opt.Filter, err)
	}
	var parser benchproc.ProjectionParser
	tableBy, unitField, err1 := parser.ParseWithUnit(".config", filter)
	rowBy, err2 := parser.Parse(".fullname", filter)
	colBy, err3 := parser.Parse(".file", filter)
	_, err4 := parser.Parse(strings.Join(opt.Ignore, ","), filter)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, fmt.Errorf("cannot ignore %q: %w", opt.Ignore, err)
	}
	residueBy := parser.Residue()
	out := &Result{Files: unique(files)}
	tables := map[benchproc.Key]*cells{}
	var reader benchfmt.Reader
	for i, f := range files {
		text, problem := unwrap(f.Data)
		if problem != "" {
			out.Problems = append(out.Problems, fmt.Sprintf("%s: %s", f.Name, problem))
		}
		if line := failure(text); line != "" {
			failed := fmt.Sprintf("%s: go test has failed (%s): what was measured may be of a broken program", f.Name, line)
			out.Failed, out.Problems = append(out.Failed, failed), append(out.Problems, failed)
		}
		reader.Reset(bytes.NewReader(text), f.Name, ".file", out.Files[i])
		for reader.Scan() {
			switch r := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				out.Problems = append(out.Problems, r.Error())
			case *benchfmt.Result:
				if ok, err := filter.Apply(r); !ok || err != nil {
					continue
				}
				out.Results++
				add(tables, r, tableBy.ProjectValues(r), [2]benchproc.Key{rowBy.Project(r), colBy.Project(r)}, residueBy.Project(r))
			}
		}
		if err := reader.Err(); err != nil {
			out.Problems = append(out.Problems, fmt.Sprintf("%s: %v", f.Name, err))
		}
	}
	keys := sorted(tables)
	units := reader.Units()
	fields := tableBy.FlattenedFields()
	for _, field := range benchproc.NonSingularFields(keys) {
		if field.Name != ".unit" {
			out.Varying = append(out.Varying, field.Name)
		}
	}
	for _, k := range keys {
		t := &Table{Unit: k.Get(unitField)}
		for _, f := range fields {
			if v := k.Get(f); f.Name != ".unit" && v != "" {
				t.Config = append(t.Config, Pair{f.Name, v})
			}
		}
		t.Better = units.GetBetter(t.Unit)
		t.fill(tables[k], units.GetAssumption(t.Unit))
		out.Tables = append(out.Tables, t)
	}
	return out, nil
}

// unique gives each file a name of its own, as benchstat does.
func unique(files []File) (names []string) {
	all, seen := map[string]int{}, map[string]int{}
	for _, f := range files {
		all[f.Name]++
	}
	for _, f := range files {
		name := f.Name
		if all[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
			seen[f.Name]++
		}
		names = append(names, name)
	}
	return names
}

func add(tables map[benchproc.Key]*cells, r *benchfmt.Result, keys []benchproc.Key, at [2]benchproc.Key, residue benchproc.Key) {
	for i, k := range keys {
		c := tables[k]
		if c == nil {
			c = &cells{map[benchproc.Key]bool{}, map[benchproc.Key]bool{}, map[[2]benchproc.Key][]float64{}, map[[2]benchproc.Key]map[benchproc.Key]bool{}}
			tables[k] = c
		}
		c.rows[at[0]], c.cols[at[1]] = true, true
		c.values[at] = append(c.values[at], r.Values[i].Value)
		if c.residue[at] == nil {
			c.residue[at] = map[benchproc.Key]bool{}
		}
		c.residue[at][residue] = true
	}
}

func sorted[V any](m map[benchproc.Key]V) []benchproc.Key {
	var keys []benchproc.Key
	for k := range m {
		keys = append(keys, k)
	}
	benchproc.SortKeys(keys)
	return keys
}

// fill computes the rows of a table.
func (t *Table) fill(c *cells, assume benchmath.Assumption) {
	rows, cols := sorted(c.rows), sorted(c.cols)
	for _, col := range cols {
		t.Files = append(t.Files, col.StringValues())
	}
	class := benchunit.ClassOf(t.Unit)
	thresholds := benchmath.DefaultThresholds
	for _, k := range rows {
		row := Row{Name: k.StringValues(), Cells: make([]*Cell, len(cols))}
		var base *benchmath.Sample
		var centers []float64
		for i, col := range cols {
			values, ok := c.values[[2]benchproc.Key{k, col}]
			if !ok {
				continue
			}
			sample := benchmath.NewSample(slices.Clone(values), &thresholds)
			s := assume.Summary(sample, Confidence)
			cell := &Cell{Values: sample.Values, Runs: values, Center: s.Center, Low: s.Lo, High: s.Hi, Range: s.PctRangeString(), Warnings: texts(sample.Warnings, s.Warnings)}
			if fields := benchproc.NonSingularFields(sorted(c.residue[[2]benchproc.Key{k, col}])); len(fields) > 0 {
				var names []string
				for _, f := range fields {
					names = append(names, f.Name)
				}
				cell.Warnings = append(cell.Warnings, "benchmarks vary in "+strings.Join(names, ", "))
			}
			if i == 0 {
				base = sample
			} else if base != nil {
				cell.Against = against(assume.Compare(base, sample), row.Cells[0].Center, s.Center)
			}
			row.Cells[i], centers = cell, append(centers, s.Center)
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

// Scale says how values of the row are printed: divided by a factor, with so many
// digits behind the point, and a prefix.
func (r *Row) Scale() (factor float64, digits int, prefix string) {
	return r.scale.Factor, r.scale.Prec, r.scale.Prefix
}

func against(c benchmath.Comparison, old, new float64) *Comparison {
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
		bad := false
		for _, r := range t.Rows {
			cell := r.Cells[i]
			if cell == nil {
				continue
			}
			centers = append(centers, cell.Center)
			if cell.Against != nil {
				bad = bad || math.IsNaN(cell.Against.Ratio)
				ratios = append(ratios, cell.Against.Ratio)
			}
		}
		m := Mean{Center: geomean(centers), Ratio: math.NaN(), Delta: "?"}
		if i > 0 && paired != len(ratios) {
			m.Warnings = append(m.Warnings, "benchmark set differs from baseline; geomeans may not be comparable")
		}
		if math.IsNaN(m.Center) {
			m.Warnings = append(m.Warnings, "summaries must be >0 to compute geomean")
		} else {
			m.Shown = benchunit.Scale(m.Center, class)
		}
		if i > 0 && !bad {
			if m.Ratio = geomean(ratios); math.IsNaN(m.Ratio) {
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

// geomean is NaN without values and where one is not above zero.
func geomean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		if v <= 0 {
			return math.NaN()
		}
		sum += math.Log(v)
	}
	if len(values) == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(len(values)))
}

// failure is the line that tells of a failure of go test, "" without one.
func failure(data []byte) string {
	first := ""
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(text, "--- FAIL: "), strings.HasPrefix(text, "panic: ") && len(line) > 0 && line[0] == 'p':
			return text
		case first == "" && (text == "FAIL" || strings.HasPrefix(text, "FAIL\t")):
			first = text
		}
	}
	return first
}

// InCommon is how many benchmarks all files have, of those of the first one.
func (r *Result) InCommon() (n int) {
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			all := len(t.Files) == len(r.Files)
			for _, c := range row.Cells {
				all = all && c != nil
			}
			if all {
				n++
			}
		}
	}
	return n
}
