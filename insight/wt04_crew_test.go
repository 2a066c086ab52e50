package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestAffinityAt: the source shows whether a key of the item chooses the channel that it is sent
// on, on line 13.
func TestAffinityAt(t *testing.T) {
	const head = "package main\n\ntype pool struct {\n\tlanes []chan job\n\trooms map[string]*room\n\tnext int\n}\n\nfunc (p *pool) room(name string) *room { return p.rooms[name] }\n\nfunc (p *pool) put(j job) {\n\t"
	for _, c := range []struct{ before, send, want string }{
		{"h := fnv.New32a()", "p.lanes[h.Sum32()%uint32(len(p.lanes))] <- j", "by a hash of its key"},
		{"i := hash(j.key) % len(p.lanes)", "p.lanes[i] <- j", "by a hash of its key"},
		{"lane := p.lanes[j.id%8]", "lane <- j", "by a hash of its key"},
		{"", "p.lanes[j.id&7] <- j", "by a hash of its key"},
		{"", "p.rooms[j.name].in <- j", "by its key"},
		{"", "p.room(j.name).in <- j", "by its key"},
		{"p.next++", "p.lanes[p.next%len(p.lanes)] <- j", ""},
		{"", "p.lanes[p.n.Add(1)%8] <- j", ""},
		{"", "p.lanes[rand.IntN(8)] <- j", ""},
		{"", "p.lanes[0] <- j", ""},
		{"", "p.in <- j", ""},
		{"for i := range 8 {", "p.lanes[i%8] <- job{i} }", ""},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", head+c.before+"\n\t"+c.send+"\n}\n")
		code := NewInput(session.New(r.Open())).code
		a, ok := affinityAt(code, stack.Frame{Func: "main.(*pool).put", File: "a.go", Line: 13})
		if a.how != c.want || ok != (c.want != "") {
			t.Errorf("%s; %s: %q", c.before, c.send, a.how)
		}
	}
}

// TestWT04Crew: where one of several goroutines of a kind serves those who wait, the finding does
// not say that there is one alone, nor to start more of them.
func TestWT04Crew(t *testing.T) {
	one := func(others int) Finding {
		round := 0
		return answers(t, traceOfProgram(t, waitingFor("chan send", "runtime.chansend1@chan.go:1", func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
			if round++; round == 1 {
				for i := range others {
					p.Create(60+i, "main.serve", "main.main@main.go:1")
					p.Preempt("main.serve@main.go:30")
					p.Start(60 + i)
					p.Block("chan receive", "runtime.chanrecv2@chan.go:1;main.serve@main.go:33")
					p.Start(50)
				}
			}
			for g := 5; g < 9; g++ {
				wake(g, "runtime.chanrecv2@chan.go:1;main.serve@main.go:33")
				asks(p, 50, 10*time.Millisecond, respond)
			}
			if round == 6 {
				for i := range others {
					p.Wake(60+i, "runtime.closechan@chan.go:5;main.serve@main.go:9")
				}
			}
		})), "WT04")[0]
	}
	if f := one(0); !strings.Contains(f.Summary, "one goroutine serves all of them") || !strings.HasPrefix(f.Advice, "Start more workers") {
		t.Errorf("%s: %s", f.Summary, f.Advice)
	}
	f := one(3)
	if !strings.Contains(f.Summary, "1 goroutine served those who waited here, of the 4 that run main.serve") || strings.Contains(f.Advice, "Start more") {
		t.Errorf("%s: %s", f.Summary, f.Advice)
	}
	doubted(t, f, pushedDoubt)
}
