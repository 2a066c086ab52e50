package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// fansOut starts goroutines that ask a peer, each for some time, and waits for all of them.
func fansOut(took ...time.Duration) func(p *accounttest.Program) {
	next := 20
	return func(p *accounttest.Program) {
		first := next
		for range took {
			p.Create(next, "main.part", accounttest.In("main.handle@main.go:5"))
			next++
		}
		p.Block("sync", accounttest.In("sync.(*WaitGroup).Wait@wg.go:1", "main.handle@main.go:7"))
		for g := first; g < next; g++ {
			p.Start(g)
			p.Block("network", readNet+";main.part@main.go:12")
		}
		past := time.Duration(0)
		for i, d := range took {
			p.Pass(d - past)
			past = d
			p.Wake(first+i, "")
			p.Start(first + i)
			if i == len(took)-1 {
				p.Wake(5, "sync.(*WaitGroup).Done@wg.go:2;main.part@main.go:13")
			}
			p.End()
		}
		p.Start(5)
	}
}

func TestWT05(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		severity Severity // "" is fine
		says     string
	}{
		{"one is late", fansOut(2*ms, 2*ms, 3*ms, 3*ms, 4*ms, 20*ms), Warning,
			"a request of main.handle waits in main.handle at main.go:7 for 6 goroutines: the last one takes 20.0 ms, the median one 3.00 ms; that is 85.0% of its time, on average over 20; the last one is waiting for a peer's answer in main.part at main.go:12 meanwhile"},
		{"one after the other", fansOut(2*ms, 4*ms, 6*ms, 8*ms, 10*ms, 12*ms), "", "2.00 times the median"},
		{"two goroutines", fansOut(2*ms, 20*ms), "", "no group of goroutines that it waits for"},
		{"much else to do", func() func(p *accounttest.Program) {
			fan := fansOut(ms/5, ms/5, ms/5, ms/5, ms)
			return func(p *accounttest.Program) { p.Pass(10 * ms); fan(p) }
		}(), "", "5.00 times the median, 7."},
	} {
		f := answers(t, served(t, 20, c.do), "WT05")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s\nwant %q", c.name, f.State, f.Severity, f.Summary, c.says)
		}
	}
}

// TestWT05Batches: goroutines that a loop starts in batches are told to go on one by one, and
// those of a single fan-out are not.
func TestWT05Batches(t *testing.T) {
	const ms = time.Millisecond
	for source, want := range map[string]string{
		"func handle() {\n\tfor len(todo) > 0 { for _, x := range next() { go part(x) }\n\n\twg.Wait()\n}}":                                                                        "Do not wait for whole batches",
		"func handle() {\n\tfor at := 0; at < len(all); at += 8 { for _, x := range all[at:at+8] { go part(x) }\n\n\twg.Wait()\n}}":                                                "Do not wait for whole batches",
		"func handle() {\n\tfor at := 0; at < len(all); at += 8 { for _, x := range all[at:at+8] { g.Go(part(x)) }\n\n\terr := g.Wait() // wg.Wait\n\tif err != nil { return } }}": "Do not wait for whole batches",
		"func handle() {\n\tfor i, x := range all { go part(x); if i%8 == 7 {\n\n\twg.Wait()\n}}}":                                                                                 "Do not wait for whole batches",
		"func handle() {\n\tfor at := 0; at < len(all); at += 8 { for _, x := range all[at:at+8] { go func() { bad += part(x) }() }\n\n\twg.Wait()\n\tif bad > 0 { break }\n}}":    "start it first",
		"func handle() {\n\tfor range depth { for i := range level { go func() { next[i] = part(level[i]) }() }\n\n\twg.Wait()\n\tlevel = next\n}}":                                "start it first",
		"func handle() {\n\tfor _, phase := range phases { for _, x := range all { go part(x, phase) }\n\n\twg.Wait()\n}}":                                                         "start it first",
		"func handle() { for _, x := range all { go part(x) }\n\n\n\n\twg.Wait()\n}":                                                                                               "start it first",
	} {
		if n := strings.Count(source[:strings.Index(source, "wg.Wait")], "\n"); n < 4 {
			source = strings.Replace(source, "\twg.Wait", strings.Repeat("\n", 4-n)+"\twg.Wait", 1)
		}
		r := served(t, 20, fansOut(2*ms, 2*ms, 3*ms, 3*ms, 4*ms, 20*ms))
		withSource(r, "main.go", "package main\n\n"+source+"\n")
		if f := answers(t, r, "WT05")[0]; !strings.Contains(f.Advice, want) {
			t.Errorf("%s\n%s\nwant %q", source, f.Advice, want)
		}
	}
}
