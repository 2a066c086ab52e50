package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestChangedInPlace: a caller that appends to a result, sorts it or sets its elements needs it for himself; one that reads it, copies it or has
// clipped it before it appends does not.
func TestChangedInPlace(t *testing.T) {
	for body, want := range map[string]inPlace{
		"w.cols = append(w.cols, append(w.s.columns(k), b)) // call":                        appendsInPlace,
		"v := w.s.columns(k) // call\n\tv = append(v, b)\n\tw.cols = append(w.cols, v)":     appendsInPlace,
		"v := append(w.s.columns(k)[:0], b) // call\n\tuse(v)":                              appendsInPlace,
		"v := w.s.columns(k) // call\n\tsort.Strings(v)":                                    sortedInPlace,
		"v := w.s.columns(k) // call\n\tsort.Sort(byName(v))":                               sortedInPlace,
		"v := w.s.columns(k) // call\n\tslices.SortFunc(v, cmp)":                            sortedInPlace,
		"v := w.s.columns(k) // call\n\tv[0] = b":                                           setInPlace,
		"v := w.s.columns(k) // call\n\tslices.Reverse(v)":                                  setInPlace,
		"v := w.s.columns(k) // call\n\tv = slices.Clip(v)\n\tv = append(v, b)":             leftAlone,
		"v := slices.Clone(w.s.columns(k)) // call\n\tv[0] = b":                             leftAlone,
		"v := append(slices.Clip(w.s.columns(k)), b) // call":                               leftAlone,
		"w.cols = append(w.cols, w.s.columns(k)) // call":                                   leftAlone,
		"w.all = append(w.all, w.s.columns(k)...) // call":                                  leftAlone,
		"v := w.s.columns(k) // call\n\tv = append(v[:len(v):len(v)], b)\n\tuse(v)":         leftAlone,
		"v := w.s.columns(k) // call\n\tuse(len(v), v[0])":                                  leftAlone,
		"v := w.s.columns(k) // call\n\tv = append([]string(nil), v...)\n\tsort.Strings(v)": leftAlone,
	} {
		text := "package main\n\nfunc (w *writer) head(k, b string) {\n\t" + body + "\n}\n"
		line, got := changedInPlace(sourceOf(text), []stack.Frame{{Func: "main.(*writer).head", File: "a.go", Line: lineOfMark(text, "call")}}, "columns")
		if got != want || (line == "") != (want == leftAlone) {
			t.Errorf("%s: %v at %q", body, got, line)
		}
	}
	const outward = "package main\n\nfunc (w *writer) cols(k string) []string {\n\treturn w.s.columns(k) // call\n}\n\nfunc (w *writer) head(k, b string) {\n\tw.all = append(w.all, append(w.cols(k), b)) // outer\n}\n"
	way := []stack.Frame{{Func: "main.(*writer).cols", File: "a.go", Line: lineOfMark(outward, "call")}, {Func: "main.(*writer).head", File: "a.go", Line: lineOfMark(outward, "outer")}}
	if line, got := changedInPlace(sourceOf(outward), way, "columns"); got != appendsInPlace || line != "a.go:8" {
		t.Errorf("by the caller's caller: %v at %s", got, line)
	}
	f := Finding{Advice: "Call it once and hand the result on."}
	told := tellInPlace(sourceOf(outward), way, "columns", &f, func(string, ...any) { t.Error("a remark") })
	if !told || !strings.HasPrefix(f.Advice, "First clip what is kept (slices.Clip): a.go:8 appends to it") || !strings.HasSuffix(f.Advice, "Then: call it once and hand the result on.") {
		t.Error(f.Advice)
	}
}
