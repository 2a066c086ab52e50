package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"loupe/format/benchmark"
)

// WriteBenchstatCSV prints tables as benchstat -format csv does. What is to be said of
// figures goes to notes, with the cells of a spreadsheet that they are about.
func WriteBenchstatCSV(w, notes io.Writer, r *benchmark.Result) error {
	c := benchstatCSV{w: csv.NewWriter(w), notes: notes}
	for i, t := range r.Tables {
		if i > 0 {
			c.record("")
		}
		for _, line := range changedKeys(r.Tables, i) {
			c.record(line)
		}
		c.table(t)
	}
	c.w.Flush()
	return c.w.Error()
}

// benchstatCSV writes records and counts them. The errors are sticky.
type benchstatCSV struct {
	w     *csv.Writer
	notes io.Writer
	line  int
}

func (c *benchstatCSV) record(fields ...string) {
	c.line++
	_ = c.w.Write(fields) // the writer keeps the error
}

// note tells of a field of the next record.
func (c *benchstatCSV) note(field int, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(c.notes, "%s%d: %s\n", spreadsheetColumn(field), c.line+1, w)
	}
}

// csvField is where the fields of a column begin: the first has no comparison.
func csvField(column int) int {
	if column == 0 {
		return 1
	}
	return 3 + 4*(column-1)
}

func (c *benchstatCSV) table(t *benchmark.Table) {
	width := csvField(len(t.Files))
	for _, level := range headings(t.Columns) {
		fields := make([]string, width)
		for _, h := range level {
			for i := h.start; i < h.end; i++ {
				fields[csvField(i)] = h.text
			}
		}
		c.record(fields...)
	}
	fields := make([]string, width)
	for i := range t.Files {
		at := csvField(i)
		fields[at], fields[at+1] = t.Unit, "CI"
		if i > 0 {
			fields[at+2], fields[at+3] = "vs base", "P"
		}
	}
	c.record(fields...)
	for _, r := range t.Rows {
		c.row(r, width)
	}
	means := make([]string, width)
	means[0] = "geomean"
	for i, m := range t.Means {
		at := csvField(i)
		if m.Shown != "" {
			means[at] = fmt.Sprint(m.Center)
		}
		if i > 0 {
			means[at+2] = m.Delta
		}
		c.note(at, m.Warnings)
	}
	c.record(means...)
}

// row ends with the last of its fields that it has.
func (c *benchstatCSV) row(r benchmark.Row, width int) {
	fields, used := make([]string, width), 1
	fields[0] = r.Name
	for i, cell := range r.Cells {
		if cell == nil {
			continue
		}
		at := csvField(i)
		fields[at], fields[at+1], used = fmt.Sprint(cell.Center), cell.Range, at+2
		c.note(at, cell.Warnings)
		if a := cell.Against; a != nil {
			fields[at+2], fields[at+3], used = a.Delta, a.Test, at+4
			c.note(at+2, a.Warnings)
		}
	}
	c.record(fields[:used]...)
}

// spreadsheetColumn names the n-th field, from 0, as benchstat does: A … Z, BA, BB …
//
// Note: spreadsheets have AA behind Z. The names are part of what scripts read.
func spreadsheetColumn(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		name = spreadsheetColumn(n/26) + name
	}
	return name
}
