package report

import (
	"strings"
	"testing"

	"loupe/core"
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
