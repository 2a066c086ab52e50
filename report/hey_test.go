package report

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
	"loupe/value/timeline"
)

// heyData is what hey 0.1.4 knows of a run: the value that its templates get.
type heyData struct {
	Lats, ConnLats, DnsLats, ReqLats, ResLats, DelayLats, Offsets []float64
	StatusCodes                                                   []int
	Total                                                         time.Duration
	ErrorDist                                                     map[string]int
	SizeTotal                                                     int64
}

// log makes a load log of the same requests.
func (d *heyData) log() *loadlog.Log {
	ns := func(seconds []float64, i int) time.Duration { return time.Duration(math.Round(seconds[i] * 1e9)) }
	h := loadlog.Header{Elapsed: d.Total, ServedLength: d.SizeTotal}
	var rows []loadlog.Request
	for i := range d.Offsets {
		rows = append(rows, loadlog.Request{
			Begin: timeline.Time(ns(d.Offsets, i)), Service: ns(d.Lats, i), Dial: ns(d.ConnLats, i), DNS: ns(d.DnsLats, i),
			Write: ns(d.ReqLats, i), Read: ns(d.ResLats, i), Status: uint16(d.StatusCodes[i]),
		})
	}
	for text, n := range d.ErrorDist {
		h.Errors = append(h.Errors, text)
		for range n {
			rows = append(rows, loadlog.Request{Error: uint16(len(h.Errors))})
		}
	}
	return loadlog.New(h, rows)
}

// The lines in which the report means to differ from hey's: hey counts
// failures as requests served and leaves them out of its times, prints the fastest and the slowest request
// where it speaks of connecting, and lets some time between its hooks belong to
// no part, which here is waiting.
var (
	heyRate    = regexp.MustCompile(`(?m)^  Requests/sec:\t.*$`)
	heyTimes   = regexp.MustCompile(`(?m)^  (Slowest:\t|Average:\t|\d+% in ).*$`)
	heyWait    = regexp.MustCompile(`(?m)^(  resp wait:\t)\d\.\d{4} secs, \d\.\d{4} secs, \d\.\d{4} secs$`)
	heyConnect = regexp.MustCompile(`(?m)^(  DNS\+dialup:\t[^,]*), .*$`)
)

