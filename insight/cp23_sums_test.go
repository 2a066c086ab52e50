package insight

import (
	"testing"

	"loupe/value/stack"
)

// TestSumsCompared: two sums are made only to be compared where nothing else uses them.
func TestSumsCompared(t *testing.T) {
	const two = "a, err := sum(src) // here\nif err != nil {\nreturn false, err\n}\nb, err := sum(dst)\nif err != nil {\nreturn false, err\n}\n"
	for _, test := range []struct {
		what, text string
		ok         bool
	}{
		{"of texts", two + "return a != b, nil", true},
		{"of bytes", two + "return bytes.Equal(a[:], b[:]), nil", true},
		{"the second is the hot one", "a := sum(src)\nb := sum(dst) // here\nif a == b {\nreturn true, nil\n}\nreturn false, nil", true},
		{"one is kept", two + "sums[src] = a\nreturn a != b, nil", false},
		{"both are written", two + "if a != b {\nlog.Print(a, b)\n}\nreturn true, nil", false},
		{"compared with what is known", "a := sum(src) // here\nreturn a != known[src], nil", false},
		{"of three", two + "c := sum(old)\nreturn a != b || a != c, nil", false},
		{"not compared", two + "return true, nil", false},
		{"the parts of it", two + "return a[0] != b[0], nil", false},
		{"of other functions", "a := sum(src) // here\nb := total(dst)\nreturn a != b, nil", false},
	} {
		text := "package main\n\nfunc changed(src, dst string) (bool, error) {\n" + test.text + "\n}\n"
		line, ok := sumsCompared(sourceOf(text), stack.Frame{Func: "main.changed", File: "a.go", Line: sourceLine(text, "here")}, "sum")
		if ok != test.ok {
			t.Errorf("%s: %v, %+v", test.what, ok, line)
		}
	}
}
