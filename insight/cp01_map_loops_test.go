package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP01MapLoops: a map that is gone through or filled for each record with the same keys is a warning. One that changes, or
// is the record's own, one that is searched, a loop that ends never, and maps that take little of the time, are none.
func TestCP01MapLoops(t *testing.T) {
	const head = "package main\n\ntype rec struct { fields map[string]int; all map[string]int }\ntype reader struct{ v []int }\nfunc (r *reader) get(i int) int { return r.v[i] }\n\n"
	const iter, assign, look = "main.main main.read@A runtime.mapIterNext internal/runtime/maps.(*Iter).Next", "main.main main.read@B runtime.mapassign_faststr", "main.main main.read@B runtime.mapaccess1_faststr"
	for _, c := range []struct {
		name, source string
		want         string // of the summary; empty for nothing
		advice       string
	}{
		{"a map for each record", "func read(readers map[string]*reader, recs []int, out map[string][]int) {\n\tfor _, i := range recs {\n\t\tfor name, r := range readers { // A\n\t\t\tout[name] = append(out[name], r.get(i)) // B\n\t\t}\n\t}\n}\n",
			"the loop over readers at main.go:9 lies within it, and the values of out are set by the same keys in each of its turns", "Swap the loops"},
		{"of a field", "type table struct { readers map[string]*reader }\nfunc read(t *table, n int, out map[string]int) {\n\tfor i := 0; i < n; i++ {\n\t\tfor name, r := range t.readers { // A\n\t\t\tout[name] += r.get(i) // B\n\t\t}\n\t}\n}\n", "the loop over t.readers at main.go:10 lies within it", "Swap the loops"},
		{"from a channel", "func read(readers map[string]*reader, recs chan int, out map[string]int) {\n\tfor i := range recs {\n\t\tfor name, r := range readers { // A\n\t\t\tout[name] += r.get(i) // B\n\t\t}\n\t}\n}\n", "the loop over readers", "Give each key a number once"},
		{"cleared and filled", "func read(columns []string, recs [][]int, out map[string]int) {\n\tfor _, r := range recs {\n\t\tclear(out) // A\n\t\tfor i, c := range columns {\n\t\t\tout[c] = r[i] // B\n\t\t}\n\t\tsend(out)\n\t}\n}\n", "the values of out are set by the same keys in each of its turns", "Give each key a number once"},
		{"by constants", "func read(recs []rec, out map[string]int) {\n\tfor _, r := range recs {\n\t\tout[\"a\"], out[\"b\"], out[\"c\"] = r.a(), 1, 2 // B\n\t\tsend(out) // A\n\t}\n}\n", "the values of out are set by the same keys in each of its turns (3 constants)", "a struct with a field"},

		{"of the record", "func read(recs []rec, out map[string]int) {\n\tfor _, r := range recs {\n\t\tfor name, v := range r.fields { // A\n\t\t\tout[name] += v // B\n\t\t}\n\t}\n}\n", "", ""},
		{"it is another one", "func read(recs []rec, out map[string]int) {\n\tfor _, r := range recs {\n\t\tm := parse(r)\n\t\tfor name, v := range m { // A\n\t\t\tout[name] += v // B\n\t\t}\n\t}\n}\n", "", ""},
		{"it grows", "func read(known map[string]int, recs []string, out map[string]int) {\n\tfor _, r := range recs {\n\t\tfor name, v := range known { // A\n\t\t\tout[name] += v // B\n\t\t}\n\t\tknown[r] = 1\n\t}\n}\n", "", ""},
		{"it is emptied", "func read(known map[string]int, recs []string, out map[string]int) {\n\tfor range recs {\n\t\tfor name, v := range known { // A\n\t\t\tout[name] += v // B\n\t\t\tdelete(known, name)\n\t\t}\n\t}\n}\n", "", ""},
		{"it is handed on", "func read(known map[string]int, recs []string, out map[string]int) {\n\tfor _, r := range recs {\n\t\tadd(known, r)\n\t\tfor name, v := range known { // A\n\t\t\tout[name] += v // B\n\t\t}\n\t}\n}\n", "", ""},
		{"searched", "func read(known map[string]int, recs []string, out map[string]int) {\n\tfor _, r := range recs {\n\t\tfor name, v := range known { // A\n\t\t\tif match(name, r) {\n\t\t\t\tout[name] += v // B\n\t\t\t\tbreak\n\t\t\t}\n\t\t}\n\t}\n}\n", "", ""},
		{"no end", "func read(known map[string]int, out map[string]int) {\n\tfor {\n\t\tfor name, v := range known { // A\n\t\t\tout[name] += v // B\n\t\t}\n\t}\n}\n", "", ""},
		{"once", "func read(known map[string]int, out map[string]int) {\n\tfor name, v := range known { // A\n\t\tout[name] += v // B\n\t}\n}\n", "", ""},
		{"keys of the records", "func read(recs []string, out map[string]int) {\n\tfor _, r := range recs { // A\n\t\tout[r]++ // B\n\t}\n}\n", "", ""},
		{"lists", "func read(recs [][]string, out map[string]int) {\n\tfor _, r := range recs { // A\n\t\tfor _, f := range r {\n\t\t\tout[f]++ // B\n\t\t}\n\t}\n}\n", "", ""},
		{"the columns outside", "func read(readers map[string]*reader, recs []int, out map[string]int) {\n\tfor name, r := range readers { // A\n\t\tsum := 0\n\t\tfor _, i := range recs {\n\t\t\tsum += r.get(i)\n\t\t}\n\t\tout[name] = sum // B\n\t}\n}\n", "", ""},
		{"a map of its own", "func read(columns []string, recs [][]int) (all []map[string]int) {\n\tfor _, r := range recs {\n\t\tout := map[string]int{}\n\t\tfor i, c := range columns { // A\n\t\t\tout[c] = r[i] // B\n\t\t}\n\t\tall = append(all, out)\n\t}\n\treturn all\n}\n", "", ""},
	} {
		for _, much := range []bool{true, false} {
			source := head + c.source
			r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
			n := int64(6)
			if much {
				n = 120
			}
			withProfile(r, recording.CPU, "cpu", column{stackAt(source, iter), []int64{n}}, column{stackAt(source, assign), []int64{n}}, column{stackAt(source, look), []int64{n / 6}},
				column{stackAt(source, "main.main main.read@B"), []int64{80}}, column{"main.main main.other:/src/other.go:3", []int64{60}})
			f := answers(t, r, "CP01")[0]
			told := strings.HasPrefix(f.Title, "A map with the same keys")
			if told != (c.want != "" && much) || told && (f.Severity != Warning || !strings.Contains(f.Summary, c.want) || !strings.Contains(f.Advice, c.advice)) {
				t.Errorf("%s, much %v: %v %s\n%s\n%s", c.name, much, f.Severity, f.Title, f.Summary, fmt.Sprint(f.Advice))
			}
		}
	}
}