// TestHey holds WriteHey against the reports of real runs of hey 0.1.4, byte
// for byte. Each file in testdata/hey is hey's report, printed by its own
// default template, and behind it the data that the template got.
func TestHey(t *testing.T) {
	names, err := filepath.Glob("testdata/hey/*.txt")
	if err != nil || len(names) < 6 {
		t.Fatalf("%d reports of hey, %v", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, data, ok := strings.Cut(string(text), "-- data --\n")
		if !ok {
			continue // all-refused.txt: hey's data are NaN, which is no JSON
		}
		var d heyData
		if err := json.Unmarshal([]byte(data), &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := heyText(t, d.log())
		if len(d.ErrorDist) > 0 {
			got, want = heyRate.ReplaceAllString(got, "rate"), heyRate.ReplaceAllString(want, "rate")
			got, want = heyTimes.ReplaceAllString(got, "times"), heyTimes.ReplaceAllString(want, "times")
		}
		got, want = heyConnect.ReplaceAllString(got, "$1"), heyConnect.ReplaceAllString(want, "$1")
		got, want = heyWait.ReplaceAllString(got, "$1"), heyWait.ReplaceAllString(want, "$1")
		if diff := diffLines(want, got); diff != "" {
			t.Errorf("%s (- hey, + loupe):\n%s", name, diff)
		}
	}
}

func heyText(t *testing.T, l *loadlog.Log) string {
	t.Helper()
	var b strings.Builder
	if err := WriteHey(&b, l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHeyRefused: where no request was answered hey prints NaN and headings
// without lines. The report has the other lines of it, in the same order and
// form, and nothing else.
func TestHeyRefused(t *testing.T) {
	text, err := os.ReadFile("testdata/hey/all-refused.txt")
	if err != nil {
		t.Fatal(err)
	}
	l := loadlogtest.Log(`
		begin service status
		20×   0s 1ms - Get "http://127.0.0.1:18474/": dial tcp 127.0.0.1:18474: connect: connection refused
	`)
	digits := regexp.MustCompile(`\d+\.\d+`)
	lines := func(s string) []string {
		return strings.Split(strings.TrimRight(digits.ReplaceAllString(s, "0"), "\n"), "\n")
	}
	theirs := lines(string(text))
	for _, line := range lines(heyText(t, l)) {
		found := false
		for len(theirs) > 0 && !found {
			found = theirs[0] == line
			theirs = theirs[1:]
		}
		if !found {
			t.Errorf("line %q is not one of hey's, or out of order", line)
		}
	}
	if got := heyText(t, l); strings.Contains(got, "NaN") || strings.Contains(got, "Slowest") || !strings.Contains(got, "\n  [20]\tGet \"http://127.0.0.1:18474/\": dial tcp") {
		t.Errorf("report:\n%s", got)
	}
}

// TestHeyPercentiles follows hey's walk over ten requests of 1 to 10 ms: the
// value with index i serves for p when i·100/10 ≥ p, and each for one p only.
// 90% is the last value, so that nothing is left for 95% and 99%.
func TestHeyPercentiles(t *testing.T) {
	f := func(n int, want string) {
		t.Helper()
		rows := make([]loadlog.Request, n)
		for i := range rows {
			rows[i].Service = time.Duration(i+1) * time.Millisecond
		}
		l := loadlog.New(loadlog.Header{Elapsed: time.Second}, rows)
		got := section(heyText(t, l), "Latency distribution:\n")
		if got != want {
			t.Errorf("%d requests:\n%s\nwant:\n%s", n, got, want)
		}
	}
	f(10, `  10% in 0.0020 secs
  25% in 0.0040 secs
  50% in 0.0060 secs
  75% in 0.0090 secs
  90% in 0.0100 secs
  0% in 0.0000 secs
  0% in 0.0000 secs`)
	f(1, strings.TrimSuffix(strings.Repeat("  0% in 0.0000 secs\n", 7), "\n"))
	f(100, `  10% in 0.0110 secs
  25% in 0.0260 secs
  50% in 0.0510 secs
  75% in 0.0760 secs
  90% in 0.0910 secs
  95% in 0.0960 secs
  99% in 0.1000 secs`)
}

// section returns what stands below a heading, to the next empty line.
func section(text, heading string) string {
	_, rest, _ := strings.Cut(text, heading)
	body, _, _ := strings.Cut(rest, "\n\n")
	return body
}

// TestHeyHistogram has requests of 10 to 20 ms, so that a bucket is 1 ms wide:
// the first holds what equals the fastest, every other one its upper bound.
func TestHeyHistogram(t *testing.T) {
	l := loadlogtest.Log(`
		begin service
		0s    10ms
		0s    10ms
		0s    10500us
		0s    11ms
		8×    0s 15ms
		0s    20ms
	`)
	want := strings.Join([]string{
		"  0.010 [2]\t|" + strings.Repeat("■", 10),
		"  0.011 [2]\t|" + strings.Repeat("■", 10),
		"  0.012 [0]\t|", "  0.013 [0]\t|", "  0.014 [0]\t|",
		"  0.015 [8]\t|" + strings.Repeat("■", 40),
		"  0.016 [0]\t|", "  0.017 [0]\t|", "  0.018 [0]\t|", "  0.019 [0]\t|",
		"  0.020 [1]\t|" + strings.Repeat("■", 5),
	}, "\n")
	if got := section(heyText(t, l), "Response time histogram:\n"); got != want {
		t.Errorf("histogram:\n%s\nwant:\n%s", got, want)
	}
	same := loadlogtest.Steady(5, time.Second, time.Millisecond)
	if got := section(heyText(t, same), "Response time histogram:\n"); !strings.HasPrefix(got, "  0.001 [5]\t|■") || strings.Count(got, "[0]") != 10 {
		t.Errorf("histogram of equal times:\n%s", got)
	}
}

// TestHeyCSV prints answered requests in order of their start.
func TestHeyCSV(t *testing.T) {
	l := loadlogtest.Log(`
		begin  service  dial   dns    write  wait   read   status
		3ms    12ms     2ms    500us  10us   8990us 1ms    200
		1ms    2us      0s     0s     1us    1us    0s     404
		2ms    1s       0s     0s     0s     0s     0s     -       timeout
	`)
	want := `response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset
0.000002,0.000000,0.000000,0.000001,0.000001,0.000000,404,0.001000
0.012000,0.002000,0.000500,0.000010,0.008990,0.001000,200,0.003000
inf,0.000000,0.000000,0.000000,1.000000,0.000000,0,0.002000
`
	var b strings.Builder
	if err := WriteHeyCSV(&b, l); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("CSV:\n%s\nwant:\n%s", b.String(), want)
	}
}
