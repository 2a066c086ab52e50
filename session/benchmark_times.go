package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loupe/format/benchmark"
	"loupe/recording"
)

// Benchmark is what the runs of one benchmark took, of one file.
type Benchmark struct {
	// Path is that of the file, Name the benchmark's without the number of Ps behind it,
	// Procs that number; 1 where there is none.
	Path, Name string
	Procs      int
	// Seconds are what one operation took, in the order of the runs.
	Seconds []float64
	// Collections are how many there were in each run; empty where the file does not say.
	Collections []float64
}

// MeasuredBenchmarks are those in the outputs of go test -bench ([Session.Benchmarks]), and in
// what tests have printed that were recorded without a profiler; [ErrNone] when there is
// none.
func MeasuredBenchmarks(s *Session) (all []*Benchmark, err error) {
	files, err := s.Benchmarks()
	for _, e := range s.rec.Of(recording.Stdout) {
		bare := slices.ContainsFunc(s.rec.Phases, func(p recording.Phase) bool { return p.Run == e.Run && p.Bare() })
		data, rerr := s.rec.ReadFile(e.Path, maxEntry)
		if bare && rerr == nil && benchmark.Looks(data) {
			files, err = append(files, benchmark.File{Name: e.Path, Data: data}), nil
		}
	}
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		some, err := benchmarksIn(file)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("times of benchmarks: %w", ErrNone)
	}
	return all, nil
}

// Operations is the smallest number of operations that a benchmark has run in what recorded tests
// have printed; 0 where there is none.
func Operations(s *Session) (least int) {
	for _, e := range s.rec.Of(recording.Stdout) {
		data, err := s.rec.ReadFile(e.Path, maxEntry)
		if n := benchmark.Operations(data); err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// benchmarksIn reads one file.
func benchmarksIn(file benchmark.File) (all []*Benchmark, err error) {
	r, err := benchmark.Tabulate([]benchmark.File{file}, benchmark.Everything())
	if err != nil {
		return nil, err
	}
	for _, t := range r.Tables {
		if t.Unit != "sec/op" && t.Unit != "gc-cycles" {
			continue
		}
		for _, row := range t.Rows {
			for _, c := range row.Cells {
				if c == nil {
					continue
				}
				b := &Benchmark{Path: file.Name}
				b.Name, b.Procs = splitProcs(row.Name)
				if i := slices.IndexFunc(all, func(o *Benchmark) bool { return o.Name == b.Name && o.Procs == b.Procs }); i >= 0 {
					b = all[i]
				} else {
					all = append(all, b)
				}
				if t.Unit == "sec/op" {
					b.Seconds = append(b.Seconds, c.Runs...)
				} else {
					b.Collections = append(b.Collections, c.Runs...)
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(b *Benchmark) bool { return len(b.Seconds) == 0 }), nil
}

// splitProcs takes the number of Ps off the name of a benchmark: "Encode/small-8".
func splitProcs(full string) (name string, procs int) {
	if at := strings.LastIndexByte(full, '-'); at > 0 {
		if n, err := strconv.Atoi(full[at+1:]); err == nil && n > 0 {
			return full[:at], n
		}
	}
	return full, 1
}
