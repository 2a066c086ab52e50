package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestStateOf: what the loop of a worker keeps from one turn to the next is told from what
// each turn has for itself.
func TestStateOf(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"a map of its own", "func f() {\nseen := map[int]int{}\nfor o := range ops {\nseen[o.key]++\no.done <- ask(o) // here\n}\n}", "seen:6 own"},
		{"a part of a map", "func f() {\nfor o := range ops {\na := accounts[o.key]\na.sum += o.n\no.done <- ask(o) // here\n}\n}", "accounts:6"},
		{"a file", "func f() {\nout, _ := os.Create(name)\nfor o := range ops {\nio.WriteString(out, o.line)\no.done <- out.Sync() // here\n}\n}", "out:6 open own"},
		{"a connection that a function makes", "func dial() net.Conn { return nil }\nfunc f() {\nc := dial()\nfor o := range ops {\no.done <- ask(c, o) // here\n}\n}", "c:7 open own"},
		{"a field", "func (s *store) f() {\nfor o := range s.ops {\ns.log.WriteString(o.line)\no.done <- 1 // here\n}\n}\ntype store struct { log *os.File }", "s.log:5 open"},
		{"what a method changes", "func (s *store) f() {\nfor o := range s.ops {\ns.apply(o)\no.done <- 1 // here\n}\n}\nfunc (s *store) apply(o op) { s.sum += o.n }", "s:5"},
		{"a method of another type", "type set struct { n int }\nfunc (s *set) Add(k int) { s.n += k }\nvar count atomic.Int64\nfunc f() {\nfor o := range ops {\ncount.Add(1)\no.done <- 1 // here\n}\n}", ""},
		{"what a function changes", "func f() {\nfor {\no := <-ops\napply(o)\no.done <- 1 // here\n}\n}\nfunc apply(o op) { total += o.n }", "total:10"},
		{"nothing", "func f() {\nvar err error\nfor o := range ops {\nbuf := make([]byte, 10)\nbuf[0] = 1\no.sum++\nerr = ask(o, buf)\no.done <- err // here\n}\n}", ""},
		{"a client that all may use", "func f() {\nc := &http.Client{}\nfor o := range ops {\nr, _ := c.Get(o.url)\no.done <- r // here\n}\n}", ""},
		{"under a lock", "func f() {\nfor o := range ops {\nmu.Lock()\nseen[o.key]++\nmu.Unlock()\no.done <- ask(o) // here\n}\n}", ""},
		{"made for each connection", "func f() {\nfor {\nn := 0\nfor o := range ops {\nn++\no.done <- ask(o, n) // here\n}\n}\n}", "n:7 own"},
		{"a batch", "func f() {\nseen := map[int]int{}\nfor {\nbatch := []op{<-ops}\nfor _, o := range batch {\nseen[o.key]++\no.done <- 1 // here\n}\n}\n}", "seen:8 own"},
	} {
		r := recordingtest.New("title x")
		text := "package main\n\n" + c.source + "\n"
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")}
		s := stateOf(NewInput(session.New(r.Open())).code, []stack.Frame{{Func: "runtime.chansend1", File: "chan.go", Line: 1}, at})
		var got []string
		for _, x := range s.touched {
			text := fmt.Sprintf("%s:%d", x.name, x.line)
			if x.open {
				text += " open"
			}
			if x.own {
				text += " own"
			}
			got = append(got, text)
		}
		if !s.known || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v %q, want %q", c.name, s.known, got, c.want)
		}
	}
}

// TestWT04State: a worker whose loop keeps state is not to become several; one whose source is
// not there may have some.
func TestWT04State(t *testing.T) {
	program := waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
		for g := 5; g < 9; g++ {
			asks(p, 50, 10*time.Millisecond, respond)
			wake(g, sends)
		}
	})
	advice := func(source string) (Finding, string) {
		r := traceOfProgram(t, program)
		if source != "" {
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\n"+strings.Repeat("\n", 26)+source))
		}
		f := answers(t, r, "WT04")[0]
		return f, f.Advice + strings.Join(f.Doubts, "; ")
	}
	// The loop begins at line 30.
	for _, c := range []struct{ name, source, says, never string }{
		{"state", "func serve() {\n\tsums := map[int]int{}\n\tfor o := range ops {\n\t\tsums[o.key]++\n\t\tread(o)\n\t\to.done <- 1\n\t}\n}\n", "the loop keeps sums from one iteration to the next", "Start more workers"},
		{"none", "func serve() {\n\n\tfor o := range ops {\n\t\tsend(o)\n\t\tread(o)\n\t\to.done <- 1\n\t}\n}\n", "Start more workers", "the loop keeps"},
		{"no source", "", "the server goroutine may have its own state", "the loop keeps"},
	} {
		f, text := advice(c.source)
		if f.State != Found || !strings.Contains(text, c.says) || strings.Contains(text, c.never) {
			t.Errorf("%s: %s %s\nwant %q, never %q", c.name, f.State, text, c.says, c.never)
		}
		if c.name == "state" && (!shows(&f, evidenceLine(Evidence{File: "main.go", Line: 31})) || !strings.Contains(text, "wait once for the answers")) {
			t.Errorf("%s: %+v %s", c.name, f.Evidence, text)
		}
	}
}
