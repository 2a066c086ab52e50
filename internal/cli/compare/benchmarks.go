package compare

import (
	"errors"
	"io"
	"path/filepath"
	"strings"

	"loupe/format/benchmark"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/source"
	"loupe/source/bounded"
)

// ShowBenchmarks prints the tables of one output of go test -bench.
func ShowBenchmarks(e *command.Env, in *source.Input) error {
	return writeBenchmarks(e, []*source.Input{in}, benchmark.Everything(), "text")
}

// benchmarkFlags are the flags that only benchmarks have. They mean what they mean to
// benchstat.
var benchmarkFlags = []string{"filter", "table", "row", "col", "ignore"}

// declareQuery declares them.
func declareQuery(fs *command.FlagSet, q *benchmark.Query) {
	fs.StringVar(&q.Filter, "filter", q.Filter, "benchmarks: use the results and units that match a `query`")
	fs.StringVar(&q.Table, "table", q.Table, "benchmarks: a table for each value of a `projection`")
	fs.StringVar(&q.Row, "row", q.Row, "benchmarks: a row for each value of a `projection`")
	fs.StringVar(&q.Col, "col", q.Col, "benchmarks: a column for each value of a `projection`, such as /format;\none file is then enough, and the first column is BEFORE")
	fs.StringVar(&q.Ignore, "ignore", q.Ignore, "benchmarks: `keys` in which results of one cell may differ")
}

// writeBenchmarks prints outputs of go test -bench side by side, as benchstat does.
func writeBenchmarks(e *command.Env, inputs []*source.Input, q benchmark.Query, format string) error {
	var files []benchmark.File
	var names []string
	for _, in := range inputs {
		data, err := bounded.ReadNamed(in.Path)
		if err != nil {
			return err
		}
		names = append(names, in.Name)
		files = append(files, benchmark.File{Name: filepath.Base(in.Name), Data: data})
	}
	r, err := benchmark.Tabulate(files, q.IgnoringVersions())
	if wrong, ok := errors.AsType[*benchmark.QueryError](err); ok {
		return command.Usagef("%s: %w", wrong.Flag, wrong.Err)
	}
	if err != nil {
		return err
	}
	t := report.Benchmarks(r)
	err = command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteTraceAs(w, t, format, e.Style()) })
	switch {
	case err != nil:
		return err
	case len(r.Failed) > 0:
		return errors.New(strings.Join(r.Failed, "\n"))
	case r.Results > 0 && r.InCommon() == 0 && q.Col != benchmark.Everything().Col:
		return command.Nothingf("no row has a figure in two columns of -col %s: nothing is compared", command.ShellWord(q.Col))
	case r.Results > 0 && r.InCommon() == 0:
		return command.Nothingf("no benchmark is in all of %s: nothing is compared", strings.Join(names, ", "))
	}
	return nil
}

// FailedTests returns what the outputs of go test among the inputs say of tests that
// failed.
func FailedTests(inputs []*source.Input) (failed []string, err error) {
	var files []benchmark.File
	for _, in := range inputs {
		if in.Kind != kind.Benchmarks && in.Kind != kind.Tests {
			continue
		}
		data, err := bounded.ReadNamed(in.Path)
		if err != nil {
			return nil, err
		}
		files = append(files, benchmark.File{Name: in.Name, Data: data})
	}
	if len(files) == 0 {
		return nil, nil
	}
	r, err := benchmark.Tabulate(files, benchmark.Everything())
	if err != nil {
		return nil, err
	}
	return r.Failed, nil
}
