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

// TestWT05BatchNeeded: where the next turn finds what this one left behind, no batches are told; where something is done for each
// batch, it is to be done in order.
func TestWT05BatchNeeded(t *testing.T) {
	const ms = time.Millisecond
	const head = "package main; import (\"bufio\"; \"fmt\"; \"log\"; \"os\"; \"sync\")\n"
	const types = "\ntype model struct { weight, n int; next []int; seen map[int]int; cache map[int]int; mu sync.Mutex; path string }\n"
	const whole, ordered, slowest = "wait once, after the loop. ", "a window of a bounded size that is finished in order", "start it first"
	for name, c := range map[string]struct{ turn, behind, funcs, want string }{
		"each for itself":               {"go part(x)", "", "func part(x int) {}", whole},
		"results by their place":        {"go func() { sizes[x] = part(x) }()", "", "func part(x int) int { return x }", whole},
		"results that are gathered":     {"go func() { gs[i] = part(x) }()", "all = append(all, gs...)", "func part(x int) int { return x }", whole},
		"a step that all need":          {"go func() { gs[i] = m.gradient(x) }()", "m.apply(gs)", "func (m *model) gradient(x int) int { return ask(m.weight, x) }\nfunc (m *model) apply(gs []int) { for _, g := range gs { m.weight = m.weight*31 + g } }", slowest},
		"a sum that nobody needs":       {"go func() { gs[i] = m.gradient(x) }()", "m.apply(gs)", "func (m *model) gradient(x int) int { return ask(m.n, x) }\nfunc (m *model) apply(gs []int) { for _, g := range gs { m.weight = m.weight*31 + g } }", whole},
		"what is found":                 {"go visit(m, x)", "", "func visit(m *model, x int) { m.add(ask(x)) }\nfunc (m *model) add(n int) { m.mu.Lock(); m.next = append(m.next, n); m.mu.Unlock() }", slowest},
		"what is found, for others":     {"go visit(m, x)", "", "func visit(m *model, x int) { m.add(ask(x)) }\nfunc (m *model) add(n int) { m.mu.Lock(); m.seen[n] = 1; m.mu.Unlock() }", whole},
		"a cache of the goroutines":     {"go visit(m, x)", "", "func visit(m *model, x int) { m.mu.Lock(); if m.cache[x] == 0 { m.cache[x] = ask(x) }; m.mu.Unlock() }", whole},
		"a mark of how far it is":       {"go part(x)", "if err := m.mark(at); err != nil { return }", "func part(x int) {}\nfunc (m *model) mark(n int) error { if err := os.WriteFile(m.path, text(n), 0o644); err != nil { return err }; return os.Rename(m.path, m.path) }", ordered},
		"output in order":               {"go func() { gs[i] = part(x) }()", "for _, g := range gs { fmt.Fprintln(w, g) }", "func part(x int) int { return x }", ordered},
		"output in order, to the shell": {"go func() { gs[i] = part(x) }()", "for _, g := range gs { fmt.Println(g) }", "func part(x int) int { return x }", ordered},
		"how far it is, for a reader":   {"go func() { gs[i] = part(x) }()", "fmt.Println(at)\nlog.Println(at)", "func part(x int) int { return x }", whole},
		"a commit":                      {"go part(x)", "if err := tx.Commit(); err != nil { return }", "func part(x int) {}", ordered},
		"only what failed is written":   {"go part(x)", "if err != nil { os.WriteFile(m.path, nil, 0) }", "func part(x int) {}", whole},
	} {
		source := head + "func handle(m *model, w *bufio.Writer) {\n\tfor at := 0; at < 99; at += 8 { gs := make([]int, 8); for i, x := range m.take(at) { " + c.turn + " }\n\n\n\twg.Wait()\n" + c.behind + "\n}}" + types +
			"func (m *model) take(n int) []int { t := m.next[:n]; m.next = m.next[n:]; return t }\n" + c.funcs + "\n"
		r := served(t, 20, fansOut(2*ms, 2*ms, 3*ms, 3*ms, 4*ms, 20*ms))
		withSource(r, "main.go", strings.Replace(source, "\n\n\n\twg.Wait", "\n\n\n\n\twg.Wait", 1))
		f := answers(t, r, "WT05")[0]
		if !strings.Contains(f.Advice, c.want) || (f.Severity == Info) != (c.want == ordered) {
			t.Errorf("%s: %s: %s\nwant %q", name, f.Severity, f.Advice, c.want)
		}
	}
}
