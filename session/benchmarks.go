package session

import (
	"fmt"

	"loupe/format/benchmark"
	"loupe/recording"
)

// BenchmarkOutput is the kind of what go test -bench has printed.
const BenchmarkOutput recording.Kind = "benchmarks"

// addBenchmarks enters the output of go test -bench. It has no time.
func (s loose) addBenchmarks(f *File) error {
	s.rec.Entries = append(s.rec.Entries, recording.Entry{Path: f.Name, Kind: BenchmarkOutput, Bytes: f.Bytes})
	f.Kind = BenchmarkOutput
	data, err := s.rec.ReadFile(f.Name, maxEntry)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", f.Name, err)
	}
	r, err := benchmark.Tabulate([]benchmark.File{{Name: f.Name, Data: data}}, benchmark.Everything())
	if err != nil {
		return err
	}
	f.Results, f.Failed = r.Results, r.Failed
	s.rec.Notes = append(s.rec.Notes, r.Problems...)
	return nil
}

// Benchmarks returns the outputs of go test -bench, [ErrNone] when there is none.
func (s *Session) Benchmarks() (files []benchmark.File, err error) {
	for _, e := range s.rec.Of(BenchmarkOutput) {
		data, err := s.rec.ReadFile(e.Path, maxEntry)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", e.Path, err)
		}
		files = append(files, benchmark.File{Name: e.Path, Data: data})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("output of go test -bench: %w", ErrNone)
	}
	return files, nil
}
