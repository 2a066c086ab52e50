package benchmark

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchproc"
)

// Query says which results are compared with which, in the language of package
// [golang.org/x/perf/benchproc/syntax]. [Everything] has what benchstat does without
// flags; an empty projection is one that tells nothing apart.
type Query struct {
	// Filter says which results and units are used, "*" is all of them.
	Filter string
	// Table, Row and Col are projections: a result belongs into the table, the row
	// and the column of the values that it has for their keys.
	Table, Row, Col string
	// Ignore are keys in which results of one cell may differ.
	Ignore string
	// Alpha is how probable a difference may be by chance that counts, Confidence
	// that of the intervals. Both lie between 0 and 1.
	Alpha, Confidence float64
}

// Everything compares all results, benchmark by benchmark and file by file.
func Everything() Query {
	return Query{Filter: "*", Table: ".config", Row: ".fullname", Col: ".file", Alpha: Alpha, Confidence: Confidence}
}

// IgnoringVersions is the query where results of different versions are compared, though lines in
// front of them say so (commit, commit-time, commit-edited, toolchain). A key that the query names itself is left to it.
func (q Query) IgnoringVersions() Query {
	for _, key := range versionKeys {
		if !strings.Contains(q.Table+" "+q.Row+" "+q.Col+" "+q.Ignore, key) {
			q.Ignore = strings.Trim(q.Ignore+","+key, ",")
		}
	}
	return q
}

// QueryError is the error of a part of a [Query]. Its text is that of benchstat.
type QueryError struct {
	Flag string // of benchstat: "-filter"
	Err  error
}

// Error says which flag of benchstat is wrong, and how.
func (e *QueryError) Error() string { return fmt.Sprintf("parsing %s: %s", e.Flag, e.Err) }

// Unwrap returns the error of the syntax.
func (e *QueryError) Unwrap() error { return e.Err }

// cell is where a result belongs in its table.
type cell struct{ row, col benchproc.Key }

// samples are those of one cell. What is left of their keys, when table, row and
// column are taken off, should be the same for all of them.
type samples struct {
	values  []float64
	blocks  []int // of each value; unmarked where that is not told
	residue map[benchproc.Key]bool
}

// cells collects the samples of one table.
type cells struct {
	rows, cols map[benchproc.Key]bool
	samples    map[cell]*samples
}

// Collector puts results where they belong as they are read. What it keeps of a
// result are its values and what keys it has not met before.
type Collector struct {
	query   Query
	filter  *benchproc.Filter
	tableBy *benchproc.Projection
	unit    *benchproc.Field // of tableBy
	rowBy   *benchproc.Projection
	colBy   *benchproc.Projection
	residue *benchproc.Projection
	reader  benchfmt.Reader // has the metadata of units of all inputs
	tables  map[benchproc.Key]*cells
	results int
	marks   blockMarks // of the input that is read
}

// NewCollector reads a query. The error is a [*QueryError] where the syntax is wrong.
func NewCollector(q Query) (*Collector, error) {
	filter, err := benchproc.NewFilter(q.Filter)
	if err != nil {
		return nil, &QueryError{"-filter", err}
	}
	c := &Collector{query: q, filter: filter, tables: map[benchproc.Key]*cells{}}
	var parser benchproc.ProjectionParser
	if c.tableBy, c.unit, err = parser.ParseWithUnit(q.Table, filter); err != nil {
		return nil, &QueryError{"-table", err}
	}
	if c.rowBy, err = parser.Parse(q.Row, filter); err != nil {
		return nil, &QueryError{"-row", err}
	}
	if c.colBy, err = parser.Parse(q.Col, filter); err != nil {
		return nil, &QueryError{"-col", err}
	}
	if _, err = parser.Parse(q.Ignore, filter); err != nil {
		return nil, &QueryError{"-ignore", err}
	}
	c.residue = parser.Residue()
	for _, p := range []struct {
		flag  string
		value float64
	}{{"-alpha", q.Alpha}, {"-confidence", q.Confidence}} {
		if p.value < 0 || p.value > 1 {
			return nil, fmt.Errorf("%s must be in range [0, 1]", p.flag)
		}
	}
	return c, nil
}

// Input is a file of results: its name in messages, and the value that its results
// have for the key .file.
type Input struct{ Name, Label string }

// Inputs are those that benchstat has for the words of a command line. A word may be
// label=name; names that come several times without a label have #0, #1 … behind them.
func Inputs(words []string) []Input {
	all := make([]Input, len(words))
	times, seen := map[string]int{}, map[string]int{}
	for i, word := range words {
		label, name, ok := strings.Cut(word, "=")
		if ok {
			all[i] = Input{name, label}
			continue
		}
		all[i] = Input{word, word}
		times[word]++
	}
	for i, word := range words {
		if times[word] > 1 {
			all[i].Label = fmt.Sprintf("%s#%d", word, seen[word])
			seen[word]++
		}
	}
	return all
}

// Read adds the results of an input, line by line. It tells of lines that cannot be
// read, and goes on; an error is that of reading.
func (c *Collector) Read(from io.Reader, in Input, tell func(problem error)) error {
	c.reader.Reset(from, in.Name, ".file", in.Label)
	for c.reader.Scan() {
		switch r := c.reader.Result().(type) {
		case *benchfmt.SyntaxError:
			tell(r)
		case *benchfmt.Result:
			if ok, err := c.filter.Apply(r); ok {
				c.add(r)
			} else if err != nil {
				tell(err)
			}
		}
	}
	return c.reader.Err()
}

func (c *Collector) add(r *benchfmt.Result) {
	c.results++
	at := cell{c.rowBy.Project(r), c.colBy.Project(r)}
	residue := c.residue.Project(r)
	_, line := r.Pos()
	for i, k := range c.tableBy.ProjectValues(r) {
		t := c.tables[k]
		if t == nil {
			t = &cells{map[benchproc.Key]bool{}, map[benchproc.Key]bool{}, map[cell]*samples{}}
			c.tables[k] = t
		}
		s := t.samples[at]
		if s == nil {
			s = &samples{residue: map[benchproc.Key]bool{}}
			t.samples[at], t.rows[at.row], t.cols[at.col] = s, true, true
		}
		s.values, s.blocks = append(s.values, r.Values[i].Value), append(s.blocks, c.marks.at(line))
		s.residue[residue] = true
	}
}

// Result makes the tables of all that was read.
func (c *Collector) Result() *Result {
	out := &Result{Results: c.results, columns: 2}
	keys := sorted(c.tables)
	units := c.reader.Units()
	for _, field := range benchproc.NonSingularFields(keys) {
		if field.Name != ".unit" {
			out.Varying = append(out.Varying, field.Name)
		}
	}
	for _, k := range keys {
		t := &Table{Unit: k.Get(c.unit)}
		for _, f := range c.tableBy.FlattenedFields() {
			if f == c.unit {
				continue
			}
			pair := Pair{f.Name, k.Get(f)}
			if t.Key = append(t.Key, pair); pair.Value != "" {
				t.Config = append(t.Config, pair)
			}
		}
		t.Better = units.GetBetter(t.Unit)
		t.fill(c.tables[k], c.query, units.GetAssumption(t.Unit))
		out.columns = max(out.columns, len(t.Files))
		out.Tables = append(out.Tables, t)
	}
	return out
}

func sorted[V any](m map[benchproc.Key]V) []benchproc.Key {
	var keys []benchproc.Key
	for k := range m {
		keys = append(keys, k)
	}
	benchproc.SortKeys(keys)
	return keys
}
