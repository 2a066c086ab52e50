package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestKeyOnly: a text is a key where all that is done with it is to look something up by it or to store
// under it, here or in the callers.
func TestKeyOnly(t *testing.T) {
	const key = "fmt.Sprintf(\"%s-%d\", p.proto, p.port)"
	for _, c := range []struct {
		name, source string // the line that formats is the fourth
		container    string // "" is no key
	}{
		{"looked up", "func (s *set) has(p port) bool {\n\treturn s.seen[" + key + "]\n}", "s.seen"},
		{"a variable", "func (s *set) add(p port) {\n\tk := " + key + "\n\tif s.seen[k] {\n\t\treturn\n\t}\n\ts.seen[k] = true\n\tdelete(s.old, k)\n}", "s.seen"},
		{"a function", "func key(p port) string {\n\treturn " + key + "\n}\nfunc (s *set) add(p port) {\n\tk := key(p)\n\ts.seen[k] = true\n}\nfunc (s *set) has(p port) bool { return s.seen[key(p)] }", "s.seen"},
		{"printed too", "func (s *set) add(p port) {\n\tk := " + key + "\n\ts.seen[k] = true\n\tlog.Print(k)\n}", ""},
		{"a function of which one prints it", "func key(p port) string {\n\treturn " + key + "\n}\nfunc (s *set) add(p port) { s.seen[key(p)] = true }\nfunc show(p port) { log.Print(key(p)) }", ""},
		{"passed on", "func key(p port) string {\n\treturn " + key + "\n}\nfunc (s *set) add(p port) { s.seen[key(p)] = true }\nvar by = index(key)\nfunc f() { index(key) }", ""},
		{"the value", "func (s *set) add(p port) {\n\ts.text[p] = " + key + "\n}", ""},
		{"stored in a field", "func (s *set) add(p port) {\n\ts.last = " + key + "\n}", ""},
		{"one result of several", "func key(p port) string {\n\tk := " + key + "\n\tif p.port == 0 {\n\t\treturn \"\"\n\t}\n\treturn k\n}\nfunc (s *set) add(p port) { s.seen[key(p)] = true }", ""},
		{"two functions of a name", "func (p port) key() string {\n\treturn " + key + "\n}\nfunc (h host) key() string { return h.name }\nfunc (s *set) add(p port) { s.seen[p.key()] = true }", ""},
		{"another variable of the name", "func (s *set) add(p port) {\n\tk := " + key + "\n\ts.seen[k] = true\n\tk = \"\"\n}", ""},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\n"+c.source+"\n"))
		in := NewInput(session.New(r.Open()))
		use, only := keyOnly(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: 4}, "fmt.Sprintf")
		if only != (c.container != "") || only && use.container != c.container {
			t.Errorf("%s: %v %+v", c.name, only, use)
		}
	}
}
