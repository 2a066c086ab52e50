package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/value/timeline"
)

func loadText(t *testing.T, l *loadlog.Log) string {
	t.Helper()
	var b strings.Builder
	if err := WriteLoad(&b, l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWriteLoad has what hey leaves out: a histogram that doubles, percentiles
// only where ten requests lie beyond them, what sending cost.
func TestWriteLoad(t *testing.T) {
	l := loadlogtest.Log(`
		begin service status bytes
		90×   0s 15us 200 10
		9×    0s 70us 200 10
		0s    1s 500 10
		0s    1s - 0 EOF
	`)
	l.CPU, l.GCs, l.Notes = 500*time.Millisecond, 3, []string{"TLS was not verified"}
	want := `
Summary:
  Total:	1.0000 secs
  Slowest:	≥ 1.0000 secs (1.00 s), never answered; of the answers 1.0000 secs (1.00 s)
  Fastest:	0.0000 secs (15.0 µs)
  Average:	≥ 0.0198 secs (19.8 ms), because some were never answered; 0.0100 secs (10.0 ms) over the answers
  Never answered:	1 of 101 requests (all of them failed); they count as slower than all answers
  Requests/sec:	100.0000
  
  Total data:	1000 bytes
  Size/request:	10 bytes

Response time histogram:
  ≤  20.0 µs [90]	|■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
  ≤  40.0 µs [0]	|
  ≤  80.0 µs [9]	|■■■■
`
	var b strings.Builder
	if err := WriteLoad(&b, l); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.HasPrefix(got, want) {
		t.Errorf("report:\n%s\nwant it to begin with:\n%s", got, want)
	}
	for _, line := range []string{
		"  10% in 0.0000 secs (15.0 µs)", "  90% in 0.0001 secs (70.0 µs)", "  95% n/a (needs 200 requests)", "  99.9% n/a (needs 10000 requests)",
		"  [200]\t99 responses", "  [500]\t1 responses", "  [1]\tEOF", "  CPU:\t500 ms, 0.50 CPUs; 3 collections of the generator; how long it waited for a CPU is unknown", "  Note:\tTLS was not verified",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("report lacks %q:\n%s", line, got)
		}
	}
}

// TestWriteLoadSchedule tells of the wait for the turn.
func TestWriteLoadSchedule(t *testing.T) {
	l := loadlogtest.Log("begin service late\n2000× 0s 1ms 4ms")
	var b strings.Builder
	if err := WriteLoad(&b, l); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Average:\t0.0050 secs (5.00 ms)", "  50% in 0.0050 secs (5.00 ms); since it was sent 1.00 ms", "50% of the requests were sent within 4.00 ms of their due time, 99% within 4.00 ms, all within 4.00 ms", "Service time:\t50% 1.00 ms, 99% 1.00 ms, max 1.00 ms"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("report lacks %q:\n%s", line, b.String())
		}
	}
}

// TestWideHistogram has a bucket of its own for what differs, however narrow
// or wide the latencies spread.
func TestWideHistogram(t *testing.T) {
	f := func(fastest, slowest string, buckets int, first, last string) {
		t.Helper()
		var b strings.Builder
		l := loadlogtest.Log("begin service\n0s " + fastest + "\n0s " + slowest)
		loadHistogram(&lines{w: &b}, l, l.Summary())
		rows := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		if len(rows) != buckets || !strings.Contains(rows[0], first) || !strings.Contains(rows[len(rows)-1], last) {
			t.Errorf("%s to %s: want %d buckets from %q to %q:\n%s", fastest, slowest, buckets, first, last, b.String())
		}
	}
	f("20ms", "22ms", 10, "≤  20.2 ms [1]", "≤  22.0 ms [1]")
	f("1ms", "10ms", 7, "≤  1.28 ms [1]", "≤  10.2 ms [1]")
	f("15us", "1s", 17, "≤  20.0 µs [1]", "≤   1.31 s [1]")
	f("3ms", "3ms", 1, "≤  3.62 ms [2]", "≤  3.62 ms [2]")
	f("0s", "0s", 1, "≤  10.0 µs [2]", "≤  10.0 µs [2]")
}

// TestOverTime: a run with a stall in its middle shows the stall, and the
// requests that failed after it.
func TestOverTime(t *testing.T) {
	var rows []loadlog.Request
	for i := range 6000 {
		r := loadlog.Request{Begin: timeline.Time(i) * 1e6, Service: time.Millisecond, Status: 200}
		if i >= 3000 && i < 4000 {
			r.Late = time.Duration(4000-i) * time.Millisecond
		}
		if i >= 5900 {
			r.Error, r.Status = 1, 0
		}
		rows = append(rows, r)
	}
	l := loadlog.New(loadlog.Header{Elapsed: 6 * time.Second, Open: true, Errors: []string{"timeout"}}, rows)
	got := section(loadText(t, l), "Over time (100 ms a column; ·░▒▓█ from one request to the maximum):\n")
	lines := strings.Split(got, "\n")
	top, bottom := []rune(lines[0]), []rune(lines[len(lines)-2])
	column := func(line []rune, at int) rune { return line[strings.IndexRune(string(line), '|')-len("≤")+2+at] }
	if len(lines) < 5 || column(top, 39) == ' ' && column(top, 40) == ' ' || column(top, 10) != ' ' || column(bottom, 10) == ' ' || column(bottom, 35) != ' ' {
		t.Errorf("over time:\n%s", got)
	}
	if failed := lines[len(lines)-1]; !strings.HasPrefix(failed, "      failed |") || !strings.HasSuffix(failed, "▓|") && !strings.HasSuffix(failed, "█|") {
		t.Errorf("the failures are %q", failed)
	}
	if short := loadText(t, loadlogtest.Steady(1000, time.Second, time.Millisecond)); strings.Contains(short, "Over time") {
		t.Errorf("a second is shown over time:\n%s", short)
	}
}

