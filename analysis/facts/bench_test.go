package facts_test

import (
	"context"
	"os"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/source/system"
	"loupe/value/stack"
)

// BenchmarkDiagnosis is what the rules ask of the execution trace that LOUPE_TRACE names,
// in one pass; the others are parts of it, each with a reader and the table of goroutines
// of its own. BenchmarkNothing is these two alone.
func BenchmarkDiagnosis(b *testing.B) {
	wanted(b, sched.Whole, account.Whole(stack.Scope{}, nil), sched.WholeTurns, sched.Samples)
}

func BenchmarkAnalysis(b *testing.B) { wanted(b, sched.Whole) }
func BenchmarkAccount(b *testing.B)  { wanted(b, account.Whole(stack.Scope{}, nil)) }
func BenchmarkTurns(b *testing.B)    { wanted(b, sched.WholeTurns) }

func BenchmarkNothing(b *testing.B) {
	wanted(b, sweep.Want[struct{}]{Key: "nothing", Begin: func(p *sweep.Pass) (func() (struct{}, error), error) {
		p.Goroutines()
		p.Join(sweep.On(sweep.Of(exectrace.KindGoTransition), func(*exectrace.Event) {}))
		return func() (struct{}, error) { return struct{}{}, nil }, nil
	}})
}

// wanted measures the CPU time of a pass of the desk.
func wanted(b *testing.B, wants ...sweep.Wanted) {
	data, err := os.ReadFile(os.Getenv("LOUPE_TRACE"))
	if err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	var cpu time.Duration
	for b.Loop() {
		t, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		began := system.CPUTime()
		if err := sweep.NewDesk(t).Prepare(context.Background(), nil, wants...); err != nil {
			b.Fatal(err)
		}
		cpu += system.CPUTime() - began
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
}
