package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// TestLostTurns: work that waits behind more than the busy workers waits in a queue; what idle ones could do of it is lost.
func TestLostTurns(t *testing.T) {
	span := func(list ...timeline.Time) (all []waitChange) {
		for i := 0; i < len(list); i += 2 {
			all = append(all, waitChange{list[i], 1}, waitChange{list[i+1], -1})
		}
		return all
	}
	for _, c := range []struct {
		name         string
		waits, idles []waitChange
		idle, lost   float64
	}{
		{"three for one of four", span(10, 110, 10, 110, 10, 110), span(10, 110, 10, 110, 10, 110), 3, 1},
		{"as many as workers", span(10, 110, 10, 110), span(10, 110, 10, 110), 0, 0},
		{"all are busy", span(10, 110, 10, 110, 10, 110, 10, 110, 10, 110, 10, 110), span(120, 150, 120, 150), 0, 0},
		{"one is idle for a half", span(10, 110, 10, 110, 10, 110, 10, 110, 10, 110), span(10, 60), 0.5, 1.0 / 3},
	} {
		if idle, lost := lostTurns(c.waits, c.idles, 4); idle != c.idle || max(lost-c.lost, c.lost-lost) > 0.001 {
			t.Errorf("%s: %v idle, %v lost", c.name, idle, lost)
		}
	}
}

// TestPicksChannel: the source picks the channel on line 13, or whoever calls that with it, on line 22, does.
func TestPicksChannel(t *testing.T) {
	const head = "package main\n\ntype pool struct {\n\tlanes []chan job\n\tin chan job\n}\n\n\n\n\nfunc (p *pool) put(j job, c chan job) {\n\t"
	for _, c := range []struct {
		before, send, call string
		want               bool
	}{
		{"i := p.n.Add(1) % 8", "p.lanes[i] <- j", "p.put(j, nil)", true},
		{"w := p.workers[p.n]", "w.in <- j", "p.put(j, nil)", true},
		{"for _, w := range p.workers {", "w.in <- j }", "p.put(j, nil)", true},
		{"w := p.next()", "w.in <- j", "p.put(j, nil)", true},
		{"", "c <- j", "p.put(j, p.lanes[n])", true},
		{"", "c <- j", "p.put(j, p.in)", false},
		{"", "p.in <- j", "pools[n].put(j, nil)", true},
		{"", "p.in <- j", "p.put(j, nil)", false},
		{"c := p.in", "c <- j", "p.put(j, nil)", false},
		{"w := p.only()", "w <- j", "p.put(j, nil)", false},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", head+c.before+"\n\t"+c.send+"\n}\n\n\n\n\n\n\nfunc (p *pool) do(j job, n int) {\n\t"+c.call+"\n}\n\nfunc (p *pool) next() *worker {\n\tp.n++\n\treturn p.workers[p.n%8]\n}\n\nfunc (p *pool) only() chan job { return p.in }\n")
		frames := []stack.Frame{{Func: "runtime.chansend1"}, {Func: "main.(*pool).put", File: "a.go", Line: 13}, {Func: "main.(*pool).do", File: "a.go", Line: 22}}
		if got := picksChannel(NewInput(session.New(r.Open())).code, frames[1], frames); got != c.want {
			t.Errorf("%s; %s; %s: %v", c.before, c.send, c.call, got)
		}
	}
}

// TestWT04Dealt: where workers wait for work while requests wait for others of them, there are not too few.
func TestWT04Dealt(t *testing.T) {
	for _, c := range []struct {
		name, send, title, advises, first string
		severity                          Severity
	}{
		{"in turn", "p.lanes[p.n.Add(1)%4] <- j", "one worker while others are idle", dealtAdvice, "each job is dealt to one", Warning},
		{"by a hash", "p.lanes[hash(j.key)%4] <- j", "their key belongs to", "Leave each item with its worker", "chooses the channel by a hash", Info},
		{"in ways that the source does not show", "p.in <- j", "some workers while others are idle", "Find out why", "handed to the workers here", Info},
		{"by a function of the job", "p.lanes[slot(j.key, 4)] <- j", "", "", "", Info},
		{"by chance", "p.lanes[rand.IntN(4)] <- j", "one worker while others are idle", dealtAdvice, "each job is dealt to one", Warning},
	} {
		const idle, deals = "runtime.chanrecv2@chan.go:1;main.serve@main.go:29", "runtime.chansend1@chan.go:1;main.(*pool).put@a.go:5;main.handle@main.go:6"
		round := 0
		r := traceOfProgram(t, waitingFor("chan receive", "runtime.chanrecv1@chan.go:1", func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
			if round++; round == 1 {
				for i := range 3 {
					p.Create(60+i, "main.serve", "main.main@main.go:1")
					p.Preempt("main.serve@main.go:30")
					p.Start(60 + i)
					p.Block("chan receive", idle)
					p.Start(50)
				}
			}
			for g := 5; g < 9; g++ {
				asks(p, 50, 10*time.Millisecond, respond)
				wake(g, sends)
			}
			for i := range 3 { // each has something to do now and then
				p.Wake(60+i, deals)
				p.Preempt("main.serve@main.go:30")
				p.Start(60 + i)
				p.Block("chan receive", idle)
				p.Start(50)
			}
		}))
		withSource(r, "a.go", "package main\n\nfunc (p *pool) put(j job) {\n\n\t"+c.send+"\n}\n")
		f := answers(t, r, "WT04")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Title, c.title) || !strings.HasPrefix(f.Advice, c.advises) || !strings.Contains(f.Evidence[0].Text, c.first) {
			t.Errorf("%s: %s %s: %s: %s\n%s", c.name, f.Severity, f.Title, f.Summary, f.Advice, f.Evidence[0].Text)
		}
	}
}

// TestIndexesByCount: a number that is counted or drawn is told from one that is made of the job.
func TestIndexesByCount(t *testing.T) {
	for text, want := range map[string]bool{
		"p.n++\nreturn p.lanes[p.n%8]":                                                    true,
		"i := p.n.Add(1)\nreturn p.lanes[i%8]":                                            true,
		"p.next = (p.next + 1) % 8\nreturn p.lanes[p.next]":                               true,
		"n++\ni := n % 8\nreturn p.lanes[i]":                                              true,
		"return p.lanes[rand.IntN(8)]":                                                    true,
		"return p.lanes[slot(j.key, 8)]":                                                  false,
		"i := owner(j.key)\np.dealt++\nreturn p.lanes[i]":                                 false,
		"i := sort.Search(8, func(i int) bool { return p.h[i] >= h })\nreturn p.lanes[i]": false,
		"return p.lanes[j.id/100%8]":                                                      false,
	} {
		c, at := lineFive(text)
		if got := indexesByCount(c.scopeAt(stack.Frame{Func: at.Func, File: at.File, Line: 4}).body); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
