package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// slotted is a program whose main starts 24 goroutines of main.upload.func1 and waits for them. Each takes one of width slots
// at line 20, of none when width is 0, goes through the steps, and gives the slot back at line 26.
func slotted(width int, steps []gangStep) func(p *accounttest.Program) {
	return func(p *accounttest.Program) {
		const n, first = 24, 20
		for w := range n {
			p.Create(first+w, "main.upload.func1", "main.upload@main.go:40;main.main@main.go:50")
		}
		p.Block("sync", "sync.(*WaitGroup).Wait@waitgroup.go:1;main.upload@main.go:44;main.main@main.go:50")
		var inside, waiting []int
		todo, due, now := [n]int{}, [n]time.Duration{}, time.Duration(0)
		next := func(w int) { // it goes on with its next step
			p.Block(steps[todo[w]].reason, steps[todo[w]].stack)
			due[w] = now + steps[todo[w]].d
			todo[w]++
		}
		for w := range n {
			p.Start(first + w)
			if width > 0 && len(inside) >= width {
				p.Block("chan send", "runtime.chansend1@chan.go:1;main.upload.func1@main.go:20")
				waiting = append(waiting, w)
				continue
			}
			inside = append(inside, w)
			next(w)
		}
		for len(inside) > 0 {
			at := 0
			for i, w := range inside {
				if due[w] < due[inside[at]] {
					at = i
				}
			}
			w := inside[at]
			p.Pass(due[w] - now)
			now = due[w]
			p.Wake(first+w, "")
			p.Start(first + w)
			if todo[w] < len(steps) {
				next(w)
				continue
			}
			if inside = append(inside[:at], inside[at+1:]...); len(waiting) > 0 {
				p.Wake(first+waiting[0], "runtime.chanrecv1@chan.go:2;main.upload.func1@main.go:26")
			}
			p.End()
			if len(waiting) > 0 {
				p.Start(first + waiting[0])
				inside, waiting = append(inside, waiting[0]), waiting[1:]
				next(inside[len(inside)-1])
			}
		}
	}
}

// TestWT01Workers: main only waits for the goroutines of a tool. What holds these up is told where it is a pause between
// tries, of their own or of those that have a slot meanwhile.
func TestWT01Workers(t *testing.T) {
	const way = ";main.get@main.go:%;main.upload.func1@main.go:23"
	step := func(d time.Duration, reason, leaf, line string) gangStep {
		return gangStep{reason, leaf + strings.Replace(way, "%", line, 1), d}
	}
	const ms = time.Millisecond
	ask, pause := step(4*ms, "network", gangRead, "9"), step(50*ms, "select", "runtime.selectgo@select.go:1", "13")
	sleep := step(50*ms, "sleep", "time.Sleep@sleep.go:1;main.ask@main.go:60", "9")
	rate := gangStep{"select", "runtime.selectgo@select.go:1;golang.org/x/time/rate.(*Limiter).wait@rate.go:13;main.upload.func1@main.go:23", 30 * ms}
	tries := gangTries("\tfor n := 0; ; n++ {", "if err == nil || n == 4 || !again(err) { return err }")
	often := []gangStep{ask, pause, ask, pause, ask}
	const held, again = "Whoever has a slot here keeps it during the pause before it tries again, main.get at main.go:13", "Tell errors that stay from those that pass"
	for _, c := range []struct {
		name, source string
		width        int
		steps        []gangStep
		advises      string // empty where nothing is a warning
	}{
		{"a slot is held between tries", tries, 4, often, held},
		{"without the source", "", 4, often, ""},
		{"the pauses keep a rate", gangTries("\tfor range 3 {", "log(err)"), 4, often, ""},
		{"what is done inside takes long", tries, 4, []gangStep{step(40*ms, "network", gangRead, "9")}, ""},
		{"a call that sleeps", tries, 4, []gangStep{sleep}, ""},
		{"a limiter", tries, 4, []gangStep{rate, ask}, ""},
		{"each pauses between tries", tries, 0, often, again},
		{"each calls", tries, 0, []gangStep{ask, ask, ask}, ""},
	} {
		r := mainOf(t, slotted(c.width, c.steps))
		if c.source != "" {
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(c.source))
		}
		f := answers(t, r, "WT01")[0]
		warns := f.State == Found && f.Severity == Warning
		if warns != (c.advises != "") || warns && (!strings.Contains(f.Advice, c.advises) || !strings.HasPrefix(f.Summary, "a goroutine of main.upload.func1 spends")) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
