package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// connecting is a program whose goroutine 50 connects again and again, one pause apart, for
// about two seconds; each time then does what comes next.
func connecting(pause time.Duration, then func(p *accounttest.Program)) *accounttest.Program {
	const dial = "net.(*netFD).connect@fd.go:1;net.(*Dialer).DialContext@dial.go:1;main.send@main.go:20;main.keepOn@main.go:5"
	p := accounttest.New()
	p.Create(50, "main.keepOn", "main.main@main.go:1")
	p.Block("network", "internal/poll.(*FD).Accept@fd.go:2")
	p.Start(50)
	for range max(20, 2*time.Second/(pause+60*time.Microsecond)) {
		p.Call(60*time.Microsecond, "syscall.connect@z.go:1;"+dial)
		then(p)
		if pause < time.Millisecond {
			p.Pass(pause)
			continue
		}
		p.Block("sleep", "time.Sleep@sleep.go:1;main.keepOn@main.go:9")
		p.Pass(pause)
		p.Wake(50, "")
		p.Start(50)
	}
	p.Block("sleep", "time.Sleep@sleep.go:1;main.keepOn@main.go:9")
	return p
}

// retrying is a source whose line 5 is in a loop that tries until it works.
const retrying = "package main\n\nfunc keepOn() {\n\tfor {\n\t\terr := send()\n\t\tif err == nil {\n\t\t\treturn\n\t\t}\n\t}\n}\n"

func TestWT09(t *testing.T) {
	refused := func(*accounttest.Program) {}
	sent := func(p *accounttest.Program) {
		p.Call(time.Microsecond, "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.send@main.go:21;main.keepOn@main.go:5")
	}
	for _, c := range []struct {
		name     string
		p        *accounttest.Program
		source   string
		severity Severity // "" is fine
		says     string
	}{
		{"at once", connecting(400*time.Microsecond, refused), retrying, Warning, "in main.send at main.go:20, one after another on the same goroutine, and nothing was sent over them; the retry loop is in main.keepOn at main.go:5"},
		{"a tiny pause", connecting(2*time.Millisecond, refused), retrying, Info, "2.00 ms apart"},
		{"without its source", connecting(400*time.Microsecond, refused), "", Info, "400 µs apart"},
		{"a pause", connecting(50*time.Millisecond, refused), retrying, "", ""},
		{"connections that are used", connecting(400*time.Microsecond, sent), retrying, "", ""},
	} {
		r := traceOfProgram(t, c.p)
		if c.source != "" {
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(c.source))
		}
		f := answers(t, r, "WT09")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s\nwant %q", c.name, f.State, f.Severity, f.Summary, c.says)
		}
		if f.State == Found && !strings.Contains(f.Advice, "backoff with jitter") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}

