package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP20Turn: the loop of a caller that repeats a search is shown, and where what it looks up comes from what is searched,
// the value is to be kept beside the key.
func TestCP20Turn(t *testing.T) {
	const get = "type pair struct{ key string; val int }\ntype list struct{ all []pair }\nfunc (m *list) Get(key string) int {\n\tfor i := range m.all {\n\t\tif m.all[i].key == key { // A\n\t\t\treturn m.all[i].val\n\t\t}\n\t}\n\treturn 0\n}\n"
	for _, c := range []struct {
		name, source string
		loop, keys   string // keys is "" where they come from elsewhere
	}{
		{"keys that are collected from it", "func sum(m *list) (n int) {\n\tvar keys []string\n\tfor k := range m.All() {\n\t\tkeys = append(keys, k)\n\t}\n\tsort.Strings(keys)\n\tfor _, k := range keys {\n\t\tn += m.Get(k) // B\n\t}\n\treturn n\n}\n", "main.go:26", "main.go:22"},
		{"a field that is used again", "func (w *writer) sum(m *list) (n int) {\n\tw.keys = w.keys[:0]\n\tfor k := range m.All() {\n\t\tw.keys = append(w.keys, k)\n\t}\n\tfor _, k := range w.keys {\n\t\tn += m.Get(k) // B\n\t}\n\treturn n\n}\n", "main.go:25", "main.go:22"},
		{"what a method lists", "func sum(m *list) (n int) {\n\tkeys := m.Keys()\n\tfor i := range keys {\n\t\tn += m.Get(keys[i]) // B\n\t}\n\treturn n\n}\n", "main.go:22", "main.go:21"},
		{"its own elements", "func sum(m *list) (n int) {\n\tfor _, x := range m.all {\n\t\tn += m.Get(x.key) // B\n\t}\n\treturn n\n}\n", "main.go:21", "main.go:21"},
		{"keys of another one", "func sum(m, other *list) (n int) {\n\tvar keys []string\n\tfor k := range other.All() {\n\t\tkeys = append(keys, k)\n\t}\n\tfor _, k := range keys {\n\t\tn += m.Get(k) // B\n\t}\n\treturn n\n}\n", "main.go:25", ""},
		{"keys of both", "func sum(m, other *list) (n int) {\n\tvar keys []string\n\tfor k := range m.All() {\n\t\tkeys = append(keys, k)\n\t}\n\tfor k := range other.All() {\n\t\tkeys = append(keys, k)\n\t}\n\tfor _, k := range keys {\n\t\tn += m.Get(k) // B\n\t}\n\treturn n\n}\n", "main.go:28", ""},
		{"keys that are given", "func sum(m *list, keys []string) (n int) {\n\tfor _, k := range keys {\n\t\tn += m.Get(k) // B\n\t}\n\treturn n\n}\n", "main.go:21", ""},
		{"another one in each turn", "func sum(all []*list, keys []string) (n int) {\n\tfor _, m := range all {\n\t\tn += m.Get(keys[0]) // B\n\t}\n\treturn n\n}\n", "", ""},
		{"always the same key", "func sum(m *list) (n int) {\n\tfor range m.all {\n\t\tn += m.Get(first) // B\n\t}\n\treturn n\n}\n", "main.go:21", ""},
	} {
		text := "package main\n\nimport (\n\t\"net/http\"\n\t\"sort\"\n)\n\n" + "// A list.\n\n" + get + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{stackAt(text, "runtime.main main.sum@B main.(*list).Get@A"), []int64{80}}, column{"runtime.main main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP20")[0]
		if f.State != Found {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
			continue
		}
		shown := ""
		for _, e := range f.Evidence {
			shown += e.Text + "\n"
		}
		if c.loop != "" && !strings.Contains(shown, "called in this loop: "+c.loop) {
			t.Errorf("%s: the loop at %s is not in %s", c.name, c.loop, shown)
		}
		if own := strings.Contains(f.Advice, "keep the value beside the key"); own != (c.keys != "") || own && !strings.Contains(f.Advice, "("+c.keys+")") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
