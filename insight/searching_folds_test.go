package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestFoldedParts: a function that folds all of a part that grows is told at the line of the loop that calls it; one that looks at its end
// alone, ends early, is told something else each time, or is given a part of the same length is not.
func TestFoldedParts(t *testing.T) {
	const (
		sum  = "func fold(xs []int) int {\nn := 0\nfor _, x := range xs {\nn += x // B\n}\nreturn n\n}\n"
		call = "func f(list []int, out []int) {\nfor i := range list {\nout[i] = fold(list[:i]) // A\n}\n}\n"
	)
	const told, doubtful, not = "warning", "info", ""
	for _, c := range []struct{ name, source, want string }{
		{"a sum", sum + call, told},
		{"a mean", "func fold(xs []int) int {\nif len(xs) == 0 {\nreturn 0\n}\nn := 0\nfor _, x := range xs {\nn += x // B\n}\nreturn n / len(xs)\n}\n" + call, told},
		{"a digest", "func fold(xs []int) int {\nh := newHash()\nfor _, x := range xs {\nh.Add(x) // B\n}\nreturn h.sum()\n}\n" + call, told},
		{"the largest", "func fold(xs []int) int {\nbest := 0\nfor _, x := range xs {\nif x > best { // B\nbest = x\n}\n}\nreturn best\n}\n" + call, told},
		{"one more each", sum + "func f(list []int, out []int) {\nfor i := 0; i < len(list); i++ {\nout[i] = fold(list[:i+1]) // A\n}\n}\n", told},
		{"at times", sum + "func f(list []int, out []int) {\nfor i := range list {\nif list[i] > 9 {\nout[i] = fold(list[:i]) // A\n}\n}\n}\n", doubtful},
		{"from the first on", "func fold(xs []int) int {\nlo, hi := xs[0], xs[0]\nfor _, x := range xs {\nlo, hi = min(lo, x), max(hi, x) // B\n}\nreturn hi - lo\n}\n" + call, told},
		{"through a variable", sum + "func f(list []int, out []int) {\nfor i := range list {\npart := list[:i]\nout[i] = fold(part) // A\n}\n}\n", told},
		{"and given to another that only reads", sum + "func sq(xs []int) int {\nn := 0\nfor _, x := range xs {\nn += x * x\n}\nreturn n\n}\nfunc f(list []int, out []int) {\nfor i := range list {\npart := list[:i]\nout[i] = sq(part)\nout[i] += fold(part) // A\n}\n}\n", told},
		{"through a variable that is sorted", sum + "func f(list []int, out []int) {\nfor i := range list {\npart := list[:i]\nslices.Sort(part)\nout[i] = fold(part) // A\n}\n}\n", not},
		{"through a variable, to one that changes it", sum + "func step(xs []int) { xs[0]++ }\nfunc f(list []int, out []int) {\nfor i := range list {\npart := list[:i]\nstep(part)\nout[i] = fold(part) // A\n}\n}\n", not},
		{"from the last on", "func fold(xs []int) int {\nn := xs[len(xs)-1]\nfor _, x := range xs {\nn += x // B\n}\nreturn n\n}\n" + call, not},

		{"a method of the list's type", "type levels []int\nfunc (xs levels) fold() int {\nn := 0\nfor _, x := range xs {\nn += x // B\n}\nreturn n\n}\nfunc f(list levels, out []int) {\nfor i := range list {\nout[i] = list[:i].fold() // A\n}\n}\n", told},
		{"a method, through a variable, of what others may have", "type levels []int\ntype gauge struct { data levels }\nfunc (xs levels) fold() int {\nn := 0\nfor _, x := range xs {\nn += x // B\n}\nreturn n\n}\nfunc f(g *gauge, out []int) {\nfor i := 0; i < len(g.data); i++ {\nso := g.data[:i]\nout[i] = so.fold() // A\n}\n}\n", doubtful},
		{"a method of a list that is changed", "type levels []int\nfunc (xs levels) fold() int {\nn := 0\nfor _, x := range xs {\nn += x // B\n}\nreturn n\n}\nfunc f(list levels, out []int) {\nfor i := range list {\nout[i] = list[:i].fold() // A\nlist[0]++\n}\n}\n", not},

		{"only the last ones", "func fold(xs []int) int {\nn := 0\nfor _, x := range xs[len(xs)-3:] {\nn += x // B\n}\nreturn n\n}\n" + call, not},
		{"until the first that fits", "func fold(xs []int) int {\nfor i, x := range xs {\nif x > 9 { // B\nreturn i\n}\n}\nreturn -1\n}\n" + call, not},
		{"it stops early", "func fold(xs []int) int {\nn := 0\nfor _, x := range xs {\nn += x // B\nif n > 9 {\nbreak\n}\n}\nreturn n\n}\n" + call, not},
		{"compared with this one", "func fold(xs []int, than int) int {\nn := 0\nfor _, x := range xs {\nif x < than { // B\nn++\n}\n}\nreturn n\n}\nfunc f(list []int, out []int) {\nfor i := range list {\nout[i] = fold(list[:i], list[i]) // A\n}\n}\n", not},
		{"by its distance from the end", "func fold(xs []int) int {\nn, last := 0, len(xs)\nfor i, x := range xs {\nn += x * (last - i) // B\n}\nreturn n\n}\n" + call, not},
		{"each with each", "func fold(xs []int) int {\nn := 0\nfor _, x := range xs {\nn += x * xs[0] // B\n}\nreturn n\n}\n" + call, not},
		{"a part of the same length", sum + "func f(list []int, out []int) {\nfor i := range out {\nout[i] = fold(list[:8]) // A\n}\n}\n", not},
		{"a window", sum + "func f(list []int, out []int) {\nfor i := range out {\nout[i] = fold(list[i:i+8]) // A\n}\n}\n", not},
		{"the heads of lists", sum + "func f(lists [][]int, out []int) {\nfor i, l := range lists {\nout[i] = fold(l[:i]) // A\n}\n}\n", not},
		{"a list that is sorted anew", sum + "func f(list []int, out []int) {\nfor i := range list {\nslices.Sort(list)\nout[i] = fold(list[:i]) // A\n}\n}\n", not},
		{"a list that is changed", sum + "func f(list []int, out []int) {\nfor i := range list {\nout[i] = fold(list[:i]) // A\nlist[0]++\n}\n}\n", not},
		{"it changes them", "func fold(xs []*int) {\nfor _, x := range xs {\n*x++ // B\n}\n}\nfunc f(list []*int) {\nfor i := range list {\nfold(list[:i]) // A\n}\n}\n", not},
		{"it counts calls", "var calls int\nfunc fold(xs []int) {\nfor _, x := range xs {\ncalls += x // B\n}\n}\nfunc f(list []int) {\nfor i := range list {\nfold(list[:i]) // A\n}\n}\n", not},
	} {
		source := "package main\n\nimport \"slices\"\n\n" + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "runtime.main main.main:/src/none.go:1 main.f@A main.fold@B"), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		got := not
		f := answers(t, r, "CP20")[0]
		if f.State == Found && strings.Contains(f.Summary, "reads") {
			got = string(f.Severity)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %s: %s", c.name, got, c.want, f.Title, f.Summary)
		}
		if got != not && f.Evidence[0].Line != lineOfMark(source, "A") {
			t.Errorf("%s: line %d", c.name, f.Evidence[0].Line)
		}
	}
}
