package loadlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"loupe/timeline"
)

// sample makes a log of n requests; open gives it a schedule.
func sample(n int, open bool) *Log {
	rng := rand.New(rand.NewPCG(1, 1))
	l := &Log{Header: Header{Schema: Schema, URL: "http://x/", Method: "GET", Start: time.Unix(1, 0).UTC(), Elapsed: time.Second, Errors: []string{"refused"}}}
	for i := range n {
		l.Begin = append(l.Begin, timeline.Time(i*1000))
		l.Service = append(l.Service, time.Duration(i+1)*time.Microsecond)
		l.Dial = append(l.Dial, 0)
		l.DNS = append(l.DNS, 0)
		l.Write = append(l.Write, 10)
		l.Wait = append(l.Wait, time.Duration(rng.IntN(1e6)))
		l.Read = append(l.Read, 20)
		l.Status = append(l.Status, 200)
		l.Bytes = append(l.Bytes, 13)
		l.Error = append(l.Error, 0)
		if open {
			l.Late = append(l.Late, time.Millisecond)
		}
	}
	return l
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, chunkRequests, chunkRequests*2 + 7} {
		for _, open := range []bool{false, n > 0} {
			l := sample(n, open)
			if n > 1 {
				l.Status[1], l.Error[1] = 0, 1
			}
			var b bytes.Buffer
			if err := l.Encode(&b); err != nil {
				t.Fatal(err)
			}
			got, err := Decode(b.Bytes())
			if err != nil {
				t.Fatalf("%d requests: %v", n, err)
			}
			if !reflect.DeepEqual(got, l) {
				t.Errorf("%d requests, open %v: came back different", n, open)
			}
		}
	}
}

// TestCut cuts a file everywhere in its second chunk: the first survives.
func TestCut(t *testing.T) {
	l := sample(chunkRequests+5, false)
	var b bytes.Buffer
	if err := l.Encode(&b); err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < 40; cut++ {
		got, err := Decode(b.Bytes()[:b.Len()-cut])
		if !errors.Is(err, ErrCut) || got.Len() != chunkRequests {
			t.Fatalf("cut by %d: %d requests, %v", cut, got.Len(), err)
		}
		if want := time.Duration(l.Span(chunkRequests - 1).End); got.Elapsed != want {
			t.Fatalf("cut by %d: it took %v, want %v until the last request that is left", cut, got.Elapsed, want)
		}
	}
}

func TestSummary(t *testing.T) {
	l := sample(2000, false)
	l.Status[0], l.Error[0] = 0, 1
	l.Status[1] = 500
	s := l.Summary()
	if s.Requests != 2000 || s.Responses != 1999 || s.RPS != 1999 || s.Status[500] != 1 || s.Errors["refused"] != 1 || s.CommonError() != "refused" {
		t.Errorf("summary is %+v", s)
	}
	if s.Latency.P50 != 1001*time.Microsecond || s.Latency.Max != 2*time.Millisecond || s.Latency.P99 == 0 {
		t.Errorf("latency is %+v", s.Latency)
	}
	if s.Latency.P999 != 0 {
		t.Errorf("p99.9 of 1,999 requests is %v, want none", s.Latency.P999)
	}
	open := sample(100, true)
	if got := open.Summary(); got.Latency.Min-got.Service.Min != time.Millisecond {
		t.Errorf("latency %v does not hold the wait before service %v", got.Latency.Min, got.Service.Min)
	}
	if s := (&Log{}).Summary(); s.Requests != 0 || s.RPS != 0 {
		t.Errorf("an empty log has %+v", s)
	}
}

func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	sample(3, true).Encode(&b)
	f.Add(b.Bytes())
	f.Add([]byte(magic + "{}\n\xff\xff\x03\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Decode(data)
		if l == nil {
			return
		}
		for _, n := range []int{len(l.Service), len(l.Status), len(l.Bytes), len(l.Error), len(l.Dial), len(l.Read)} {
			if err == nil && n != l.Len() {
				t.Fatalf("columns of %d and %d values", n, l.Len())
			}
		}
		if err == nil {
			l.Summary()
		}
	})
}

func ExampleLog_Summary() {
	l := sample(1000, false)
	s := l.Summary()
	fmt.Println(s.Requests, s.Latency.P50, s.Latency.P99)
	// Output: 1000 500.5µs 990.01µs
}
