package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/value/stack"
)

// TestPausesFirst: a loop without a condition that begins with a pause looks too late for the answer that ends it. One
// that ends by a context or an error, or goes through items, waits for no answer.
func TestPausesFirst(t *testing.T) {
	for text, want := range map[string]bool{
		"for {\ntime.Sleep(d)\nst, err := get(id)\nif err != nil {\nreturn err\n}\nif st.Done {\nreturn nil\n}\n}":                          true,
		"for {\ntime.Sleep(d)\nst, err := get(id)\nif err != nil {\nreturn err\n}\nswitch st.State {\ncase \"FINISHED\":\nreturn nil\n}\n}": true,
		"for i := 0; ; i++ {\ntime.Sleep(d)\nif ready(id) {\nreturn nil\n}\n}":                                                              true,
		"for {\ntime.Sleep(d)\nif err := get(id); err == nil {\nreturn nil\n}\n}":                                                           true,
		"for {\ntime.Sleep(d)\nif err := report(id); err != nil {\nreturn err\n}\n}":                                                        false,
		"for {\ntime.Sleep(d)\nif ctx.Err() != nil {\nreturn nil\n}\nreport(id)\n}":                                                         false,
		"for {\ntime.Sleep(d)\nif time.Now().After(end) {\nreturn nil\n}\nreport(id)\n}":                                                    false,
		"for !ready(id) {\ntime.Sleep(d)\n}":                                                                                                false,
		"for _, id := range ids {\ntime.Sleep(d)\nif find(id) {\nreturn nil\n}\n}":                                                          false,
		"for { n++\ntime.Sleep(d)\nif ready(id) {\nreturn nil\n}\n}":                                                                        false,
		"for {\ntime.Sleep(d)\nlist := get(from)\nall = append(all, list...)\nif len(list) < 100 {\nreturn nil\n}\nfrom += 100\n}":          false,
		"tick := time.NewTicker(d); for {\n<-tick.C\nif ready(id) {\nreturn nil\n}\n}":                                                      true,
		"for {\n<-c.rate.C\nif ready(id) {\nreturn nil\n}\n}":                                                                               false,
		"for {\ntime.Sleep(d)\nn := size(id)\nif n == prev {\nreturn nil\n}\nprev = n\n}":                                                   false,
		"for {\ntime.Sleep(d)\nn := size(id)\nif n != prev {\nsame = 0\n}\nsame++\nif same > 2 && n > 0 {\nreturn nil\n}\nprev = n\n}":      false,
		"for {\ntime.Sleep(d)\nst := get(id)\nif st.Done {\nreturn nil\n}\nlast = st\n}":                                                    true,
		"for {\ntime.Sleep(d)\nif s := get(id); !good(s) {\npanic(s)\n}\n}":                                                                 false,
	} {
		if got := pausesFirst(lineFive(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestAwaits: what is not ready yet, what another has locked and the end of what is followed are no failures; any
// other error is, and a request that is accepted has its answer.
func TestAwaits(t *testing.T) {
	for text, want := range map[string]awaited{
		"for {\nf, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)\nif err == nil {\nreturn f\n}\ntime.Sleep(d)\n}":                 ofLock,
		"for {\nerr := os.Mkdir(name, 0o700)\nif err == nil {\nreturn\n}\ntime.Sleep(d)\n}":                                                ofLock,
		"for {\nf, err := os.OpenFile(name, os.O_CREATE, 0o600)\nif err == nil {\nreturn f\n}\ntime.Sleep(d)\n}":                           {},
		"for {\ns, err := r.ReadString(10)\nif err != nil {\nif err != io.EOF {\nreturn err\n}\ntime.Sleep(d)\ncontinue\n}\nreturn nil\n}": ofMore,
		"for {\ns, err := r.ReadString(10)\nif errors.Is(err, io.EOF) {\ntime.Sleep(d)\ncontinue\n}\nreturn err\n}":                        ofMore,
		"for {\ns, err := r.ReadString(10)\nif err == io.EOF {\nreturn nil\n}\ntime.Sleep(d)\n}":                                           {},
		"for {\nr := ask()\nif r.StatusCode == http.StatusAccepted {\ntime.Sleep(d)\ncontinue\n}\nreturn r\n}":                             ofReady,
		"for {\nerr := ask()\nif errors.Is(err, ErrNotReady) {\ntime.Sleep(d)\ncontinue\n}\nreturn err\n}":                                 ofReady,
		"for {\nr := ask()\nif r.StatusCode == http.StatusAccepted {\nreturn nil\n}\ntime.Sleep(d)\n}":                                     {},
		"for {\nr := ask()\nif r.StatusCode != http.StatusAccepted {\ntime.Sleep(d)\ncontinue\n}\nreturn nil\n}":                           {},
		"for {\nerr := ask()\nif err == nil {\nreturn nil\n}\ntime.Sleep(d)\n}":                                                            {},
	} {
		c, at := lineFive(text)
		if got, _ := awaits(c, []stack.Frame{at}); got != want {
			t.Errorf("%s: %q", text, got.says)
		}
	}
}

// TestLooksFirstElsewhere: the goroutine that a request waits for pauses before it looks; one that serves others in each of its turns does not.
func TestLooksFirstElsewhere(t *testing.T) {
	const flush = "for {\n\t\ttime.Sleep(d)\n\t\tlist := q.take()\n\t\tsend(list)\n\t\tif q.closed() {\n\t\t\treturn nil\n\t\t}\n\t}"
	for _, c := range []struct {
		name, loop, wakes string
		want              bool
	}{
		{"a poll", "for {\n\t\ttime.Sleep(d)\n\t\tif ready(id) {\n\t\t\treturn nil\n\t\t}\n\t}", "main.work@a.go:30", true},
		{"a poll that looks first", "for !ready(id) {\n\t\ttime.Sleep(d)\n\t}", "main.work@a.go:30", false},
		{"one that gathers", flush, "main.send@a.go:40;main.wait@a.go:7;main.work@a.go:30", false},
	} {
		i := 0
		r := served(t, 20, func(p *accounttest.Program) {
			g := 100 + i
			i++
			p.Create(g, "main.work", accounttest.In("main.handle@a.go:50"))
			p.Block("chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.handle@a.go:51"))
			p.Start(g)
			p.Block("sleep", "time.Sleep@time.go:1;main.wait@a.go:5;main.work@a.go:30")
			p.Pass(100 * time.Millisecond)
			p.Wake(g, "")
			p.Start(g)
			p.Wake(5, "runtime.chansend1@chan.go:1;"+c.wakes)
			p.End()
			p.Start(5)
		})
		withSource(r, "a.go", "package main\n\nfunc wait(id string) error {\n\t"+c.loop+"\n}\n")
		f := answers(t, r, "WT01")[0]
		if f.State != Found || !strings.Contains(f.Summary, "sleeping in main.wait at a.go:5") || (f.Advice == lookFirst) != c.want {
			t.Errorf("%s: %s %s\n%s", c.name, f.State, f.Summary, f.Advice)
		}
	}
}

// TestTakesInTurn: a poll that takes what it asks for is told from one that only looks.
func TestTakesInTurn(t *testing.T) {
	for text, want := range map[string]bool{
		"for {\ntime.Sleep(d)\nif g.try() {\nreturn nil\n}\n}\n}\n\nfunc (g *gate) try() bool {\nif g.used >= g.size {\nreturn false\n}\ng.used++\nreturn true\n}\n\nfunc (g *gate) release() {\ng.used--\n":                     true,
		"for !g.try() {\ntime.Sleep(d)\n}\n}\n\nfunc (g *gate) try() bool {\nfor i, free := range g.free {\nif free {\ng.free[i] = false\nreturn true\n}\n}\nreturn false\n}\n\nfunc (g *gate) put(i int) {\ng.free[i] = true\n": true,
		"for !g.take() {\ntime.Sleep(d)\n}\n}\n\nfunc (g *bucket) take() bool {\ng.have += time.Since(g.last).Seconds()\nif g.have < 1 {\nreturn false\n}\ng.have--\nreturn true\n}\n\nfunc (g *bucket) reset() {\ng.have = 9\n": false,
		"for !g.take() {\ntime.Sleep(d)\n}\n}\n\nfunc (g *bucket) take() bool {\nif g.have < 1 {\nreturn false\n}\ng.have--\nreturn true\n":                                                                                      false,
		"for {\ntime.Sleep(d)\nif g.done() {\nreturn nil\n}\n}\n}\n\nfunc (g *gate) done() bool {\nreturn g.state == finished\n":                                                                                                 false,
		"for {\ntime.Sleep(d)\nif st, err := get(id); err == nil && st.Done {\nreturn nil\n}\n}\n}\n\nfunc get(id int) (*status, error) {\nst := &status{}\nst.id = id\nreturn st, nil\n":                                        false,
	} {
		c, at := lineFive(text)
		loops := loopsAround(c, at)
		if len(loops) == 0 {
			t.Errorf("%s: no loop", text)
			continue
		}
		if got := takesInTurn(c, loops[0]); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
