package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestCancelAlong: the source shows of a context whether its cancel function is dropped, never called or called on some
// paths only, here or where it is returned to; where it is called on all, or handed on, nothing is said.
func TestCancelAlong(t *testing.T) {
	const head = "package main\n\n"
	for _, c := range []struct{ name, made, caller, says string }{
		{"dropped", "ctx, _ := context.WithCancel(p)", "", "dropped here"},
		{"never called", "ctx, cancel := context.WithTimeout(p, d)\n\t_ = cancel", "", "cancel, is never called"},
		{"on one path", "ctx, cancel := context.WithTimeout(p, d)\n\tif x {\n\t\tdefer cancel()\n\t}", "", "called at line 6 alone"},
		{"deferred", "ctx, cancel := context.WithTimeout(p, d)\n\tdefer cancel()", "", ""},
		{"handed on", "ctx, cancel := context.WithTimeout(p, d)\n\tkeep(cancel)", "", ""},
		{"in another function", "ctx, cancel := context.WithTimeout(p, d)\n\tgo func() { <-done; cancel() }()", "", ""},
		{"stored", "ctx, cancel := context.WithTimeout(p, d)\n\ts.cancel = cancel", "", ""},
		{"no context", "ctx, _ := other.WithCancel(p)", "", ""},
		{"returned and dropped", "return context.WithTimeout(p, d)", "ctx, _ := made()", "dropped here"},
		{"returned and deferred", "return context.WithTimeout(p, d)", "ctx, cancel := made()\n\tdefer cancel()", ""},
		{"returned and on one path", "return context.WithTimeout(p, d)", "ctx, cancel := made()\n\tif x {\n\t\tdefer cancel()\n\t}", "alone, which not every path"},
	} {
		text := head + "func made() {\n\t" + c.made + "\n}\n\nfunc call() {\n\t" + c.caller + "\n}\n"
		line := 4 + strings.Count(c.made, "\n") + 4
		way := []stack.Frame{{Func: "main.made", File: "a.go", Line: 4}, {Func: "main.call", File: "a.go", Line: line}}
		x, ok := cancelAlong(sourceOf(text), way)
		if ok != (c.says != "") || !strings.Contains(x.says, c.says) {
			t.Errorf("%s: %v %q", c.name, ok, x.says)
		}
	}
}

// TestTellCancelHandedOn: a cancel function that is handed on is not to be called where the context is made.
func TestTellCancelHandedOn(t *testing.T) {
	for text, want := range map[string]string{
		"ctx, cancel := context.WithCancel(app)\nif cancel = watches.swap(cancel); cancel != nil {\ncancel()\n}": "is handed on there",
		"ctx, cancel := context.WithCancel(app)\nopen[id] = cancel":                                              "is handed on there",
		"ctx, cancel := context.WithTimeout(app, d)\nstops <- cancel":                                            "is handed on there",
		"ctx, cancel := context.WithCancel(app)\nif x {\ndefer cancel()\n}":                                      "on every path (defer cancel())",
		"ctx := made()": "see that its cancel function is called",
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc watch() {\n"+text+"\n}\n")
		from := stack.Frame{Func: "main.watch", File: "a.go", Line: 4}
		p := &stuck{at: stack.Frame{Func: "context.(*cancelCtx).propagateCancel.func2"}, from: from, way: []stack.Frame{from}}
		p.tellCancel(NewInput(session.New(r.Open())))
		if !strings.Contains(p.Advice, want) || strings.Contains(text, "WithTimeout") != strings.Contains(strings.Join(p.Doubts, " "), "time limit") {
			t.Errorf("%s: %s %q", text, p.Advice, p.Doubts)
		}
	}
}
