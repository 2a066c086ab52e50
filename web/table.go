package web

import (
	"slices"

	"loupe/report"
)

// table is a sheet for the pages: what each cell shows, and what it is sorted
// by.
type table struct {
	Key     string        `json:"key"`
	Title   string        `json:"title"`
	Columns []tableColumn `json:"columns"`
	// Shown and Values have a row for each row. Values are numbers where the
	// column is one of numbers, and what JSON output has otherwise.
	Shown  [][]string `json:"shown"`
	Values [][]any    `json:"values"`
	Notes  []string   `json:"notes"`
}

type tableColumn struct {
	Key  string `json:"key"`
	Head string `json:"head"`
	Left bool   `json:"left"`
}

// tableOf makes a table of a sheet: the numbers and words are those of the
// command line.
func tableOf(s *report.Sheet) *table {
	t := &table{Key: s.Key, Title: s.Title, Columns: []tableColumn{}, Shown: [][]string{}, Values: [][]any{}}
	for _, c := range s.Columns {
		t.Columns = append(t.Columns, tableColumn{Key: c.Key, Head: c.Head})
	}
	for _, note := range s.Notes {
		t.Notes = append(t.Notes, report.WithoutFlags(note))
	}
	for n, row := range s.Rows {
		shown, values := make([]string, len(row)), make([]any, len(row))
		for i, v := range row {
			var left bool
			shown[i], values[i], left = report.Cell(v)
			if n == 0 {
				t.Columns[i].Left = left
			}
		}
		t.Shown, t.Values = append(t.Shown, shown), append(t.Values, values)
	}
	return t
}

// only leaves out all other columns.
func (t *table) only(keys ...string) *table {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if slices.Contains(keys, t.Columns[i].Key) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for n := range t.Shown {
			t.Shown[n], t.Values[n] = slices.Delete(t.Shown[n], i, i+1), slices.Delete(t.Values[n], i, i+1)
		}
	}
	return t
}

// fact is one figure of a page.
type fact struct {
	Key   string `json:"key"`
	Head  string `json:"head"`
	Shown string `json:"shown"`
	Value any    `json:"value"`
}

// page is facts and tables, as loupe trace prints them.
type facts struct {
	Facts  []fact   `json:"facts"`
	Tables []*table `json:"tables"`
}

// factsOf makes a page of what the command line prints.
func factsOf(t *report.Trace) *facts {
	f := &facts{Facts: []fact{}, Tables: []*table{}}
	for _, v := range t.Facts {
		shown, value, _ := report.Cell(v.Value)
		f.Facts = append(f.Facts, fact{v.Key, v.Head, shown, value})
	}
	for _, s := range t.Sheets {
		f.Tables = append(f.Tables, tableOf(s))
	}
	return f
}
