package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/report"
	"loupe/value/timeline"
)

// laneOf returns the number of a lane.
func (p *pages) laneOf(kind string, subject int64) tiles.LaneID {
	p.t.Helper()
	var l laneList
	p.get("timeline/lanes?s=1&kinds="+kind, &l)
	for _, x := range l.Lanes {
		if x.Subject == subject {
			return x.ID
		}
	}
	p.t.Fatalf("no %s %d", kind, subject)
	return 0
}

func (p *pages) at(kind string, subject int64, at time.Duration) *laneMoment {
	p.t.Helper()
	var m laneMoment
	p.get(fmt.Sprintf("timeline/at?s=1&lane=%d&t=%d", p.laneOf(kind, subject), at), &m)
	return &m
}

func TestTimelineAt(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	const ms = time.Millisecond
	f := func(kind string, subject int64, at time.Duration, want string) {
		t.Helper()
		m := p.at(kind, subject, at)
		have := "nothing"
		if m.Span != nil {
			have = fmt.Sprintf("%s %v", m.Span.Name, m.Span.Len())
		}
		if s := m.Stay; s != nil {
			have += fmt.Sprintf(" | g%d %s %s %q %v-%v P%d", s.Goroutine, s.Function, s.State, s.Reason, time.Duration(s.Start), time.Duration(s.End), s.Proc)
			if len(s.Stack) > 0 {
				have += fmt.Sprintf(" at %s:%d", s.Stack[0].Function, s.Stack[0].Line)
			}
			if s.By != nil {
				have += fmt.Sprintf(" by g%d %s %v from line %d", s.By.Goroutine, s.By.Function, time.Duration(s.By.At), s.By.Stack[0].Line)
			}
			for _, c := range s.Met {
				have += fmt.Sprintf(" met g%d %s %v made %t waited %v for %q", c.Goroutine, c.Function, time.Duration(c.At), c.Made, c.Waited, c.Reason)
			}
		}
		if have != want {
			t.Errorf("%s %d at %v:\n%s, want\n%s", kind, subject, at, have, want)
		}
	}
	f("goroutine", 1, 1004*ms, `chan 2ms | g1 main.main waiting "chan receive" 1.003s-1.005s P-1 at main.main:12 by g7 main.worker 1.005s from line 8`)
	f("goroutine", 1, 1005500*time.Microsecond, `runnable 1.499968ms | g1 main.main runnable "" 1.005s-1.0065s P-1 at main.main:12 by g7 main.worker 1.005s from line 8`)
	f("goroutine", 7, 1002500*time.Microsecond, `runnable 1ms | g7 main.worker runnable "" 1.002s-1.003000001s P-1 by g1 main.main 1.002s from line 9`)
	f("goroutine", 7, 1003500*time.Microsecond, `runs 3ms | g7 main.worker running "" 1.003000001s-1.006s P0 met g1 main.main 1.005s made false waited 2ms for "chan receive"`)
	f("proc", 0, 1003500*time.Microsecond, `runs 3ms | g7 main.worker running "" 1.003000001s-1.006s P0 met g1 main.main 1.005s made false waited 2ms for "chan receive"`)
	f("goroutine", 7, 1500*ms, "nothing")
	f("proc", 1, 1003*ms, "idle 6.000064ms")
	m := p.at("goroutine", 1, 1004*ms)
	if m.Before == nil || m.Before.Name != "runs" || m.Before.End != m.Span.Start || m.After == nil || m.After.Start != m.Span.End {
		t.Errorf("neighbours %+v and %+v of %+v", m.Before, m.After, m.Span)
	}
	p.refused(http.StatusBadRequest, "timeline/at?s=1&lane=999&t=0", nil)
	p.refused(http.StatusConflict, "timeline/at?s=1&lane=0&t=0&version=1", nil)
}

// TestTimelineAtAll asks for every span of a real trace, and holds what the
// trace tells against it.
func TestTimelineAtAll(t *testing.T) {
	data := busy()
	p := pagesOf(t, recordingOf(data))
	tr, err := p.sources.all[0].traced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lanes, _ := tr.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}, Order: tiles.BySpans}, 0, 40)
	asked, woken := 0, 0
	for _, l := range lanes {
		spans := slices.Collect(tr.Spans(l.ID, tr.Set.Span()))
		for n := 0; n < len(spans); n += 1 + len(spans)/13 {
			s := spans[n]
			if s.Len() == 0 {
				continue
			}
			m, err := tr.at(t.Context(), l, tr.Clock.At(int64(s.Start+s.End)/2))
			if err != nil || m.Stay == nil {
				t.Fatalf("%+v %+v: %+v, %v", l, s, m, err)
			}
			asked++
			// Assists and the like have spans of their own, within a stay or over several.
			near := func(a, b timeline.Time) bool { return a-b < 200 && b-a < 200 }
			if own := tr.Own(m.Stay.Span); m.Stay.State != "running" && s.Class != tiles.GoGC && (!near(own.Start, s.Start) || !near(own.End, s.End)) && m.Stay.Begun {
				t.Fatalf("%+v is %+v of the trace: %+v", s, own, m.Stay)
			}
			if m.Stay.By != nil && m.Stay.State == "waiting" {
				woken++
			}
		}
	}
	if asked < 50 || woken == 0 {
		t.Errorf("%d spans, %d of waits that somebody has ended", asked, woken)
	}
}

