package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestLateFilter: a filter by the path that is asked of files alone, or of the list behind the walk, is told from a walk that
// skips folders and from what is asked of single files.
func TestLateFilter(t *testing.T) {
	const head = "if err != nil {\nreturn err\n}\nif d.IsDir() {\nreturn nil\n}\n"
	const add = "all = append(all, p)\nreturn nil"
	const out = "\nfunc out(p string) bool {\n\tfor _, x := range dirs {\n\t\tif strings.Contains(p, x) {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n"
	const in = "\nfunc in(p string) bool { return filepath.Ext(p) == `.x` }\n"
	const base = "\nfunc out(p string) bool { return strings.HasPrefix(path.Base(p), `_`) }\n"
	const prune = "if d.IsDir() {\nif out(p) {\nreturn fs.SkipDir\n}\nreturn nil\n}\n"
	for _, c := range []struct {
		name, body, behind, more string
		want                     bool
		next                     string
	}{
		{"in the callback", head + "if out(p) {\nreturn nil\n}\nread(p)\n" + add, "", out + in + "\nfunc read(p string) {}\n", true, "read"},
		{"with another condition", head + "if out(p) || !in(p) {\nreturn nil\n}\n" + add, "", out + in, true, "in"},
		{"behind it", head + add, "for _, p := range all {\nif out(p) || !in(p) {\ncontinue\n}\nlist = append(list, p)\n}", out + in, true, "in"},
		{"behind it, what is wanted", head + add, "for _, p := range all {\nif !out(p) && in(p) {\nlist = append(list, p)\n}\n}", out + in, true, "in"},
		{"of a part of the path", head + "rel, err := filepath.Rel(root, p)\nall = append(all, rel)\nreturn nil", "for _, p := range all {\nif out(p) {\ncontinue\n}\nin(p)\n}", out + in, true, "in"},

		{"it skips folders", prune + add, "for _, p := range all {\nif out(p) || !in(p) {\ncontinue\n}\n}", out + in, false, ""},
		{"by the name of a file", head + "if out(p) {\nreturn nil\n}\n" + add, "", base, false, ""},
		{"by what is wanted", head + "if !in(p) {\nreturn nil\n}\n" + add, "", in, false, ""},
		{"of another list", head + add, "for _, p := range others {\nif out(p) {\ncontinue\n}\n}", out, false, ""},
		{"nothing is left out", head + add, "for _, p := range all {\nread(p)\n}", "\nfunc read(p string) {}\n", false, ""},
		{"it reads each", head + add, "for _, p := range all {\nif out(p) {\ncontinue\n}\n}", "\nfunc out(p string) bool {\n\tx, _ := os.ReadFile(p)\n\treturn strings.Contains(string(x), y)\n}\n", false, ""},
	} {
		text := "package main\n\nfunc collect(root string) {\n\tfilepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {\n" + c.body + "\n})\n" + c.behind + "\n}\n" + c.more
		l, ok := lateFilterAt(sourceOf(text), stack.Frame{Func: "main.collect", File: "a.go", Line: 4})
		next := ""
		if len(l.next) > 0 {
			next = l.next[0].Name.Name
		}
		if ok != c.want || next != c.next || ok && l.asks.Name.Name != "out" {
			t.Errorf("%s: %v, next %q", c.name, ok, next)
		}
	}
}

// TestTellLateFilter: only counts tell how much is left out, and only where that is most of it.
func TestTellLateFilter(t *testing.T) {
	const text = "package main\n\nfunc collect(root string) {\n\tfilepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {\nif d.IsDir() {\nreturn nil\n}\nall = append(all, p)\nreturn nil\n})\nfor _, p := range all {\nif out(p) || !in(p) {\ncontinue\n}\n}\n}\n" +
		"func out(p string) bool { return strings.Contains(p, dir) }\nfunc in(p string) bool { return filepath.Ext(p) == `.x` }\n"
	for _, c := range []struct {
		asked, kept, whole int
		want               bool
	}{{1000, 10, 10, true}, {1000, 0, 10, true}, {1000, 900, 900, false}, {1000, 0, 900, false}, {0, 0, 0, false}} {
		r := recordingtest.New("title x\ntarget package . module=shop\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
		if c.asked > 0 {
			within := func(call, n int) string {
				if n == 0 {
					return ""
				}
				return fmt.Sprintf(`,{"in":0,"call":%d,"around":1,"around_ns":1000,"calls":%d,"time_ns":100,"distinct":%[2]d,"again":0,"again_ns":0,"most":%[2]d,"most_one":1}`, call, n)
			}
			r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":1000000000,"functions":[{"name":"main.collect","file":"a.go","line":3,"calls":1,"time_ns":1000},
{"name":"main.out","file":"a.go","line":17,"calls":%d,"time_ns":100},{"name":"main.in","file":"a.go","line":18,"calls":%d,"time_ns":100}],
"within":[%s]}`, c.asked, c.whole, strings.TrimPrefix(within(1, c.asked)+within(2, c.kept), ",")))
		}
		f := Finding{Advice: "List less."}
		tellSkips(NewInput(session.New(r.Open())), stack.Frame{Func: "main.collect", File: "a.go", Line: 4}, &f)
		if told := strings.Contains(f.Summary, "of the 1,000 files that it was asked of, it left 10"); told != c.want || told != strings.Contains(f.Advice, "fs.SkipDir") {
			t.Errorf("%+v: %q %q", c, f.Summary, f.Advice)
		}
	}
}
