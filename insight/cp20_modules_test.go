package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestModuleSearches: a function of another module that looks through a list is told at the line that calls it, if that is done again and again;
// lookups, a single search, what nothing shows to be one, and what another module searches for itself are not.
func TestModuleSearches(t *testing.T) {
	const lo, contains, funk = "github.com/samber/lo.", "github.com/samber/lo.Contains[...]", "github.com/thoas/go-funk."
	const loop = "for _, id := range ids {\n%\n}"
	for _, c := range []struct {
		name, line, way string
		severity        Severity // "" is nothing
		says, advises   string
	}{
		{"each of one list in another", "return lo.Every(v.stored, ids)", lo + "Every[...] " + contains + " runtime.memequal", Warning, "github.com/samber/lo in main.(*verifier).present at main.go:6: lo.Every looks through v.stored from its start for each element of ids", "Build a set of v.stored once (a map with its elements as keys)"},
		{"it makes a set itself", "return lo.Every(v.stored, ids)", lo + "Every[...] " + lo + "Keyify[...] runtime.mapassign", "", "", ""},
		{"in a loop", strings.Replace(loop, "%", "if lo.Contains(v.stored, id) { n++ }", 1), contains, Warning, "lo.Contains looks through v.stored from its start, over and over", "Look it up instead of searching"},
		{"with a type", strings.Replace(loop, "%", "n += lo.IndexOf[string](v.stored, id)", 1), lo + "IndexOf[...]", Warning, "lo.IndexOf looks through v.stored", "Look it up"},
		{"a function says what", strings.Replace(loop, "%", "u, _ := lo.Find(v.users, func(u user) bool { return u.id == id })", 1), lo + "Find[...] main.(*verifier).present.func1:/src/main.go:7", Warning, "lo.Find looks through v.users", "Look it up"},
		{"a function that works on each", strings.Replace(loop, "%", "lo.SomeBy(v.users, func(u user) bool { return u.check(id) })", 1), lo + "SomeBy[...] main.(*verifier).present.func1:/src/main.go:7", "", "", ""},
		{"each is looked up", "return lo.EveryBy(ids, func(id string) bool { return v.known[id] })", lo + "EveryBy[...] main.(*verifier).present.func1:/src/main.go:6 runtime.mapaccess2_faststr", "", "", ""},
		{"another list in each turn", "for _, g := range v.groups {\nif lo.Contains(g.members, id) { n++ }\n}", contains, Info, "lo.Contains looks through g.members", "Another list is searched in each turn"},
		{"by reflection", strings.Replace(loop, "%", "if funk.Contains(v.stored, id) { n++ }", 1), funk + "Contains reflect.Value.Index", Warning, "funk.Contains looks through v.stored", "Look it up"},
		{"another module for itself", strings.Replace(loop, "%", "x.Render(id)", 1), "example.org/x.Render " + contains, "", "", ""},
		{"another function of the name", strings.Replace(loop, "%", "x.Contains(v.stored, id)", 1), "example.org/lo.Contains[...]", "", "", ""},
		{"once", "return lo.Contains(v.stored, id)", contains, "", "", ""},
	} {
		source := "package main\n\nimport \"github.com/samber/lo\"\n\nfunc (v *verifier) present(ids []string) bool {\n" + c.line + "\n}\n\nfunc main() {\n(&verifier{}).present(nil)\n}\n"
		at := "6"
		if strings.Contains(c.line, "\n") {
			at = "7"
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{"runtime.main main.main:/src/main.go:30 main.(*verifier).present:/src/main.go:" + at + " " + c.way, []int64{280}},
			column{"runtime.main main.main:/src/main.go:31 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP20")[0]
		switch {
		case c.severity == "":
			if f.State == Found {
				t.Errorf("%s: %s: %s", c.name, f.Summary, f.Advice)
			}
		case f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises):
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
