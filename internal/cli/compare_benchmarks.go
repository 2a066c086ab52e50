package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"loupe/benchmark"
	"loupe/report"
	"loupe/source"
)

// areBenchmarks says whether the arguments are outputs of go test -bench.
func areBenchmarks(args []string) bool {
	return len(args) > 1 && !slices.ContainsFunc(args, func(name string) bool {
		what, _, err := sniff(name)
		return err != nil || what[0] != "benchmarks"
	})
}

// showBenchmarks prints the tables of one output of go test -bench.
func showBenchmarks(e *env, name string) error { return writeBenchmarks(e, []string{name}, "text") }

// allBenchmarks fails when one of the arguments is an output of go test -bench and
// another is not.
func allBenchmarks(args []string) error {
	bench, other := "", ""
	for _, name := range args {
		what, _, err := sniff(name)
		gone := exitError{}
		switch {
		case err == nil && what[0] == "benchmarks":
			bench = name
		case errors.As(err, &gone) && gone.code == exitNothing && bench != "":
			return err
		default:
			other = name
		}
	}
	if bench != "" && other != "" {
		return fmt.Errorf("%s is the output of go test -bench and %s is not: each is compared with its like", bench, other)
	}
	return nil
}

// writeBenchmarks prints outputs of go test -bench side by side, as benchstat does.
func writeBenchmarks(e *env, names []string, format string) error {
	var files []benchmark.File
	for _, name := range names {
		data, err := source.ReadNamed(name)
		if err != nil {
			return err
		}
		files = append(files, benchmark.File{Name: filepath.Base(name), Data: data})
	}
	r, err := benchmark.Tabulate(files, benchmark.Options{})
	if err != nil {
		return err
	}
	t := report.Benchmarks(r)
	return buffered(e.stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return report.WriteJSON(w, t)
		case "csv":
			return report.WriteTraceCSV(w, t)
		case "md":
			return report.WriteTraceMarkdown(w, t)
		}
		return report.WriteTrace(w, t, e.style())
	})
}
