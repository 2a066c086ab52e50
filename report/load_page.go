package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"loupe/format/loadlog"
	"loupe/value/unit"
)

// Load are the figures of a load run, or of a part of one, for a page: those of
// [WriteLoad]. What the generator used is known of the whole run alone.
func Load(part, whole *loadlog.Log) *Trace {
	s := part.Summary()
	t := &Trace{Facts: []Fact{
		{"rps", "answers a second", s.RPS}, {"responses", "answered", int64(s.Responses)}, {"failed", "failed", int64(s.Requests - s.Responses)},
	}}
	if s.Unsent > 0 {
		t.Facts = append(t.Facts, Fact{"unsent", "never sent", s.Unsent})
	}
	if s.Resent > 0 {
		t.Facts = append(t.Facts, Fact{"resent", "sent again", s.Resent})
	}
	if s.Responses > 0 {
		q := &s.Latency
		t.Facts = append(t.Facts, Fact{"p50_ns", "50%", replyOf(q.P50, q)}, Fact{"p99_ns", "99%", replyOf(q.P99, q)}, Fact{"p99.9_ns", "99.9%", replyOf(q.P999, q)},
			Fact{"max_ns", "slowest", replyOf(q.Max, q)}, Fact{"mean_ns", "mean", reply{q.Mean, q.MeanAtLeast}})
	}
	t.Facts = append(t.Facts, Fact{"length_ns", "length", part.Elapsed})
	if s.Bytes > 0 && s.Responses > 0 {
		t.Facts = append(t.Facts, Fact{"bytes", "data", Bytes(s.Bytes)}, Fact{"bytes_per_request", "data a request", Bytes(s.Bytes / int64(s.Responses))})
	}
	if s.Responses > 0 {
		t.Sheets = append(t.Sheets, percentileSheet(part, s), partSheet(part, s), statusSheet(s))
	}
	if len(s.Errors) > 0 {
		e := &Sheet{Key: "errors", Title: "Errors", Columns: []Column{{"error", "error"}, {"requests", "requests"}}}
		for _, text := range slices.Sorted(maps.Keys(s.Errors)) {
			e.Rows = append(e.Rows, []any{text, int64(s.Errors[text])})
		}
		t.Sheets = append(t.Sheets, e)
	}
	if len(s.Targets) > 0 {
		t.Sheets = append(t.Sheets, targetSheet(s))
	}
	if whole != part {
		w, lag := whole.Summary(), s.Generator
		s.Generator, s.Unsent, s.UnderWay, s.Conditions = w.Generator, w.Unsent, w.UnderWay, w.Conditions
		s.Generator.LagP50, s.Generator.LagP99, s.Generator.LagMax = lag.LagP50, lag.LagP99, lag.LagMax
	}
	t.Sheets = append(t.Sheets, sendingSheet(part, whole, s))
	return t
}

func percentileSheet(l *loadlog.Log, s *loadlog.Summary) *Sheet {
	t := &Sheet{Key: "percentiles", Title: "Latency distribution", Columns: []Column{{"percent", "of the requests"}, {"response_ns", "response time"}}}
	if l.Open {
		t.Columns = append(t.Columns, Column{"service_ns", "service time"}, Column{"waited_ns", "difference"})
		t.Notes = append(t.Notes, "Response time is measured from when a request was due, service time from when it was sent: a tool that waits for an answer before sending the next request hides the difference (coordinated omission).")
	}
	row := func(name string, response, service reply) {
		r := []any{name, response}
		if l.Open && response.took != loadlog.Never && service.took != loadlog.Never {
			r = append(r, service, response.took-service.took)
		} else if l.Open {
			r = append(r, service, nil)
		}
		t.Rows = append(t.Rows, r)
	}
	times := func(name string, response, service time.Duration) {
		row(name, replyOf(response, &s.Latency), replyOf(service, &s.Service))
	}
	if s.Unanswered() > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s were never answered; they count as slower than all answers.", neverAnswered(s)))
	}
	times("fastest", s.Latency.Min, s.Service.Min)
	for _, p := range percentiles(s) {
		if !p.told(s.Due()) {
			t.Notes = append(t.Notes, fmt.Sprintf("%g%%: n/a (needs %d requests)", p.percent, p.need))
			continue
		}
		times(fmt.Sprintf("%g%%", p.percent), p.response, p.service)
	}
	times("slowest", s.Latency.Max, s.Service.Max)
	row("mean", reply{s.Latency.Mean, s.Latency.MeanAtLeast}, reply{s.Service.Mean, s.Service.MeanAtLeast})
	return t
}

// partNames say in words what hey's details are.
var partNames = []string{"dial, including lookup and TLS", "of which lookup", "request out", "wait for first byte", "response in"}

