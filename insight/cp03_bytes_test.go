package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP03Bytes: bytes that one run decodes several times are told from other bytes in a variable of the same name, from
// ways of which each run goes one, and from a kind that is read first.
func TestCP03Bytes(t *testing.T) {
	const head = "package main\n\nimport (\"bytes\"; \"encoding/json\"; \"io\"; \"net/http\")\n\ntype in struct { kind string; data json.RawMessage }\ntype out struct { n int }\ntype unit struct { body []byte; n int; more bool }\n"
	const serve = "net/http.(*conn).serve "
	const direct = serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@B encoding/json.Unmarshal"
	const handle = "func handle(w http.ResponseWriter, r *http.Request) {\nbody, _ := io.ReadAll(r.Body)\n"
	const helper = serve + "main.handle@C main.decode@A encoding/json.Unmarshal|" + serve + "main.handle@D main.decode@A encoding/json.Unmarshal"
	for _, c := range []struct {
		name, source, stacks string
		again                bool
	}{
		{"in one function", handle + "var a in\njson.Unmarshal(body, &a) // A\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, true},
		{"an error returns", handle + "var a in\nif err := json.Unmarshal(body, &a); err != nil { // A\nreturn\n}\nvar b out\nif err := json.Unmarshal([]byte(string(body)), &b); err != nil { // B\nreturn\n}\n}\n", direct, true},
		{"one for a condition", handle + "var a in\njson.Unmarshal(body, &a) // A\nif r.Method == \"PUT\" {\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, true},
		{"by another name", handle + "var a in\ntext := bytes.TrimSpace(body)\njson.Unmarshal(body, &a) // A\nvar b out\njson.Unmarshal(text, &b) // B\n}\n", direct, true},
		{"by a helper", handle + "var a in\ndecode(body, &a) // C\nvar b out\ndecode(body, &b) // D\n}\nfunc decode(b []byte, to any) { json.Unmarshal(b, to) } // A\n", helper, true},
		{"by a Decoder", handle + "var a in\njson.NewDecoder(bytes.NewReader(body)).Decode(&a) // A\nvar b out\ndec := json.NewDecoder(bytes.NewReader(body))\ndec.Decode(&b) // B\n}\n", strings.ReplaceAll(direct, "json.Unmarshal", "json.(*Decoder).Decode"), true},
		{"checked before", handle + "if !json.Valid(body) { // A\nreturn\n}\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", strings.Replace(direct, "json.Unmarshal", "json.Valid", 1), true},
		{"a field of the unit", "func handle(w http.ResponseWriter, r *http.Request) {\nu := &unit{body: read(r)}\nu.decode(new(in)) // C\nu.n = 3\nu.decode(new(out)) // D\n}\nfunc (u *unit) decode(to any) { json.Unmarshal(u.body, to) } // A\n", strings.ReplaceAll(helper, "main.decode", "main.(*unit).decode"), true},
		{"a field that is filled once", "func handle(w http.ResponseWriter, r *http.Request) {\nu := &unit{}\nu.decode(r, new(in)) // C\nu.decode(r, new(out)) // D\n}\nfunc (u *unit) decode(r *http.Request, to any) {\nif u.body == nil {\nu.body = read(r)\n}\njson.Unmarshal(u.body, to) // A\n}\n", strings.ReplaceAll(helper, "main.decode", "main.(*unit).decode"), true},
		{"types are tried", "func (o *out) UnmarshalJSON(b []byte) error {\nvar s string\nif err := json.Unmarshal(b, &s); err == nil { // A\nreturn nil\n}\nvar l []in\nreturn json.Unmarshal(b, &l) // B\n}\n", strings.ReplaceAll(direct, "main.handle", "main.(*out).UnmarshalJSON"), true},
		{"in each turn", "func handle(w http.ResponseWriter, r *http.Request) {\nfor _, p := range parts(r) {\nvar a in\njson.Unmarshal(p, &a) // A\nvar b out\njson.Unmarshal(p, &b) // B\n}\n}\n", direct, true},
		{"yaml", handle + "var a in\nyaml.Unmarshal(body, &a) // A\nvar b out\nyaml.Unmarshal(body, &b) // B\n}\n", strings.ReplaceAll(direct, "encoding/json.Unmarshal", "gopkg.in/yaml%2ev3.Unmarshal"), true},

		{"in the head of a range", handle + "var a in\njson.Unmarshal(body, &a) // A\nfor range events(body) { // C\nr.ParseForm()\n}\n}\nfunc events(b []byte) []int {\nvar o []int\njson.Unmarshal(b, &o) // B\nreturn o\n}\n", serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@C main.events@B encoding/json.Unmarshal", true},
		{"in what a loop begins with", handle + "var a in\njson.Unmarshal(body, &a) // A\nfor i := events(body); i > 0; i-- { // C\nr.ParseForm()\n}\n}\nfunc events(b []byte) (o int) {\njson.Unmarshal(b, &o) // B\nreturn o\n}\n", serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@C main.events@B encoding/json.Unmarshal", true},
		{"in both", handle + "for range events(body) { // C\nr.ParseForm()\n}\nvar a in\njson.Unmarshal(body, &a) // A\n}\nfunc events(b []byte) []int {\nvar o []int\njson.Unmarshal(b, &o) // B\nreturn o\n}\n", serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@C main.events@B encoding/json.Unmarshal", true},

		{"in the condition of a loop", handle + "var a in\njson.Unmarshal(body, &a) // A\nfor events(body) > a.n { // C\nr.ParseForm()\n}\n}\nfunc events(b []byte) (o int) {\njson.Unmarshal(b, &o) // B\nreturn o\n}\n", serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@C main.events@B encoding/json.Unmarshal", false},
		{"in the head of a range within turns", handle + "var a in\njson.Unmarshal(body, &a) // A\nfor range 9 {\nbody = next(r)\nfor range events(body) { // C\nr.ParseForm()\n}\n}\n}\nfunc events(b []byte) []int {\nvar o []int\njson.Unmarshal(b, &o) // B\nreturn o\n}\n", serve + "main.handle@A encoding/json.Unmarshal|" + serve + "main.handle@C main.events@B encoding/json.Unmarshal", false},
		{"the same name, another variable", handle + "{\nbody := next(r)\nvar a in\njson.Unmarshal(body, &a) // A\n}\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"set between", handle + "var a in\njson.Unmarshal(body, &a) // A\nbody = next(r)\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"filled between", handle + "var a in\njson.Unmarshal(body, &a) // A\nio.ReadFull(r.Body, body)\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"written between", handle + "var a in\njson.Unmarshal(body, &a) // A\nbody[3] = 0\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"one or the other", handle + "if r.Method == \"PUT\" {\nvar a in\njson.Unmarshal(body, &a) // A\n} else {\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"one or the other, asked again", handle + "put := r.Method == \"PUT\"\nif put {\nvar a in\njson.Unmarshal(body, &a) // A\n}\nif !put {\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"cases", handle + "switch r.Method {\ncase \"PUT\":\nvar a in\njson.Unmarshal(body, &a) // A\ncase \"POST\":\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"returns between", handle + "if r.Method == \"PUT\" {\nvar a in\njson.Unmarshal(body, &a) // A\nreturn\n}\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"each for a condition", handle + "if ofKind(r, 1) {\nvar a in\njson.Unmarshal(body, &a) // A\n}\nif ofKind(r, 2) {\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"each for a condition, in functions", handle + "one(r, body) // C\ntwo(r, body) // D\n}\nfunc one(r *http.Request, b []byte) {\nif ofKind(r, 1) {\nvar a in\njson.Unmarshal(b, &a) // A\n}\n}\nfunc two(r *http.Request, b []byte) {\nif !ofKind(r, 2) {\nreturn\n}\nvar a out\njson.Unmarshal(b, &a) // B\n}\n",
			serve + "main.handle@C main.one@A encoding/json.Unmarshal|" + serve + "main.handle@D main.two@B encoding/json.Unmarshal", false},
		{"returned", handle + "if r.Method == \"PUT\" {\nreturn json.Unmarshal(body, &a) // A\n}\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"the next one in each turn", handle + "var a in\njson.Unmarshal(body, &a) // A\nfor range a.n {\nbody = next(r)\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"the last one in turns", handle + "for range 9 {\nbody = next(r)\nvar a in\njson.Unmarshal(body, &a) // A\n}\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"two loops that measure", handle + "for range 1000 {\nvar a in\njson.Unmarshal(body, &a) // A\n}\nfor range 1000 {\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"a stream", handle + "dec := json.NewDecoder(bytes.NewReader(body))\nvar a in\ndec.Decode(&a) // A\nvar b out\ndec.Decode(&b) // B\n}\n", strings.ReplaceAll(direct, "json.Unmarshal", "json.(*Decoder).Decode"), false},
		{"a stream of somebody", handle + "var a in\njson.NewDecoder(r.Body).Decode(&a) // A\nvar b out\njson.NewDecoder(r.Body).Decode(&b) // B\n}\n", strings.ReplaceAll(direct, "json.Unmarshal", "json.(*Decoder).Decode"), false},
		{"an envelope and what is in it", handle + "var a in\njson.Unmarshal(body, &a) // A\nvar b out\njson.Unmarshal(a.data, &b) // B\n}\n", direct, false},
		{"the kind first", handle + "var a in\njson.Unmarshal(body, &a) // A\nswitch a.kind {\ncase \"out\":\nvar b out\njson.Unmarshal(body, &b) // B\n}\n}\n", direct, false},
		{"the kind first, by a table", handle + "var a in\njson.Unmarshal(body, &a) // A\nmk := makers[a.kind]\nv := mk()\njson.Unmarshal(body, v) // B\n}\n", direct, false},
		{"what nobody wants is left out", handle + "var a in\nif err := json.Unmarshal(body, &a); err != nil || a.kind != \"out\" { // A\nreturn\n}\nvar b out\njson.Unmarshal(body, &b) // B\n}\n", direct, false},
		{"a field that is set each time", "func handle(w http.ResponseWriter, r *http.Request) {\nu := &unit{}\nu.decode(r, new(in)) // C\nu.decode(r, new(out)) // D\n}\nfunc (u *unit) decode(r *http.Request, to any) {\nu.body = read(r)\njson.Unmarshal(u.body, to) // A\n}\n", strings.ReplaceAll(helper, "main.decode", "main.(*unit).decode"), false},
		{"a field that is set between", "func handle(w http.ResponseWriter, r *http.Request) {\nu := &unit{body: read(r)}\nu.decode(new(in)) // C\nu.next(r)\nu.decode(new(out)) // D\n}\nfunc (u *unit) next(r *http.Request) { u.body = read(r) }\nfunc (u *unit) decode(to any) { json.Unmarshal(u.body, to) } // A\n", strings.ReplaceAll(helper, "main.decode", "main.(*unit).decode"), false},
		{"two units", "func handle(w http.ResponseWriter, r *http.Request) {\nu, v := &unit{body: read(r)}, &unit{body: read(r)}\nu.decode(new(in)) // C\nv.decode(new(out)) // D\n}\nfunc (u *unit) decode(to any) { json.Unmarshal(u.body, to) } // A\n", strings.ReplaceAll(helper, "main.decode", "main.(*unit).decode"), false},
		{"two fields", "func handle(w http.ResponseWriter, m *pair) {\njson.Unmarshal(m.a, new(in)) // A\njson.Unmarshal(m.b, new(in)) // B\n}\ntype pair struct { a, b []byte }\n", direct, false},
		{"two functions for requests", "var spec = []byte(\"{}\")\nfunc handle(w http.ResponseWriter, r *http.Request) { json.Unmarshal(spec, new(in)) } // A\nfunc other(w http.ResponseWriter, r *http.Request) { json.Unmarshal(spec, new(in)) } // B\n", strings.Replace(direct, "main.handle@B", "main.other@B", 1), false},
		{"a method that decodes another type of itself", handle + "var a in\njson.Unmarshal(body, &a) // A\n}\nfunc (a *in) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*plain)(a)) } // B\n",
			serve + "main.handle@A encoding/json.Unmarshal encoding/json.checkValid|" + serve + "main.handle@A encoding/json.Unmarshal encoding/json.(*decodeState).value main.(*in).UnmarshalJSON@B encoding/json.Unmarshal", false},
		{"a part of it, by a method", handle + "var a in\njson.Unmarshal(body, &a) // A\n}\nfunc (o *out) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*plain)(o)) } // B\n",
			serve + "main.handle@A encoding/json.Unmarshal encoding/json.checkValid|" + serve + "main.handle@A encoding/json.Unmarshal encoding/json.(*decodeState).value encoding/json.(*decodeState).value main.(*out).UnmarshalJSON@B encoding/json.Unmarshal", false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		source := head + c.source
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		columns := []column{{"net/http.(*conn).serve main.rest:/src/other.go:3", []int64{20}}}
		for _, s := range strings.Split(c.stacks, "|") {
			columns = append(columns, column{stackAt(source, s), []int64{40}})
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		f := answers(t, r, "CP03")[0]
		if again := strings.Contains(f.Title, "same bytes"); again != c.again || f.State != Found && strings.Contains(c.stacks, "encoding/json") {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Title, f.Summary)
		} else if again && (f.Severity != Warning || len(f.Evidence) != 2 || !strings.Contains(f.Summary, "80.0%") || !strings.Contains(f.Summary, "take 40.0%")) {
			t.Errorf("%s: %s %s %+v", c.name, f.Severity, f.Summary, f.Evidence)
		}
		if tried := strings.Contains(f.Advice, "look first at what tells them apart"); tried != (c.name == "types are tried") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
