package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestCopiesByJSON: what is encoded to be decoded at once is a copy; an answer that follows a
// question is none.
func TestCopiesByJSON(t *testing.T) {
	for _, c := range []struct {
		name, source string
		copies       bool
	}{
		{"in one function", "b, err := json.Marshal(r)\nif err != nil {\nreturn nil, err\n}\nvar c rule\nerr = json.Unmarshal(b, &c)", true},
		{"by a method", "var c rule\njson.Unmarshal([]byte(r.Text()), &c)", true},
		{"a request and its answer", "var q question\njson.Unmarshal(body, &q)\nb, _ := json.Marshal(answer(q))\nw.Write(b)", false},
		{"by two functions", "var c rule\nload(save(r), &c)", true},
		{"the bytes are signed as well", "b, _ := json.Marshal(r)\nmac.Write(b)\nvar c rule\njson.Unmarshal(b, &c)", false},
		{"the bytes are kept as well", "b, _ := json.Marshal(r)\nvar c rule\njson.Unmarshal(b, &c)\nr.last = b", false},
		{"a merge of two, checked", "b, _ := merge(r.a, r.b)\nvar c rule\njson.Unmarshal(b, &c)", false},
		{"the bytes are others by then", "b, _ := json.Marshal(r)\nb = fetch(r)\nvar c rule\njson.Unmarshal(b, &c)", false},
		{"what another one has sent", "var c rule\njson.Unmarshal(fetch(r), &c)", false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"},
			[]byte("package main\n\nfunc f(r *rule) {\n"+c.source+"\n}\nfunc (r *rule) Text() string {\n\tb, _ := json.Marshal(r)\n\treturn string(b)\n}\nfunc fetch(r *rule) []byte {\n\treturn r.peer.get()\n}\n"+
				"func merge(a, b []byte) ([]byte, error) {\nvar x, y map[string]any\njson.Unmarshal(a, &x)\njson.Unmarshal(b, &y)\nz := join(x, y)\nc, err := json.Marshal(z)\nif len(c) == 0 {\nc = a\n}\nreturn c, err\n}\n"+
				"func save(r *rule) []byte {\nb, err := json.Marshal(r)\nif err != nil {\nreturn nil\n}\nreturn b\n}\nfunc load(b []byte, c *rule) error {\nreturn json.Unmarshal(b, c)\n}\n"))
		line := 4
		for _, l := range strings.Split(c.source, "\n") {
			if strings.Contains(l, "Unmarshal(") || strings.Contains(l, "load(") {
				break
			}
			line++
		}
		in := NewInput(session.New(r.Open()))
		if got := copiesByJSON(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: line}); got != c.copies {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
