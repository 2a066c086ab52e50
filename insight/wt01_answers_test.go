package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestAnswerOrTimer: a timer beside the answer of a goroutine that the function has started is a time limit, where the function gives up then.
// The select is on line 5.
func TestAnswerOrTimer(t *testing.T) {
	const asks = "got := make(chan T, 1); go func() { got <- ask() }()\n"
	for text, want := range map[string]bool{
		asks + "select {\ncase v := <-got:\nreturn v, nil\ncase <-time.After(d):\nreturn none, errSlow\n}":                                                                                                                                                             true,
		asks + "select {\ncase v := <-got:\nreturn v, nil\ncase <-ctx.Done():\nreturn none, ctx.Err()\n}":                                                                                                                                                              true,
		"got, t := make(chan T, 1), time.NewTimer(d); go ask(got)\nselect {\ncase v := <-got:\nuse(v)\ncase <-t.C:\nreturn T{State: late}\n}":                                                                                                                          true,
		"done := make(chan struct{}); go func() { wg.Wait(); close(done) }()\nselect {\ncase <-done:\ncase <-time.After(d):\nlog.Print(late)\n}":                                                                                                                       true,
		"got := make(chan T, 1); g.Go(func() error { got <- ask(); return nil })\nselect {\ncase v := <-got:\nreturn v\ncase <-time.After(d):\n}\nreturn old":                                                                                                          true,
		"got := make(chan T, 2); end := time.After(d); go ask(got); for {\nselect {\ncase v := <-got:\nif v.ok {\nreturn v\n}\ncase <-end:\nreturn none\n}\n}":                                                                                                         true,
		"\nselect {\ncase v := <-begin():\nreturn v\ncase <-time.After(d):\nreturn none\n}\n}\nfunc begin() chan T {\nc := make(chan T, 1)\ngo func() { c <- ask() }()\nreturn c":                                                                                      true,
		"\nselect {\ncase v := <-watch():\nreturn v\ncase <-time.After(d):\nreturn none\n}\n}\nfunc watch() chan T {\nc := make(chan T, 1)\nsubscribe(c)\nreturn c":                                                                                                    false, // a long poll, maybe
		"r := request{reply: make(chan T)}; s.asked <- r\nselect {\ncase v := <-r.reply:\nreturn v, nil\ncase <-time.After(d):\nreturn none, errSlow\n}":                                                                                                               true,
		"\nselect {\ncase v := <-r.reply:\nwrite(v)\ncase <-ctx.Done():\nw.WriteHeader(http.StatusGatewayTimeout)\n}":                                                                                                                                                  true,
		"for {\nselect {\ncase v := <-s.in:\nbatch = append(batch, v)\ncase <-ctx.Done():\nreturn batch, ctx.Err()\n}\n}":                                                                                                                                              false, // a batch
		"\nselect {\ncase <-s.quit:\nreturn nil\ncase <-time.After(d):\nreturn run(err)\n}":                                                                                                                                                                            false, // a pause
		"\nselect {\ncase v := <-s.tick.C:\nreturn nil\ncase <-ctx.Done():\nreturn ctx.Err()\n}":                                                                                                                                                                       false, // a pause
		"\nselect {\ncase v := <-s.news:\nreturn v, nil\ncase <-time.After(d):\nreturn none, nil\n}":                                                                                                                                                                   false,
		asks + "select {\ncase v := <-got:\nreturn v\ncase <-time.After(d):\ngo func() { got <- ask() }()\n}\nreturn <-got":                                                                                                                                            false, // a second call
		"in := make(chan T); go feed(in); for {\nselect {\ncase v := <-in:\nbatch = append(batch, v)\ncase <-time.After(d):\nflush(batch)\n}\n}":                                                                                                                       false, // a batch
		"in, t := make(chan T), time.NewTimer(d); go feed(in); for {\nselect {\ncase <-in:\nt.Reset(d)\ncase <-t.C:\nreturn reload()\n}\n}":                                                                                                                            false, // a debounce
		"done := make(chan T); go func() { run(); close(done) }(); for {\nselect {\ncase <-done:\nreturn\ncase <-time.After(d):\nif ready() {\nserve()\n}\n}\n}":                                                                                                       false, // a poll
		"for {\nselect {\ncase <-ctx.Done():\nreturn ctx.Err()\ncase <-time.After(d):\nif ready() {\nreturn nil\n}\n}\n}":                                                                                                                                              false, // a poll
		"stop := make(chan struct{}); go func() { <-sig; close(stop) }()\nselect {\ncase <-stop:\nreturn\ncase <-time.After(d):\n}\nwork()":                                                                                                                            false, // a pause
		asks + "select {\ncase v := <-got:\nreturn v\ncase <-time.After(d):\nreturn none\ndefault:\n}":                                                                                                                                                                 false,
		"got, bad := make(chan T), make(chan error); go func() { if v, err := ask(); err != nil { bad <- err } else { got <- v } }()\nselect {\ncase v := <-got:\nreturn v, nil\ncase err := <-bad:\nreturn none, err\ncase <-time.After(d):\nreturn none, errSlow\n}": true,
		asks + "select {\ncase v := <-got:\nreturn v\ncase v := <-begin():\nreturn v\ncase <-time.After(d):\nreturn none\n}\n}\nfunc begin() chan T {\nc := make(chan T, 1)\ngo func() { c <- ask() }()\nreturn c":                                                     false, // two goroutines
		asks + "select {\ncase v := <-got:\nreturn v\ncase <-other:\nreturn none\n}":                                                                                                                                                                                   false,
	} {
		code, at := lineFive(text)
		if _, got := answerOrTimer(code, at); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestWT01AnswerLimit: a request waits for a goroutine that waits for an answer, which comes too late for some: the timer is no pause of it.
// Where all of them are late, it stays a warning; where the channel is somebody else's, it may be a pause.
func TestWT01AnswerLimit(t *testing.T) {
	const one = "main.one@a.go:5;main.all.func1@a.go:30"
	const begins = "got := make(chan T, 1); go func() { got <- ask() }()"
	for _, c := range []struct {
		name, source, says, advises string
		late                        int
		severity                    Severity
	}{
		{"some are late", begins, "ends in main.one at a.go:5", "The timer is a time limit: without it the wait would be longer. Most calls are answered", 1, Info},
		{"all are late", begins, "20 of 20 waits for an answer there ended with the limit", "The peer is down, or slower", 20, Warning},
		{"a pause", "got := s.news", "is waiting for a timer in main.one at a.go:5", "Look at the pause", 20, Warning},
	} {
		i := 0
		r := served(t, 20, func(p *accounttest.Program) {
			g, asks := 100+2*i, 101+2*i
			p.Create(g, "main.all.func1", accounttest.In("main.all@a.go:31", "main.handle@a.go:40"))
			p.Block("sync", accounttest.In("sync.runtime_SemacquireWaitGroup@sema.go:1", "sync.(*WaitGroup).Wait@wg.go:2", "main.all@a.go:33", "main.handle@a.go:40"))
			p.Start(g)
			p.Create(asks, "main.one.func1", one)
			p.Block("select", "runtime.selectgo@select.go:1;"+one)
			p.Start(asks)
			p.Block("network", "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.ask@a.go:20;main.one.func1@a.go:4")
			answer := func() {
				p.Wake(asks, "")
				p.Start(asks)
				p.Wake(g, "runtime.chansend1@chan.go:1;main.one.func1@a.go:4")
				p.End()
			}
			if i < c.late {
				p.Pass(100 * time.Millisecond)
				p.Wake(g, "")
			} else {
				p.Pass(time.Millisecond)
				answer()
			}
			p.Start(g)
			p.Wake(5, "sync.(*WaitGroup).Done@wg.go:3;main.all.func1@a.go:30")
			p.End()
			p.Start(5)
			i++
		})
		withSource(r, "a.go", "package main\n\nfunc one() T {\n\t"+c.source+"\n\tselect {\n\tcase v := <-got:\n\t\treturn v\n\tcase <-time.After(limit):\n\t\treturn late\n\t}\n}\n")
		f := answers(t, r, "WT01")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
