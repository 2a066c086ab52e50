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
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// Confidence is that of the intervals, and Alpha how probable a difference may be by
// chance that counts, where nothing else is asked for.
const (
	Confidence = 0.95
	Alpha      = 0.05
)

// File is the output of one or several runs of go test -bench, also as go test -json
// prints it.
type File struct {
	Name string
	Data []byte
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
	// columns is how many there should be in each table: one for each file, or what
	// else the columns are.
	columns int
}

// Pair is a key of the configuration with its value.
type Pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Table is all that was measured in one unit under one configuration.
type Table struct {
	// Key are the keys that tables are told apart by, with the values of this one,
	// "" for those that it does not have. Config are those that it has.
	Key, Config []Pair
	Unit        string
	// Better is +1 where more is better, -1 where less is, 0 where nobody knows.
	Better int
	// Files are the columns; the first is what the others are compared with. Columns
	// has the values of the keys that columns are told apart by, for each column.
	Files   []string
	Columns [][]string
	Rows    []Row
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
	// Blocks are which block each of Runs was measured in (see [BlockLine]); nil where
	// that is not told of all.
	Blocks []int
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

// Tabulate reads files and makes the tables. An error is that of [NewCollector]; lines
// that cannot be read are told in the result.
func Tabulate(files []File, q Query) (*Result, error) {
	c, err := NewCollector(q)
	if err != nil {
		return nil, err
	}
	names := unique(files)
	var problems, failed []string
	for i, f := range files {
		text, problem := unwrap(f.Data)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("%s: %s", f.Name, problem))
		}
		if line := failure(text); line != "" {
			failed = append(failed, fmt.Sprintf("%s: go test has failed (%s): what was measured may be of a broken program", f.Name, line))
			problems = append(problems, failed[len(failed)-1])
		}
		c.marks = marksOf(text)
		err := c.Read(bytes.NewReader(text), Input{Name: f.Name, Label: names[i]}, func(problem error) { problems = append(problems, problem.Error()) })
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", f.Name, err))
		}
	}
	out := c.Result()
	out.Files, out.Problems, out.Failed = names, problems, failed
	if q.Col == Everything().Col {
		out.columns = len(names)
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

// Scale says how values of the row are printed: divided by a factor, with so many
// digits behind the point, and a prefix.
func (r *Row) Scale() (factor float64, digits int, prefix string) {
	return r.scale.Factor, r.scale.Prec, r.scale.Prefix
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

// InCommon is how many benchmarks all columns have, of which there are two at least
// where something is compared: all files, or all values of another projection.
func (r *Result) InCommon() (n int) {
	for _, t := range r.Tables {
		for _, row := range t.Rows {
			all := len(t.Files) == r.columns
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
