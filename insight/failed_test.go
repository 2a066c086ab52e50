package insight

import (
	"os"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// said is a recording whose process has said something on standard error, in
// each of some rounds.
func said(text string, rounds int) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nhost cpus=4\nphase bare 0s..10s\n")
	for n := range rounds {
		r.Put(recording.Entry{Path: "stderr-" + string(rune('a'+n)) + ".log", Kind: recording.Stderr, Phase: "bare"}, []byte(text))
	}
	return r
}

const panicked = `listening
panic: runtime error: index out of range [5] with length 3

goroutine 18 [running]:
shop/feed.fetch(...)
	/src/feed/x.go:31
shop/feed.all({0x1, 0x2})
	/src/feed/x.go:12 +0x2
main.main()
	/src/main.go:3 +0x1

goroutine 1 [IO wait]:
main.main()
	/src/main.go:3 +0x1
exit status 2
`

func TestFA01(t *testing.T) {
	f := expect(t, "a panic", said(panicked, 1), "FA01", Found, "it panicked at feed.fetch at x.go:31: runtime error: index out of range [5] with length 3")
	severity(t, "a panic", f, Critical)
	if e := f.Evidence[0]; e.Line != 31 || e.Path != "stderr-a.log" || len(e.Stack) != 3 || e.Text != "the goroutine that failed, one of 2" {
		t.Errorf("evidence = %+v", e)
	}
	if all := answers(t, said(panicked, 3), "FA01"); len(all) != 1 || !strings.HasSuffix(all[0].Summary, "(3 times)") {
		t.Errorf("three rounds: %+v", all)
	}
	expect(t, "maps", said(strings.Replace(panicked, "panic: runtime error: index out of range [5] with length 3", "fatal error: concurrent map writes", 1), 1),
		"FA01", Found, "the runtime ended it at feed.fetch at x.go:31: fatal error: concurrent map writes")
	expect(t, "a deadlock", said("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/src/main.go:3 +0x1\n", 1),
		"FA01", Found, "nothing could go on at main.main at main.go:3")
	caught := "2026/11/21 18:00:00 http: panic serving 127.0.0.1:50000: boom\n" + panicked[strings.Index(panicked, "goroutine 18"):]
	severity(t, "a handler", expect(t, "a handler", said(caught, 1), "FA01", Found, "a handler panicked, and net/http went on at feed.fetch"), Warning)
	expect(t, "nothing", said("listening\n", 1), "FA01", Fine, "the standard error shows no failure")
	expect(t, "no log", recordingtest.New("title x\nphase bare 0s..10s\n"), "FA01", NotApplicable)
	asked := "SIGQUIT: quit\nPC=0x46b061 m=0 sigcode=0\n\n" + panicked[strings.Index(panicked, "goroutine 18"):]
	expect(t, "SIGQUIT", said(asked, 1), "FA01", Fine, "none is from a program that failed")
	long := said("panic: "+strings.Repeat("ä", 1000)+"\n\n"+panicked[strings.Index(panicked, "goroutine 18"):], 1)
	if f := answers(t, long, "FA01")[0]; len(f.Summary) > 300 || !strings.HasSuffix(f.Summary, "ä…") {
		t.Errorf("a long message: %q", f.Summary)
	}
}

// TestFA01Real: of real crashes the rule names the line of the program.
func TestFA01Real(t *testing.T) {
	for name, want := range map[string]string{
		"go1.10.8.panic-all.txt":        "it panicked at main.",
		"go1.16.15.panic-crash.txt":     "it panicked at main.",
		"go1.21.13.stackoverflow.txt":   "a stack overflowed at main.",
		"go1.26.deadlock.txt":           "nothing could go on at main.",
		"go1.26.cgo-segv.txt":           "a signal ended it at main.main at main.go:",
		"go1.26.test-timeout.txt":       "a test took too long at syn.TestTimeout at a_test.go:16: TestTimeout (1s)",
		"go1.26.cgo-callback-panic.txt": "it panicked at main.",
	} {
		text, err := os.ReadFile("../format/dump/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		r := recordingtest.New("title x\nphase bare 0s..10s\n").Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr, Phase: "bare"}, text)
		severity(t, name, expect(t, name, r, "FA01", Found, want), Critical)
	}
}

func TestFA02(t *testing.T) {
	const report = `==================
WARNING: DATA RACE
Write at 0x00c000012345 by goroutine 7:
  shop/feed.store()
      /src/feed/x.go:31 +0x44
  main.main.func1()
      /src/main.go:9 +0x33

Previous read at 0x00c000012345 by main goroutine:
  shop/feed.load()
      /src/feed/x.go:40 +0x44

Goroutine 7 (running) created at:
  main.main()
      /src/main.go:8 +0x22
==================
`
	f := expect(t, "a race", said(report+report, 1), "FA02", Found, "write at feed.store at x.go:31 and previous read at feed.load at x.go:40 are not synchronised, 2 times")
	severity(t, "a race", f, Critical)
	if len(f.Evidence) != 2 || f.Evidence[0].Line != 31 || f.Evidence[1].Text != "previous read by main goroutine" || len(f.Evidence[0].Stack) != 2 {
		t.Errorf("evidence = %+v", f.Evidence)
	}
	expect(t, "none", said("listening\n", 1), "FA02", NotApplicable, "-race")
}
