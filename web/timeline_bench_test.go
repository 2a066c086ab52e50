package web

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"loupe/analysis/tiles"
	"loupe/session"
	"loupe/source/system"
	"loupe/value/timeline"
)

// bigTrace is a source that has the trace that LOUPE_TRACE names alone.
func bigTrace(b *testing.B, x Index) Source {
	b.Helper()
	name := os.Getenv("LOUPE_TRACE")
	if _, err := os.Stat(name); err != nil {
		b.Skip("LOUPE_TRACE names no trace")
	}
	return Source{Name: name, Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, files, err := session.Loose(os.DirFS(filepath.Dir(name)), []string{filepath.Base(name)})
		if err != nil {
			return nil, err
		}
		return &Opened{Session: s, Files: files, Index: x, Close: s.Close}, nil
	}}
}

// cpu measures what a loop costs: on a shared machine the clock on the wall says
// little.
func cpu(b *testing.B) func() {
	began := system.CPUTime()
	return func() {
		b.ReportMetric((system.CPUTime()-began).Seconds()*1e3/float64(b.N), "cpu-ms/op")
	}
}

// peak measures the most memory of its own that a loop takes: a mapped trace is
// not in it.
func peak(b *testing.B) func() {
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		top := uint64(0)
		for {
			metrics.Read(samples)
			top = max(top, samples[0].Value.Uint64()-samples[1].Value.Uint64())
			select {
			case <-stop:
				most <- top
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() {
		close(stop)
		b.ReportMetric(float64(<-most)/1e6, "peak-MB")
	}
}

// question asks once, and forgets the answer.
func (p *pages) question(b *testing.B, question string, body []byte) int {
	w := p.ask(b.Context(), question, body)
	if w.Code != 200 {
		b.Fatalf("%s: %d %s", question, w.Code, w.Body)
	}
	return w.Body.Len()
}

// BenchmarkTimelineFirst opens a trace and asks for its lanes and the tiles of
// its Ps: what has to be done before something is to be seen.
func BenchmarkTimelineFirst(b *testing.B) {
	src := bigTrace(b, nil)
	defer cpu(b)()
	for b.Loop() {
		p := pagesFrom(b, src)
		p.question(b, "source?s=1", nil)
		var l laneList
		p.get("timeline/lanes?s=1&kinds=proc,gc,group&n=40", &l)
		b.ReportMetric(100*l.Done, "%read")
		p.question(b, "timeline/tiles?s=1", wanted(window(l, l.Top-11)...))
		p.Close()
	}
}

// BenchmarkTimelineWhole reads the trace to its end.
func BenchmarkTimelineWhole(b *testing.B) {
	src := bigTrace(b, nil)
	defer peak(b)()
	defer cpu(b)()
	for b.Loop() {
		p := pagesFrom(b, src)
		if _, err := p.sources.all[0].traced(b.Context()); err != nil {
			b.Fatal(err)
		}
		p.Close()
		p.sources.all = nil // the benchmark holds p to its end
	}
}

// BenchmarkTimelineAgain opens a trace whose timeline was kept.
func BenchmarkTimelineAgain(b *testing.B) {
	x := &memoryIndex{}
	src := bigTrace(b, x)
	p := pagesFrom(b, src)
	if _, err := p.sources.all[0].traced(b.Context()); err != nil {
		b.Fatal(err)
	}
	p.Close()
	defer cpu(b)()
	for b.Loop() {
		p := pagesFrom(b, src)
		p.question(b, "source?s=1", nil)
		var l laneList
		p.get("timeline/lanes?s=1&kinds=proc,gc,group&n=40", &l)
		p.question(b, "timeline/tiles?s=1", wanted(window(l, l.Top-11)...))
		p.Close()
	}
}

// window asks for what a window of the browser shows of lanes: 2048 buckets of
// a level, in the middle.
func window(l laneList, level int) (ids []tiles.TileID) {
	level = max(level, l.MinLevel)
	middle := uint32(uint64(l.Span.Len()) >> level >> 11)
	for _, x := range l.Lanes {
		ids = append(ids, tiles.TileID{Lane: x.ID, Level: uint8(level), Index: middle}, tiles.TileID{Lane: x.ID, Level: uint8(level), Index: middle + 1})
	}
	return ids
}

// BenchmarkTimelineViewport asks for 40 lanes of 2048 buckets on every level,
// over the handler. The worst one counts: 15 ms and 1 MB.
func BenchmarkTimelineViewport(b *testing.B) {
	p := pagesFrom(b, bigTrace(b, nil))
	if _, err := p.sources.all[0].traced(b.Context()); err != nil {
		b.Fatal(err)
	}
	var l laneList
	p.get("timeline/lanes?s=1&kinds=proc,goroutine&order=spans&n=40", &l)
	for level := l.MinLevel; level <= l.Top; level++ {
		body := wanted(window(l, level)...)
		b.Run(fmt.Sprint(level), func(b *testing.B) {
			n := 0
			defer cpu(b)()
			for b.Loop() {
				n = p.question(b, "timeline/tiles?s=1", body)
			}
			b.ReportMetric(float64(n)/1024, "KiB")
		})
	}
}

// BenchmarkTimelineDetails asks what the pages ask when somebody clicks.
func BenchmarkTimelineDetails(b *testing.B) {
	p := pagesFrom(b, bigTrace(b, nil))
	t, err := p.sources.all[0].traced(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	lanes, _ := t.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}, Order: tiles.BySpans}, 0, 20)
	on := t.On(t.Whole)
	middle := timeline.Span{Start: on.Start + 4*(on.End-on.Start)/10, End: on.Start + 41*(on.End-on.Start)/100}
	b.Run("at", func(b *testing.B) {
		defer cpu(b)()
		for n := 0; b.Loop(); n++ {
			l := lanes[n%len(lanes)]
			at := l.Span.Start + (l.Span.End-l.Span.Start)*timeline.Time(n%17+1)/19
			if _, err := t.at(b.Context(), l, t.Clock.At(int64(at))); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, question := range map[string]string{
		"stats-all":   "timeline/stats?s=1",
		"stats-1%":    fmt.Sprintf("timeline/stats?s=1&t0=%d&t1=%d", middle.Start, middle.End),
		"find":        "timeline/find?s=1&q=state:sync%3E1ms",
		"lanes":       "timeline/lanes?s=1&kinds=goroutine&order=spans&n=40",
		"goroutine1%": fmt.Sprintf("timeline/goroutine?s=1&g=%d&t0=%d&t1=%d", lanes[0].Subject, middle.Start, middle.End),
	} {
		b.Run(name, func(b *testing.B) {
			defer cpu(b)()
			for b.Loop() {
				w := p.ask(b.Context(), question, nil)
				if !json.Valid(w.Body.Bytes()) {
					b.Fatal(w.Body)
				}
				in, err := p.sources.all[0].session(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				for _, c := range in.Memo().Costs() {
					if strings.HasPrefix(c.Key, "web ") && c.Key != "web timeline" {
						in.Memo().Forget(c.Key)
					}
				}
			}
		})
	}
}
