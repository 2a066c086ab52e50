package session_test

import (
	"strings"
	"testing"
	"time"

	"loupe/format/exectrace/fixture"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// TestOnTrace: a trace on the generator's monotonic clock needs no other; one of
// another machine, or of another boot, does.
func TestOnTrace(t *testing.T) {
	f := func(mono int64, span, how string, want timeline.Time, off time.Duration) {
		t.Helper()
		r := recordingtest.New("title x\nhost os=linux\nphase trace "+span+" profiler=trace\n").
			Clock("load.requests", 5*time.Second).Clock("trace.out", 4*time.Second)
		l := loadlogtest.Steady(10, time.Second, time.Millisecond)
		l.Monotonic, l.Start = mono, recordingtest.Start.Add(5*time.Second)
		sp := r.Manifest.Phases[0].Span
		r.Put(recording.Entry{Path: "load.requests", Kind: recording.Load, Phase: "trace"}, loadlogtest.Encode(l))
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace", Span: sp},
			fixture.Trace(t, "Trace Go1.23\nEventBatch m=1 time=2000000000\nProcStatus dt=1 p=0 pstatus=running\nGoStatus dt=1 g=1 m=1 gstatus=running\n"))
		s := session.New(r.Open())
		log, err := s.Load("trace")
		if err != nil {
			t.Fatal(err)
		}
		j, err := s.OnTrace(log, "trace")
		if err != nil || !strings.Contains(j.How, how) || j.At(0) != want || j.Error != off {
			t.Errorf("OnTrace = %+v, %v, want %s, %d ±%v", j, err, how, want, off)
		}
	}
	// The trace begins at 2 s of its clock. Sent at 2.1 s, which is 5 s on the
	// axis, it would lie at 4.9 s there.
	f(2_100_000_000, "4.8s..7s", "the same clock", 2_100_000_000, 2*time.Microsecond)
	f(2_100_000_000, "6s..7s", "dates", 1_000_000_000, 0)
	f(72_100_000_000, "4.8s..7s", "dates", 1_000_000_000, 0)
	f(0, "4.8s..7s", "dates", 1_000_000_000, 0)
}
