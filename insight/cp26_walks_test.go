package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestWalksAgain: walks with marks of their own that come to few nodes many times are told, where the counts show how many nodes there are.
func TestWalksAgain(t *testing.T) {
	const build = "package main\n\ntype node struct {\n\tid int\n\thot bool\n\tnext []*node\n}\n\nfunc build(n int) []*node { // =1\n\tall := make([]*node, n)\n\tfor i := range all { // =1000\n\t\tall[i] = &node{id: i} // made\n\t}\n\tfor _, x := range all { // =1000\n\t\tx.next = append(x.next, all[(x.id*7+1)%n], all[0])\n\t}\n\treturn all\n}\n\n"
	const visit = "func visit(x *node, seen map[*node]bool, out map[*node]bool) { // =90000\n\tfor _, y := range x.next { // =180000\n\t\tif seen[y] { // =90100\n\t\t\tcontinue\n\t\t}\n\t\tseen[y] = true\n\t\tout[y] = y.hot\n\t\tvisit(y, seen, out) // self\n\t}\n}\n\n"
	const main = "func main() { // =1\n\tall := build(1000)\n\tfor _, x := range all { // =100\n\t\tuse(reach(x))\n\t}\n}\n\n"
	const reach = "func reach(x *node) int { // =100\n\tseen, out := map[*node]bool{}, map[*node]bool{}\n\tvisit(x, seen, out)\n\treturn len(out)\n}\n\n"
	const closure = "func reach(x *node) int { // =100\n\tseen := make(map[int]bool)\n\tn := 0\n\tvar visit func(x *node)\n\tvisit = func(x *node) { // =180000\n\t\tif seen[x.id] { // =90100\n\t\t\treturn\n\t\t}\n\t\tseen[x.id] = true\n\t\tn++\n\t\tfor _, y := range x.next { // =180000\n\t\t\tvisit(y) // self\n\t\t}\n\t}\n\tvisit(x)\n\treturn n\n}\n\n"
	const receiver = "type walker struct {\n\tseen map[*node]struct{}\n\tn int\n}\n\nfunc (w *walker) visit(x *node) { // =180000\n\tif _, ok := w.seen[x]; ok { // =90100\n\t\treturn\n\t}\n\tw.seen[x] = struct{}{}\n\tw.n++\n\tfor _, y := range x.next { // =180000\n\t\tw.visit(y) // self\n\t}\n}\n\nfunc reach(x *node) int { // =100\n\tw := &walker{seen: map[*node]struct{}{}}\n\tw.visit(x)\n\treturn w.n\n}\n\n"
	const names = "package main\n\ntype graph struct{ edges map[string][]string }\n\nfunc (g *graph) connect(a, b string) { // =2000\n\tif a != b { // =1900\n\t\tg.edges[a] = append(g.edges[a], b) // made\n\t}\n}\n\nfunc (g *graph) visit(x string, seen map[string]bool) { // =180000\n\tif seen[x] { // =90100\n\t\treturn\n\t}\n\tseen[x] = true\n\tfor _, y := range g.edges[x] { // =180000\n\t\tg.visit(y, seen) // self\n\t}\n}\n\nfunc main() { // =1\n\tg := &graph{edges: map[string][]string{}}\n\tfor _, e := range pairs { // =2000\n\t\tg.connect(e.a, e.b)\n\t}\n\tfor _, x := range roots { // =100\n\t\tseen := map[string]bool{}\n\t\tg.visit(x, seen)\n\t}\n}\n\n"
	whole := build + visit + reach + main
	put := func(in, from, to string) string {
		if !strings.Contains(in, from) {
			t.Fatalf("no %q", from)
		}
		return strings.Replace(in, from, to, 1)
	}
	for _, c := range []struct {
		name, source string
		found        bool
		severity     Severity
		doubt        string
	}{
		{"a map that is handed on", whole, true, Warning, ""},
		{"a closure", build + closure + main, true, Warning, ""},
		{"a field", build + receiver + main, true, Warning, ""},
		{"names in lists", names, true, Warning, ""},

		{"one map for all roots", put(put(whole, "func reach(x *node) int { // =100\n\tseen, out := map[*node]bool{}, map[*node]bool{}\n", "func reach(x *node, seen map[*node]bool) int { // =100\n\tout := map[*node]bool{}\n"), "use(reach(x))", "use(reach(x, shared))"), false, "", ""},
		{"a field for all roots", put(put(build+receiver+main, "func reach(x *node) int { // =100\n\tw := &walker{seen: map[*node]struct{}{}}\n", "func reach(w *walker, x *node) int { // =100\n"), "use(reach(x))", "use(reach(shared, x))"), false, "", ""},
		{"trees of their own", strings.ReplaceAll(whole, "// =1000\n", "// =90000\n"), false, "", ""},
		{"few walks", strings.ReplaceAll(whole, "// =100\n", "// =4\n"), false, "", ""},
		{"nodes in a row", put(put(whole, "next []*node", "next []*node\n\tarr [2]any"), "\tall := make([]*node, n)\n", "\tall := make([]*node, n)\n\trow := make([]node, n)\n\tuse(row)\n"), true, Warning, ""}, // by the lists
		{"nodes in a row, from a file", put(put(whole, "x.next = append(x.next, all[(x.id*7+1)%n], all[0])", "x.next = read(x)"), "\tall := make([]*node, n)\n", "\tall := make([]*node, n)\n\trow := make([]node, n)\n\tuse(row)\n"), false, "", ""},
		{"names from a file", put(names, "\tfor _, x := range roots", "\tjson.Unmarshal(data, &g.edges)\n\tfor _, x := range roots"), false, "", ""},
		{"it asks no marks", put(put(whole, "\t\tif seen[y] { // =90100\n", "\t\tif y.hot { // =90100\n"), "out[y] = y.hot", "out[y] = true"), false, "", ""},
		{"a path, taken back", put(whole, "visit(y, seen, out) // self\n", "visit(y, seen, out) // self\n\t\tdelete(seen, y)\n"), false, "", ""},

		{"with a depth", strings.NewReplacer("func visit(x *node,", "func visit(x *node, depth int,", "visit(y, seen", "visit(y, depth+1, seen", "visit(x, seen", "visit(x, 0, seen").Replace(whole), true, Info, "may depend on depth"},
		{"with a limit", strings.NewReplacer("func visit(x *node,", "func visit(x *node, limit int,", "visit(y, seen", "visit(y, limit, seen", "visit(x, seen", "visit(x, x.id, seen", "if seen[y] {", "if seen[y] || y.id > limit {").Replace(whole), true, Info, "may depend on limit"},
		{"edges change between", put(whole, "use(reach(x))", "use(reach(x))\n\t\tx.next = append(x.next, all[1]) // =100"), true, Info, "changed between the walks"},
		{"no loop", put(put(whole, "for _, x := range all { // =100\n", "{\n"), "use(reach(x))", "use(reach(all[0]))"), true, Info, "no loop in the sources"},
		{"it changes the nodes", put(whole, "out[y] = y.hot", "y.hot = true"), true, Info, "it changes y.hot"},
		{"it sends", put(whole, "out[y] = y.hot", "found <- y"), true, Info, "it sends to a channel"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		self := sourceLine(c.source, "self")
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("main.main:/src/main.go:1 main.visit:/src/main.go:%d", self), []int64{80}}, column{"main.main:/src/main.go:1", []int64{20}})
		in := NewInput(session.New(r.Open()))
		countBlocks(in.code, c.source)
		found := walksAgain(cp26, in)
		if (len(found) > 0) != c.found {
			t.Errorf("%s: %d findings", c.name, len(found))
			continue
		}
		if !c.found {
			continue
		}
		f := found[0]
		if f.Severity != c.severity || f.Title != walksTitle || !strings.Contains(f.Summary, "100 walks") || f.Evidence[0].Line != self {
			t.Errorf("%s: %s: %s %+v", c.name, f.Severity, f.Summary, f.Evidence)
		}
		if c.doubt != "" && !slices.ContainsFunc(f.Doubts, func(d string) bool { return strings.Contains(d, c.doubt) }) || c.severity == Warning && len(f.Doubts) != 1 {
			t.Errorf("%s: %q, want %q", c.name, f.Doubts, c.doubt)
		}
	}
}
