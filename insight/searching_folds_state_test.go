package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestFoldState: a fold that reads what may be another value in the next turn, or a list of which a turn changes elements, is a remark
// with that as a doubt; one that reads what only its maker sets is a warning.
func TestFoldState(t *testing.T) {
	const (
		meter = "type meter struct{ floor, decay int; list []int }\nfunc newMeter() *meter { m := new(meter); m.floor = 3; return m }\nfunc (m *meter) fold(xs []int) int {\nn := 0\nfor _, x := range xs {\nn += x * m.floor // B\n}\nreturn n\n}\n"
		call  = "func f(m *meter, list []int, out []int) {\nfor i := range list {\nout[i] = m.fold(list[:i]) // A\n"
		ptr   = "type acc struct{ owes int; from *acc; tags map[string]int }\nfunc (a *acc) settle() { a.from.owes-- }\nfunc (a *acc) size() int { return a.owes }\nfunc fold(xs []*acc) int {\nn := 0\nfor _, x := range xs {\nn += x.owes // B\n}\nreturn n\n}\nfunc f(list []*acc, out []int) {\nfor i, a := range list {\n_ = a\nout[i] = fold(list[:i]) // A\n"
		end   = "}\n}\n"
	)
	for _, c := range []struct{ name, source, want string }{
		{"its maker sets it", meter + call + end, "warning"},
		{"it is another's field", meter + call + "m.decay++\n" + end, "warning"},
		{"a constant", strings.Replace(meter, "m.floor //", "least //", 1) + "const least = 3\n" + call + end, "warning"},
		{"pointers that are read", ptr + "out[i] += a.size()\n" + end, "warning"},

		{"a turn sets it", meter + call + "m.floor++\n" + end, "info"},
		{"of a value that the function makes", meter + strings.Replace(call, "{\nfor", "{\nm = &meter{}\nfor", 1) + "if out[i] > 9 {\nm.floor++\n}\n" + end, "info"},
		{"a method that a turn calls", meter + "func (m *meter) raise() { m.floor += 2 }\n" + call + "m.raise()\n" + end, "info"},
		{"anybody sets it", meter + "func (m *meter) raise() { m.floor += 2 }\n" + call + end, "info"},
		{"a variable of the package", strings.Replace(meter, "m.floor //", "least //", 1) + "var least = 3\nfunc raise() { least++ }\n" + call + "raise()\n" + end, "info"},
		{"in a function that it calls", strings.Replace(meter, "x * m.floor //", "m.weigh(x) //", 1) + "func (m *meter) weigh(x int) int { return x * m.decay }\n" + call + "m.decay++\n" + end, "info"},
		{"an earlier element, through a pointer", ptr + "a.settle()\n" + end, "info"},
		{"an earlier element, in the loop", ptr + "a.from.owes = 3\n" + end, "info"},
		{"handed to what is not here", ptr + "outside.Take(a)\n" + end, "info"},
		{"all of one", ptr + "*a = acc{}\n" + end, "info"},
		{"an element of a list that is also a field", strings.Replace(meter, "x * m.floor //", "x //", 1) + "func (m *meter) touch(i int) { m.list[i]++ }\nfunc f(m *meter, out []int) {\nfor i := range m.list {\nout[i] = m.fold(m.list[:i]) // A\nm.touch(i / 2)\n" + end, "info"},
		{"it draws numbers", strings.Replace(meter, "x * m.floor //", "x * rand.Intn(9) //", 1) + call + end, "info"},
	} {
		source := "package main\n\nimport (\n\"math/rand\"\n\"example.org/outside\"\n)\n\nvar _ = rand.Intn\nvar _ = outside.Take\n\n" + c.source
		fold := "main.fold@B"
		if strings.Contains(c.source, ") fold(") {
			fold = "main.(*meter).fold@B"
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "runtime.main main.main:/src/none.go:1 main.f@A "+fold), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP20")[0]
		if got := string(f.Severity); f.State != Found || got != c.want || strings.HasPrefix(f.Advice, "Only if") != (c.want == "info") {
			t.Errorf("%s: %q, want %q: %s: %s %s", c.name, got, c.want, f.Title, f.Summary, f.Doubts)
		}
	}
}
