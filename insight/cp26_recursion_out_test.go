package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestRecursionOut: where a function that calls itself hands its result over through what it is given, leaving a call out loses that; a set of those that are
// done is advised where it only sets marks.
func TestRecursionOut(t *testing.T) {
	const source = "package main\n\nimport (\n\t\"crypto/sha256\"\n\t\"hash\"\n\t\"io\"\n\t\"strings\"\n)\n\ntype graph struct{ deps map[string][]string; seen map[string]bool; n int }\n\nvar all int\n\nfunc (g *graph) walk(TO, id string) { // walk\n\tDO\n\tfor _, d := range g.deps[id] {\n\t\tg.walk(OUT, d) // self\n\t}\n\tAFTER\n}\n\nfunc (g *graph) sum() []byte {\n\th := sha256.New()\n\tg.walk(h, root)\n\treturn h.Sum(nil)\n}\n"
	const again = "keep a set of those that are done"
	for _, c := range []struct {
		name, to, out, do, after string
		severity                 Severity
		advice, doubt            string
	}{
		{"a hash", "h hash.Hash", "h", "h.Write([]byte(id))", "", Warning, "as in a Merkle tree", "have to be made again"},
		{"a hash, by a function", "h hash.Hash", "h", "io.WriteString(h, id)", "h.Write(end)", Warning, "h would lack", ""},
		{"a hash as a writer", "w io.Writer", "w", "io.WriteString(w, id)", "", Warning, "as in a Merkle tree", ""},
		{"a hash, and the path", "h hash.Hash", "h", "if g.seen[id] {\n\t\treturn\n\t}\n\tg.seen[id] = true\n\th.Write([]byte(id))", "delete(g.seen, id)", Warning, "Merkle", "depends on the path"},
		{"a hash, and a channel", "h hash.Hash", "h", "h.Write([]byte(id))\n\tevents <- id", "", Info, "Merkle", "sends to a channel"},
		{"a hash, and a count", "h hash.Hash", "h", "h.Write([]byte(id))\n\tg.n = next(g.n)", "", Info, "Merkle", "changes g.n"},
		{"a builder", "b *strings.Builder", "b", "b.WriteString(id)", "", Info, "a buffer of its own", "as much as before"},
		{"a list", "out *[]string", "out", "*out = append(*out, id)", "", Info, "append what is kept to out", "as much as before"},
		{"a number", "n *int", "n", "*n += len(id)", "", Warning, "add what is kept to *n", ""},
		{"marks", "seen map[string]bool", "seen", "seen[id] = true", "", Warning, "only sets marks", ""},
		{"marks in a field", "k int", "k", "g.seen[id] = true", "", Warning, "only sets marks", ""},
		{"marks, and a function that is given", "f func(string)", "f", "g.seen[id] = true\n\tf(id)", "", Info, "", "a function that it is given"},
		{"nothing that is seen", "k int", "k", "visit(id)", "", Info, again, "for what it does"},
	} {
		text := strings.NewReplacer("TO", c.to, "DO", c.do, "OUT", c.out, "AFTER", c.after).Replace(source)
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("main.main:/src/main.go:90 main.(*graph).walk:/src/main.go:%d", sourceLine(text, "self")), []int64{80}}, column{"main.main:/src/main.go:91", []int64{20}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"main.(*graph).walk","file":"/src/main.go","line":%d,"calls":601,"time_ns":700000000,"cut":true,"recursion":{"around":1,"around_ns":700000000,"calls":600,"distinct":10,"again":590,"tops":30,"tops_ns":690000000,"results":1,"most":600,"most_distinct":10,"void":true}}]}`, sourceLine(text, "walk")))
		f := answers(t, r, "CP26")[0]
		if f.Title != recursionTitle || f.Severity != c.severity || !strings.Contains(f.Advice, c.advice) || c.doubt != "" && !strings.Contains(strings.Join(f.Doubts, "\n"), c.doubt) {
			t.Errorf("%s: %s: %s\n%s\n%q", c.name, f.Severity, f.Summary, f.Advice, f.Doubts)
		}
	}
}
