package sched

import (
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/value/timeline"
)

func timelineOf(d time.Duration) timeline.Time { return timeline.Time(d) }

// TestPath: goroutine 1 waits for 2, which waits for 3; the path goes through
// all of them and covers the time without a gap.
func TestPath(t *testing.T) {
	stay := func(g exectrace.GoID, s exectrace.State, from, to timeline.Time, by exectrace.GoID) Interval {
		return Interval{G: g, State: s, Start: from, End: to, By: by, P: exectrace.NoProc}
	}
	const none = exectrace.NoGoroutine
	stays := map[exectrace.GoID][]Interval{
		1: {stay(1, exectrace.Running, 0, 10, none), stay(1, exectrace.Waiting, 10, 50, 2), stay(1, exectrace.Runnable, 50, 55, none), stay(1, exectrace.Running, 55, 60, none)},
		2: {stay(2, exectrace.Running, 12, 20, none), stay(2, exectrace.Waiting, 20, 40, 3), stay(2, exectrace.Running, 40, 70, none)},
		3: {stay(3, exectrace.Running, 0, 90, none)},
	}
	var at timeline.Time
	want := []struct {
		g     exectrace.GoID
		to    timeline.Time
		depth int
	}{{1, 10, 0}, {2, 12, 1}, {2, 20, 1}, {3, 40, 2}, {2, 50, 1}, {1, 55, 0}, {1, 60, 0}}
	got := walkPath(stays, 1, timeline.Span{Start: 0, End: 60})
	if len(got) != len(want) {
		t.Fatalf("%d steps, want %d: %+v", len(got), len(want), got)
	}
	for i, s := range got {
		if s.Start != at || s.G != want[i].g || s.End != want[i].to || s.Depth != want[i].depth {
			t.Errorf("step %d is goroutine %d from %d to %d at depth %d, want %+v from %d", i, s.G, s.Start, s.End, s.Depth, want[i], at)
		}
		at = s.End
	}
	if got[1].State != exectrace.NotExist {
		t.Errorf("before goroutine 2 is there it is %v", got[1].State)
	}
}

// TestPathInCircle: two goroutines that wait for each other do not loop.
func TestPathInCircle(t *testing.T) {
	stays := map[exectrace.GoID][]Interval{
		1: {{G: 1, State: exectrace.Waiting, Start: 0, End: 100, By: 2}},
		2: {{G: 2, State: exectrace.Waiting, Start: 0, End: 100, By: 1}},
	}
	got := walkPath(stays, 1, timeline.Span{Start: 0, End: 100})
	if len(got) != 1 || got[0].G != 2 || got[0].Len() != 100 {
		t.Errorf("path %+v", got)
	}
}
