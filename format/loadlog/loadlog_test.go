package loadlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"loupe/value/timeline"
)

// rows makes n requests of two threads, with everything that a row can have.
func rows(n int) []Request {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]Request, n)
	for i := range out {
		r := Request{
			Begin: timeline.Time(i) * 1000, Service: time.Duration(i+100) * time.Microsecond, Write: 10, Read: 20,
			Status: 200, Bytes: 13, Conn: uint32(i % 50),
		}
		if i%7 == 1 {
			r.Late = time.Duration(rng.IntN(1e6))
		}
		if i%1000 == 0 {
			r.Dial, r.DNS, r.TLS, r.Target, r.Bytes = 5000, 300, 200, 1, 1<<40
		}
		if i%500 == 3 {
			r.Status, r.Error, r.Hops, r.Write, r.Read = 0, 1, 2, 0, 0
		}
		r.Wait = r.Service - r.Dial - r.Write - r.Read
		out[i] = r
	}
	return out
}

func header() Header {
	return Header{Schema: Schema, URL: "http://x/", Method: "GET", Start: time.Unix(1, 0).UTC(), Elapsed: time.Second, Errors: []string{"refused"}}
}

// sample makes a log of n requests in two streams.
func sample(t testing.TB, n int) *Log {
	t.Helper()
	var b Builder
	if b.Fault("refused") != 1 || b.Fault("refused") != 1 {
		t.Fatal("the first error has not the number 1")
	}
	to := []*Recorder{b.Recorder(), b.Recorder()}
	for i, r := range rows(n) {
		to[i%2].Add(&r)
	}
	b.Connect(Connection{ID: 1, Opened: -5, Dial: 3, DNS: 1, LocalPort: 40000, Requests: 7, Closed: 99, Why: ByServer})
	b.Connect(Connection{ID: 0, Opened: 5, Dial: 30})
	l, err := b.Log(header())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func collect(l *Log) (out []Request) {
	for r := range l.All() {
		out = append(out, *r)
	}
	return out
}

func encode(t testing.TB, l *Log) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRoundTrip: the requests come back as they were, in the order in which
// they ended, from memory and from a file.
func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 50000} {
		want := rows(n)
		// A stream cannot go back in time: Add holds such a request back.
		ends := [2]timeline.Time{}
		for i := range want {
			r := &want[i]
			if e := &ends[i%2]; r.End() < *e {
				r.Begin = r.Begin.Add(e.Sub(r.End()))
			}
			ends[i%2] = r.End()
		}
		slices.SortStableFunc(want, func(a, b Request) int { return int(a.End() - b.End()) })
		l := sample(t, n)
		back, err := Decode(encode(t, l))
		if err != nil {
			t.Fatalf("%d requests: %v", n, err)
		}
		for _, got := range []*Log{l, back} {
			if all := collect(got); len(all) != got.Len() || !sameRows(all, want) {
				t.Errorf("%d requests came back different", n)
			}
		}
		if !reflect.DeepEqual(back.Header, l.Header) || !reflect.DeepEqual(back.Connections, l.Connections) || l.Connections[0].ID != 0 {
			t.Errorf("%+v %+v came back as %+v %+v", l.Header, l.Connections, back.Header, back.Connections)
		}
		if n >= 1000 && l.Size() > 13*int64(n) {
			t.Errorf("%d requests take %d bytes", n, l.Size())
		}
	}
}

