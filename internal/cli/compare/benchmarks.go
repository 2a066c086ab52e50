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
	return writeBenchmarks(e, []*source.Input{in}, "text")
}

// writeBenchmarks prints outputs of go test -bench side by side, as benchstat does.
func writeBenchmarks(e *command.Env, inputs []*source.Input, format string) error {
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
	r, err := benchmark.Tabulate(files, benchmark.Options{})
	if err != nil {
		return err
	}
	t := report.Benchmarks(r)
	err = command.Buffered(e.Stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return report.WriteJSON(w, t)
		case "csv":
			return report.WriteTraceCSV(w, t)
		case "md":
			return report.WriteTraceMarkdown(w, t)
		}
		return report.WriteTrace(w, t, e.Style())
	})
	switch {
	case err != nil:
		return err
	case len(r.Failed) > 0:
		return errors.New(strings.Join(r.Failed, "\n"))
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
	r, err := benchmark.Tabulate(files, benchmark.Options{})
	if err != nil {
		return nil, err
	}
	return r.Failed, nil
}
