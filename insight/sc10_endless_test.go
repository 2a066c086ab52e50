package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestEndless: goroutines that wake up again and again are a leak where their function has no end by its source, none has
// ended and their number rises throughout; workers that are started once, and those that can end, are none.
func TestEndless(t *testing.T) {
	const loop = "for {\nselect {\ncase <-t.C:\nc.n++\n}\n}"
	rising := func(i int) int { return 1 + 100*i }
	for _, c := range []struct {
		name, body string
		readings   func(i int) int
		ended      int64
		found      bool
	}{
		{"a ticker that nobody stops", loop, rising, 0, true},
		{"a break out of the select alone", "for {\nselect {\ncase <-t.C:\nc.n++\nbreak\n}\n}", rising, 0, true},
		{"it returns", "for {\nselect {\ncase <-t.C:\nc.n++\ncase <-c.done:\nreturn\n}\n}", rising, 0, false},
		{"it leaves the loop", "loop:\nfor {\nselect {\ncase <-t.C:\nc.n++\ncase <-c.done:\nbreak loop\n}\n}", rising, 0, false},
		{"a range over a channel", "for range t.C {\nc.n++\n}", rising, 0, false},
		{"a condition that it polls", "for c.n < 9 {\n<-t.C\n}", rising, 0, true},
		{"it ends the goroutine", "for {\n<-t.C\nif c.n > 9 {\nruntime.Goexit()\n}\n}", rising, 0, false},
		{"workers that are started once", loop, func(i int) int { return min(400, 1+400*i) }, 0, false},
		{"some have ended", loop, rising, 3, false},
		{"a poll that nothing else ends", "for {\nif c.n > 9 {\nc.out <- c.n\nreturn\n}\ntime.Sleep(d)\n}", rising, 0, true},
		{"a poll by a ticker", "for {\nif c.n > 9 {\nreturn\n}\n<-t.C\n}", rising, 0, true},
		{"a poll of which some have ended", "for {\nif c.n > 9 {\nreturn\n}\ntime.Sleep(d)\n}", rising, 3, false},
		{"a poll that a context ends", "for ctx.Err() == nil {\nif c.n > 9 {\nreturn\n}\ntime.Sleep(d)\n}", rising, 0, false},
		{"a poll with a context", "for {\nif c.look(ctx) {\nreturn\n}\ntime.Sleep(d)\n}", rising, 0, false},
		{"a poll that a channel ends", "for {\nselect {\ncase <-c.done:\nreturn\ncase <-time.After(d):\n}\n}", rising, 0, false},
		{"polls that are started once", "for {\nif c.n > 9 {\nreturn\n}\ntime.Sleep(d)\n}", func(i int) int { return min(400, 1+400*i) }, 0, false},
	} {
		s := newScene(t)
		source := "package main\n\nfunc (c *conn) keep() {\nt := time.NewTicker(d)\n" + c.body + "\n}\n"
		at := s.stack("runtime.selectgo", "shop/feed.(*conn).keep:/src/keep.go:6")
		g := s.group("shop/feed.(*conn).keep", 900, 900, 0, 0)
		g.Created, g.Ended = 900, c.ended
		s.Left = []sched.Left{{Name: g.Name, State: exectrace.Waiting, Reason: exectrace.NameSelect, Stack: at, Count: 880, Created: 880, Longest: 20 * ms, Quarters: [4]int64{0, 0, 0, 880}}}
		s.beside = []func(r *recordingtest.Recording){func(r *recordingtest.Recording) {
			var b strings.Builder
			for i := range 8 {
				fmt.Fprintf(&b, `{"t_ns":%d,"/sched/goroutines:goroutines":%d}`+"\n", r.Manifest.Start.UnixNano()+int64(i)*1e9, c.readings(i))
			}
			r.Put(recording.Entry{Path: "metrics.ndjson", Kind: recording.Metrics}, []byte(b.String()))
			r.Put(recording.Entry{Path: "source/keep.go", Kind: recording.Source, Source: "/src/keep.go"}, []byte(source))
		}}
		found := false
		for _, f := range Run(s.input()) {
			found = found || f.Rule == "SC10" && f.State == Found && (strings.Contains(f.Summary, "never returns") || strings.Contains(f.Summary, "nothing else ends it"))
		}
		if found != c.found {
			t.Errorf("%s: %v", c.name, found)
		}
	}
}
