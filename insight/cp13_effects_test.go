package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestArgumentEffect: what making the arguments of a log call changes, or reads on from, is told, also where a library does it; and where it panics.
func TestArgumentEffect(t *testing.T) {
	for _, x := range []struct {
		name, call, text string
		what             string
		panics, recovers bool
	}{
		{"nothing", `slog.Debug("rest", "text", describe(s))`, "func describe(s *state) string { return fmt.Sprint(s.n) }\n", "", false, false},
		{"a buffer of the library is read", `slog.Debug("rest", "bytes", s.rest())`, "func (s *state) rest() string {\n\tb, _ := io.ReadAll(&s.in)\n\treturn string(b)\n}\n", "reads on by io.ReadAll", false, false},
		{"the receiver of a call's receiver", `slog.Debug("state", s.next().String())`, "func (s *state) next() *state { s.n++; return s }\nfunc (s *state) String() string { return fmt.Sprint(s.n) }\n", "changes s.n", false, false},
		{"what it makes itself", `slog.Debug("state", "text", all(s))`, "func all(s *state) string {\n\tm := map[int]bool{}\n\tm[s.n] = true\n\treturn fmt.Sprint(m)\n}\n", "", false, false},
		{"not an argument", `s.next(); slog.Debug("state", "n", s.n)`, "func (s *state) next() *state { s.n++; return s }\n", "", false, false},
		{"it panics", `slog.Debug("state", "doc", must(s))`, "func must(s *state) string {\n\tif s == nil {\n\t\tpanic(\"none\")\n\t}\n\treturn \"\"\n}\n", "", true, false},
		{"it panics, and the caller recovers", `defer func() { recover() }(); slog.Debug("state", "doc", must(s))`, "func must(s *state) string { return check(s) }\nfunc check(s *state) string {\n\tif s == nil {\n\t\tpanic(\"none\")\n\t}\n\treturn \"\"\n}\n", "", true, true},
	} {
		text := "package main\n\nimport (\"bytes\"; \"fmt\"; \"io\"; \"log/slog\")\n\ntype state struct { n int; in bytes.Buffer }\n\nfunc work(s *state) {\n\t" + x.call + " // here\n}\n" + x.text
		line := sourceLine(text, "here")
		c := &loggedFor{logCall: logCall{file: "a.go", first: line, last: line, text: "slog.Debug"}, at: stack.Frame{Func: "main.work", File: "a.go", Line: line}}
		code := sourceOf(text)
		_, what, _ := c.argumentEffect(code)
		at, recovers := c.argumentPanics(code)
		if !strings.HasPrefix(what, x.what) || (what == "") != (x.what == "") || at.line > 0 != x.panics || recovers != x.recovers {
			t.Errorf("%s: %q, panics at %v, recovers %v", x.name, what, at, recovers)
		}
	}
}
