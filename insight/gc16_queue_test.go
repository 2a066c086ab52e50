package insight

import (
	"strings"
	"testing"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestGC16Queue: a channel with much in it is a warning where the trace shows that who sends waits for room; one that may be drained faster than it is
// filled, and a send that waits for something else as well, are told as before.
func TestGC16Queue(t *testing.T) {
	const source = "package shop\n\nfunc run(next func() *item) {\n\tqueue := make(chan *item, size) // 4\n\tgo work(queue)\n\tsend(queue, next)\n}\n\n" +
		"func send(queue chan<- *item, next func() *item) {\n\tfor {\n\t\tx := &item{} // 11\n\t\tqueue <- x // 12\n\t}\n}\n"
	with := func(send string) string { return strings.Replace(source, "queue <- x // 12", send, 1) }
	for _, c := range []struct {
		name, source, reason string
		line                 string
		waits                bool
		objects, bytes       int64
		want                 Severity
	}{
		{"full", source, "chan send", "12", true, 90_000, 40 << 20, Warning},
		{"with room", source, "chan send", "12", false, 90_000, 40 << 20, Info},
		{"or the end", with("select { // 12\n\t\tcase queue <- x:\n\t\tcase <-ctx.Done():\n\t\t}"), "select", "12", true, 90_000, 40 << 20, Warning},
		{"or a tick", with("select { // 12\n\t\tcase queue <- x:\n\t\tcase <-tick:\n\t\t}"), "select", "12", true, 90_000, 40 << 20, Info},
		{"it is drained now and then", source + "\nfunc work(queue chan *item) {\n\tfor range tick.C {\n\t\tuse(<-queue)\n\t}\n}\n", "chan send", "12", true, 90_000, 40 << 20, Info},
		{"a part of each", strings.NewReplacer("x := &item{} // 11", "x := make([]byte, 4096) // 11", "queue <- x", "queue <- x[:n]", "chan *item", "chan []byte", "chan<- *item", "chan<- []byte").Replace(source), "chan send", "12", true, 10_000, 40 << 20, Warning},
		{"something else waits", source, "chan send", "30", true, 90_000, 40 << 20, Info},
		{"few large ones", source, "chan send", "12", true, 100, 40 << 20, Info},
		{"hardly any memory", source, "chan send", "12", true, 9_000, 4 << 20, ""},
		{"two channels of that name", source + "\nfunc other() {\n\tqueue := make(chan int, 9)\n\t_ = queue\n}\n", "chan send", "12", true, 90_000, 40 << 20, Info},
		{"no room", strings.Replace(source, ", size)", ")", 1), "chan send", "12", true, 90_000, 40 << 20, Info},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\nphase trace 10s..11s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main shop.run:/src/a.go:6 shop.send:/src/a.go:11", []int64{2 * c.objects, 2 * c.bytes, c.objects, c.bytes}}))
		p := accounttest.New()
		p.Create(7, "shop.send", "main.main@main.go:1")
		p.Create(8, "shop.work", "main.main@main.go:1")
		p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.main@main.go:2")
		p.Start(7)
		p.Pass(1e6)
		p.Block(c.reason, "runtime.chansend1@chan.go:161;shop.send@/src/a.go:"+c.line+";shop.run@/src/a.go:6")
		p.Start(8)
		if c.waits {
			p.Pass(500e6)
		}
		p.Wake(7, "runtime.chanrecv1@chan.go:442;shop.work@/src/a.go:5")
		p.Pass(400e6)
		p.End()
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		f := answers(t, r, "GC16")[0]
		if f.Severity != c.want || (c.want == Warning) != (f.Title == queueTitle) || c.want == Warning && f.Evidence[0].Line != 4 {
			t.Errorf("%s: %s %q: %s", c.name, f.Severity, f.Title, f.Summary)
		}
	}
}
