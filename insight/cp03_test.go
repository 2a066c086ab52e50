package insight

import (
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
		{"what another one has sent", "var c rule\njson.Unmarshal(fetch(r), &c)", false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"},
			[]byte("package main\n\nfunc f(r *rule) {\n"+c.source+"\n}\nfunc (r *rule) Text() string {\n\tb, _ := json.Marshal(r)\n\treturn string(b)\n}\nfunc fetch(r *rule) []byte {\n\treturn r.peer.get()\n}\n"))
		in := NewInput(session.New(r.Open()))
		if got := copiesByJSON(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: 5}); got != c.copies {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
