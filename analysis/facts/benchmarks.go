package facts

import "loupe/session"

// Benchmark is what the runs of one benchmark took, of one file.
type Benchmark = session.Benchmark

// BenchmarksIn are those in the outputs of go test -bench: of files that stand alone, and of
// what a recorded test printed. The error is [session.ErrNone] where there is none.
func BenchmarksIn(f *Facts) ([]*Benchmark, error) { return session.MeasuredBenchmarks(f.session) }
