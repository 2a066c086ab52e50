package yamlfile

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// sample is what the tests read.
type sample struct {
	name  string
	all   []string
	every time.Duration
	on    bool
	count int
	pairs map[string]string
	kind  string
}

func read(text string) (s sample, err error) {
	r, n, err := Parse("f.yml", []byte(text))
	if err != nil {
		return s, err
	}
	return s, r.Fields(n, Keys{
		"name": r.Text(&s.name), "all": r.Texts(&s.all), "every": r.Duration(&s.every), "on": r.Bool(&s.on),
		"count": r.Int(&s.count, 2), "pairs": r.Map(&s.pairs), "kind": r.Word("kind", []string{"a", "b"}, func(w string) { s.kind = w }),
		"list": r.List(func(n *Node) error { return r.Fields(n, Keys{"name": r.Text(&s.name)}) }),
	})
}

func TestFields(t *testing.T) {
	s, err := read("name: x\nall: [a, b]\nevery: 2m\non: true\ncount: 3\npairs: {k: v, l: w}\nkind: b\nlist: [{name: last}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.name != "last" || len(s.all) != 2 || s.every != 2*time.Minute || !s.on || s.count != 3 || s.pairs["l"] != "w" || s.kind != "b" {
		t.Errorf("%+v", s)
	}
	if s, err := read("all: one"); err != nil || len(s.all) != 1 {
		t.Errorf("one text is a list of it: %+v, %v", s, err)
	}
}

// TestErrors: each names the file, the line, and what would be right.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"name: x\nnmae: y":           `f.yml:2: unknown key "nmae", did you mean "name"?`,
		"zzz: y":                     `f.yml:1: unknown key "zzz": there are all, count,`,
		"name: x\nname: y":           "name stands in line 1 already",
		"name:":                      "f.yml:1: name has no value",
		"name: [x]":                  "f.yml:1: want a text",
		"all: {a: b}":                "f.yml:1: want a list",
		"every: soon":                `want a time such as 2m, not "soon"`,
		"every: -1s":                 "want a time such as 2m",
		"on: maybe":                  "want true or false",
		"count: 1":                   `want a number of at least 2, not "1"`,
		"kind: c":                    "kind: want a, b, not",
		"- a":                        "want keys and values (all, count,",
		"a: b: c":                    "f.yml:1:",
		"name: x\n---\nname: y":      "more than one document",
		strings.Repeat(" ", 1<<20+1): "longer than",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := read("\n# nothing\n"); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty file: %v", err)
	}
}

// FuzzParse: no text makes it fail in any other way than by an error.
func FuzzParse(f *testing.F) {
	f.Add("a: &a [*a]")
	f.Add("name: &n x\nall: [*n]\npairs: *n")
	f.Add("? [a]: b\n")
	f.Fuzz(func(t *testing.T, text string) { read(text) })
}
