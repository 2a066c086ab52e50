package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"loupe/analysis/compare"
	"loupe/format/benchmark"
	"loupe/report"
)

var benchmarkEndpoints = []endpoint{
	on("benchmarks/tables", func(ctx context.Context, s *subject, q *query) (*benchView, error) {
		in, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		files, err := in.Benchmarks()
		if err != nil {
			return nil, nothing("There is no output of go test -bench among this. Make some, and open it: go test -bench . -count 10 | tee new.txt; loupe open old.txt new.txt")
		}
		return benchTables(files, q)
	}),
}

// benchView is what outputs of go test -bench come to.
type benchView struct {
	Files    []string     `json:"files"`
	Results  int          `json:"results"`
	Varying  []string     `json:"varying"`
	Problems []string     `json:"problems"`
	Tables   []benchTable `json:"tables"`
}

// benchTable is one unit under one configuration.
type benchTable struct {
	Config []benchmark.Pair `json:"config"`
	Unit   string           `json:"unit"`
	Better int              `json:"better"`
	Files  []string         `json:"files"`
	// Table is as benchstat prints it; Rows are its rows but for the means.
	Table *table     `json:"table"`
	Rows  []benchRow `json:"rows"`
}

// benchRow is one benchmark. Values print as value/Factor with Digits behind the
// point, and Prefix.
type benchRow struct {
	Name   string      `json:"name"`
	Factor float64     `json:"factor"`
	Digits int         `json:"digits"`
	Prefix string      `json:"prefix"`
	Cells  []benchCell `json:"cells"`
}

// benchCell is a benchmark in one file; without values it does not have it.
type benchCell struct {
	Values []float64 `json:"values"`
	Center float64   `json:"center"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Shown  string    `json:"shown"`
	Range  string    `json:"range"`
	// Delta, Test and Verdict compare it with the first file, where that has
	// the benchmark.
	Delta   string `json:"delta"`
	Test    string `json:"test"`
	Verdict string `json:"verdict"`
}

func benchTables(files []benchmark.File, q *query) (*benchView, error) {
	asked := benchmark.Everything()
	asked.Ignore = q.Get("ignore")
	if text := q.Get("filter"); strings.TrimSpace(text) != "" {
		asked.Filter = text
	}
	r, err := benchmark.Tabulate(files, asked.IgnoringVersions())
	if wrong, ok := errors.AsType[*benchmark.QueryError](err); ok {
		err = fmt.Errorf("cannot read the %s: %w", strings.TrimPrefix(wrong.Flag, "-"), wrong.Err)
	}
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	v := &benchView{Files: r.Files, Results: r.Results, Varying: r.Varying, Problems: r.Problems, Tables: []benchTable{}}
	for _, t := range r.Tables {
		one := benchTable{Config: t.Config, Unit: t.Unit, Better: t.Better, Files: t.Files, Table: tableOf(report.BenchmarkSheet(t)), Rows: []benchRow{}}
		judged := compare.Benchmarks(t)
		for i := range t.Rows {
			row := benchRow{Name: t.Rows[i].Name, Cells: []benchCell{}}
			row.Factor, row.Digits, row.Prefix = t.Rows[i].Scale()
			for k, c := range t.Rows[i].Cells {
				cell := benchCell{Values: []float64{}}
				if c != nil {
					cell = benchCell{Values: c.Values, Center: c.Center, Low: finite(c.Low, c.Values[0]), High: finite(c.High, c.Values[len(c.Values)-1]), Shown: c.Shown, Range: c.Range}
					if a := c.Against; a != nil {
						cell.Delta, cell.Test, cell.Verdict = a.Delta, a.Test, string(judged[i][k].Verdict)
					}
				}
				row.Cells = append(row.Cells, cell)
			}
			one.Rows = append(one.Rows, row)
		}
		v.Tables = append(v.Tables, one)
	}
	return v, nil
}

// finite is x, or where that is without end what stands for it in a picture.
func finite(x, instead float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return instead
	}
	return x
}
