package loadlog_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
)

func foreignFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "foreign", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestVegeta holds what is read of vegeta's three forms against each other, and against
// what vegeta report has printed of them.
func TestVegeta(t *testing.T) {
	want, err := loadlog.DecodeText(foreignFile(t, "vegeta.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var first *loadlog.Summary
	for _, name := range []string{"vegeta.gob", "vegeta.json", "vegeta.csv"} {
		data := foreignFile(t, name)
		if !loadlog.Looks(data[:min(len(data), 1000)]) {
			t.Errorf("%s is not known", name)
		}
		l, err := loadlog.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		s := l.Summary()
		near := func(what string, got, want float64, off float64) {
			t.Helper()
			if math.Abs(got-want) > off*want {
				t.Errorf("%s: %s is %v, vegeta says %v", name, what, got, want)
			}
		}
		near("requests", float64(s.Requests), float64(want.Requests), 0)
		near("bytes", float64(s.Bytes), float64(want.Bytes), 0)
		near("seconds", s.Seconds, want.Seconds, 1e-6)
		near("fastest", float64(s.Latency.Min), float64(want.Latency.Min), 0)
		near("slowest", float64(s.Latency.Max), float64(want.Latency.Max), 1e-4)
		near("mean", float64(s.Latency.Mean), float64(want.Latency.Mean), 1e-3)
		near("median", float64(s.Latency.P50), float64(want.Latency.P50), 0.05)
		if s.Status[200] != want.Status[200] || s.Status[503] != 3 || len(s.Errors) > 0 {
			t.Errorf("%s: status %v, errors %v", name, s.Status, s.Errors)
		}
		if l.Foreign != loadlog.Vegeta || l.Open || l.URL != "http://127.0.0.1:18971/" || l.Start.Year() != 2026 || len(l.Notes) == 0 || !strings.HasPrefix(l.Model, "unknown") {
			t.Errorf("%s: %+v", name, l.Header)
		}
		if first == nil {
			first = s
		} else if first.Latency != s.Latency || first.Seconds != s.Seconds {
			t.Errorf("%s: %+v, and the other form has %+v", name, s.Latency, first.Latency)
		}
		var again bytes.Buffer
		if err := l.Encode(&again); err != nil {
			t.Fatal(err)
		}
		if saved, err := loadlog.Decode(again.Bytes()); err != nil || saved.Summary().Latency != s.Latency || saved.Foreign != loadlog.Vegeta {
			t.Errorf("%s: saved and read again it differs: %v", name, err)
		}
	}
	refused, err := loadlog.Decode(foreignFile(t, "vegeta-refused.gob"))
	if err != nil {
		t.Fatal(err)
	}
	s := refused.Summary()
	if s.Requests != 40 || s.Responses != 20 || s.Unanswered() != 20 || !strings.Contains(s.CommonError(), "connection refused") || len(s.Targets) != 2 {
		t.Errorf("%d of %d requests answered, %q, %d targets", s.Responses, s.Requests, s.CommonError(), len(s.Targets))
	}
}

// TestHey holds the requests of hey -o csv to its form.
func TestHey(t *testing.T) {
	l, err := loadlog.Decode(foreignFile(t, "hey.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := l.Summary()
	if s.Requests != 60 || s.Status[503] != 3 || l.Foreign != loadlog.Hey || len(l.Notes) < 3 {
		t.Errorf("%d requests, %v, %+v", s.Requests, s.Status, l.Header)
	}
	for r := range l.All() {
		if r.Service%(100*time.Microsecond) != 0 || r.Dial+r.Write+r.Wait+r.Read != r.Service {
			t.Errorf("%+v", r)
		}
	}
}

// TestTexts: a summary has the figures that are printed, and none else.
func TestTexts(t *testing.T) {
	const ms = time.Millisecond
	f := func(name, tool string, requests, bad, failed int, rps float64, latency loadlog.Quantiles) {
		t.Helper()
		data := foreignFile(t, name)
		s, err := loadlog.DecodeText(data)
		if err != nil || !loadlog.LooksText(append([]byte("$ the command\n"), data...)) {
			t.Errorf("%s: %v", name, err)
			return
		}
		latency.MaxAnswered, latency.MeanAnswered = latency.Max, latency.Mean
		if s.Foreign != tool || s.Requests != requests || s.BadStatus() != bad || s.Unanswered() != int64(failed) || math.Abs(s.RPS-rps) > 1e-3 || s.Latency != latency {
			t.Errorf("%s: %s, %d requests, %d bad, %d failed, %v/s\n%+v\nwant\n%+v", name, s.Foreign, s.Requests, s.BadStatus(), s.Unanswered(), s.RPS, s.Latency, latency)
		}
		for n := range data {
			cut, err := loadlog.DecodeText(data[:n])
			if (cut == nil) == (err == nil) {
				t.Errorf("%s, %d bytes of it: %v and %v", name, n, cut, err)
			}
		}
		if _, err := loadlog.DecodeText(data[:40]); err == nil {
			t.Errorf("%s: 40 bytes of it are a summary", name)
		}
	}
	f("hey.txt", loadlog.Hey, 60, 3, 0, 831.0257, loadlog.Quantiles{
		Min: ms / 10, Mean: 43 * ms / 10, P10: 3 * ms / 10, P25: 24 * ms / 10, P50: 42 * ms / 10, P75: 6 * ms, P90: 74 * ms / 10, P95: 108 * ms / 10, Max: 137 * ms / 10})
	f("hey-refused.txt", loadlog.Hey, 6, 0, 6, 0, loadlog.Quantiles{})
	f("wrk.txt", loadlog.Wrk, 1135, 56, 0, 1039.33, loadlog.Quantiles{
		Mean: 376 * ms / 100, P50: 36 * ms / 10, P75: 585 * ms / 100, P90: 695 * ms / 100, P99: 937 * ms / 100, Max: 1928 * ms / 100})
	f("wrk-plain.txt", loadlog.Wrk, 1075, 54, 0, 976.38, loadlog.Quantiles{Mean: 41 * ms / 10, Max: 2006 * ms / 100})
	f("wrk2.txt", loadlog.Wrk2, 1985, 7, 5, 197.96, loadlog.Quantiles{
		Mean: 25 * ms / 10, P50: 24 * ms / 10, P75: 31 * ms / 10, P90: 42 * ms / 10, P99: 75 * ms / 10, P999: 12 * ms, P9999: 19 * ms, Max: 201 * ms / 10})
}

// TestForeignDamaged: what comes in front of the damage is used, and the error says
// where it is.
func TestForeignDamaged(t *testing.T) {
	for _, name := range []string{"vegeta.gob", "vegeta.json", "vegeta.csv", "hey.csv"} {
		data := foreignFile(t, name)
		l, err := loadlog.Decode(data[:len(data)/2+3])
		if l == nil || l.Len() < 20 || l.Len() > 40 || !errors.Is(err, loadlog.ErrCut) {
			t.Errorf("half of %s: %v", name, err)
		}
		whole, _ := loadlog.Decode(data)
		for n := 0; n < len(data); n += 1 + len(data)/500 {
			l, err := loadlog.Decode(data[:n])
			if l != nil && l.Len() > whole.Len() || l == nil && err == nil {
				t.Errorf("%d bytes of %s: %v", n, name, err)
			}
		}
		if name == "vegeta.gob" {
			continue
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		lines[10] = []byte("{,\"oops\n")
		if l, err := loadlog.Decode(slices.Concat(lines...)); l == nil || l.Len() > 10 || err == nil || !strings.Contains(err.Error(), "line 11") {
			t.Errorf("%s with a broken line: %v", name, err)
		}
	}
}

// FuzzForeign holds the readers to memory in proportion to the input.
func FuzzForeign(f *testing.F) {
	names, err := filepath.Glob("testdata/foreign/*.*")
	if err != nil || len(names) < 10 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		f.Add(foreignFile(f, filepath.Base(name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !loadlog.Looks(data) && !loadlog.LooksText(data) {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l, err := loadlog.Decode(data)
		text, terr := loadlog.DecodeText(data)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<23+400*uint64(len(data)) {
			t.Errorf("%d bytes took %d", len(data), used)
		}
		if l == nil && err == nil || text == nil && terr == nil {
			t.Error("neither a result nor an error")
		}
		if l != nil {
			l.Summary()
		}
	})
}
