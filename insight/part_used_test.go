package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestPartUsed: a list of which one part and the length are used, in the function or in one that it is given to; not one that is gone through, sorted,
// returned or kept, of which several parts are used, or that is worked off in parts.
func TestPartUsed(t *testing.T) {
	const page = "\nfunc page(list []row, from, to int) int {\nif from > len(list) {\nreturn 0\n}\nreturn show(list[from:to])\n}\n\nfunc show(x []row) int { return len(x) }\n"
	for _, c := range []struct{ name, body, want string }{
		{"a page", "rows, err := load(q)\nif err != nil {\nreturn\n}\nshow(rows[lo:hi])", "rows[lo:hi]"},
		{"with its length", "rows, _ := load(q)\nhi = min(hi, len(rows))\nshow(rows[lo:hi])", "rows[lo:hi]"},
		{"the first", "rows, _ := load(q)\nshow(rows[:limit])", "rows[:limit]"},
		{"in a function that it is given to", "rows, err := load(q)\nif rows == nil {\nreturn\n}\npage(rows, lo, hi)", "list[from:to]"},
		{"it is gone through", "rows, _ := load(q)\nfor _, r := range rows {\nuse(r)\n}\nshow(rows[lo:hi])", ""},
		{"it is sorted", "rows, _ := load(q)\nsort.Slice(rows, less)\nshow(rows[lo:hi])", ""},
		{"it is kept", "rows, _ := load(q)\nlast = rows\nshow(rows[lo:hi])", ""},
		{"it is returned", "rows, _ := load(q)\nshow(rows[lo:hi])\nreturn rows", ""},
		{"two parts", "rows, _ := load(q)\nshow(rows[:half])\nshow(rows[half:])", ""},
		{"in batches", "rows, _ := load(q)\nfor lo := 0; lo < len(rows); lo += 100 {\nshow(rows[lo:lo+100])\n}", ""},
		{"without its head", "rows, _ := load(q)\nshow(rows[1:])", ""},
		{"the first ten", "rows, _ := load(q)\nshow(rows[:10])", ""},
		{"an element", "rows, _ := load(q)\nuse(rows[0])\nshow(rows[lo:hi])", ""},
		{"to a function that is not known", "rows, _ := load(q)\nlib.Page(rows, lo, hi)\nshow(rows[lo:hi])", ""},
	} {
		text := "package main\n\nfunc f(q string, lo, hi, limit, half int) {\n" + c.body + "\n}\n" + page
		p, ok := partUsed(sourceOf(text), []stack.Frame{{Func: "main.load", File: "b.go", Line: 3}, {Func: "main.f", File: "a.go", Line: 4}})
		if ok != (c.want != "") || p.text != c.want || ok && !strings.HasPrefix(p.line.text(), "a.go:") {
			t.Errorf("%s: %v %+v", c.name, ok, p)
		}
	}
}