// TestWriteLoadMore has several targets, connections, and a generator that was
// the limit.
func TestWriteLoadMore(t *testing.T) {
	h := loadlog.Header{
		Elapsed: time.Second, Concurrency: 2, Model: "closed loop, 2 connections", Engine: "epoll", Busy: 0.93,
		Targets: []loadlog.Target{{Method: "GET", URL: "http://x/a"}, {Method: "POST", URL: "http://x/b\x1b[31m"}},
	}
	var b loadlog.Builder
	to := b.Recorder()
	for i := range 1000 {
		to.Add(&loadlog.Request{Begin: timeline.Time(i) * 1e6, Service: time.Millisecond, Status: uint16(200 + 300*(i%2)), Target: uint16(i % 2)})
	}
	b.Connect(loadlog.Connection{Opened: -5e6, Dial: 2 * time.Millisecond, TLS: time.Millisecond})
	l, err := b.Log(h)
	if err != nil {
		t.Fatal(err)
	}
	got := loadText(t, l)
	for _, want := range []string{
		"  GET http://x/a:\t500, 1.00 ms, n/a, 1.00 ms\n", "  POST http://x/b", "; [500] 500\n",
		"  Opened:\t1, 0 of them after the start; dialling took 50% 2.00 ms, longest 2.00 ms; of which TLS 50% 1.00 ms\n",
		"  Load:\tclosed loop, 2 connections, sent by epoll\n", "busy 93.0% of the time; how long it waited for a CPU is unknown", "Generator-limited: the rate is a lower bound",
		"DNS+dialup:\t0.0000 secs, 0.0000 secs, 0.0020 secs",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("report lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("the URL's control characters are printed")
	}
}

// TestWriteRequests prints every request as a line of JSON.
func TestWriteRequests(t *testing.T) {
	l := loadlogtest.Log(`
		begin service late status bytes
		0s 2ms 1ms 200 13
		5ms 1s 0s - 0 EOF
	`)
	var b strings.Builder
	if err := WriteRequests(&b, l); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	var r struct {
		Latency int64  `json:"latency_ns"`
		Service int64  `json:"service_ns"`
		Bytes   int    `json:"bytes"`
		Error   string `json:"error"`
	}
	if len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &r) != nil || r.Latency != 3e6 || r.Service != 2e6 || r.Bytes != 13 {
		t.Errorf("lines:\n%s", b.String())
	}
	if err := json.Unmarshal([]byte(lines[1]), &r); err != nil || r.Error != "EOF" {
		t.Errorf("the failure is %+v, %v", r, err)
	}
}

// TestWriteHdr: the log reads back with the library that defines the format,
// an interval for each second, with the times within its three digits.
func TestWriteHdr(t *testing.T) {
	l := loadlogtest.Steady(3000, 3*time.Second, 40*time.Millisecond)
	l.Start = time.Unix(1.7e9, 0)
	var b strings.Builder
	if err := WriteHdr(&b, l); err != nil {
		t.Fatal(err)
	}
	r := hdrhistogram.NewHistogramLogReader(strings.NewReader(b.String()))
	total := int64(0)
	for i := 0; ; i++ {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatalf("%v:\n%s", err, b.String())
		}
		if h == nil {
			if i != 3 {
				t.Errorf("%d intervals for 3 s:\n%s", i, b.String())
			}
			break
		}
		total += h.TotalCount()
		if q := h.ValueAtQuantile(50); q < 39.96e6 || q > 40.04e6 {
			t.Errorf("the median is %d ns", q)
		}
	}
	if total != 3000 {
		t.Errorf("%d requests, want 3,000", total)
	}
}

// TestWriteLoadTemplate prints what hey's users print.
func TestWriteLoadTemplate(t *testing.T) {
	l := loadlogtest.Log("begin service status bytes\n100× 0s 20ms 200 13\n0s 1s - 0 EOF")
	f := func(text, want string) {
		t.Helper()
		var b strings.Builder
		if err := WriteLoadTemplate(&b, text, l); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v, want %q", text, b.String(), err, want)
		}
	}
	f("{{ formatNumber .Average }} {{ .NumRes }} {{ .SizeReq }}", "+Inf 100 13")
	f("{{ range .LatencyDistribution }}{{ .Percentage }}:{{ formatNumber .Latency }} {{ end }}", "10:0.0200 25:0.0200 50:0.0200 75:0.0200 90:0.0200 95:0.0200 99:+Inf ")
	f("{{ jsonify .StatusCodeDist }} {{ jsonify .ErrorDist }}", `{"200":100} {"EOF":1}`)
	f("{{ duration .Latency.P90 }} {{ .RPS }}", "20.0 ms 100")
	f("{{ range .Histogram }}{{ if .Count }}{{ .Count }} {{ formatNumber .Frequency }}{{ end }}{{ end }}", "100 1.0000")
	if err := WriteLoadTemplate(&strings.Builder{}, "{{ .Nothing }}", l); err == nil || !strings.Contains(err.Error(), "Nothing") {
		t.Errorf("an unknown field gives %v", err)
	}
	if _, err := ParseLoadTemplate("{{"); err == nil {
		t.Error("half a template is one")
	}
}
