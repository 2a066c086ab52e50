package collect

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"loupe/recording"
	"loupe/value/timeline"
)

// TestTraceWaits: the trace of a tool that mostly waits is as long as its life was, and the last phase; that of one that
// works, and one whose length was chosen, stay.
func TestTraceWaits(t *testing.T) {
	phases := func(trace time.Duration) []Phase {
		return []Phase{{"bare", 10 * time.Second}, {"cpu", 5 * time.Second}, {"trace", trace}, {"heap", 0}}
	}
	for _, x := range []struct {
		name                    string
		life, used, trace, want time.Duration
		last                    bool
	}{
		{"it waits", 14 * time.Second, 200 * time.Millisecond, 2 * time.Second, 14 * time.Second, true},
		{"it waits for long", 300 * time.Second, time.Second, 2 * time.Second, longestTrace, true},
		{"it works", 14 * time.Second, 9 * time.Second, 2 * time.Second, 2 * time.Second, false},
		{"it works a little", 14 * time.Second, 1500 * time.Millisecond, 2 * time.Second, 2 * time.Second, false},
		{"a length that was chosen", 14 * time.Second, 200 * time.Millisecond, 3 * time.Second, 3 * time.Second, false},
		{"nothing known", 0, 0, 2 * time.Second, 2 * time.Second, false},
	} {
		run := recording.Run{Span: timeline.Span{Start: 0, End: timeline.Time(x.life)}, User: x.used}
		before := phases(x.trace)
		got := traceWaits(before, run)
		i := slices.IndexFunc(got, func(p Phase) bool { return p.Name == "trace" })
		if len(got) != 4 || got[0].Name != "bare" || got[i].For != x.want || (i == 3) != x.last || !slices.Equal(before, phases(x.trace)) {
			t.Errorf("%s: %v", x.name, got)
		}
	}
}

// TestFullWriter: the one who writes is told once that there is enough, and nothing is lost.
func TestFullWriter(t *testing.T) {
	var b bytes.Buffer
	told := 0
	w := &fullWriter{w: &b, left: 10, full: func() { told++ }}
	for range 4 {
		w.Write([]byte("12345"))
		if want := b.Len() > 10; want != (told == 1) {
			t.Errorf("told %d times after %d bytes", told, b.Len())
		}
	}
	if b.Len() != 20 {
		t.Errorf("%d bytes", b.Len())
	}
}

// TestProfileMore: the CPU profile of a tool is of most of its life, and what comes after it still has its time; a length
// that was chosen stays.
func TestProfileMore(t *testing.T) {
	for _, x := range []struct {
		name      string
		life      time.Duration
		phases    []Phase
		cpu, want time.Duration
	}{
		{"most of its life", 20 * time.Second, []Phase{{"trace", 2 * time.Second}, {"heap", 0}, {repeatsPhase, 4 * time.Second}}, 5 * time.Second, 14 * time.Second},
		{"a short life", 5 * time.Second, nil, 5 * time.Second, 5 * time.Second},
		{"a long life", 300 * time.Second, nil, 5 * time.Second, longestProfile},
		{"others need their time", 20 * time.Second, []Phase{{"block", 5 * time.Second}, {"mutex", 5 * time.Second}}, 5 * time.Second, 7 * time.Second},
		{"a length that was chosen", 20 * time.Second, nil, 8 * time.Second, 8 * time.Second},
	} {
		before := append([]Phase{{"bare", 10 * time.Second}, {"cpu", x.cpu}}, x.phases...)
		want := slices.Clone(before)
		want[1].For = x.want
		given := slices.Clone(before)
		if got := profileMore(given, recording.Run{Span: timeline.Span{End: timeline.Time(x.life)}}); !slices.Equal(got, want) || !slices.Equal(given, before) {
			t.Errorf("%s: %v, want %v", x.name, got, want)
		}
	}
	if got := profileMore([]Phase{{"bare", 0}, {"trace", 0}}, recording.Run{}); len(got) != 2 {
		t.Errorf("without a CPU profile: %v", got)
	}
}
