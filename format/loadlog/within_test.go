package loadlog

import (
	"testing"
	"time"

	"loupe/value/timeline"
)

// TestWithin: parts that lie side by side hold every request once, with the
// times that it had, and all of the run is the run itself.
func TestWithin(t *testing.T) {
	const n = 1000
	h := header()
	h.Elapsed = time.Second
	var rows []Request
	for i := range n {
		service := time.Duration(1+i%7) * time.Millisecond
		rows = append(rows, Request{Begin: timeline.Time(i)*timeline.Time(time.Millisecond) - timeline.Time(service) + 1, Service: service, Conn: uint32(i % 3), Status: 200, Error: uint16(i % 50 / 49)})
	}
	l := New(h, rows)
	l.Connections = []Connection{{ID: 1, Opened: -1e6, Closed: 4e8, Why: ByServer}, {ID: 2, Opened: 3e8, Closed: 1e9}}
	if l.Within(timeline.Span{End: timeline.Time(h.Elapsed)}) != l {
		t.Error("the whole run is another log")
	}
	sum, failed := 0, 0
	var slowest time.Duration
	for at := timeline.Time(0); at < timeline.Time(h.Elapsed); at += timeline.Time(250 * time.Millisecond) {
		part := l.Within(timeline.Span{Start: at, End: at.Add(250 * time.Millisecond)})
		s := part.Summary()
		if part.Elapsed != 250*time.Millisecond || part.Start.Sub(l.Start) != time.Duration(at) {
			t.Errorf("the part from %d is %v long and begins at %v", at, part.Elapsed, part.Start)
		}
		for r := range part.All() {
			if r.End() < 0 || r.End() > timeline.Time(part.Elapsed) {
				t.Errorf("a request of the part from %d ended at %d", at, r.End())
			}
			if r.Error != 0 && part.ErrorText(r.Error) != l.ErrorText(r.Error) {
				t.Errorf("error %q, want %q", part.ErrorText(r.Error), l.ErrorText(r.Error))
			}
		}
		sum, failed, slowest = sum+s.Requests, failed+s.Requests-s.Responses, max(slowest, s.Latency.Max)
	}
	all := l.Summary()
	if sum != all.Requests || failed != all.Requests-all.Responses || slowest != all.Latency.Max {
		t.Errorf("the parts have %d requests, %d failed, the slowest took %v; the run %+v", sum, failed, slowest, all)
	}
	if c := l.Within(timeline.Span{Start: 5e8, End: 6e8}).Connections; len(c) != 1 || c[0].ID != 2 || c[0].Opened != -2e8 {
		t.Errorf("connections of a part: %+v", c)
	}
	if empty := l.Within(timeline.Span{Start: 2e9, End: 3e9}); empty.Len() != 0 || empty.Summary().RPS != 0 {
		t.Errorf("a part beyond the end has %d requests", empty.Len())
	}
}
