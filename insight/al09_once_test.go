package insight

import "testing"

// TestEachOnce: a text that is converted where it is read, to be a key, is told from one that is stored or compared.
func TestEachOnce(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"a key of each word", "func f(line string) {\nfor w := range strings.FieldsSeq(line) {\nwords[strings.Trim(strings.ToLower(w), dots)]++ // 1\n}\n}\n", true},
		{"each line", "func f(sc *bufio.Scanner) {\nfor sc.Scan() {\nwords[strings.ToLower(sc.Text())]++ // 1\n}\n}\n", true},
		{"a part of a line, in a variable", "func f(sc *bufio.Scanner) {\nfor sc.Scan() {\nk, v, _ := strings.Cut(sc.Text(), sep)\nk = strings.TrimSpace(k)\nlow := strings.ToLower(k) // 1\nall[low] = v\n}\n}\n", true},
		{"appended", "func f(line string) {\nfor _, w := range strings.Fields(line) {\nout = append(out, strings.ToLower(w)) // 1\n}\n}\n", true},
		{"compared", "func f(line string) {\nfor _, w := range strings.Fields(line) {\nif strings.ToLower(w) == key { // 1\nn++\n}\n}\n}\n", false},
		{"searched", "func f(line string) {\nfor _, w := range strings.Fields(line) {\nif strings.Contains(strings.ToLower(w), key) { // 1\nn++\n}\n}\n}\n", false},
		{"compared later", "func f(line string) {\nfor _, w := range strings.Fields(line) {\nlow := strings.ToLower(w) // 1\nif low == key {\nn++\n}\n}\n}\n", false},
		{"a switch", "func f(line string) {\nfor _, w := range strings.Fields(line) {\nswitch strings.ToLower(w) { // 1\ncase key:\nn++\n}\n}\n}\n", false},
		{"texts that are stored", "func f(x *index) {\nfor _, w := range x.names {\nwords[strings.ToLower(w)]++ // 1\n}\n}\n", false},
		{"a parameter", "func f(w string) {\nwords[strings.ToLower(w)]++ // 1\n}\n", false},
		{"by either", "func f(x *index, line string) {\nw := x.name\nif w == nil {\nw = strings.Fields(line)[0]\n}\nwords[strings.ToLower(w)]++ // 1\n}\n", false},
		{"what it returns", "func f(line string) string {\nw := strings.Fields(line)[0]\nreturn strings.ToLower(w) // 1\n}\n", false},
	} {
		text := "package main\n\n" + c.source
		if got := eachOnce(sourceOf(text), marked(text, "main.f")[0], "strings.ToLower"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