// TestRetryAround: a loop that ends when the call on line 5 has worked is told from others.
func TestRetryAround(t *testing.T) {
	for _, c := range []struct {
		name, loop      string
		retry           bool
		pauses, bounded bool
	}{
		{"until the call succeeds", "for {\nerr := send()\nif err == nil {\nreturn\n}\n}", true, false, false},
		{"in the condition of if", "for {\nif err := send(); err == nil {\nbreak\n}\n}", true, false, false},
		{"while it fails", "for err != nil {\nerr = send()\n}", true, false, false},
		{"goes on where it fails", "for {\nc, err := dial()\nif err != nil {\ncontinue\n}\nuse(c)\nreturn\n}", true, false, false},
		{"with a pause", "for {\nif err := send(); err == nil || ctx.Err() != nil {\nreturn err\n}\ntime.Sleep(pause)\n}", true, true, true},
		{"so many times", "for range 5 {\nif err := send(); err == nil {\nreturn nil\n}\n}", true, false, true},
		{"try lock", "for !mu.TryLock() {\nmu.TryLock()\n}", true, false, false},
		{"reads to the end", "for {\nn, err := r.Read(b)\nif err != nil {\nreturn\n}\nuse(b[:n])\n}", false, false, false},
		{"skips what is broken", "for lines.Scan() {\nv, err := parse(lines.Text())\nif err != nil {\ncontinue\n}\nall = append(all, v)\n}", false, false, false},
		{"accepts connections", "for {\nc, err := l.Accept()\nif err != nil {\ncontinue\n}\ngo serve(c)\n}", false, false, false},
		{"counts its tries", "for i := 0; ; i++ {\nerr := send()\nif err == nil {\nreturn nil\n}\nif i == 5 {\nreturn err\n}\n}", true, false, true},
		{"counts them where it fails", "for {\nif err := send(); err != nil {\nif tries++; tries < 5 {\ncontinue\n}\nreturn err\n}\nreturn nil\n}", true, false, true},
		{"waits, or is stopped", "for {\nerr := send()\nif err == nil {\nreturn nil\n}\nselect {\ncase <-t.C:\ncase <-stop:\nreturn err\n}\n}", true, true, true},
		{"waits in a select with nothing else", "for {\nerr := send()\nif err == nil {\nreturn nil\n}\nselect {\ncase <-t.C:\nbreak\n}\n}", true, true, false},
		{"waits with a context", "for {\nerr := send()\nif err == nil {\nreturn nil\n}\nif err := wait(ctx, d); err != nil {\nreturn err\n}\n}", true, true, true},
		{"by a context that the call alone has", "for {\nerr := send(ctx)\nif err == nil {\nreturn nil\n}\n}", true, false, false},
		{"by the answer and the status", "for {\nresp, err := send()\nif err == nil && resp.StatusCode == 200 {\nreturn nil\n}\n}", true, false, false},
		{"a function of the program says", "for n := 0; ; n++ {\nerr := send()\nif err == nil || giveUp(n, err) {\nreturn err\n}\n}", true, false, true},
		{"a function says of the error alone", "for {\nerr := send()\nif err == nil || final(err) {\nreturn err\n}\n}", true, false, false},
		{"the call says", "for {\nmore, err := step()\nif err == nil || !more {\nreturn err\n}\n}", true, false, true},
		{"ends the program", "for {\nerr := send()\nif err == nil {\nreturn nil\n}\nif n++; n > 50 {\nlog.Fatal(err)\n}\n}", true, false, true},
		{"panics", "for {\nerr := send()\nif err == nil {\nreturn nil\n}\nif n++; n > 50 {\npanic(err)\n}\n}", true, false, true},
		{"a deadline among the errors", "for {\nerr := send(x)\nif err == nil || errors.Is(err, context.DeadlineExceeded) {\nreturn err\n}\n}", true, false, true},
		{"only one error is tried again, with a context", "for {\nerr := send(ctx)\nif err == nil {\nreturn nil\n}\nif !errors.Is(err, errBusy) {\nreturn err\n}\n}", true, false, true},
		{"only one error is tried again", "for {\nerr := send()\nif err == nil {\nreturn nil\n}\nif !errors.Is(err, errBusy) {\nreturn err\n}\n}", true, false, false},
		{"in the condition", "for {\nif send() == nil {\nreturn nil\n}\n}", true, false, false},
		{"another error", "for { x, err := next(); if err == nil { break }\nsend(x)\n}", false, false, false},
		{"so many errors", "for len(errs) < 20 {\nerr := send()\nif err == nil {\nreturn nil\n}\nerrs = append(errs, err)\n}", true, false, true},
		{"a counter in the condition", "for err != nil && i < 5 {\nerr = send()\n}", true, false, true},
		{"items by index", "for i := 0; i < len(hosts); i++ {\nif err := dial(hosts[i]); err == nil {\nreturn nil\n}\n}", false, false, false},
		{"one of several", "for _, host := range hosts {\nif err := dial(host); err == nil {\nreturn nil\n}\n}", false, false, false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+c.loop+"\n}\n"))
		in := NewInput(session.New(r.Open()))
		got, ok := retryAround(in.code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 5}})
		if ok != c.retry || got.pauses != c.pauses || got.bounded != c.bounded {
			t.Errorf("%s: %v %+v", c.name, ok, got)
		}
	}
}

