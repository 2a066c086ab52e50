package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// codeOf is the code of a recording with one source, a.go.
func codeOf(source string) *code {
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
	return NewInput(session.New(r.Open())).code
}

// lineWith is the line of a source that has a text in it, as a frame.
func lineWith(source, text string) stack.Frame {
	before, _, _ := strings.Cut(source, text)
	return stack.Frame{Func: "main.f", File: "a.go", Line: 1 + strings.Count(before, "\n")}
}

// TestOverwritten: of a copy out of memory that is written to again nobody is told to do without
// it.
func TestOverwritten(t *testing.T) {
	for _, test := range []struct{ source, line, want string }{
		{"func f(r io.Reader) {\n\tsc := bufio.NewScanner(r)\n\tfor sc.Scan() {\n\t\tkeep(append([]byte(nil), sc.Bytes()...))\n\t}\n}", "keep(", "sc.Bytes()"},
		{"func f(sc *bufio.Scanner) {\n\tline := sc.Bytes()\n\tkeep(bytes.Clone(line[2:]))\n}", "keep(", "sc.Bytes()"},
		{"type s struct{ in *bufio.Scanner }\nfunc (s *s) f() {\n\tkeep(slices.Clone(s.in.Bytes()))\n}", "keep(", "s.in.Bytes()"},
		{"func f(r *bufio.Reader) {\n\tline, err := r.ReadSlice('\\n')\n\tkeep([]byte(line))\n}", "keep(", "r.ReadSlice('\\n')"},
		{"func f() []byte {\n\tb := pool.Get().(*bytes.Buffer)\n\tdefer pool.Put(b)\n\treturn bytes.Clone(b.Bytes())\n}", "return", "b.Bytes()"},
		{"func f() []byte {\n\tb := pool.Get().(*page)\n\tdefer pool.Put(b)\n\treturn bytes.Clone(b.text)\n}", "return", "b.text"},
		{"func f() []byte {\n\tvar b bytes.Buffer\n\tb.WriteString(name)\n\treturn bytes.Clone(b.Bytes())\n}", "return", ""},
		{"func f(names []string) []string {\n\treturn slices.Clone(names)\n}", "return", ""},
		{"func f(m *message) []byte {\n\treturn bytes.Clone(m.Bytes())\n}", "return", ""},
	} {
		source := "package main\n\n" + test.source + "\n"
		if got := overwritten(codeOf(source), lineWith(source, test.line)); got != test.want {
			t.Errorf("%s\n%q, want %q", source, got, test.want)
		}
	}
}

// TestPoolNew: what a pool makes new is not made on every call.
func TestPoolNew(t *testing.T) {
	for source, want := range map[string]bool{
		"var p = sync.Pool{New: func() any { return make([]byte, n) }}":                      true,
		"func g() {\n\tp := &sync.Pool{\n\t\tNew: func() any { return make([]byte, n) }}\n}": true,
		"func g() {\n\tp.New = func() any { return make([]byte, n) }\n}":                     true,
		"func New() []byte { return make([]byte, n) }":                                       false,
		"var p = pool{New: func() any { return make([]byte, n) }}":                           false,
	} {
		source = "package main\n\n" + source + "\n"
		if got := isPoolNew(codeOf(source), lineWith(source, "make(")); got != want {
			t.Errorf("%s\n%v, want %v", source, got, want)
		}
	}
}
