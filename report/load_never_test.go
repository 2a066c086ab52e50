package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
)

// TestLoadNeverAnswered: a quarter of the requests timed out, and no line says that
// all were fast.
func TestLoadNeverAnswered(t *testing.T) {
	l := loadlogtest.Log(`
		begin service status
		750×  0s 10ms 200
		750×  0s 12ms 200
		500×  0s 1s - timeout
	`)
	got := loadText(t, l)
	for _, line := range []string{
		"  Slowest:\t≥ 1.0000 secs (1.00 s), never answered; of the answers 0.0120 secs (12.0 ms)",
		"  Average:\t≥ 0.2582 secs (258 ms), because some were never answered; 0.0110 secs (11.0 ms) over the answers",
		"  Never answered:\t500 of 2,000 requests (all of them timed out); they count as slower than all answers",
		"       never [500]\t|■■■■■■■■■■■■■■■■■■■■■■■■■■■",
		"  75% in 0.0120 secs (12.0 ms)",
		"  90% in ≥ 1.0000 secs (1.00 s), never answered",
		"  99% in ≥ 1.0000 secs (1.00 s), never answered",
		"Details (average, fastest, slowest; of the answers alone):",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("the report lacks %q:\n%s", line, got)
		}
	}
	l.Open, l.Unsent, l.Resent = true, 40, 3
	got = loadText(t, l)
	for _, line := range []string{
		"  Never answered:\t540 of 2,040 requests (500 timed out, 40 were due and never sent); they count as slower than all answers",
		"  Sent again:\t3 times, because a connection was dropped without an answer (-retry)",
		"  75% in ≥ 1.0000 secs (1.00 s), never answered; since it was sent 12.0 ms",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("the report lacks %q:\n%s", line, got)
		}
	}
}

// TestLoadInvariants holds every form of many random runs against each other:
// percentiles are in order, counts of one thing are equal everywhere, and nothing
// that never came is a number.
func TestLoadInvariants(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 150 {
		l := loadlogtest.Mixed(rnd)
		l.Wanted = "p50<1ms,p99<500ms,p99<3s,max<2s,errors<1%"
		s := l.Summary()
		for name, check := range map[string]func(*testing.T, *loadlog.Log, *loadlog.Summary){
			"text": checkLoadText, "json": checkLoadJSON, "page": checkLoadPage, "csv": checkLoadCSV, "lines": checkLoadLines, "hdr": checkLoadHdr, "hey": checkLoadHey,
		} {
			t.Run(fmt.Sprintf("%d/%s", i, name), func(t *testing.T) { check(t, l, s) })
		}
	}
}

// loadAscending matches a percentile of the text, with what it is at least.
var loadAscending = regexp.MustCompile(`(?m)^  [\d.]+% in (≥ )?([\d.]+) secs`)

func checkLoadText(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	text := loadText(t, l)
	last, never := 0.0, false
	for _, m := range loadAscending.FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil || v < last || never && m[1] == "" {
			t.Errorf("percentiles are out of order:\n%s", text)
		}
		last, never = v, never || m[1] != ""
	}
	if strings.Contains(text, "2562047h") || strings.Contains(text, "292 ") && strings.Contains(text, " years") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("a number that cannot be:\n%s", text)
	}
	if want := fmt.Sprintf("Never answered:\t%s of", count(s.Unanswered())); strings.Contains(text, "Never answered:") != (s.Unanswered() > 0) || s.Unanswered() > 0 && !strings.Contains(text, want) {
		t.Errorf("%d were never answered:\n%s", s.Unanswered(), text)
	}
	if n := s.Unanswered(); n > 0 && s.Responses > 0 && !strings.Contains(text, fmt.Sprintf("never [%d]", s.Latency.Unanswered)) {
		t.Errorf("the histogram lacks %d:\n%s", n, text)
	}
}

func count(n int64) string { text, _ := text(n); return text }

