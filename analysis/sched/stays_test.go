package sched_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// staysOf makes the stays of a trace.
func staysOf(t testing.TB, data []byte) *sched.Stays {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	pass := sweep.New(tr)
	b := sched.NewStaysBuilder(pass.Goroutines())
	pass.Join(b)
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	return b.Finish()
}

var staysKinds = []sched.ProfileKind{
	sched.ProfileNet, sched.ProfileSync, sched.ProfileSyscall, sched.ProfileSched, sched.ProfileOffCPU, sched.ProfileCPU, sched.ProfileRunning,
}

// TestStays asks for spans of every size, and has each profile equal that of
// a StateProfiler which has read the trace for the span alone.
func TestStays(t *testing.T) {
	eachTrace(t, func(t *testing.T, name string, data []byte) {
		s := staysOf(t, data)
		all := s.Span()
		spans := []timeline.Span{{}, all, {Start: all.Start, End: all.Start + 1}, {Start: all.End - 1, End: all.End}, {Start: all.End, End: all.End + 1000}}
		rnd := rand.New(rand.NewPCG(1, 2))
		for n := range 12 {
			length := max(1, int64(all.Len())>>(2*n))
			start := all.Start + timeline.Time(rnd.Int64N(int64(all.Len())))
			spans = append(spans, timeline.Span{Start: start, End: start + timeline.Time(length)})
		}
		for _, span := range spans {
			p := profileStates(t, data, sched.StateProfileOptions{Span: span}, sched.Sink{})
			for _, kind := range staysKinds {
				got, want := s.Profile(kind, span), p.Profile(kind)
				sameProfile(t, fmt.Sprint(kind, span), textOf(got), textOf(want))
				if got.Unfinished != want.Unfinished {
					t.Errorf("%v %v: unfinished %v, want %v", kind, span, got.Unfinished, want.Unfinished)
				}
			}
		}
	})
}

// TestStaysRuns has the time that goroutines ran equal that of the summarizer.
func TestStaysRuns(t *testing.T) {
	data, err := os.ReadFile(ownTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	profileStates(t, data, sched.StateProfileOptions{}, sched.Sink{Goroutine: func(g *sched.Goroutine) { want += int64(g.Exec) }})
	if got := staysOf(t, data).Profile(sched.ProfileRunning, timeline.Span{}).Total(); int64(got.Time) != want {
		t.Errorf("goroutines ran %v, want %v", int64(got.Time), want)
	}
}

// LOUPE_TRACE names a large trace for these.
func benchTrace(b *testing.B) []byte {
	b.Helper()
	name := os.Getenv("LOUPE_TRACE")
	if name == "" {
		b.Skip("LOUPE_TRACE names no trace")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	return data
}

func BenchmarkStaysBuilder(b *testing.B) {
	data := benchTrace(b)
	for b.Loop() {
		s := staysOf(b, data)
		n, size := s.Len()
		b.ReportMetric(float64(n), "stays")
		b.ReportMetric(float64(size)/float64(n), "B/stay")
		b.ReportMetric(float64(size)/float64(len(data)), "B/traceB")
	}
}

func BenchmarkStaysProfile(b *testing.B) {
	data := benchTrace(b)
	s := staysOf(b, data)
	runtime.GC()
	all := s.Span()
	for _, part := range []float64{0.001, 0.1, 0.5, 1} {
		b.Run(fmt.Sprint(part), func(b *testing.B) {
			length := timeline.Time(float64(all.Len()) * part)
			rnd := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				start := all.Start + timeline.Time(rnd.Int64N(int64(all.Len())-int64(length)+1))
				s.Profile(sched.ProfileOffCPU, timeline.Span{Start: start, End: start + length})
			}
			b.ReportMetric(float64(length)/1e9, "s")
		})
	}
}
