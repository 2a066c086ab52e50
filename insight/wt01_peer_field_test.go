package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestPeerField: how long a loop pauses may come from the answer by way of a field.
func TestPeerField(t *testing.T) {
	const (
		head  = "type sender struct {\nrest time.Duration\n}\nfunc (s *sender) pause() { time.Sleep(s.rest) }\n"
		note  = "func (s *sender) note(h http.Header) {\nif n, err := strconv.Atoi(h.Get(\"Retry-After\")); err == nil {\ns.rest = time.Duration(n) * time.Second // sets\n}\n}\n"
		try   = "func (s *sender) try() error {\nr := post()\ns.note(r.Header)\nreturn later\n}\n"
		sends = "func (s *sender) f() {\nfor {\nif s.try() == nil {\nreturn\n}\ns.pause() /*1*/\n}\n}"
	)
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"by methods", head + note + try + sends, true},
		{"inline pause", head + note + try + strings.Replace(sends, "s.pause()", "time.Sleep(s.rest)", 1), true},
		{"a pause of a parameter", head + "func nap(d time.Duration) { time.Sleep(d) }\n" + note + try + strings.Replace(sends, "s.pause()", "nap(s.rest)", 1), true},
		{"a default beside", head + "func open() *sender { return &sender{rest: time.Second} }\n" + note + try + sends, false},
		{"another header", head + strings.Replace(note, "Retry-After", "X-Size", 1) + try + sends, false},
		{"another field", head + strings.Replace(note, "s.rest =", "s.last =", 1) + try + sends, false},
		{"it grows as well", head + note + try + strings.Replace(sends, "s.pause()", "s.rest *= 2\ns.pause()", 1), false},
		{"set where the loop does not come", head + note + "func (s *sender) try() error { return post() }\n" + sends, false},
	} {
		marked := "package main\n\n" + c.text
		at, code := numbered(marked)[0], sourcesOf(c.text).code
		got := peerField(code, loopsAround(code, at)[0], at.Line)
		want := stack.Frame{}
		if c.want {
			want = stack.Frame{File: "a.go", Line: strings.Count(marked[:strings.Index(marked, "// sets")], "\n") + 1}
		}
		if got != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
