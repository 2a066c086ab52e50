package main

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"testing"
)

// TestTable: each change has a benchmark that parses, and says what is known of it.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range changes {
		text, err := benchmarks.ReadFile("bench/" + c.Name + ".txt")
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), c.Name, text, 0); err != nil {
			t.Error(err)
		}
		if seen[c.Name] || c.Says == "" || len(c.Want) == 0 || c.Old == c.New {
			t.Errorf("%+v is not whole", c)
		}
		seen[c.Name] = true
	}
}

// TestJudge: a verdict or a cause that is another one is wrong.
func TestJudge(t *testing.T) {
	var got result
	const text = `{"figures": [{"unit": "B/op", "verdict": "less", "ratio": 0.5}],
		"causes": [{"of": "B/op", "functions": [{"name": "m.f", "lines": [{"file": "/a/m.go", "line": 3, "text": "x := make([]byte, n)"}]}]}]}`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	f := func(want Want, right bool) {
		t.Helper()
		if r := judge(&got, want); r.right != right {
			t.Errorf("%+v: %+v", want, r)
		}
	}
	f(Want{"B/op", "less", "m.f", "make([]byte"}, true)
	f(Want{"B/op", "less", "m.f", ""}, true)
	f(Want{"B/op", "more", "m.f", "make([]byte"}, false)
	f(Want{"B/op", "less", "m.g", ""}, false)
	f(Want{"B/op", "less", "m.f", "append("}, false)
	f(Want{"ns/op", "less", "m.f", ""}, false)
}
