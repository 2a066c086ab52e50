package web

import (
	"context"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/format/loadlog"
	"loupe/session"
	"loupe/value/timeline"
)

// stalledLoad makes a load run of ten seconds in which all connections stand still for
// half a second.
func stalledLoad(start time.Time) *loadlog.Log {
	h := loadlog.Header{Schema: "loupe.load/1", URL: "http://127.0.0.1:1/", Method: "GET", Concurrency: 4, Open: true, Model: "open loop, 1,000/s", Start: start, Elapsed: 10 * time.Second}
	var rows []loadlog.Request
	for i := range 10_000 {
		due := timeline.Time(i) * timeline.Time(time.Millisecond)
		r := loadlog.Request{Begin: due, Service: 500*time.Microsecond + time.Duration(i%97)*time.Microsecond, Conn: uint32(i % 4), Status: 200, Bytes: 10}
		if from, to := timeline.Time(4e9), timeline.Time(4.5e9); due >= from && due < to {
			r.Late = to.Sub(due)
		}
		if i%1000 == 999 {
			r.Status = 503
		}
		if r.End() > timeline.Time(h.Elapsed) {
			r.Begin -= r.End() - timeline.Time(h.Elapsed)
		}
		rows = append(rows, r)
	}
	return loadlog.New(h, rows)
}

