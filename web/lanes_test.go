package web

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/exectrace/fixture"
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// busyRecording is a recording with collections, samples of the scheduler, a
// load and a trace.
func busyRecording(t testing.TB) *recordingtest.Recording {
	t.Helper()
	r := recordingtest.New(`title busy
host cpus=4
run 0s..10s pid=7 user=8s
phase bare 0s..8s user=6s
phase trace 8s..10s profiler=trace
clock stderr.log 0s
-- os.ndjson os --
t_ns  pid  user_ns  busy_ns  idle_ns  rss
1s    7    0s       1s       3s       1000000
3s    7    2s       4s       4s       2000000
9s    7    8s       14s      6s       3000000
-- stderr.log stderr --
` + recordingtest.Cycles(70, 500*time.Millisecond, 100*time.Millisecond, func(i int, c *recordingtest.Cycle) {
		c.STW1 = time.Duration(20+i) * time.Microsecond
		c.Background, c.Assist = 300*time.Microsecond, 100*time.Microsecond
	}) + recordingtest.Scheds(4, 1, 2, 3, 4, 4, 4, 2))
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, small))
	r.Manifest.Clocks = append(r.Manifest.Clocks, recording.Clock{Path: "trace.out", Clock: timeline.Clock{Offset: 8e9}})
	var rows []loadlog.Request
	for i := range 4000 {
		rows = append(rows, loadlog.Request{Begin: timeline.Time(i) * 1e6, Service: time.Duration(1+i%10) * time.Millisecond, Status: 200})
	}
	rows[2000].Service = 900 * time.Millisecond
	rows[3000].Error = 1
	var data bytes.Buffer
	if err := loadlog.New(loadlog.Header{Schema: "loupe.load/1", Elapsed: 4 * time.Second, Errors: []string{"reset"}}, rows).Encode(&data); err != nil {
		t.Fatal(err)
	}
	r.Put(recording.Entry{Path: "load-bare.requests", Kind: recording.Load, Phase: "bare"}, data.Bytes())
	r.Manifest.Clocks = append(r.Manifest.Clocks, recording.Clock{Path: "load-bare.requests", Clock: timeline.Clock{Offset: 2e9}})
	return r
}

func TestLanes(t *testing.T) {
	p := pagesOf(t, busyRecording(t))
	var all laneStack
	p.get("lanes?s=1&w=400&keys=latency,rps,heap,gc,pauses,gccpu,alloc,goroutines,cpu,rss,phases,procs,samples,queue,states,wait", &all)
	if all.Span != (timeline.Span{End: 10e9}) || len(all.Lanes) != 16 {
		t.Fatalf("%d lanes over %v", len(all.Lanes), all.Span)
	}
	lanes := map[string]*lane{}
	for _, l := range all.Lanes {
		lanes[l.Key] = l
		if has := len(l.Lines) > 0 || l.Heat != nil || l.Spans != nil; has == (l.Missing != "") {
			t.Errorf("lane %s has %v and misses %q", l.Key, has, l.Missing)
		}
		for _, x := range l.Lines {
			if len(x.At) != len(x.Mean) || x.Max != nil && len(x.Max) != len(x.At) || !slices.IsSorted(x.At) {
				t.Errorf("lane %s: columns of %d, %d and %d", l.Key, len(x.At), len(x.Mean), len(x.Max))
			}
		}
	}
	if lanes["goroutines"].Missing == "" {
		t.Error("there are goroutines without samples of runtime/metrics")
	}
	// Every answered request is in the heat map, also the one that took long.
	counted := 0.0
	for _, n := range lanes["latency"].Heat.Counts {
		counted += n
	}
	if rows := lanes["latency"].Heat.Rows; counted != 3999 || rows[len(rows)-1] < 9e8 {
		t.Errorf("the heat map has %v requests of up to %v", counted, rows[len(rows)-1])
	}
	// Rates times lengths are the requests again.
	sum := 0.0
	for _, x := range lanes["rps"].Lines {
		for i := range x.At[:len(x.At)-1] {
			if !math.IsNaN(x.Mean[i]) && x.Mean[i] != 0 {
				sum += x.Mean[i] * timeline.Span{Start: max(2e9, x.At[i]), End: min(6e9, x.At[i+1])}.Len().Seconds()
			}
		}
	}
	if math.Abs(sum-4000) > 40 {
		t.Errorf("the rates are of %v requests, want 4,000", sum)
	}
	if n := len(lanes["gc"].Spans.Start); n != 70 {
		t.Errorf("%d collections, want 70", n)
	}
	// The CPU of the program: two seconds in two, then six in six.
	for _, x := range lanes["cpu"].Lines {
		if x.Key == "program" && (len(x.Mean) != 3 || x.Mean[0] != 1 || x.Mean[1] != 1) {
			t.Errorf("the program used %v CPUs at %v", x.Mean, x.At)
		}
	}
	p.refused(400, "lanes?s=1&keys=nonsense", nil)
	p.refused(400, "lanes?s=1&keys=gc&t0=9&t1=3", nil)
}

