package insight

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"loupe/value/stack"
)

// needsOf says which calls in the body of a function, those of call, need which: "1<0 2<01".
func needsOf(t *testing.T, body string) string {
	t.Helper()
	text := "package p\nfunc f() {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	c := &code{parsed: map[string]*syntax{"f.go": {fset: fset, file: file}}}
	var lines []int
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "call(") {
			lines = append(lines, i+1)
		}
	}
	needs, known := c.needs(stack.Frame{File: "f.go"}, lines)
	if !known {
		return "unknown"
	}
	var words []string
	for i, set := range needs {
		word := ""
		for j := range lines {
			if set.has(j) {
				word += fmt.Sprint(j)
			}
		}
		if word != "" {
			words = append(words, fmt.Sprintf("%d<%s", i, word))
		}
	}
	return strings.Join(words, " ")
}

func TestNeeds(t *testing.T) {
	for body, want := range map[string]string{
		"a := call(1)\nb := call(2)\nuse(a, b)": "",
		"a, err := call(1)\nif err != nil { return }\nb, err := call(2)\nif err != nil { return }\nuse(a, b)": "",
		"a := call(1)\nb := call(a)":                                    "1<0",
		"a := call(1)\nid := a.ID\nb := call(id)\nc := call(3)":         "1<0",
		"a := call(1)\nb := call(a.ID)\nc := call(a.Name)":              "1<0 2<0",
		"a := call(1)\nb := call(a)\nc := call(a)":                      "1<0 2<01",
		"a := call(1)\nif a.Banned { return }\nb := call(2)":            "1<0",
		"a := call(1)\nif a.Wants { b := call(2) }\nc := call(3)":       "1<0",
		"if !call(1) { return }\nb := call(2)":                          "1<0",
		"if err := call(1); err != nil { return }\nb := call(2)":        "1<0",
		"if err := call(1, &a); err != nil { return }\nb := call(2)":    "",
		"if err := call(1, &a); err != nil { return }\nb := call(a.ID)": "1<0",
		"call(1)\nb := call(2)":                                         "1<0",
		"print(w, call(1))\nb := call(2)":                               "",
		"tx := call(1)\na := tx.call(2)\nb := tx.call(3)":               "1<0 2<01",
		"a := s.client.call(1)\nb := s.client.call(2)":                  "",
		"s.user = call(1)\nb := call(s.user.ID)":                        "1<0",
		"s.user = call(1)\nb := call(s)":                                "1<0",
		"s.user = call(1)\nb := call(s.other)":                          "",
		"for _, x := range call(1) {\ny := call(x)\n}":                  "1<0",
		"switch call(1) {\ncase 1:\nb := call(2)\n}":                    "1<0",
		"m := map[int]int{}\nm[1] = call(1)\nb := call(m[1])":           "1<0",
		"go func() {\ncall(1)\n}()\nb := call(2)":                       "",
	} {
		if got := needsOf(t, body); got != want {
			t.Errorf("%s\nneeds %q, want %q", body, got, want)
		}
	}
	if got := needsOf(t, ""); got != "unknown" {
		t.Errorf("no calls need %q", got)
	}
}

func TestLongestWay(t *testing.T) {
	for want, needs := range map[int64][]callSet{5: {0, 0, 0}, 12: {0, 1, 2}, 9: {0, 1, 0}, 8: {0, 0, 2}} {
		if got := longestWay([]int64{4, 5, 3}, needs); got != want {
			t.Errorf("%v: %d, want %d", needs, got, want)
		}
	}
}