// TestTimelineGoroutine: the page is that of the command line, and the parts
// of a life add up.
func TestTimelineGoroutine(t *testing.T) {
	data := busy()
	p := pagesOf(t, recordingOf(data))
	tr, err := p.sources.all[0].traced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lanes, _ := tr.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}, Order: tiles.BySpans}, 0, 3)
	for _, l := range lanes {
		h, err := sched.FindGoroutine(tr.Trace, exectrace.GoID(l.Subject), 100_000)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(factsOf(report.TraceGoroutine(h, lifeRows)))
		var life struct{ Page json.RawMessage }
		p.get(fmt.Sprintf("timeline/goroutine?s=1&g=%d", l.Subject), &life)
		if !bytes.Equal(life.Page, want) {
			t.Errorf("goroutine %d: another page than that of the command line", l.Subject)
		}
		var sum sched.Spending
		on := tr.On(tr.Set.Span())
		for i := range timeline.Time(4) {
			part := timeline.Span{Start: on.Start + (on.End-on.Start)*i/4, End: on.Start + (on.End-on.Start)*(i+1)/4}
			own := tr.Own(part)
			h, err := sched.ReadHistory(tr.Trace, exectrace.GoID(l.Subject), sched.HistoryOptions{Within: own, First: tr.Generation(own.Start)})
			if err != nil {
				continue // not there
			}
			sum.Running.Time += h.Spent.Running.Time
			sum.Waiting.Time += h.Spent.Waiting.Time
			sum.Runnable.Time += h.Spent.Runnable.Time
		}
		if d := (sum.Running.Time - h.Exec).Abs(); d > 5*time.Microsecond {
			t.Errorf("goroutine %d ran for %v, and in four parts for %v", l.Subject, h.Exec, sum.Running.Time)
		}
		if d := (sum.Runnable.Time - h.SchedWait).Abs(); d > 5*time.Microsecond {
			t.Errorf("goroutine %d was ready for %v, and in four parts for %v", l.Subject, h.SchedWait, sum.Runnable.Time)
		}
	}
	p.refused(http.StatusNotFound, "timeline/goroutine?s=1&g=123456789", nil)
}

func TestTimelineStats(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	f := func(question, want string) {
		t.Helper()
		var st timelineStats
		p.get("timeline/stats?s=1&"+question, &st)
		have := ""
		for _, c := range st.Goroutines {
			have += fmt.Sprintf("%s %d %v, ", c.Name, c.Spans, c.Time)
		}
		for _, g := range st.Groups {
			have += fmt.Sprintf("| %s %d ", g.Name, g.Members)
			for _, c := range g.Classes {
				have += fmt.Sprintf("%s %v ", c.Name, c.Time)
			}
		}
		if have != want {
			t.Errorf("%s:\n%s, want\n%s", question, have, want)
		}
	}
	f("t0=1003000000&t1=1005000000", "runs 1 2ms, syscall 1 2ms, chan 1 2ms, | main.worker 1 runs 2ms |  1 syscall 2ms | main.main 1 chan 2ms ")
	f("t0=1002500000&t1=1003500000", "runs 2 1ms, runnable 1 500µs, syscall 1 1ms, chan 1 500µs, | main.main 1 runs 500µs chan 500µs | main.worker 1 runs 500µs runnable 500µs |  1 syscall 1ms ")
	f("t0=5000000000&t1=6000000000", "")
}

func TestTimelineFind(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	f := func(question, want string) {
		t.Helper()
		var h timelineHit
		p.get("timeline/find?s=1&q="+question, &h)
		have := fmt.Sprintf("%d of %d", h.Number, h.Total)
		if h.Lane != nil {
			have += fmt.Sprintf(": %s %d %v", h.Lane.Kind, h.Lane.Subject, time.Duration(h.Span.Start))
		}
		if have != want {
			t.Errorf("%s: %s, want %s", question, have, want)
		}
	}
	f("state:runnable", "1 of 3: goroutine 7 1.002s")
	f("state:runnable&t=1002000000", "2 of 3: goroutine 1 1.005s")
	f("state:runnable&t=1007000000", "0 of 3")
	f("state:runnable&t=1005000000&dir=prev", "1 of 3: goroutine 7 1.002s")
	f("state:runnable%3E1ms", "1 of 1: goroutine 1 1.005s")
	f("state:runnable+worker", "1 of 1: goroutine 7 1.002s")
	f("state:runnable&t0=1004000000&t1=1006000000", "1 of 1: goroutine 1 1.005s")
	f("g7", "1 of 1: goroutine 7 1.002s")
	f("g70", "0 of 0")
	f("main.", "1 of 2: goroutine 1 1.001s")
	f("state:syscall", "1 of 1: goroutine 9 1.001s")
	p.refused(http.StatusBadRequest, "timeline/find?s=1&q=state:cat", nil)
	p.refused(http.StatusBadRequest, "timeline/find?s=1&q=state:sync%3Esoon", nil)
}