// TestLineReduced holds a reduced course against the values themselves: what is
// greatest and least in the course is so in the line.
func TestLineReduced(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, step := range []bool{false, true} {
		var c course
		for i := range 50_000 {
			v := rnd.Float64()
			if i == 12_345 {
				v = 99
			}
			if i == 23_456 {
				v = -99
			}
			c.add(timeline.Time(i)*1000, v)
		}
		v := &laneView{Span: timeline.Span{Start: 0, End: 50e6}, points: 200}
		l := v.line("x", "x", &c, step)
		if len(l.At) > 2*v.points {
			t.Errorf("%d points for %d pixels", len(l.At), v.points)
		}
		if slices.Max(l.Max) != 99 || slices.Min(l.Min) != -99 {
			t.Errorf("step %v: from %v to %v, want the spikes", step, slices.Min(l.Min), slices.Max(l.Max))
		}
		for i, m := range l.Mean {
			if m < l.Min[i] || m > l.Max[i] {
				t.Errorf("the mean %v is not between %v and %v", m, l.Min[i], l.Max[i])
			}
		}
	}
}

// TestProcsLane holds the lane of the Ps against the spans of the trace.
// TestBounded: two Ps are not more than two, however little of a column the trace
// has.
func TestBounded(t *testing.T) {
	sums := [][8]float64{{0: 0.5, 7: 1.5}, {0: 0.2, 7: 0.6}, {0: 0.01, 7: 0.445}}
	covered := []float64{1, 0.5, 0.1}
	bounded(sums, 2, func(i int64) float64 { return covered[i] })
	for i, s := range sums {
		total := 0.0
		for _, n := range s {
			total += n / covered[i]
		}
		if total > 2.000001 {
			t.Errorf("column %d has %.3f of two Ps", i, total)
		}
	}
	if sums[0][7] != 1.5 || sums[1][0] != 0.2 {
		t.Errorf("columns that hold what they may have changed: %v", sums)
	}
}

func TestProcsLane(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	for _, w := range []int{50, 700, 2000} {
		for _, span := range []string{"t0=1001000000&t1=1007000000", "t0=1002000000&t1=1004500000"} {
			var all laneStack
			p.get(fmt.Sprintf("lanes?s=1&keys=procs,states&w=%d&%s", w, span), &all)
			var running float64
			for _, x := range all.Lanes[0].Lines {
				for i := range len(x.At) - 1 {
					d := timeline.Span{Start: x.At[i], End: x.At[i+1]}.Overlap(all.Span)
					if x.Key == "running" && !math.IsNaN(x.Mean[i]) {
						running += x.Mean[i] * float64(d)
					}
				}
			}
			// One P runs goroutines all the time, but from 1.006 s to 1.0065 s.
			want := 5.5e6
			if all.Span.Start != 1001e6 {
				want = 2.5e6
			}
			if math.Abs(running-want) > 0.04*want {
				t.Errorf("%d columns, %s: Ps ran for %v ns, want %v", w, span, running, want)
			}
		}
	}
}

// TestVarsLanes: a lane for each variable of the program's own that has numbers, and
// none for what package expvar publishes by itself.
func TestVarsLanes(t *testing.T) {
	r := busyRecording(t)
	var data strings.Builder
	for i := range 8 {
		fmt.Fprintf(&data, `{"t_ns":%d,"vars":{"cmdline":["x"],"memstats":{"HeapAlloc":1},"orders":%d,"cache":{"hits":%d,"used_bytes":100},"version":"v1"}}`+"\n", int64(i)*1e9, i*i, 2*i)
	}
	r.Put(recording.Entry{Path: "metrics.ndjson", Kind: recording.Vars}, []byte(data.String()))
	p := pagesOf(t, r)
	var all laneStack
	p.get("lanes?s=1&w=400&keys=rss,vars,cpu", &all)
	var got []string
	for _, l := range all.Lanes {
		got = append(got, l.Key+" "+l.Unit)
	}
	want := []string{"rss bytes", "var:cache.hits count", "var:cache.used_bytes bytes", "var:orders count", "cpu cpus"}
	if !slices.Equal(got, want) {
		t.Fatalf("lanes %q, want %q", got, want)
	}
	orders := all.Lanes[3].Lines[0]
	if n := len(orders.Mean); n < 8 || !slices.Contains(orders.Mean, 49) {
		t.Errorf("orders: %v", orders.Mean)
	}
	p.get("lanes?s=1&w=400&keys=rss,vars&t0=8500000000&t1=9000000000", &all)
	if len(all.Lanes) != 1 {
		t.Errorf("%d lanes where no variable was read, want that of rss", len(all.Lanes))
	}
}
