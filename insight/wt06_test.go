package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

func TestWT06(t *testing.T) {
	const handle = "main.handle@main.go:7"
	const ms = time.Millisecond
	process := func(p *accounttest.Program) {
		p.Call(3*ms, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", handle))
		p.Pass(5 * ms)
	}
	n := 0
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		severity Severity // "" is fine
		says     string
		advises  string
	}{
		{"a process", process, Warning, "a request of main.handle starts a process in main.handle at main.go:7, 1.00 times in each: 37.5% of its time, 3.00 ms of 8.01 ms on average over 30", "Do not start a process"},
		{"a process in one of three", func(p *accounttest.Program) {
			if n++; n%3 == 0 {
				process(p)
			} else {
				p.Pass(ms)
			}
		}, "", "needs a process", ""},
		{"a connection", func(p *accounttest.Program) {
			await(p, 3*ms, "network", "net.(*netFD).connect@net.go:1", "net.Dial@net.go:2", handle)
			ask(p, 5*ms, handle)
		}, Warning, "makes a connection in main.handle at main.go:7, and waits for that 1.00 times in each: 37.5%", "The program dials itself, at main.go:7: keep the connection"},
		{"a connection for each, for which few wait", func(p *accounttest.Program) {
			if n++; n%10 == 0 { // the others are made at once, as on the same machine
				await(p, ms, "network", "net.(*netFD).connect@net.go:1", "net.Dial@net.go:2", handle)
			}
			ask(p, 5*ms, handle)
		}, "", "of its time for peers to accept connections in main.handle at main.go:7", ""},
		{"a connection by two ways", func(p *accounttest.Program) {
			n++
			await(p, 3*ms, "network", "net.(*netFD).connect@net.go:1", "net.Dial@net.go:2", "main.ask@main.go:20", []string{"main.handle@main.go:7", "main.handle@main.go:8"}[n%2])
			ask(p, 5*ms, handle)
		}, Warning, "makes a connection in main.ask at main.go:20, and waits for that 1.00 times in each: 37.5%", ""},
		{"a connection that is kept", func(p *accounttest.Program) { ask(p, 5*ms, handle) }, "", "opens no connection", ""},
		{"a file", func(p *accounttest.Program) {
			p.Call(ms, accounttest.In("syscall.openat@z.go:1", "os.ReadFile@file.go:1", handle))
			p.Call(2*ms, accounttest.In("syscall.read@z.go:1", "os.(*File).Read@file.go:1", "os.ReadFile@file.go:1", handle))
		}, Info, "opens or examines a file in main.handle at main.go:7, 1.00 times in each", "Read the file once"},
		{"a sync", func(p *accounttest.Program) {
			p.Call(5*ms, accounttest.In("syscall.Fsync@z.go:1", "os.(*File).Sync@file.go:1", handle))
		}, "", "starts no process", ""},
	} {
		f := answers(t, served(t, 30, c.do), "WT06")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if strings.Contains(c.name, "few wait") && strings.Contains(f.Summary, " times") {
			t.Errorf("%s: it says how many are made, of which it only knows those that were waited for: %s", c.name, f.Summary)
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) {
			t.Errorf("%s: %s %s: %s\n%s\nwant %q and %q", c.name, f.State, f.Severity, f.Summary, f.Advice, c.says, c.advises)
		}
	}
}

func TestWT07(t *testing.T) {
	const handle = "main.handle@main.go:7"
	const ms = time.Millisecond
	// asking writes a message in pieces, and waits for one time after the other.
	asking := func(pieces int, waits ...time.Duration) func(p *accounttest.Program) {
		n := 0
		return func(p *accounttest.Program) {
			for range pieces {
				sendIn(p, handle)
			}
			await(p, waits[n%len(waits)], "network", readNet, handle)
			n++
		}
	}
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		severity Severity // "" is fine
		says     string
	}{
		{"two pieces", asking(2, 41*ms, 40*ms, 42*ms, 41*ms, ms), Warning, "a request of main.handle waits 38 to 46 ms for 16 of 20 answers in main.handle at main.go:7: 99.4% of its time; the others take 1.00 ms; 2.00 writes go before each"},
		{"two pieces, never sooner", asking(2, 41*ms), Info, "for 20 of 20 answers"},
		{"one piece", asking(1, 41*ms, 41*ms, ms), Info, "for 14 of 20 answers"},
		{"one piece, hardly ever sooner", asking(1, 41*ms, 41*ms, 40*ms, 42*ms, 41*ms, 40*ms, ms), "", ""},
		{"a peer that takes 40 ms", asking(1, 41*ms), "", ""},
		{"a peer whose times vary", asking(1, 20*ms, 30*ms, 41*ms, 50*ms), "", ""},
	} {
		f := answers(t, served(t, 20, c.do), "WT07")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s\nwant %q", c.name, f.State, f.Severity, f.Summary, c.says)
		}
	}
	// Where no answer came sooner, the source tells whether Nagle's algorithm may be on.
	for _, c := range []struct {
		calls    string
		severity Severity
	}{{"c.SetNoDelay(false)", Warning}, {"c.SetNoDelay(fast)", Warning}, {"c.SetNoDelay(true)", Info}, {"c.SetKeepAlive(false)", Info}} {
		r := served(t, 20, asking(2, 41*ms, 41*ms, 30*ms)) // a wait that begins late is shorter
		r.Put(recording.Entry{Path: "source/conn.go", Kind: recording.Source, Source: "conn.go"}, []byte("package main\nfunc dial() {\n\t"+c.calls+"\n}\n"))
		f := answers(t, r, "WT07")[0]
		if f.State != Found || f.Severity != c.severity || (len(f.Evidence) == 2) != (c.severity == Warning) {
			t.Errorf("with %s: %s %s: %s with %d pieces of evidence", c.calls, f.State, f.Severity, f.Summary, len(f.Evidence))
		}
	}
}
