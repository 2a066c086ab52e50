package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// startedTool is a recording of a tool with a CPU profile over its whole life.
func startedTool(head, profile string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\n" + head + "phase cpu 0s..2s profiler=cpu\n")
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(profile))
}

const (
	ranAndExited = "run 0s..2s exit=\"exit status 0\"\n"
	lexersFirst  = `
		runtime.main                      runtime.main                      runtime.main
		runtime.doInit                    runtime.doInit                    main.main:/src/main.go:5
		runtime.doInit1                   runtime.doInit1                   .
		shop/lexers.init:/src/lexers/a.go:3 shop/lexers.init:/src/lexers/b.go:4 .
		shop/lexers.build:/src/lexers/build.go:9 shop/lexers.build:/src/lexers/build.go:9 .
		regexp.MustCompile                regexp.MustCompile                .
		= `
)

// TestCP22: what the initialization of packages takes of a tool's run is told with the package, the lines that
// are initialized, what they do, and how many there are.
func TestCP22(t *testing.T) {
	r := startedTool(ranAndExited, lexersFirst+"40 30 30")
	for name, text := range map[string]string{
		"/src/lexers/a.go": "package lexers\n\nvar A = Register(build(1))\nvar C = Register(build(3))\n",
		"/src/lexers/b.go": "package lexers\n\nvar (\n\tB = Register(build(2))\n\tlazy = func() int { return Register(build(4)) }\n)\n\nfunc init() {\n\tRegister(build(5))\n}\n",
		"/src/other/b.go":  "package other\n\nvar B = Register(build(2))\n",
	} {
		r.Put(recording.Entry{Path: "source" + name, Kind: recording.Source, Source: name}, []byte(text))
	}
	f := expect(t, "lexers", r, "CP22", Found, "the initialization of package shop/lexers takes 700 ms of CPU time, 70.0% of the run's", "spread over 2 lines, the first a.go:3",
		"mostly in regexp.MustCompile at build.go:9 (70 of 70 samples)", "at least 4 calls of Register")
	severity(t, "lexers", f, Warning)
	if e := f.Evidence[0]; e.File != "/src/lexers/a.go" || e.Line != 3 || !strings.Contains(f.Advice, "If one run does not need all of them") {
		t.Errorf("evidence %+v, advice %q", e, f.Advice)
	}
	in := NewInput(session.New(r.Open()))
	all := Run(in)
	if card := Cards(in, all)[0]; all[card.Finding].Rule != "CP22" || card.Gain == nil || card.Gain.Share < 0.69 || card.Gain.Share > 0.71 {
		t.Errorf("the first card is %s with %+v", all[card.Finding].Rule, card.Gain)
	}

	severity(t, "a smaller part", expect(t, "a smaller part", startedTool(ranAndExited, lexersFirst+"20 10 100"), "CP22", Found), Info)
	expect(t, "little", startedTool(ranAndExited, lexersFirst+"3 3 100"), "CP22", Fine)
	expect(t, "few samples", startedTool(ranAndExited, lexersFirst+"6 3 3"), "CP22", TooLittle)
	expect(t, "begun after the start", startedTool(ranAndExited, "main.main\nshop.work\n= 100\n"), "CP22", Fine, "nothing of the kind")
	waits := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nrun 0s..60s exit=\"exit status 0\"\nphase cpu 0s..60s profiler=cpu\n")
	waits.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(lexersFirst+"40 30 30"))
	severity(t, "a run that waits", expect(t, "a run that waits", waits, "CP22", Found), Info)
	test := recordingtest.New("title x\ntarget test ./shop module=shop go=go1.26.1\n" + ranAndExited + "phase cpu 0s..2s profiler=cpu\n")
	test.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(lexersFirst+"40 30 30"))
	severity(t, "a test", expect(t, "a test", test, "CP22", Found), Info)
}

