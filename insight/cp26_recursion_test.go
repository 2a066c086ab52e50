package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP26Recursion: a function that asks itself again is a warning where its source speaks against nothing; it is a remark where calls may be needed.
func TestCP26Recursion(t *testing.T) {
	const depth = "func (g *graph) depth(name string) int { // 5\n\tdeepest := 0\n\tfor _, dep := range g.edges[name] {\n\t\tdeepest = max(deepest, g.depth(dep)+1)\n\t}\n\treturn deepest\n}\n"
	const lists = "func (g *graph) depth(name string) []string { // 5\n\tout := []string{name}\n\tfor _, dep := range g.edges[name] {\n\t\tp := g.depth(dep); p[0] = name; out = append(out, p...)\n\t}\n\treturn out\n}\n"
	const literal = "func run(g *graph) { // 5\n\tvar visit func(name string) int\n\tvisit = func(name string) int { // 7\n\t\tdeepest := 0\n\t\tfor _, dep := range g.edges[name] {\n\t\t\tdeepest = max(deepest, visit(dep)+1)\n\t\t}\n\t\treturn deepest\n\t}\n\tvisit(root)\n}\n"
	put := func(from, to string) string { return strings.Replace(depth, from, to, 1) }
	for _, c := range []struct {
		name, source, traits string
		cpu                  int64 // samples of 100
		severity             Severity
		doubt                string
	}{
		{"as it is", depth, `"same":590`, 80, Warning, ""},
		{"little of the time", depth, `"same":590`, 15, Info, ""},
		{"what lies behind differs", depth, `"same":5`, 80, Warning, "was not the same in all calls"},
		{"it marks where it is", put("deepest := 0", "g.on[name] = true; deepest := 0; defer delete(g.on, name)"), `"same":590`, 80, Warning, "(a cycle)"},
		{"it keeps where it was", put("deepest := 0", "g.seen[name] = true; deepest := 0"), `"same":590,"partial":true`, 80, Info, "if each call has to do that"},
		{"it sends", put("deepest := 0", "events <- name; deepest := 0"), `"same":590`, 80, Info, "sends to a channel"},
		{"it draws", put("deepest := 0", "deepest := rand.Intn(2)"), `"same":590`, 80, Info, "random number"},
		{"it returns pointers", put("name string) int {", "name string) *plan {"), `"same":590,"refers":true`, 80, Info, "returns pointers"},
		{"it returns a list", put("name string) int {", "name string) []string {"), `"same":590,"refers":true`, 80, Warning, "needs a copy"},
		{"its results are changed", put("name string) int {", "name string) []string {"), `"same":590,"refers":true,"changed":1`, 80, Info, "changed afterwards"},
		{"it changes a part of a result", lists, `"same":590,"refers":true`, 80, Info, "may be changed"},
		{"it calls what it is given", strings.Replace(put("name string) int", "name string, show func(string)) int"), "deepest := 0", "show(name); deepest := 0", 1), `"same":590`, 80, Info, "a function that it is given"},
		{"it returns nothing", put(" int {", " {"), `"void":true`, 80, Info, "for what it does"},
		{"another one's source", "func other() {}\n", `"same":590`, 80, Info, "not in the recording"},
		{"a literal", literal, `"results":16`, 80, Warning, "around it"},
		{"a literal of arguments alone", strings.Replace(literal, "range g.edges[name]", "range strings.Fields(name)", 1), `"results":1,"plain":true`, 80, Warning, ""},
		{"a literal that counts", strings.Replace(literal, "deepest := 0", "calls++; deepest := 0", 1), `"results":16`, 80, Info, "it changes calls"},
	} {
		name, line, symbol := "main.(*graph).depth", 5, "main.(*graph).depth"
		if strings.HasPrefix(c.source, "func run") {
			name, line, symbol = "main.run.func", 7, "main.run.func1"
		}
		results := `"results":10,`
		if strings.Contains(c.traits, "results") {
			results = ""
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\ntype graph struct{}\n\n"+c.source))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("main.main:/src/main.go:30 %s:/src/main.go:%d", symbol, line+3), []int64{c.cpu}}, column{"main.main:/src/main.go:31", []int64{100 - c.cpu}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":%q,"file":"/src/main.go","line":%d,"calls":601,"time_ns":700000000,"cut":true,"recursion":{"around":1,"around_ns":700000000,"calls":600,"distinct":10,"again":590,"tops":30,"tops_ns":690000000,%s"most":600,"most_distinct":10,%s}}]}`, name, line, results, c.traits))
		all := answers(t, r, "CP26")
		f := all[0]
		if f.State != Found || f.Title != recursionTitle || f.Severity != c.severity || !strings.Contains(f.Summary, "at least 600 calls within one call from outside, with 10 different arguments") {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
		if c.doubt != "" && !slices.ContainsFunc(f.Doubts, func(d string) bool { return strings.Contains(d, c.doubt) }) {
			t.Errorf("%s: %q, want %q", c.name, f.Doubts, c.doubt)
		}
		if len(f.Evidence) == 0 || c.name == "as it is" && f.Evidence[0].Line != 8 || c.name == "a literal" && f.Evidence[0].Line != 10 {
			t.Errorf("%s: %+v", c.name, f.Evidence)
		}
	}
}
