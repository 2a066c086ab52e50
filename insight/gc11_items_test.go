package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/value/timeline"
)

// TestGC11Items: goroutines that a loop starts for its items, without a limit, which wait and hold memory until they end one
// after another, are a warning at the go statement. What something bounds, what does not become less, what serves, what the
// memory is not from, and what only sleeps until its time, is none.
func TestGC11Items(t *testing.T) {
	const source = "package run\n\nfunc start(items []item) {\n\tBEFORE\n\tfor LOOP {\n\t\tIN\n\t\tgo func() {\n\t\t\tdefer wg.Done()\n\t\t\texec(x) // A\n\t\t}()\n\t}\n\twg.Wait()\n}\n\nfunc exec(x item) {\n\tbody := render(x) // C\n\tlimiter.Wait(ctx) // B\n\tsend(body)\n}\n"
	falls := func(s int) float64 { return []float64{10, 8000, 7000, 6000, 5000, 4000, 3000, 2000, 1000, 10}[s] }
	const rendered, wait = "shop/run.start.func1@A shop/run.exec@C", "shop/run.start.func1@A shop/run.exec@B shop/run.(*limiter).Wait:/src/none.go:3 runtime.selectgo runtime.gopark"
	for _, c := range []struct {
		name                   string
		before, loop, in, body string
		wait, made             string
		mb, later              int64
		number                 func(int) float64
		want                   bool
		alone                  bool // main is not among the goroutines
	}{
		{name: "for each item", want: true},
		{name: "counted", loop: "i := 0; i < n; i++", want: true},
		{name: "of a group", body: "wg.Go(func() {", want: true},
		{name: "at a lock", wait: "shop/run.start.func1@A shop/run.exec@B sync.(*Mutex).Lock runtime.gopark", want: true},
		{name: "of a group with a limit", before: "g.SetLimit(4000)", body: "g.Go(func() error {"},
		{name: "a slot before it", in: "slots <- struct{}{}"},
		{name: "a semaphore before it", in: "sem.Acquire(ctx, 1)"},
		{name: "at a pace", in: "<-tick.C"},
		{name: "connections", loop: "", in: "c, err := ln.Accept()"},
		{name: "until its time", wait: "shop/run.start.func1@A time.Sleep runtime.gopark"},
		{name: "workers", body: "go func() {\n\t\t\tfor x := range jobs {"},
		{name: "they stay", number: func(s int) float64 { return min(8000, 10+2000*float64(s)) }},
		{name: "they end at once", number: func(s int) float64 { return []float64{10, 8000, 8000, 8000, 8000, 8000, 8000, 8000, 10, 10}[s] }},
		{name: "none but the agent in the look", wait: "runtime.loupeRun main.init.1.func1.1 main.loupeServe main.loupeCapture runtime/pprof.(*Profile).WriteTo", alone: true},
		{name: "few", number: func(s int) float64 { return falls(s) / 10 }},
		{name: "little memory", mb: 20, later: 5},
		{name: "memory of others", made: "main.main shop/run.load:/src/none.go:9"},
		{name: "results that are kept", mb: 200, later: 200},
	} {
		if c.loop == "" && c.name != "connections" {
			c.loop = "_, x := range items"
		}
		body := c.body
		if body == "" {
			body = "go func() {"
		}
		text := strings.NewReplacer("BEFORE", c.before, "LOOP", c.loop, "\t\tIN\n", "\t\t"+c.in+"\n", "go func() {", body).Replace(source)
		if strings.Contains(body, "range jobs") {
			text = strings.Replace(text, "// A\n", "// A\n\t\t\t}\n", 1)
		}
		if !strings.HasPrefix(body, "go ") {
			text = strings.Replace(text, "\t\t}()\n", "\t\t})\n", 1)
		}
		if c.mb == 0 {
			c.mb, c.later = 200, 60
		}
		if c.number == nil {
			c.number = falls
		}
		if c.wait == "" {
			c.wait = wait
		}
		if c.made == "" {
			c.made = rendered
		}
		r := reading("", "/memory/classes/heap/stacks:bytes /memory/classes/total:bytes /memory/classes/heap/released:bytes /sched/goroutines:goroutines",
			func(s int) []float64 { return []float64{30 * mb, 300 * mb, 0, c.number(s)} })
		r.Put(recording.Entry{Path: "source/run/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		at := func(s string) string { return strings.ReplaceAll(stackAt(text, s), "/src/main.go", "/src/a.go") }
		for i, n := range []int64{c.mb, c.later} {
			then := timeline.Time(i+3) * 1e9
			r.Put(recording.Entry{Path: []string{"peak/heap-01.pb.gz", "peak/heap-02.pb.gz"}[i], Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: then, End: then}},
				heapProfile(column{at(c.made), []int64{1000, 300 << 20, 500, n << 20}}, column{"main.main shop/run.other:/src/none.go:2", []int64{100, 30 << 20, 100, 30 << 20}}))
		}
		look := []column{{at(c.wait), []int64{2400}}}
		if !c.alone {
			look = append(look, column{"main.main", []int64{10}})
		}
		withProfile(r, recording.Goroutine, "", look...)
		f := answers(t, r, "GC11")[0]
		if got := strings.HasPrefix(f.Title, "A goroutine for each item"); got != c.want {
			t.Errorf("%s: %v %s\n%s", c.name, f.Title, f.Summary, text)
		} else if got && (f.Severity != Warning || !strings.Contains(f.Summary, "8,000 goroutines at once: the loop at a.go:7") || !strings.Contains(f.Advice, "SetLimit")) {
			t.Errorf("%s: %v %s\n%s", c.name, f.Severity, f.Summary, f.Advice)
		}
	}
}