// sameRows compares requests whose order is free where they ended together.
func sameRows(a, b []Request) bool {
	if len(a) != len(b) {
		return false
	}
	count := map[Request]int{}
	for i := range a {
		if a[i].End() != b[i].End() {
			return false
		}
		count[a[i]]++
		count[b[i]]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestAddMends: parts that do not fit into the service time are brought into
// it, so that the sum is right.
func TestAddMends(t *testing.T) {
	l := New(header(), []Request{{Begin: 5, Service: 100, Dial: 30, DNS: 50, Write: 90, Read: -3, Wait: 12345, Bytes: -1}})
	for r := range l.All() {
		if want := (Request{Begin: 5, Service: 100, Dial: 30, DNS: 30, Write: 70}); *r != want {
			t.Errorf("kept %+v, want %+v", *r, want)
		}
	}
}

// TestCut cuts a file everywhere: what is left is whole up to its end.
func TestCut(t *testing.T) {
	l := sample(t, 30000)
	data := encode(t, l)
	all := collect(l)
	for cut := len(data) - 1; cut >= len(magic); cut -= 1 + cut/40 {
		got, err := Decode(data[:cut])
		if !errors.Is(err, ErrCut) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got == nil {
			continue
		}
		rows := collect(got)
		if len(rows) != got.Len() || !sameRows(rows, all[:len(rows)]) && len(rows) > 0 && all[len(rows)].End() != rows[len(rows)-1].End() {
			t.Fatalf("cut at %d: %d requests, which are not the first", cut, len(rows))
		}
		if len(rows) > 0 && got.Elapsed != min(l.Elapsed, time.Duration(rows[len(rows)-1].End())) {
			t.Fatalf("cut at %d: it took %v, want up to the last request that is left", cut, got.Elapsed)
		}
	}
}

// TestVersion1 reads files that the first version of the format wrote.
func TestVersion1(t *testing.T) {
	for _, open := range []bool{false, true} {
		name := map[bool]string{false: "testdata/closed1.load", true: "testdata/open1.load"}[open]
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Decode(data)
		if err != nil || l.Len() != 300 || l.Open != open || l.Errors[0] != "refused" {
			t.Fatalf("%s: %v, %+v", name, err, l)
		}
		for i, r := range collect(l) {
			want := Request{Begin: timeline.Time(i) * 1e6, Service: time.Duration(100+i) * time.Microsecond, Write: 10, Read: 20, Status: 200, Bytes: 13}
			if open {
				want.Late = time.Millisecond
			}
			switch i {
			case 0:
				want.Dial, want.DNS = 5000, 300
			case 1:
				want.Status, want.Error = 0, 1
			case 7:
				want.Bytes = 99
			}
			want.Wait = want.Service - want.Dial - want.Write - want.Read
			if r != want {
				t.Fatalf("%s: request %d is %+v, want %+v", name, i, r, want)
			}
		}
		if cut, err := Decode(data[:len(data)-5]); !errors.Is(err, ErrCut) || cut.Len() != 0 {
			t.Errorf("%s, cut: %v", name, err)
		}
	}
}

// spill is a file in memory.
type spill struct{ data []byte }

func (s *spill) WriteAt(p []byte, at int64) (int, error) {
	s.data = append(s.data[:at], p...)
	return len(p), nil
}

func (s *spill) ReadAt(p []byte, at int64) (int, error) { return copy(p, s.data[at:]), nil }

// TestSpill: rows beyond the memory go to the file, and come back.
func TestSpill(t *testing.T) {
	file := &spill{}
	b := Builder{Spill: func() (SpillFile, error) { return file, nil }, Memory: 100 << 10}
	to := b.Recorder()
	want := rows(100000)
	for i := range want {
		to.Add(&want[i])
	}
	l, err := b.Log(header())
	if err != nil || len(file.data) < 500<<10 || l.Len() != len(want) {
		t.Fatalf("%d requests, %d bytes spilled, %v", l.Len(), len(file.data), err)
	}
	back, err := Decode(encode(t, l))
	if err != nil || !slices.Equal(collect(back), collect(l)) {
		t.Errorf("came back different: %v", err)
	}
	full := Builder{Spill: func() (SpillFile, error) { return nil, errors.New("disk full") }}
	to = full.Recorder()
	for i := range want {
		to.Add(&want[i])
	}
	if l, err := full.Log(header()); err == nil || l.Len() != len(want) {
		t.Errorf("with a full disk: %d requests, %v", l.Len(), err)
	}
}

// TestExact holds percentiles against the sorted values.
func TestExact(t *testing.T) {
	l := sample(t, 20000)
	var values []time.Duration
	for r := range l.All() {
		values = append(values, r.Latency())
	}
	slices.Sort(values)
	q := []float64{0, 0.1, 0.5, 0.99, 0.999, 1}
	for i, got := range observe(l.All(), (*Request).Latency, 0).at(q...) {
		at := max(0, int(q[i]*float64(len(values))+0.999999)-1)
		if got != values[at] {
			t.Errorf("at %v: %v, want %v", q[i], got, values[at])
		}
	}
}

func TestSummary(t *testing.T) {
	all := rows(2000)
	for i := range all {
		r := &all[i]
		*r = Request{Begin: timeline.Time(i) * 1000, Service: time.Duration(i+1) * time.Microsecond, Status: 200, Bytes: 13}
	}
	all[0].Status, all[0].Error = 0, 1
	all[1].Status = 500
	s := New(header(), all).Summary()
	if s.Requests != 2000 || s.Responses != 1999 || s.RPS != 1999 || s.Status[500] != 1 || s.Errors["refused"] != 1 || s.CommonError() != "refused" {
		t.Errorf("summary is %+v", s)
	}
	if s.Latency.P50 != 1001*time.Microsecond || s.Latency.Max != Never || s.Latency.MaxAnswered != 2*time.Millisecond || s.Latency.P99 == 0 {
		t.Errorf("latency is %+v", s.Latency)
	}
	if s.Latency.P999 != 0 {
		t.Errorf("p99.9 of 1,999 requests is %v, want none", s.Latency.P999)
	}
	if s.Failed == nil || s.Failed.Max != time.Microsecond {
		t.Errorf("failures took %+v", s.Failed)
	}
	h := header()
	h.Open = true
	open := New(h, []Request{{Late: time.Millisecond, Service: time.Millisecond}, {Late: 3 * time.Millisecond, Service: 2 * time.Millisecond}}).Summary()
	if open.Latency.Min != 2*time.Millisecond || open.Service.Min != time.Millisecond || open.Late != 1 || open.Generator.LagMax != 3*time.Millisecond {
		t.Errorf("latency does not hold the wait before service: %+v", open)
	}
	if s := (&Log{}).Summary(); s.Requests != 0 || s.RPS != 0 {
		t.Errorf("an empty log has %+v", s)
	}
}

// TestAddAllocs: keeping a request must not disturb the next one. A chunk for
// some 6,000 of them is all there is.
func TestAddAllocs(t *testing.T) {
	var b Builder
	to := b.Recorder()
	r := rows(1)[0]
	to.Add(&r)
	if n := testing.AllocsPerRun(1000, func() { r.Begin += 1000; to.Add(&r) }); n != 0 {
		t.Errorf("Add allocates %v times, want 0", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	var builder Builder
	to := builder.Recorder()
	all := rows(10000)
	for i := 0; b.Loop(); i++ {
		r := all[i%len(all)]
		r.Begin = timeline.Time(i) * 1000
		to.Add(&r)
	}
}

func BenchmarkSummary(b *testing.B) {
	l := sample(b, 200000)
	b.ReportAllocs()
	for b.Loop() {
		l.Summary()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(l.Len()), "ns/request")
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, sample(f, 3)))
	f.Add([]byte(magic + "{}\nR\xff\xff\x03\x01"))
	for _, name := range []string{"testdata/closed1.load", "testdata/open1.load"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Decode(data)
		if l == nil {
			return
		}
		n := 0
		for r := range l.All() {
			if n++; r.Service < 0 || r.Late < 0 || r.Wait < 0 {
				t.Fatalf("a request took %+v", r)
			}
		}
		if n != l.Len() {
			t.Fatalf("%d requests, and %d came", l.Len(), n)
		}
		if l.Summary(); err != nil {
			return
		}
		// What was read can be written, and reads the same again.
		again, err := Decode(encode(t, l))
		if err != nil || again.Len() != l.Len() {
			t.Fatalf("read again: %v", err)
		}
	})
}

func ExampleLog_Summary() {
	requests := make([]Request, 1000)
	for i := range requests {
		requests[i].Service = time.Duration(i+1) * time.Microsecond
	}
	s := New(Header{}, requests).Summary()
	fmt.Println(s.Requests, s.Latency.P50, s.Latency.P99)
	// Output: 1000 500µs 990µs
}

// TestLimited tells a generator that was the limit from one that had no CPU, and
// from one that kept its schedule.
func TestLimited(t *testing.T) {
	f := func(name string, open bool, share, busy float64, delay time.Duration, late time.Duration, limited, starved bool) {
		t.Helper()
		h := Header{Open: open, Engine: "epoll", Threads: 1, Elapsed: 10 * time.Second, Duration: 10 * time.Second, CPU: 100 * time.Millisecond, Busy: busy}
		if delay >= 0 {
			h.RunDelay = &delay
		}
		n := int(2000 * share)
		h.Unsent = int64(2000 - n)
		if !open {
			h.Unsent = 0
		}
		var rows []Request
		for i := range n {
			rows = append(rows, Request{Begin: timeline.Time(i) * 5e6, Late: late, Service: time.Millisecond, Status: 200})
		}
		g := New(h, rows).Summary().Generator
		if (g.Limited != "") != limited || (g.Starved != "") != starved {
			t.Errorf("%s: limited %q, starved %q", name, g.Limited, g.Starved)
		}
	}
	f("a kept schedule, busy and late", true, 1, 0.95, -1, time.Millisecond, false, true)
	f("a kept schedule without a CPU", true, 1, 0.02, 1970*time.Millisecond, time.Millisecond, false, true)
	f("a kept schedule", true, 1, 0.02, time.Millisecond, time.Microsecond, false, false)
	f("behind, busy and late", true, 0.5, 0.95, time.Millisecond, time.Millisecond, true, false)
	f("behind and without a CPU", true, 0.5, 0.1, 8*time.Second, time.Millisecond, true, false)
	f("behind, with time left", true, 0.5, 0.1, time.Millisecond, time.Millisecond, false, false)
	f("a closed loop, busy", false, 1, 0.95, -1, 0, true, false)
	f("a closed loop without a CPU", false, 1, 0.01, 9*time.Second, 0, true, false)
	f("a closed loop with time left", false, 1, 0.5, time.Millisecond, 0, false, false)
}