func TestTimelineTasks(t *testing.T) {
	p := pagesOf(t, recordingOf(busy()))
	var all traceTasks
	p.get("timeline/tasks?s=1", &all)
	if all.TasksTotal != 1 || all.Tasks[0].Name != "ping" || !all.Tasks[0].Begun || !all.Tasks[0].Ended || all.RegionsTotal != 1 || all.Regions[0].Name != "pong" {
		t.Errorf("tasks %+v", all)
	}
	p.get("timeline/tasks?s=1&q=pong", &all)
	if all.TasksTotal != 0 || all.RegionsTotal != 1 {
		t.Errorf("pong: %d tasks, %d regions", all.TasksTotal, all.RegionsTotal)
	}

	// As a lane: the region, and the task in front of it and behind it.
	p.get("timeline/tasks?s=1", &all)
	task, region := all.Tasks[0], all.Regions[0]
	var l laneList
	p.get("timeline/lanes?s=1&kinds=gc", &l)
	if l.Tasks != 1 {
		t.Errorf("the list of lanes knows of %d tasks", l.Tasks)
	}
	var lanes taskLanes
	p.get("timeline/tasklanes?s=1", &lanes)
	if lanes.Total != 1 || len(lanes.Lanes) != 1 || lanes.Lanes[0].ID != task.ID || lanes.Version != l.Version {
		t.Fatalf("lanes %+v", lanes)
	}
	at := task.Start
	for i, s := range lanes.Lanes[0].Spans {
		if s.Start != at || (s.Region != "") != (s.Span == region.Span) {
			t.Errorf("span %d of %+v: %+v", i, task, s)
		}
		at = s.End
	}
	if at != task.End {
		t.Errorf("the lane ends at %v, the task at %v", at, task.End)
	}
	p.get(fmt.Sprintf("timeline/tasklanes?s=1&t0=%d&t1=%d", task.End, task.End+1000), &lanes)
	if lanes.Total != 0 {
		t.Errorf("behind its end there are %d tasks", lanes.Total)
	}

	// Its page is that of the command line, and its path has no gaps.
	var page struct {
		Page json.RawMessage
		Path []pathStep
		Left int
	}
	p.get(fmt.Sprintf("timeline/task?s=1&id=%d", task.ID), &page)
	tr, err := p.sources.all[0].traced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h, err := sched.FindTask(tr.Trace, exectrace.TaskID(task.ID), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := json.Marshal(factsOf(report.TraceTask(h, taskRows))); !bytes.Equal(page.Page, want) {
		t.Errorf("another page than that of the command line: %s", page.Page)
	}
	at = task.Start
	for i, s := range page.Path {
		if s.Start != at {
			t.Errorf("step %d of the path begins at %v, the one before ends at %v", i, s.Start, at)
		}
		at = s.End
	}
	if at != task.End && (page.Left == 0 || len(page.Path) != maxPath) {
		t.Errorf("the path ends at %v, the task at %v", at, task.End)
	}
	p.refused(http.StatusNotFound, "timeline/task?s=1&id=77", nil)
}

// TestTaskSpans cuts tasks at their regions, which may overlap.
func TestTaskSpans(t *testing.T) {
	f := func(task string, want string, regions ...string) {
		t.Helper()
		span := func(text string) (s timeline.Span) {
			fmt.Sscanf(text, "%d-%d", &s.Start, &s.End)
			return s
		}
		var list []*regionItem
		for i, r := range regions {
			list = append(list, &regionItem{Name: string(rune('a' + i)), Goroutine: 1, Span: span(r)})
		}
		spans, left := taskSpans(span(task), list)
		var got []string
		for _, s := range spans {
			got = append(got, fmt.Sprintf("%d-%d%s", s.Start, s.End, s.Region))
		}
		if strings.Join(got, " ") != want || left != 0 {
			t.Errorf("%s with %v: %v, %d left, want %s", task, regions, got, left, want)
		}
	}
	f("0-9", "0-9")
	f("5-5", "")
	f("0-9", "0-2 2-4a 4-9", "2-4")
	f("0-9", "0-1 1-3a 3-5b 5-7a 7-9", "1-7", "3-5")
	f("0-9", "0-1 1-3a 3-8b 8-9", "1-5", "3-8")
	f("2-8", "2-5a 5-8b", "0-5", "5-12")
	f("0-9", "0-9", "4-4")
}