// TestCP22Twins: what is no start-up, or nobody's to change here, is not told as one.
func TestCP22Twins(t *testing.T) {
	const below = "runtime.main runtime.main\nruntime.doInit runtime.doInit\nruntime.doInit1 runtime.doInit1\n"
	expect(t, "a server from init", startedTool("", below+"main.init.0:/src/main.go:4 main.init.0:/src/main.go:4\nnet/http.(*Server).Serve main.prepare\n= 60 40\n"), "CP22", Fine, "no start-up")
	expect(t, "the standard library", startedTool(ranAndExited, "runtime.main main.main\nruntime.doInit1 .\nunicode.init .\n= 60 40\n"), "CP22", Fine, "none of it in packages outside")
	expect(t, "loupe's agent", startedTool(ranAndExited, "runtime.main main.main\nruntime.doInit1 .\nmain.init.1:/src/zz_loupe_inject.go:9 .\nmain.loupeWhole .\n= 60 40\n"), "CP22", Fine, "nothing of the kind")
	whole := expect(t, "all of the work in init", startedTool(ranAndExited, "runtime.main\nruntime.doInit1\nmain.init.0:/src/main.go:4\nmain.work:/src/main.go:9\n= 100\n"), "CP22", Found)
	severity(t, "all of the work in init", whole, Info)
	doubted(t, whole, "does its work in an init function")

	served := func(n string) *recordingtest.Recording {
		return startedTool("phase bare 2s..9s\n-- load.requests load phase=bare --\n", lexersFirst+n)
	}
	expect(t, "a service", served("30 20 900"), "CP22", Fine)
	f := expect(t, "a service that starts slowly", served("200 100 9000"), "CP22", Found, "at the start, before main begins, the initialization of package shop/lexers takes 3.00 s of CPU time")
	severity(t, "a service that starts slowly", f, Info)
	if strings.Contains(f.Summary, "%") || !strings.Contains(f.Impact.Unit, "at each start") {
		t.Errorf("%q, %+v", f.Summary, f.Impact)
	}

	r := startedTool(ranAndExited, "runtime.main main.main\nruntime.doInit1 .\ngithub.com/x/tables.init:/mod/tables.go:3 .\ngithub.com/x/tables.fill:/mod/tables.go:9 .\n= 60 40\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\nimport \"github.com/x/tables\"\n\nfunc main() { tables.Get() }\n"))
	f = expect(t, "another module's", r, "CP22", Found, "of package github.com/x/tables takes 600 ms")
	if !strings.Contains(f.Advice, "as main.go:3 does") || strings.Contains(f.Advice, "OnceValue") {
		t.Errorf("advice %q", f.Advice)
	}
}

// TestLoaded: what package initialization has allocated is no leak, however much of the heap it is.
func TestLoaded(t *testing.T) {
	looks := func(frames string) *recordingtest.Recording {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..6s\n-- load.requests load phase=bare --\n")
		for i, mb := range []int64{20, 40, 60, 80, 100} {
			at := time.Duration(i+1) * time.Second
			e := recording.Entry{Path: "peak/heap-0" + string(rune('1'+i)) + ".pb.gz", Kind: recording.Heap, Phase: "bare"}
			e.Span.Start, e.Span.End = timeline.Time(at), timeline.Time(at)
			r.Put(e, heapProfile(column{frames, []int64{100 * mb, mb << 20, 100 * mb, mb << 20}}, column{"runtime.main main.main main.run:/src/none.go:1", []int64{1, 512 << 10, 1, 512 << 10}}))
		}
		return r
	}
	f := expect(t, "in init", looks("runtime.main runtime.doInit1 shop.init:/src/none.go:3 shop.load:/src/none.go:11"), "GC16", Found, "100% of that by package initialization", "was filled at the start and does not grow")
	severity(t, "in init", f, Info)
	if !strings.Contains(f.Advice, "It is no leak") || strings.Contains(f.Advice, "shortened") {
		t.Errorf("advice %q", f.Advice)
	}
	f = expect(t, "later", looks("runtime.main main.main shop.load:/src/none.go:11"), "GC16", Found)
	severity(t, "later", f, Warning)
	if strings.Contains(f.Summary, "initialization") {
		t.Errorf("%q", f.Summary)
	}
}