func partSheet(l *loadlog.Log, s *loadlog.Summary) *Sheet {
	t := &Sheet{Key: "parts", Title: "Parts of a request", Columns: []Column{{"part", "part"}, {"mean_ns", "mean"}, {"fastest_ns", "fastest"}, {"slowest_ns", "slowest"}}}
	parts := heyParts()
	for r := range l.Answered() {
		addParts(parts, r)
	}
	addConnections(parts, l)
	in := func(seconds float64) time.Duration { return time.Duration(seconds * 1e9) }
	for i, p := range parts {
		t.Rows = append(t.Rows, []any{partNames[i], in(p.average / float64(s.Responses)), in(p.fastest), in(p.slowest)})
	}
	return t
}

func statusSheet(s *loadlog.Summary) *Sheet {
	t := &Sheet{Key: "status", Title: "Status codes", Columns: []Column{{"status", "status"}, {"responses", "answers"}, {"share", "share"}}}
	for _, code := range slices.Sorted(maps.Keys(s.Status)) {
		t.Rows = append(t.Rows, []any{fmt.Sprint(code), int64(s.Status[code]), Share(float64(s.Status[code]) / float64(s.Responses))})
	}
	return t
}

func targetSheet(s *loadlog.Summary) *Sheet {
	t := &Sheet{Key: "targets", Title: "Targets", Columns: []Column{{"target", "target"}, {"responses", "answers"}, {"p50_ns", "50%"}, {"p99_ns", "99%"}, {"max_ns", "slowest"}, {"refused", "status 400 and above"}, {"failed", "failed"}}}
	for _, f := range s.Targets {
		refused := 0
		for code, n := range f.Status {
			if code >= 400 {
				refused += n
			}
		}
		t.Rows = append(t.Rows, []any{f.Target.String(), int64(f.Responses), replyOf(f.Latency.P50, &f.Latency), replyOf(f.Latency.P99, &f.Latency), replyOf(f.Latency.Max, &f.Latency), int64(refused), int64(f.Failed)})
	}
	return t
}

// sendingSheet says how the load was sent, and what that cost.
func sendingSheet(part, whole *loadlog.Log, s *loadlog.Summary) *Sheet {
	t := &Sheet{Key: "sending", Title: "Connections and generator", Columns: []Column{{"what", "what"}, {"figure", "figure"}}}
	row := func(what, format string, args ...any) {
		t.Rows = append(t.Rows, []any{what, fmt.Sprintf(format, args...)})
	}
	of := ""
	if whole != part {
		of = ", whole run"
	}
	if c := s.Connections; c.Opened > 0 {
		row("connections", "%s, %s of them opened after the start", unit.Count(int64(c.Opened)), unit.Count(int64(c.During)))
		row("to dial", "50%% %s, longest %s", unit.Duration(c.Dial), unit.Duration(c.Max))
		if c.TLS > 0 {
			row("of which TLS", "50%% %s", unit.Duration(c.TLS))
		}
	}
	if whole.Model != "" {
		row("load", "%s", whole.Model)
	}
	if whole.Engine != "" {
		row("sent by", "%s", whole.Engine)
	}
	if whole.Foreign != "" {
		row("cost of sending", "not known")
		t.Notes = append(t.Notes, s.Notes...)
		return t
	}
	g := s.Generator
	if seconds := whole.Elapsed.Seconds(); seconds > 0 {
		row("generator's CPU"+of, "%s, %.2f CPUs; %d collections of the generator", unit.Nanoseconds(g.CPUSeconds*1e9), g.CPUSeconds/seconds, g.GCs)
	}
	if g.Busy > 0 {
		row("generator busy"+of, "%s of the time", unit.Percent(g.Busy))
	}
	delay := "unknown"
	if g.RunDelay != nil {
		delay = unit.Duration(*g.RunDelay)
	}
	row("waited for a CPU"+of, "%s", delay)
	if whole.Open {
		if s.Requests >= loadlog.Enough*100 {
			row("sent late", "50%% of the requests within %s of their due time, 99%% within %s, all within %s", unit.Duration(g.LagP50), unit.Duration(g.LagP99), unit.Duration(g.LagMax))
		} else {
			row("sent late", "all requests within %s of their due time", unit.Duration(g.LagMax))
		}
		if s.Unsent > 0 {
			row("never sent"+of, "%s requests were due: all connections were waiting for answers", unit.Count(s.Unsent))
		}
	} else {
		t.Notes = append(t.Notes, closedLoop(part, s))
	}
	if s.UnderWay > 0 {
		row("in flight"+of, "%s", underWay(s))
	}
	if g.Limited != "" {
		t.Notes = append(t.Notes, "Generator-limited: the rate is a lower bound on the service's capacity, and the times are upper bounds: "+g.Limited)
	}
	if g.Starved != "" {
		t.Notes = append(t.Notes, "The times are upper bounds, and part of them is not due to the service: "+g.Starved)
	}
	for _, c := range s.Conditions {
		verdict := "met"
		if !c.Met {
			verdict = "not met"
		}
		row("wanted"+of, "%s: %s", verdict, c.String())
	}
	t.Notes = append(t.Notes, whole.Notes...)
	return t
}
