package insight

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestPollsState: what another function of the program changes can end the wait of who polls for it. What the loop itself asks a
// peer for, and what only the start sets, cannot.
func TestPollsState(t *testing.T) {
	for _, c := range []struct {
		name, loop, rest, want string
	}{
		{"a counter", "for b.left.Load() > 0 {\ntime.Sleep(d)\n}", "func (b *batch) part() {\nb.left.Add(-1)\n}", "b.left a.go:10"},
		{"a flag", "for {\ntime.Sleep(d)\nif b.ready {\nreturn\n}\n}", "func (b *batch) part() {\nb.ready = true\n}", "b.ready a.go:13"},
		{"by a method", "for !b.done() {\ntime.Sleep(d)\n}", "func (b *batch) done() bool { return b.left.Load() == 0 }\n\nfunc (b *batch) part() {\nb.left.Add(-1)\n}", "b.left a.go:12"},
		{"its own calls", "for !b.ready {\ntime.Sleep(d)\nb.ask()\n}", "func (b *batch) ask() {\nb.ready = find()\n}", ""},
		{"a peer", "for !find(b.id) {\ntime.Sleep(d)\n}", "func (b *batch) part() {\nb.left.Add(-1)\n}", ""},
		{"another field", "for b.left.Load() > 0 {\ntime.Sleep(d)\n}", "func (b *batch) part() {\nb.all.Add(-1)\n}", ""},
	} {
		r := recordingtest.New("title x")
		source := "package main\n\nfunc (b *batch) wait() {\n" + c.loop + "\n}\n\n" + c.rest + "\n"
		withSource(r, "a.go", source)
		code := NewInput(session.New(r.Open())).code
		got := ""
		if done, ok := pollsState(code, loopsAround(code, stack.Frame{Func: "main.(*batch).wait", File: "a.go", Line: 5})[0]); ok {
			got = done.what + " " + done.file + ":" + strconv.Itoa(done.line)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q\n%s", c.name, got, c.want, source)
		}
	}
}

// TestOtherProgram: a program that main starts once is that program's time; one for each item is not.
func TestOtherProgram(t *testing.T) {
	for _, c := range []struct {
		source string
		want   Severity
	}{
		{"package main\n\nfunc main() {\n\tbuild(os.Args)\n}\n\nfunc build(args []string) error {\n\treturn exec.Command(\"sh\").Run()\n}\n", Info},
		{"package main\n\nfunc main() {\n\tfor _, x := range os.Args { build(x) }\n}\n\nfunc build(x string) error {\n\treturn exec.Command(\"sh\").Run()\n}\n", Warning},
		{"", Warning},
	} {
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		if c.source != "" {
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		}
		p := accounttest.New()
		p.Call(2*time.Second, "syscall.Syscall6@asm.s:1;os.(*Process).Wait@exec.go:1;os/exec.(*Cmd).Run@exec.go:2;main.build@/src/main.go:8;main.main@/src/main.go:4")
		p.Pass(time.Millisecond)
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		f := answers(t, r, "WT01")[0]
		if f.Severity != c.want || strings.HasPrefix(f.Advice, "It waits for another program,") != (c.want == Info) || !strings.Contains(f.Summary, "waiting for another process") {
			t.Errorf("%q: %s: %s\nadvice: %s", c.source, f.Severity, f.Summary, f.Advice)
		}
	}
}
