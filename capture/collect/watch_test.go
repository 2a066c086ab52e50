package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"loupe/capture/alert"
	"loupe/recording"
)

// pprofPage is what of the first page of /debug/pprof is read.
const pprofPage = `<tr><td>42</td><td><a href='goroutine?debug=1'>goroutine</a></td></tr>`

// elsewhere watches a service that runs on another machine, as far as is known.
func elsewhere(t *testing.T, handler http.HandlerFunc) (*Watcher, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	w, err := Watch(t.Context(), s.URL, WatchOptions{Interval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	w.pid = 0
	return w, s
}

// until takes readings until one has what is asked for.
func until(t *testing.T, w *Watcher, ok func(alert.Reading) bool) {
	t.Helper()
	for {
		r, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok(r) {
			return
		}
	}
}

// TestWatchPatience: a service that does not answer for a moment is watched on,
// also what it tells of its memory.
func TestWatchPatience(t *testing.T) {
	var broken atomic.Int32
	var polls atomic.Int64
	w, _ := elsewhere(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case broken.Add(-1) >= 0:
			http.Error(rw, "busy", http.StatusServiceUnavailable)
		case r.URL.Path == "/debug/vars":
			polls.Add(1)
			rw.Write([]byte(`{"memstats":{"HeapAlloc":7}}`))
		default:
			rw.Write([]byte(pprofPage))
		}
	})
	has := func(name string) func(alert.Reading) bool {
		return func(r alert.Reading) bool { return r.Values[name] > 0 }
	}
	until(t, w, has("goroutines"))
	until(t, w, has("heap"))
	broken.Store(3)
	until(t, w, func(alert.Reading) bool { return broken.Load() < 0 })
	seen := polls.Load()
	until(t, w, func(r alert.Reading) bool { return r.Values["goroutines"] == 42 && polls.Load() > seen })
}

// TestWatchGone: a service that is no more ends the watch, at once where nobody
// listens, and after some readings where it only fails.
func TestWatchGone(t *testing.T) {
	f := func(what string, end func(s *httptest.Server, broken *atomic.Bool)) {
		t.Helper()
		var broken atomic.Bool
		w, s := elsewhere(t, func(rw http.ResponseWriter, r *http.Request) {
			if broken.Load() {
				http.Error(rw, "no more", http.StatusBadGateway)
				return
			}
			rw.Write([]byte(pprofPage))
		})
		until(t, w, func(r alert.Reading) bool { return r.Values["goroutines"] == 42 })
		end(s, &broken)
		for {
			if _, err := w.Next(t.Context()); err != nil {
				if !errors.Is(err, ErrEnded) {
					t.Errorf("%s: %v", what, err)
				}
				return
			}
		}
	}
	f("closed", func(s *httptest.Server, _ *atomic.Bool) { s.Close() })
	f("fails", func(_ *httptest.Server, broken *atomic.Bool) { broken.Store(true) })
}

// TestWatchStale: figures of which no new ones come are forgotten.
func TestWatchStale(t *testing.T) {
	w := newWatcher(WatchOptions{Interval: time.Second})
	w.oomKills = func() int64 { return 0 }
	w.seen.take([]byte(`{"/memory/classes/heap/objects:bytes":7}`))
	if r := w.read(context.Background()); r.Values["heap"] != 7 {
		t.Errorf("the heap is %v, want 7", r.Values["heap"])
	}
	w.seen.lines[0].at = w.seen.lines[0].at.Add(-2 * staleAfter)
	if v, ok := w.read(context.Background()).Values["heap"]; ok {
		t.Errorf("the heap is still %v after minutes", v)
	}
}

// TestWatchName: what is watched has a name that says more than its number.
func TestWatchName(t *testing.T) {
	w := newWatcher(WatchOptions{})
	w.target.Kind, w.target.Name = "url", "http://shop.example:6060/debug/pprof/"
	if got := w.Name(); got != "shop.example:6060" {
		t.Errorf("it is called %q", got)
	}
}

// TestWatchPrometheus: what a service elsewhere serves for Prometheus has the figures of its
// process; what this machine would tell is not taken for them.
func TestWatchPrometheus(t *testing.T) {
	const text = "go_goroutines 42\nprocess_resident_memory_bytes 1000\nprocess_open_fds 9\ngo_threads 8\n" +
		"go_memstats_heap_alloc_bytes 600\ngo_memstats_next_gc_bytes 900\ngo_gc_duration_seconds_count %d\nprocess_cpu_seconds_total %d\n"
	for name, expvar := range map[string]bool{"with expvar": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			var polls atomic.Int64
			w, _ := elsewhere(t, func(rw http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/metrics":
					n := polls.Add(1)
					fmt.Fprintf(rw, text, n, 100*n)
				case r.URL.Path == "/debug/vars" && expvar:
					rw.Write([]byte(`{"cmdline": ["a"], "memstats": {"HeapAlloc": 7, "NumGC": 5}}`))
				case r.URL.Path == "/debug/pprof/":
					rw.Write([]byte(pprofPage))
				default:
					http.NotFound(rw, r)
				}
			})
			heap := 600.0
			if expvar {
				heap = 7
			}
			until(t, w, func(r alert.Reading) bool {
				v := r.Values
				return v["rss"] == 1000 && v["files"] == 9 && v["threads"] == 8 && v["heap"] == heap && v["cpu"] > 0
			})
			r := w.read(t.Context())
			if _, ok := r.Values["machine"]; ok || len(r.Wholes) > 0 {
				t.Errorf("this machine is taken for that of the service: %v of %v", r.Values, r.Wholes)
			}
			w.opt.Limit, w.seen.limit = 4000, 4000
			if r := w.read(t.Context()); r.Wholes["rss"] != 4000 || r.Wholes["cpu"] != 0 {
				t.Errorf("wholes %v", r.Wholes)
			}
		})
	}
}

// slowSource is the metrics of a program that nobody has asked for yet.
type slowSource struct {
	source
	asked chan struct{}
}

func (slowSource) metricsKind() recording.Kind { return recording.Metrics }

func (s slowSource) follow(context.Context, time.Duration, clock, io.Writer) error {
	close(s.asked)
	return nil
}

// TestWatchEnded: a program may end before the first question about its metrics is put.
func TestWatchEnded(t *testing.T) {
	for range 20 {
		src := slowSource{asked: make(chan struct{})}
		w := newWatcher(WatchOptions{})
		w.src = src
		w.begin()
		if err := w.CaptureEnd(t.Context(), filepath.Join(t.TempDir(), "r"), "", "", "ended"); err != nil {
			t.Fatal(err)
		}
		<-src.asked
		w.Close()
	}
}