func checkLoadJSON(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	var b bytes.Buffer
	if err := WriteLoadJSON(&b, l); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Requests, Responses int64
		Unsent, Never       int64
		NeverAnswered       int64               `json:"never_answered"`
		Latency             map[string]*float64 `json:"latency_ns"`
		Histogram           []struct{ Count int64 }
		Errors              map[string]int64
		Over                []struct {
			P50 *float64 `json:"p50_ns"`
			Max *float64 `json:"max_ns"`
		} `json:"over_time"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	in, failed := int64(0), int64(0)
	for _, h := range got.Histogram {
		in += h.Count
	}
	for _, n := range got.Errors {
		failed += n
	}
	if in != got.Responses || in+got.NeverAnswered != s.Due() || failed+got.Unsent != got.NeverAnswered || got.Requests+got.Unsent != s.Due() {
		t.Errorf("%d in the histogram, %d never answered, %d failed, of %d", in, got.NeverAnswered, failed, s.Due())
	}
	inOrder(t, func(name string) (float64, bool) {
		v, ok := got.Latency[name]
		if ok && v == nil {
			return math.Inf(1), true
		}
		if !ok {
			return 0, false
		}
		return *v, true
	})
	for _, o := range got.Over {
		if o.P50 == nil && o.Max != nil || o.P50 != nil && o.Max != nil && *o.P50 > *o.Max {
			t.Errorf("over time p50 is %v and the slowest %v", o.P50, o.Max)
		}
	}
}

// inOrder checks that percentiles do not fall.
func inOrder(t *testing.T, value func(name string) (v float64, ok bool)) {
	t.Helper()
	last := 0.0
	for _, name := range []string{"min", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max"} {
		if v, ok := value(name); ok {
			if v < last {
				t.Errorf("%s is %v, below the percentile before it (%v)", name, v, last)
			}
			last = v
		}
	}
}

func checkLoadPage(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	page := Load(l, l)
	facts := map[string]any{}
	for _, f := range page.Facts {
		_, facts[f.Key], _ = Cell(f.Value)
	}
	failed, _ := facts["failed"].(int64)
	unsent, _ := facts["unsent"].(int64)
	if facts["responses"] != int64(s.Responses) || failed+unsent != s.Unanswered() {
		t.Errorf("the facts are %v of %+v", facts, s)
	}
	for _, sheet := range page.Sheets {
		last := int64(0)
		for _, row := range sheet.Rows {
			for _, cell := range row {
				shown, value, _ := Cell(cell)
				if n, ok := value.(int64); ok && n == math.MaxInt64 || strings.Contains(shown, "2562047h") {
					t.Errorf("sheet %s has %q (%v)", sheet.Key, shown, value)
				}
			}
			if name, _ := row[0].(string); sheet.Key == "percentiles" && name != "mean" {
				_, v, _ := Cell(row[1])
				n, ok := v.(int64)
				if !ok {
					n = math.MaxInt64
				}
				if n < last {
					t.Errorf("%s is %d, after %d", name, n, last)
				}
				last = n
			}
		}
	}
}

func checkLoadCSV(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	var b bytes.Buffer
	if err := WriteHeyCSV(&b, l); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || int64(len(rows)-1) != s.Due() {
		t.Fatalf("%d rows of %d requests, %v", len(rows)-1, s.Due(), err)
	}
	never := int64(0)
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			t.Error(err)
		}
		if math.IsInf(v, 1) != (row[6] == "0") {
			t.Errorf("%v", row)
		}
		if math.IsInf(v, 1) {
			never++
		}
	}
	if never != s.Unanswered() {
		t.Errorf("%d rows of CSV were never answered, want %d", never, s.Unanswered())
	}
}

func checkLoadLines(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	var b bytes.Buffer
	if err := WriteRequests(&b, l); err != nil {
		t.Fatal(err)
	}
	n, censored := int64(0), int64(0)
	for line := range bytes.Lines(b.Bytes()) {
		var q struct{ Censored bool }
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		if n++; q.Censored {
			censored++
		}
	}
	if n != s.Due() || censored != s.Unanswered() {
		t.Errorf("%d lines, %d of them censored, want %d and %d", n, censored, s.Due(), s.Unanswered())
	}
}

func checkLoadHdr(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	var b bytes.Buffer
	if err := WriteHdr(&b, l); err != nil {
		t.Fatal(err)
	}
	r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(b.Bytes()))
	all := hdrhistogram.New(hdrLow, hdrHigh, hdrDigits)
	for {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		all.Merge(h)
	}
	never := int64(0)
	for _, bar := range all.Distribution() {
		if bar.To >= hdrHigh {
			never += bar.Count
		}
	}
	if all.TotalCount() != s.Due() || never != s.Unanswered() {
		t.Errorf("%d in HdrHistogram's log, %d at its end, want %d and %d", all.TotalCount(), never, s.Due(), s.Unanswered())
	}
}

func checkLoadHey(t *testing.T, l *loadlog.Log, s *loadlog.Summary) {
	text := heyText(t, l)
	if infinite := strings.Contains(text, "Slowest:\t+Inf"); infinite != (s.Unanswered() > 0 && s.Responses > 0) {
		t.Errorf("%d were never answered:\n%s", s.Unanswered(), text)
	}
	r := newLoadReport(l)
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	var told []float64
	for _, p := range r.LatencyDistribution {
		if p.Percentage > 0 {
			told = append(told, p.Latency)
		}
	}
	if !slices.IsSorted(told) {
		t.Errorf("hey's percentiles are %v", told)
	}
}

// TestLoadPageWhole: what of a whole run was never sent is a fact of its page.
func TestLoadPageWhole(t *testing.T) {
	l := loadlogtest.Log("begin service late\n160× 0s 1ms 0s")
	l.Unsent, l.Elapsed = 40, time.Second
	page := Load(l, l)
	i := slices.IndexFunc(page.Facts, func(f Fact) bool { return f.Key == "unsent" })
	if i < 0 || page.Facts[i].Value != int64(40) {
		t.Errorf("the facts are %v", page.Facts)
	}
}
