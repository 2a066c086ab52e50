package account_test

import (
	"os"
	"testing"

	"loupe/analysis/account"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
)

// BenchmarkAccount makes the account of the trace that LOUPE_TRACE names.
func BenchmarkAccount(b *testing.B) {
	benchmark(b, func(pass *sweep.Pass) func() {
		x := account.NewBuilder(pass.Goroutines(), account.Options{})
		pass.Join(x)
		return func() { x.Finish() }
	})
}

// BenchmarkNothing is the cost of the reader and of the table of goroutines.
func BenchmarkNothing(b *testing.B) {
	benchmark(b, func(pass *sweep.Pass) func() {
		pass.Goroutines()
		pass.Join(sweep.On(sweep.Of(exectrace.KindGoTransition), func(*exectrace.Event) {}))
		return func() {}
	})
}

func benchmark(b *testing.B, join func(pass *sweep.Pass) (finish func())) {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	events := int64(0)
	for b.Loop() {
		t, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		pass := sweep.New(t)
		finish := join(pass)
		if err := pass.Run(nil); err != nil {
			b.Fatal(err)
		}
		finish()
		events = pass.Events()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(int64(b.N)*events), "ns/event")
	b.ReportAllocs()
}
