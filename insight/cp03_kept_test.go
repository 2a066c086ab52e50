package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP03Kept: JSON that is set while the program starts and decoded in a loop later is told from that of values which
// are made later, that somebody changes, and that is decoded where it has not been yet.
func TestCP03Kept(t *testing.T) {
	const start = "package main\n\nimport (\"encoding/json\"; \"strconv\")\n\ntype rule struct { raw []byte; value any }\ntype doc struct { n int }\nvar rules []*rule\nfunc add(text string) { rules = append(rules, &rule{raw: []byte(text)}) }\n"
	const apply = "func (r *rule) apply() any {\nvar v any\njson.Unmarshal(r.raw, &v) // A\nreturn v\n}\n"
	const run = "func main() {\nadd(\"1\")\nfor i := 0; i < 1000000; i++ {\nwork(i) // C\n}\n}\n"
	const work = "func work(i int) {\nfor _, r := range rules {\nprint(r.apply()) // B\n}\n}\n"
	for _, c := range []struct {
		name, source string
		again        bool
	}{
		{"made at the start", start + apply + work + run, true},
		{"into one that is made for it", start + "func (r *rule) apply() any {\nv := new(doc)\njson.Unmarshal(r.raw, v) // A\nreturn v\n}\n" + work + run, true},
		{"into one that is there", start + "func (r *rule) apply(v *rule) any {\njson.Unmarshal(r.raw, v) // A\nreturn v\n}\n" + strings.Replace(work, "r.apply()", "r.apply(r)", 1) + run, false},
		{"into the same in each turn", start + "func (r *rule) apply() any {\nvar v any\nfor range 3 {\njson.Unmarshal(r.raw, &v) // A\n}\nreturn v\n}\n" + work + run, false},
		{"rewritten in place", start + apply + "func set(b []byte, i int) { strconv.AppendInt(b[:3], int64(i), 10) }\nfunc work(i int) {\nfor _, r := range rules {\nset(r.raw, i)\nprint(r.apply()) // B\n}\n}\n" + run, false},
		{"rewritten by another name", start + apply + "func work(i int) {\nfor _, r := range rules {\npart := r.raw[2:4]\npart[0] = byte(i)\nprint(r.apply()) // B\n}\n}\n" + run, false},
		{"made for each", start + apply + "func work(i int) {\nr := &rule{raw: read(i)}\nprint(r.apply()) // B\n}\n" + run, false},
		{"somebody sets it", start + apply + "func work(i int) {\nfor _, r := range rules {\nr.raw = read(i)\nprint(r.apply()) // B\n}\n}\n" + run, false},
		{"only where it is not there", start + "func (r *rule) apply() any {\nif r.value != nil {\nreturn r.value\n}\nr.value = r.decode() // B\nreturn r.value\n}\nfunc (r *rule) decode() any {\nvar v any\njson.Unmarshal(r.raw, &v) // A\nreturn v\n}\n" + "func work(i int) {\nfor _, r := range rules {\nprint(r.apply()) // D\n}\n}\n" + run, false},
		{"what is given", start + "func (r *rule) apply(b []byte) any {\nvar v any\njson.Unmarshal(b, &v) // A\nreturn v\n}\nfunc work(i int) {\nfor _, r := range rules {\nprint(r.apply(read(i))) // B\n}\n}\n" + run, false},
	} {
		frames := "runtime.main main.main@C main.work@B main.(*rule).apply@A encoding/json.Unmarshal"
		if strings.Contains(c.source, "// D") {
			frames = "runtime.main main.main@C main.work@D main.(*rule).apply@B main.(*rule).decode@A encoding/json.Unmarshal"
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(c.source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(c.source, frames), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP03")[0]
		if again := strings.Contains(f.Title, "decoded again"); again != c.again || f.State != Found {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Title, f.Summary)
		}
	}
}
