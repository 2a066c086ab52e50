package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestStartedUnlimited: what starts a goroutine for each item in a loop, without a limit, is told; workers by their number, a semaphore and the limit
// of a group are one.
func TestStartedUnlimited(t *testing.T) {
	const work = "\nfunc part(x int) {\n\tread(x) // here\n}\n"
	const literal, named = "main.all.func1", "main.part"
	for _, c := range []struct{ name, body, fn, calls string }{
		{"a literal", "for _, x := range list {\n\tgo func() {\n\t\tread(x) // here\n\t}()\n}", literal, "go"},
		{"a group", "for _, x := range list {\n\tg.Go(func() error {\n\t\treturn read(x) // here\n\t})\n}", literal, "g.Go"},
		{"by its name", "for _, x := range list {\n\tgo part(x)\n}", named, "go"},
		{"of a channel", "for x := range in {\n\tgo part(x)\n}", named, "go"},
		{"it may be ended", "for x := range in {\n\tselect {\n\tcase <-ctx.Done():\n\t\treturn\n\tdefault:\n\t}\n\tgo part(x)\n}", named, "go"},
		{"by an index", "for i := 0; i < len(list); i++ {\n\tgo part(list[i])\n}", named, "go"},

		{"the limit of a group", "g.SetLimit(8)\nfor _, x := range list {\n\tg.Go(func() error {\n\t\treturn read(x) // here\n\t})\n}", literal, ""},
		{"a semaphore", "for _, x := range list {\n\tsem <- token{}\n\tgo part(x)\n}", named, ""},
		{"a token", "for _, x := range list {\n\t<-tokens\n\tgo part(x)\n}", named, ""},
		{"another semaphore", "for _, x := range list {\n\tsem.Acquire(ctx, 1)\n\tgo part(x)\n}", named, ""},
		{"batches", "for i, x := range list {\n\tgo part(x)\n\tif i%8 == 7 {\n\t\twg.Wait()\n\t}\n}", named, ""},
		{"workers", "for i := 0; i < 8; i++ {\n\tgo part(i)\n}", named, ""},
		{"workers, in short", "for i := range workers {\n\tgo part(i)\n}", named, ""},
		{"for a number", "for range n {\n\tgo part(1)\n}", named, ""},
		{"a pool", "for _, x := range list {\n\tpool.Submit(func() {\n\t\tread(x) // here\n\t})\n}", literal, ""},
		{"no loop", "go part(1)", named, ""},
		{"two statements", "for _, x := range list {\n\tgo part(x)\n}\nfor x := range in {\n\tgo part(x)\n}", named, ""},
		{"a loop in the goroutine", "go func() {\n\tfor _, x := range list {\n\t\tread(x) // here\n\t}\n}()", literal, ""},
	} {
		text := "package main\n\nfunc all() {\n" + c.body + "\n}\n"
		if !strings.Contains(text, "// here") {
			text += work
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		at := stack.Frame{Func: c.fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")}
		x, ok := startedUnlimited(NewInput(session.New(r.Open())), []stack.Frame{{Func: "syscall.read"}, at, {Func: "golang.org/x/sync/errgroup.(*Group).Go.func1"}})
		if ok != (c.calls != "") || ok && x.calls != c.calls {
			t.Errorf("%s: %v %+v", c.name, ok, x)
		}
	}
}

// TestSC12Started: threads that are kept by goroutines of one statement are told there, with the limit to set.
func TestSC12Started(t *testing.T) {
	const head = "package main\n\nfunc all(list []int) {\n\tfor _, x := range list {\n"
	for _, c := range []struct{ name, body, title, advice, doubt string }{
		{"a group", "\t\tg.Go(func() error {\n\t\t\treturn read(x)\n\t\t})\n", unlimitedTitle, "call SetLimit before the loop", ""},
		{"of themselves", "\t\tg.Go(func() error {\n\t\t\treturn read(x) || all(x)\n\t\t})\n", unlimitedTitle, "call SetLimit before the loop", "could then deadlock"},
		{"go", "\t\tgo func() {\n\t\t\tread(x)\n\t\t}()\n", unlimitedTitle, "before the go statement", ""},
		{"limited", "\t\tsem <- 1\n\t\tgo func() { read(x) }()\n", sc12.Title, "around the call", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=4\nphase bare 0s..10s\n-- os.ndjson os --\nt_ns pid threads\n1s 7 12\n2s 7 214\n")
		r.Put(recording.Entry{Path: "source/m.go", Kind: recording.Source, Source: "/src/m.go"}, []byte(head+c.body+"\t}\n}\n"))
		r.Put(recording.Entry{Path: "goroutine.pb.gz", Kind: recording.Goroutine, Phase: "bare"}, profiletest.Encode(`
			main.all.func1:/src/m.go:6
			syscall.Read
			= 200`, profiletest.Options{Types: []string{"goroutine/count"}}))
		f := expect(t, c.name, r, "SC12", Found, "most of them are kept by 200 goroutines")
		if f.Title != c.title || !strings.Contains(f.Advice, c.advice) || !strings.Contains(strings.Join(f.Doubts, "; "), c.doubt) {
			t.Errorf("%s: %s: %s: %q %q", c.name, f.Title, f.Summary, f.Advice, f.Doubts)
		}
		if c.title == unlimitedTitle && (firstLine(&f) != evidenceLine(Evidence{File: "/src/m.go", Line: 5}) || !strings.Contains(f.Summary, "200 of these were started at m.go:5")) {
			t.Errorf("%s: %s: %+v", c.name, f.Summary, f.Evidence)
		}
	}
}
