package session_test

import (
	"bytes"
	"errors"
	"runtime/trace"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// traced is a recording that began so long before now, with a trace of this
// process that was asked for after another while.
func traced(t *testing.T, ago, asked time.Duration) *recordingtest.Recording {
	t.Helper()
	var b bytes.Buffer
	r := recordingtest.New("title x\nphase bare 0s..1s\nphase trace 1s..9s profiler=trace")
	r.Manifest.Start = time.Now().Add(-ago)
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace this process: %v", err)
	}
	trace.Stop()
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace",
		Span: timeline.Span{Start: timeline.Time(asked), End: timeline.Time(9 * time.Second)}}, b.Bytes())
	return r
}

// begin is where the trace begins on the axis.
func begin(t *testing.T, r *recordingtest.Recording) (timeline.Time, timeline.Clock) {
	t.Helper()
	s := session.New(r.Open())
	tr, e, err := s.Trace()
	if err != nil || e.Phase != "trace" {
		t.Fatalf("Trace = %+v, %v", e, err)
	}
	clock, err := s.TraceClock()
	if err != nil {
		t.Fatal(err)
	}
	if again, _, _ := s.Trace(); again != tr {
		t.Error("the trace is opened twice")
	}
	rd := tr.Reader()
	if !rd.Next() {
		t.Fatal(rd.Err())
	}
	return clock.At(int64(rd.Event().Time)), clock
}

// TestTraceClock: the date in the trace places it; where that cannot be, the
// time at which it was asked for does; and the manifest comes first.
func TestTraceClock(t *testing.T) {
	near := func(what string, got timeline.Time, want time.Duration) {
		t.Helper()
		if d := got.Sub(timeline.Time(want)); d < -20*time.Millisecond || d > 2*time.Second {
			t.Errorf("%s: the trace begins at %v, want about %v", what, time.Duration(got), want)
		}
	}
	at, clock := begin(t, traced(t, 4*time.Second, 3*time.Second))
	near("by date", at, 4*time.Second)
	if clock.Error > 100*time.Millisecond {
		t.Errorf("clock = %+v, want a small error", clock)
	}
	at, clock = begin(t, traced(t, time.Hour, 3*time.Second))
	near("another date", at, 3*time.Second)
	if at != timeline.Time(3*time.Second) || clock.Error != 6*time.Second {
		t.Errorf("the trace begins at %v with %+v, want when it was asked for", time.Duration(at), clock)
	}
	r := traced(t, 4*time.Second, 3*time.Second)
	known := timeline.Clock{Offset: 7, Error: 1}
	r.Manifest.Clocks = []recording.Clock{{Path: "trace.out", Clock: known}}
	if _, clock := begin(t, r); clock != known {
		t.Errorf("clock = %+v, want that of the manifest", clock)
	}
}

// TestTraceDamaged: what can be read is read, and what is no trace is an
// error.
func TestTraceDamaged(t *testing.T) {
	r := traced(t, 4*time.Second, 3*time.Second)
	f := r.Files["trace.out"]
	whole := f.Data
	f.Data = whole[:len(whole)*2/3]
	if tr, _, err := session.New(r.Open()).Trace(); err != nil || len(tr.Problems()) == 0 {
		t.Errorf("a cut trace: %v, want its problems", err)
	}
	f.Data = []byte("garbage")
	s := session.New(r.Open())
	if _, _, err := s.Trace(); err == nil || errors.Is(err, session.ErrNone) {
		t.Errorf("garbage: %v", err)
	}
	if _, err := s.TraceClock(); err == nil {
		t.Error("garbage has a clock")
	}
	if _, _, err := session.New(shop().Open()).Trace(); !errors.Is(err, session.ErrNone) {
		t.Errorf("no trace: %v", err)
	}
}