// TestWT09Spins: a loop that asks for a lock until it gets it takes a CPU.
func TestWT09Spins(t *testing.T) {
	spin := func(source string) Finding {
		r := traceOfProgram(t, connecting(50*time.Millisecond, func(*accounttest.Program) {}))
		withProfile(r, recording.CPU, "cpu", column{"main.main main.take:main.go:4 sync.(*Mutex).TryLock", []int64{80}}, column{"main.main main.work:main.go:30", []int64{20}})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\n\nfunc take() {\n"+source+"\n}\n"))
		return answers(t, r, "WT09")[0]
	}
	if f := spin("for !mu.TryLock() {\nspins++\n}"); f.State != Found || f.Severity != Warning || !strings.Contains(f.Summary, "80.0% of the CPU time") || !strings.Contains(f.Advice, "Lock waits") {
		t.Errorf("%s %s: %s: %s", f.State, f.Severity, f.Summary, f.Advice)
	}
	if f := spin("for i < 100 {\nmu.TryLock()\n}"); f.State != Fine {
		t.Errorf("a loop of another kind: %s: %s", f.State, f.Summary)
	}
}

// TestWT09Answers: a peer that is asked until its answer suits, by what the source and the
// trace say of the loop: the pause may stand in a function that it calls, and one that the
// source has may be left out.
func TestWT09Answers(t *testing.T) {
	const asked, paused = "main.ask@main.go:40", "main.sleepCtx@main.go:30"
	tries := func(pause time.Duration) *recordingtest.Recording {
		return served(t, 20, func(p *accounttest.Program) {
			for range 6 {
				ask(p, 2*time.Millisecond, asked, "main.handle@main.go:5")
				if pause > 0 {
					p.Block("sleep", accounttest.In(paused, "main.handle@main.go:9"))
					p.Pass(pause)
					p.Wake(5, "")
					p.Start(5)
				}
			}
		})
	}
	const bounded = "for n := 0; n < 20; n++ {\n\tif ask(k) == nil {\n\t\treturn nil\n\t}\n\n\tsleepCtx(ctx, d)\n}\n"
	const endless = "for {\n\tif ask(k) == nil {\n\t\treturn nil\n\t}\n\n\tsleepCtx(ctx, d)\n}\n"
	for _, c := range []struct {
		name, loop string
		pause      time.Duration
		severity   Severity
		advice     string
	}{
		{"with pauses and an end", bounded, 2 * time.Millisecond, Info, "until the call succeeds: wait longer"},
		{"with an end", bounded, 0, Warning, "until the call succeeds, without a pause"},
		{"with neither", strings.Replace(endless, "sleepCtx(ctx, d)", "", 1), 0, Warning, "Nothing ends the loop"},
	} {
		r := tries(c.pause)
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\n\nfunc handle() error {\n"+c.loop+"\n}\n"))
		f := answers(t, r, "WT09")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, "calls a peer 6 times") || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
		if waits := answers(t, r, "WT01")[0]; c.severity == Info && waits.Severity != Info {
			t.Errorf("%s: %s %s", c.name, waits.Severity, waits.Summary)
		}
		if calls := answers(t, r, "WT02")[0]; calls.State != Fine {
			t.Errorf("%s: %s", c.name, calls.Summary)
		}
	}
	// The next of several peers that can do the same is no retry of the same.
	r := tries(0)
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\n\nfunc handle() error {\nfor _, host := range hosts {\n\tif ask(host) == nil {\n\t\treturn nil\n\t}\n}\n}\n"))
	if f := answers(t, r, "WT02")[0]; f.State != Found || f.Severity != Info || !strings.Contains(strings.Join(f.Doubts, "\n"), "ends at the first accepted answer") {
		t.Errorf("one of several: %s %s: %s %q", f.State, f.Severity, f.Summary, f.Doubts)
	}
}