// openedFiles makes a subject of files.
func openedFiles(t *testing.T, files map[string][]byte) *Server {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	s, err := New(ctx, "127.0.0.1:1", Options{Sources: []Source{{Name: "files", Files: names, Kind: "files", Open: func(context.Context) (*Opened, error) {
		in, known, err := session.Loose(os.DirFS(dir), names)
		return &Opened{Session: in, Files: known}, err
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// askedWith is a question of a page.
func askedWith(t *testing.T, params string) *query {
	v, err := url.ParseQuery(params)
	if err != nil {
		t.Fatal(err)
	}
	return &query{httptest.NewRequest("GET", "/", nil), v}
}

func encodedLoad(t *testing.T, l *loadlog.Log) []byte {
	var b strings.Builder
	if err := l.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

// TestLoad: the figures of a range are those that the command line prints of a
// run that is no longer than it, and every request is in one cell.
func TestLoad(t *testing.T) {
	l := stalledLoad(time.Unix(1_700_000_000, 0))
	s := openedFiles(t, map[string][]byte{"run.load": encodedLoad(t, l)})
	sub := s.sources.all[0]
	for _, params := range []string{"", "t0=3500000000&t1=5000000000", "t0=0&t1=1000000"} {
		q := askedWith(t, params)
		v, err := loadRun(t.Context(), sub, q)
		if err != nil {
			t.Fatal(err)
		}
		part := l
		if params != "" {
			span, _ := q.span(timeline.Span{})
			part = l.Within(span)
		}
		sum := part.Summary()
		for _, want := range []struct {
			key   string
			value any
		}{{"responses", int64(sum.Responses)}, {"rps", sum.RPS}, {"p50_ns", int64(sum.Latency.P50)}, {"max_ns", int64(sum.Latency.Max)}} {
			found := false
			for _, f := range v.Page.Facts {
				if f.Key == want.key {
					found = true
					if f.Value != want.value {
						t.Errorf("%q: %s is %v, want %v", params, f.Key, f.Value, want.value)
					}
				}
			}
			if !found && sum.Responses > 0 {
				t.Errorf("%q: there is no %s", params, want.key)
			}
		}
		cells, answered := 0, 0
		for _, n := range v.Over.Cells {
			cells += n
		}
		for _, class := range v.Over.Status {
			for _, n := range class {
				answered += n
			}
		}
		if cells != sum.Responses || answered != sum.Responses {
			t.Errorf("%q: the cells have %d requests, the classes %d, want %d", params, cells, answered, sum.Responses)
		}
		bars := 0
		for _, b := range v.Bars {
			bars += b.Count
		}
		if bars != sum.Responses {
			t.Errorf("%q: the classes of times have %d requests, want %d", params, bars, sum.Responses)
		}
	}
	if _, err := loadRun(t.Context(), sub, askedWith(t, "t0=20000000000&t1=21000000000")); err == nil {
		t.Error("a range without a load has an answer")
	}
}

// TestLoadRequests: the slowest come first, a cell lists what it counts, and the
// parts of a request are all of it.
func TestLoadRequests(t *testing.T) {
	l := stalledLoad(time.Unix(1_700_000_000, 0))
	sub := openedFiles(t, map[string][]byte{"run.load": encodedLoad(t, l)}).sources.all[0]
	p, err := loadRequests(t.Context(), sub, askedWith(t, "n=5"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Total != 10_000 || len(p.Requests) != 5 || p.Requests[0].Late != 500*time.Millisecond {
		t.Errorf("%d requests, the first of %d is %+v", p.Total, len(p.Requests), p.Requests)
	}
	for _, r := range p.Requests {
		if sum := r.Late + r.Dial + r.Write + r.Wait + r.Read; sum != r.Span.Len() {
			t.Errorf("the parts of a request of %v take %v", r.Span.Len(), sum)
		}
	}
	v, err := loadRun(t.Context(), sub, askedWith(t, "columns=40"))
	if err != nil {
		t.Fatal(err)
	}
	o, width := v.Over, int64(v.Over.Span.Len())/40
	for _, col := range []int{0, 16, 17, 39} {
		n := 0
		for row := range o.Rows {
			n += o.Cells[row*o.Columns+col]
		}
		q := askedWith(t, "")
		q.Set("c0", strconv.FormatInt(int64(col)*width, 10))
		q.Set("c1", strconv.FormatInt(int64(col+1)*width, 10))
		p, err := loadRequests(t.Context(), sub, q)
		if err != nil || p.Total != n {
			t.Errorf("column %d lists %d requests, want %d (%v)", col, p.Total, n, err)
		}
	}
}

// TestCompareLoads: two runs that were opened together are two sides, with the
// figures of loupe compare.
func TestCompareLoads(t *testing.T) {
	a, b := stalledLoad(time.Unix(1_700_000_000, 0)), stalledLoad(time.Unix(1_700_000_100, 0))
	s := openedFiles(t, map[string][]byte{"a.load": encodedLoad(t, a), "b.load": encodedLoad(t, b)})
	sides, err := compareSides(t.Context(), s, askedWith(t, ""))
	if err != nil || len(sides) != 3 {
		t.Fatalf("sides are %+v, %v", sides, err)
	}
	var both [2]*side
	for i, id := range []string{"1/a.load", "1/b.load"} {
		if both[i], err = s.side(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	v, err := compareLoads(t.Context(), both[0], both[1], askedWith(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Rows) == 0 || v.Rows[0].Shown[0] != v.Rows[0].Shown[1] || v.Rounds[0] != 1 {
		t.Errorf("two equal runs compare as %+v", v)
	}
	if _, err := s.side(t.Context(), "1/absent"); err == nil {
		t.Error("a file that is not there is a side")
	}
}

// TestBenchmarks: outputs of go test -bench that were opened together are compared
// with the first of them.
func TestBenchmarks(t *testing.T) {
	var old, fast strings.Builder
	for i := range 10 {
		old.WriteString("BenchmarkA-2 100 20" + string(rune('0'+i)) + " ns/op 48 B/op\n")
		fast.WriteString("BenchmarkA-2 100 10" + string(rune('0'+i)) + " ns/op 48 B/op\n")
	}
	s := openedFiles(t, map[string][]byte{"a.txt": []byte(old.String())})
	in, err := s.sources.all[0].session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files, err := in.Benchmarks()
	if err != nil {
		t.Fatal(err)
	}
	second := files[0]
	second.Name, second.Data = "b.txt", []byte(fast.String())
	v, err := benchTables(append(files, second), askedWith(t, ""))
	if err != nil || len(v.Tables) != 2 || v.Results != 20 {
		t.Fatalf("%+v, %v", v, err)
	}
	c := v.Tables[0].Rows[0].Cells[1]
	if c.Verdict != "better" || c.Delta != "-48.90%" || len(c.Values) != 10 {
		t.Errorf("half of the time is %+v", c)
	}
	if c := v.Tables[1].Rows[0].Cells[1]; c.Delta != "~" || c.Verdict != "same" {
		t.Errorf("the same number of bytes is %+v", c)
	}
	if _, err := benchTables(files, askedWith(t, "filter=(")); err == nil {
		t.Error("a filter that is none is taken")
	}
}
