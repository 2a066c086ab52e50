package report

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"loupe/value/stats"
	"loupe/value/unit"
)

// liveRun is a run of 20 seconds with a stall in its middle.
func liveRun(l *LoadLive) {
	done, failed := int64(0), int64(0)
	for i := range 80 {
		h := new(stats.Histogram)
		n := int64(200)
		for k := range n {
			d := time.Millisecond + time.Duration(k*k)*time.Microsecond/10
			if i >= 40 && i < 44 {
				d += 300 * time.Millisecond * time.Duration(k) / time.Duration(n)
			}
			h.Add(int64(d))
		}
		if i == 42 {
			failed += 3
		}
		done += n
		l.Add(LoadTick{
			Elapsed: time.Duration(i+1) * liveColumn1, Requests: done, Errors: failed, InFlight: 7, Connections: 50, Queued: i % 3,
			Intended: 1000, Achieved: 800, Latency: h, Lag: 12 * time.Microsecond, Busy: 0.125,
			Failures: []LoadFailure{{Error: "dial tcp 127.0.0.1:80: connect: \x1b[31mconnection refused", Count: 3}, {Status: 503, Count: 2}, {Status: 404, Count: 1}, {Status: 500, Count: 1}},
		})
	}
}

func TestLoadLive(t *testing.T) {
	l := &LoadLive{Title: "GET http://localhost:8080/", Duration: 30 * time.Second}
	l.Service = &ServiceTick{Collections: 17, Heap: 12 << 20, Goal: 20 << 20}
	liveRun(l)
	golden(t, "loupe load, live", func(w io.Writer) error {
		fmt.Fprintln(w, strings.Join(l.Lines(Style{Width: 100}, 24), "\n"))
		l.Service, l.Duration, l.Requests = nil, 0, 20000
		_, err := fmt.Fprintln(w, strings.Join(l.Lines(Style{Width: 60}, 13), "\n"))
		return err
	})
}

// TestLoadLiveFits: no line is wider than the terminal and there are not more
// than it has, whatever its size.
func TestLoadLiveFits(t *testing.T) {
	l := &LoadLive{Title: "GET http://localhost:8080/" + strings.Repeat("long/", 50)}
	for _, full := range []bool{false, true} {
		if full {
			liveRun(l)
		} else {
			l.Add(LoadTick{})
		}
		for width := 40; width < 200; width += 7 {
			for height := 1; height < 40; height++ {
				lines := l.Lines(Style{Width: width}, height)
				if len(lines) > height {
					t.Errorf("%d lines of %d", len(lines), height)
				}
				for _, line := range lines {
					if utf8.RuneCountInString(line) >= width || strings.ContainsAny(line, "\x1b\n") {
						t.Errorf("%d columns: %q", width, line)
					}
				}
			}
		}
	}
}

// TestLoadLiveColumns: a long run has as much room as a short one and loses
// nothing, and a warm-up is forgotten.
func TestLoadLiveColumns(t *testing.T) {
	l := &LoadLive{}
	l.Add(LoadTick{Warmup: true, Elapsed: time.Hour, Requests: 5, Errors: 5})
	const ticks = 4 * 3600
	for i := range ticks {
		h := new(stats.Histogram)
		h.Add(int64(i))
		h.Add(int64(time.Hour))
		l.Add(LoadTick{Elapsed: time.Duration(i+1) * liveColumn1, Requests: int64(2 * i), Errors: int64(i), Latency: h})
	}
	sum, failed := 0, int64(0)
	for _, c := range l.columns {
		failed += c.failed
		for _, n := range c.rungs {
			sum += int(n)
		}
	}
	if len(l.columns) > liveColumns || len(l.columns) < liveColumns/2-2 || sum != 2*ticks || failed != ticks-1 || l.latency.Count() != 2*ticks {
		t.Errorf("%d columns with %d requests and %d failures", len(l.columns), sum, failed)
	}
}

func TestRungs(t *testing.T) {
	for i := range liveRungs {
		if got := rung(int64(rungMark(i))); got != i {
			t.Errorf("the mark of rung %d, %v, is on rung %d", i, rungMark(i), got)
		}
	}
	if got := unit.Duration(rungMark(liveRungs - 1)); got != "2m48s" {
		t.Errorf("the ladder ends at %s", got)
	}
}

// BenchmarkLoadLive is what a second of a live view takes: four ticks, each
// drawn.
func BenchmarkLoadLive(b *testing.B) {
	l := &LoadLive{Title: "GET http://localhost:8080/"}
	liveRun(l)
	h := new(stats.Histogram)
	for i := range int64(10000) {
		h.Add(1e6 + i*i)
	}
	at := l.tick.Elapsed
	b.ReportAllocs()
	for b.Loop() {
		for range 4 {
			at += liveColumn1
			l.Add(LoadTick{Elapsed: at, Requests: int64(at), Latency: h})
			l.Lines(Style{Width: 120, Colour: true}, 30)
		}
	}
}

// TestLoadLiveNever: what failed is slower than all answers while the run goes on,
// too.
func TestLoadLiveNever(t *testing.T) {
	var l LoadLive
	h := new(stats.Histogram)
	for range 1500 {
		h.Add(1e6)
	}
	l.Add(LoadTick{Elapsed: time.Second, Requests: 2000, Errors: 500, Latency: h})
	text := strings.Join(l.Lines(Style{Width: 100}, 20), "\n")
	if !strings.Contains(text, "50% 1.00 ms   90% never   99% never   answers max 1.00 ms") {
		t.Errorf("shown is\n%s", text)
	}
}
