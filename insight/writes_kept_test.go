package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWritesKept: what is written on line 6 to something that outlives the call keeps an order; an answer to the client, one of several
// peers and what the function opens do not.
func TestWritesKept(t *testing.T) {
	const file, conn = "os.(*File).Write", "net.(*conn).Write"
	for _, c := range []struct {
		before, line, leaf string
		want               bool
	}{
		{"", "j.file.Write(buf)", file, true},
		{"", "j.out.Write(buf)", conn, true},
		{"f, err := os.Create(name)", "f.Write(buf)", file, false},
		{"for _, c := range h.all {", "c.Write(buf) }", conn, false},
		{"", "w.Write(buf)", "net/http.(*response).Write", false},
		{"", "j.file.Read(buf)", "os.(*File).Read", false},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc (j *log) put(buf []byte) {\n\tj.mu.Lock()\n\t"+c.before+"\n\t"+c.line+"\n}\n")
		frames := []stack.Frame{{Func: "internal/poll.(*FD).Write"}, {Func: c.leaf}, {Func: "main.(*log).put", File: "a.go", Line: 6}}
		if strings.HasSuffix(c.leaf, "Read") {
			frames = frames[1:]
		}
		if got := writesKept(NewInput(session.New(r.Open())).code, frames); got != c.want {
			t.Errorf("%s; %s: %v", c.before, c.line, got)
		}
	}
}

// TestWT01GroupedSyncs: a goroutine whose syncs serve all who wait needs no advice to do so; of one that syncs for each of them nothing such is said.
func TestWT01GroupedSyncs(t *testing.T) {
	const at = "syscall.fsync@z.go:1;internal/poll.(*FD).Fsync@fd.go:1;os.(*File).Sync@file.go:1;main.serve@main.go:32"
	for _, each := range []bool{false, true} {
		f := answers(t, traceOfProgram(t, waitingAll(func(p *accounttest.Program, wake func(g int, stack string), respond func()) {
			for g := 5; g < 9; g++ {
				if each || g == 5 {
					p.Call(20*time.Millisecond, at)
				}
				wake(g, sends)
				if each {
					p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@main.go:30")
					respond()
					p.Wake(50, "")
					p.Start(50)
				}
			}
		})), "WT01")[0]
		if f.State != Found || (f.Advice == groupedAdvice) == each {
			t.Errorf("one for each, %v: %s\n%s", each, f.Summary, f.Advice)
		}
	}
}

// TestTitled: a title names the units that there are.
func TestTitled(t *testing.T) {
	units := map[string]facts.UnitGroup{}
	for g := (account.Group{}); g.Unit.String() != "unit"; g.Unit++ {
		of := g
		units[g.Unit.String()] = &of
	}
	for name, want := range map[string]string{"request": wt01.Title, "task": wt01.Title, "main": "Main spends much of its time waiting at one line", "worker": "Workers spend much of their time waiting at one line", "test": "Tests spend much of their time waiting at one line"} {
		if got := titled(Finding{Title: wt01.Title}, units[name]).Title; got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := titled(Finding{Title: wt04.Title}, units["main"]).Title; !strings.HasPrefix(got, "Main waits in a queue for a semaphore") {
		t.Error(got)
	}
}
