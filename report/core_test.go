package report

import (
	"strings"
	"testing"

	"loupe/analysis/postmortem"
	"loupe/format/core"
	"loupe/format/program"
)

// TestCoreHead: what the program said when it died stands in the head of its core,
// one line of it, as text.
func TestCoreHead(t *testing.T) {
	c := &Core{Name: "core.7", Command: "shop", PID: 7, OS: "linux", Arch: "amd64", Crashed: true, Message: "panic: no \x1b[31mroom\n\tmore"}
	c.Signal = core.Signal{Number: 6}
	var b strings.Builder
	if err := WriteCore(&b, c, Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.HasPrefix(text, "core.7: core of shop, process 7\n") || !strings.Contains(text, "it said   panic: no ") || strings.Contains(text, "\x1b") || strings.Contains(text, "more") {
		t.Errorf("the head is\n%s", text)
	}
	c.Crashed, c.Message = false, ""
	b.Reset()
	if err := WriteCore(&b, c, Style{Width: 80}); err != nil || strings.Contains(b.String(), "it said") {
		t.Errorf("without a message: %v\n%s", err, b.String())
	}
}

// TestCoreAbort: the SIGABRT by which the runtime leaves a core is not told as what has
// ended the program.
func TestCoreAbort(t *testing.T) {
	abort := core.Signal{Number: 6, Sender: 4711}
	f := func(c Core, want string) {
		t.Helper()
		c.PID, c.Signal = 4711, abort
		if got := EndText(&c); !strings.HasPrefix(got, want) || strings.Contains(got, "sent by itself") != (want == "SIGABRT, sent") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(Core{Crashed: true, Message: "panic: x\n[signal SIGSEGV: segmentation violation code=0x1]"}, "SIGSEGV; the runtime then raised SIGABRT")
	f(Core{Crashed: true, Message: "fatal error: x"}, "the runtime, for the reason it printed; ")
	f(Core{Crashed: true, Threads: []postmortem.Thread{{Dying: true, Frames: []postmortem.Frame{{Function: "runtime.sighandler"}}}}}, "a signal not caused by Go code: a fault in C code")
	fault := program.Signal{Number: 11, Code: 1, Addr: 0x18, PC: 0x47e0, Foreign: true}
	f(Core{Crashed: true, Taken: fault}, "SIGSEGV in C code at pc 0x47e0, code 1, address 0x18; the runtime then raised SIGABRT")
	f(Core{Crashed: true, Taken: program.Signal{Number: 11, Code: 1}}, "SIGSEGV at pc 0x0, code 1, address 0x0; ")
	f(Core{Crashed: true, Taken: program.Signal{Number: 3, Sender: 12}}, "SIGQUIT, sent by process 12; ")
	f(Core{Crashed: true, Taken: program.Signal{Number: 6, Sender: 4711}}, "a crash, which standard error names")
	f(Core{Crashed: true}, "a crash, which standard error names")
	f(Core{}, "SIGABRT, sent")
}
