package benchmark

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// collected reads texts as files a, b … with a query.
func collected(t testing.TB, q Query, texts ...string) (*Result, []string) {
	t.Helper()
	c, err := NewCollector(q)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for i, text := range texts {
		name := string(rune('a' + i))
		err := c.Read(strings.NewReader(text), Input{name, name}, func(problem error) { told = append(told, problem.Error()) })
		if err != nil {
			told = append(told, err.Error())
		}
	}
	return c.Result(), told
}

// TestCollector: projections and filters say what stands in which table, row and column.
func TestCollector(t *testing.T) {
	q := Everything()
	q.Filter, q.Row, q.Col = "-.unit:B/op", ".name", "/k@(2 1)"
	q.Table, q.Ignore = "goos", ".file"
	r, told := collected(t, q, "goos: linux\nBenchmarkA/k=1 1 3 x/op 4 B/op\nBenchmarkA/k=2 1 5 x/op\nBenchmarkA/k=3 1 5 x/op\n", "BenchmarkA/k=2 1 6 u\nBenchmarkBad 1\n")
	if !slices.Equal(told, []string{"b:2: missing measurements"}) {
		t.Errorf("%q", told)
	}
	var got []string
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			for i, c := range row.Cells {
				got = append(got, fmt.Sprint(table.Key, table.Config, table.Unit, " ", row.Name, table.Columns[i], c.Values, c.Against != nil))
			}
		}
	}
	want := []string{
		"[{goos linux}] [{goos linux}]x/op A[2] [5] false", "[{goos linux}] [{goos linux}]x/op A[1] [3] true",
		"[{goos }] []u A[2] [6] false",
	}
	if !slices.Equal(got, want) || r.Results != 3 {
		t.Errorf("%d results\n%s", r.Results, strings.Join(got, "\n"))
	}
}

// TestQueryError: an error says which part of a query is wrong.
func TestQueryError(t *testing.T) {
	f := func(change func(*Query), flag, want string) {
		t.Helper()
		q := Everything()
		change(&q)
		_, err := NewCollector(q)
		wrong, ok := errors.AsType[*QueryError](err)
		if err == nil || !strings.HasPrefix(err.Error(), want) || ok != (flag != "") || ok && wrong.Flag != flag {
			t.Errorf("got %v, want %q of %q", err, want, flag)
		}
	}
	f(func(q *Query) { q.Filter = "(" }, "-filter", "parsing -filter: syntax error")
	f(func(q *Query) { q.Table = ".unit" }, "-table", "parsing -table: syntax error")
	f(func(q *Query) { q.Row, q.Col = "a@b", ".unit" }, "-row", "parsing -row: syntax error")
	f(func(q *Query) { q.Col = "," }, "-col", "parsing -col: syntax error")
	f(func(q *Query) { q.Ignore = ".unit" }, "-ignore", "parsing -ignore: syntax error")
	f(func(q *Query) { q.Alpha = 1.5 }, "", "-alpha must be in range [0, 1]")
	f(func(q *Query) { q.Confidence = -1 }, "", "-confidence must be in range [0, 1]")
}

// TestInputs: what words of a command line mean.
func TestInputs(t *testing.T) {
	f := func(words string, want ...Input) {
		t.Helper()
		if got := Inputs(strings.Fields(words)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", words, got)
		}
	}
	f("x y", Input{"x", "x"}, Input{"y", "y"})
	f("x x y", Input{"x", "x#0"}, Input{"x", "x#1"}, Input{"y", "y"})
	f("x a=x =b=c", Input{"x", "x"}, Input{"x", "a"}, Input{"b=c", ""})
	f("a=x a=y -", Input{"x", "a"}, Input{"y", "a"}, Input{"-", "-"})
}

// TestNotANumber: the rank test does not end on NaN, and is not asked.
func TestNotANumber(t *testing.T) {
	r, _ := collected(t, Everything(), "BenchmarkA 1 NaN u\nBenchmarkA 1 3 u\n", "BenchmarkA 1 2 u\n")
	a := r.Tables[0].Rows[0].Cells[1].Against
	if a == nil || a.Significant || a.Delta != "?" || len(a.Warnings) != 1 {
		t.Errorf("%+v", a)
	}
}

// TestNoRatio: of a change from zero there is no ratio, and no mean of ratios with it.
func TestNoRatio(t *testing.T) {
	r, _ := collected(t, Everything(), "BenchmarkA 1 0 u\nBenchmarkB 1 1 u\n", "BenchmarkA 1 2 u\nBenchmarkB 1 2 u\n")
	if m := r.Tables[0].Means[1]; m.Delta != "?" || len(m.Warnings) != 0 {
		t.Errorf("%+v", m)
	}
	// Of what is no number there is none either, which is told.
	r, _ = collected(t, Everything(), "BenchmarkA 1 NaN u\nBenchmarkB 1 1 u\n", "BenchmarkA 1 2 u\nBenchmarkB 1 2 u\n")
	if m := r.Tables[0].Means[1]; m.Delta != "?" || len(m.Warnings) != 1 {
		t.Errorf("%+v", m)
	}
}

// FuzzCollector: whatever is in a file and in a query, there are tables or an error, each
// row has the cells of its table, and the memory is bounded by the input.
func FuzzCollector(f *testing.F) {
	f.Add("goos: linux\nUnit u assume=exact\nBenchmarkA/k=1-8 1 3 ns/op 4 u\nBenchmarkA/k=2-8 1 5 ns/op\n", "*", ".config", ".fullname", ".file")
	f.Add("BenchmarkA 1 NaN u -Inf v\nBenchmarkA 1 1e308 u\n", ".unit:(u OR v)", "", "/k@num", "goos,.name@alpha")
	f.Add("Benchmark\nBenchmarkA\nBenchmark 1\r\n\xff: x\nUnit\n", "-x:/y/", ".config@alpha", "", "/k@(1 2)")
	f.Fuzz(func(t *testing.T, text, filter, table, row, col string) {
		q := Query{Filter: filter, Table: table, Row: row, Col: col, Alpha: Alpha, Confidence: Confidence}
		c, err := NewCollector(q)
		if err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, name := range []string{"a", "b"} {
			_ = c.Read(strings.NewReader(text), Input{name, name}, func(error) {}) // a line that is too long ends the file
		}
		r := c.Result()
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+4096*len(text)); got > limit {
			t.Errorf("%d bytes of text took %d", len(text), got)
		}
		for _, table := range r.Tables {
			if len(table.Columns) != len(table.Files) || len(table.Means) != len(table.Files) || len(table.Rows) == 0 {
				t.Errorf("%d columns, %d files, %d means, %d rows", len(table.Columns), len(table.Files), len(table.Means), len(table.Rows))
			}
			for _, row := range table.Rows {
				if len(row.Cells) != len(table.Files) {
					t.Errorf("%d cells in %d columns", len(row.Cells), len(table.Files))
				}
			}
		}
	})
}
