package insight

import (
	"slices"
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
		a, ok := affinityAt(code, stack.Frame{Func: "main.(*pool).put", File: "a.go", Line: 13}, nil)
		if a.how != c.want || ok != (c.want != "") {
			t.Errorf("%s; %s: %q", c.before, c.send, a.how)
		}
	}
}

// TestAffinityHandedDown: the channel may be chosen by a caller, and by a method of a method.
func TestAffinityHandedDown(t *testing.T) {
	const head = "package main\n\ntype shards struct {\n\tq [4]chan job\n\tm map[string]chan job\n\tn int\n}\n\nfunc (s *shards) pick(key string) chan job {\n\th := fnv.New32a()\n\th.Write([]byte(key))\n\treturn s.q[h.Sum32()%4]\n}\n\nfunc (s *shards) of(key string) chan job { return s.pick(key) }\n" +
		"func (s *shards) any() chan job { return s.q[rand.IntN(4)] }\nfunc (s *shards) at(i int) chan job { return s.q[i%4] }\n\nfunc send(c chan<- job, j job) {\n\tc <- j // sends\n}\n\nfunc both(j job, c chan job) {\n\tsend(c, j) // hands down\n}\n\nfunc (s *shards) do(j job) {\n\t"
	for call, want := range map[string]bool{
		"send(s.pick(j.key), j)":                         true,
		"send(s.of(j.key), j)":                           true,
		"c := s.pick(j.key)\n\tsend(c, j)":               true,
		"send(s.m[j.key], j)":                            true,
		"both(j, s.pick(j.key))":                         true,
		"send(s.any(), j)":                               false,
		"s.n++\n\tsend(s.at(s.n), j)":                    false,
		"send(s.at(int(next.Add(1))), j)":                false,
		"send(s.q[0], j)":                                false,
		"c := make(chan job)\n\tsend(c, j)":              false,
		"c := s.pick(j.key)\n\tc = s.q[0]\n\tsend(c, j)": false,
	} {
		text := head + call + " // begins\n}\n"
		at := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		frames := []stack.Frame{{Func: "runtime.chansend1"}, at("main.send", "// sends"), at("main.(*shards).do", "// begins")}
		if strings.HasPrefix(call, "both") {
			frames = slices.Insert(frames, 2, at("main.both", "// hands down"))
		}
		if a, ok := affinityAt(NewInput(session.New(r.Open())).code, frames[1], frames); ok != want {
			t.Errorf("%s: %q", call, a.how)
		}
	}
}

// TestWT04Answers: to hand an item to a worker and to wait for its answer is one wait, and what the
// loop of the worker keeps is said by all who speak of it.
func TestWT04Answers(t *testing.T) {
	p := fourConnections()
	p.Wake(1, "")
	p.Start(1)
	p.Create(50, "main.serve", "main.main@main.go:1")
	p.Block("network", "internal/poll.(*FD).Accept@fd.go:2")
	p.Start(50)
	for range 6 {
		p.Block("chan receive", "runtime.chanrecv2@chan.go:1;main.serve@serve.go:5")
		for g := 5; g < 9; g++ {
			arriveAt(p, g, "chan send", accounttest.In("runtime.chansend1@chan.go:1", "main.handle@main.go:6"))
		}
		p.Wake(50, "runtime.chansend1@chan.go:1;main.handle@main.go:6")
		p.Start(50)
		for g := 5; g < 9; g++ {
			p.Wake(g, "runtime.chanrecv2@chan.go:1;main.serve@serve.go:5")
			asks(p, 50, 10*time.Millisecond, func() {
				p.Start(g)
				p.Block("chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.handle@main.go:7"))
			})
			p.Wake(g, "runtime.chansend1@chan.go:1;main.serve@serve.go:8")
		}
		p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@serve.go:9")
		for g := 5; g < 9; g++ {
			p.Start(g)
			finishRequest(p, g)
		}
		p.Wake(50, "")
		p.Start(50)
	}
	r := traceOfProgram(t, p)
	withSource(r, "serve.go", "package main\n\nfunc serve(jobs chan job) {\n\tsum := 0\n\tfor j := range jobs {\n\t\tsum = sum*31 + j.id\n\t\task()\n\t\tj.reply <- sum\n\t}\n}\n")
	in := NewInput(session.New(r.Open()))
	all := Run(in)
	if got := drawn(all, Cards(in, all)); !strings.Contains(got, "WT04(") || strings.Contains(got, " WT01") {
		t.Errorf("the cards are %s", got)
	}
	for _, rule := range []string{"WT01", "WT04"} {
		f := answers(t, r, rule)[0]
		if f.State != Found || !strings.Contains(f.Advice, "Do not just start more workers") {
			t.Errorf("%s: %s: %s", rule, f.Summary, f.Advice)
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
