package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestOnlyCut: of a text that is only read and cut into pieces nothing but these can be kept; what
// stores, returns or captures the whole, or what is left of it behind a cut, may keep it.
func TestOnlyCut(t *testing.T) {
	const lexer = `
type lexer struct { s string; pos int }
func parse(text string) *doc {
	d, l := &doc{}, 0
	x := lexer{s: text}
	for l < 10 {
		d.name = x.next()
	}
	return d
}
`
	const next = `func (l *lexer) next() string {
	rest := l.s[l.pos:]
	end := strings.IndexByte(rest, 10)
	if end < 0 {
		end = len(rest)
	}
	return strings.TrimSpace(rest[:end])
}`
	const loop = `func parse(text string) (d doc) {
	for len(text) > 0 {
		n := strings.IndexByte(text, 10)
		d.names, text = append(d.names, text[:n]), text[n+1:]
	}
	return d
}`
	for name, c := range map[string]struct {
		source string
		want   bool
	}{
		"a lexer":                      {lexer + next, true},
		"a loop":                       {loop, true},
		"all fields":                   {"func parse(text string) (d doc) {\nd.names = strings.Fields(text)\nreturn d\n}", true},
		"a lexer that gives the rest":  {lexer + next + "\nfunc (l *lexer) rest() string { return l.s[l.pos:] }", false},
		"a lexer that gives the whole": {lexer + next + "\nfunc (l *lexer) all() string { return l.s }", false},
		"the whole is stored":          {"func parse(text string) (d doc) {\nd.raw = text\nd.names = strings.Fields(text)\nreturn d\n}", false},
		"nearly the whole is stored":   {"func parse(text string) (d doc) {\nd.names = strings.Fields(text)\nd.raw = text[len(head):]\nreturn d\n}", false},
		"one piece":                    {"func parse(text string) (d doc) {\nd.raw = text[:strings.Index(text, mark)]\nreturn d\n}", false},
		"a function that may keep it":  {"func parse(text string) (d doc) {\nd.names = strings.Fields(text)\nunknown(text)\nreturn d\n}", false},
		"a function literal with it":   {"func parse(text string) (d doc) {\nd.names = strings.Fields(text)\nd.late = func() int { return len(text) }\nreturn d\n}", false},
		"it is only read":              {"func parse(text string) (d doc) {\nd.n = len(text)\nreturn d\n}", false},
		"a channel":                    {"func parse(text string) (d doc) {\nd.names = strings.Fields(text)\nqueue <- text\nreturn d\n}", false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f(s *store, body []byte) {\noffer := string(body)\ns.all = append(s.all, parse(offer))\n}\n"+c.source+"\n"))
		if _, got := onlyCut(NewInput(session.New(r.Open())).code, stack.Frame{Func: "main.f", File: "a.go", Line: 4}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
