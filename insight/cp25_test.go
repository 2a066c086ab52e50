package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP25: files that were seen opened more than twice, and the function of the program that opens them, are told; files
// that are read once or twice, that stay open, or that are written are not.
func TestCP25(t *testing.T) {
	file := func(name string, seen, opened, rewound int, rest string) string {
		return fmt.Sprintf(`{"path":"/data/%s","seen":%d,"opened":%d,"rewound":%d%s}`, name, seen, opened, rewound, rest)
	}
	many := func(n, opened int) string {
		var all []string
		for i := range n {
			all = append(all, file(fmt.Sprint("f", i), opened, opened, 0, ""))
		}
		return strings.Join(all, ",")
	}
	const open = "func load(name string) { f, _ := os.Open(name); read(f) }"
	for _, c := range []struct {
		name, files, source string
		state               State
		severity            Severity
		says                string
	}{
		{"one file", file("refs", 90, 60, 0, ""), open, Found, Warning, "refs was seen opened 60 times"},
		{"behind the same descriptor", file("refs", 90, 2, 60, ""), open, Found, Warning, "refs was seen opened 62 times"},
		{"many files, each some times", many(20, 4), open, Found, Warning, "20 files were seen opened 80 times"},
		{"it changes", file("refs", 90, 60, 0, `,"changed":true`), open, Found, Info, "refs"},
		{"it depends on something else", file("refs", 90, 60, 0, ""), "func load(name string, centres [][]float64) { f, _ := os.Open(name); read(f, centres) }", Found, Info, "refs"},
		{"many files once beside one that is opened again", file("refs", 90, 60, 0, "") + "," + many(80, 1), open, Fine, "", "opened once"},
		{"damaged counts", file("refs", 90, -5, 0, ""), open, NotApplicable, "", "no look"},
		{"each file once", many(60, 1), open, Fine, "", "hardly any"},
		{"each file twice", many(60, 2), open, Fine, "", "hardly any"},
		{"it stays open", file("db", 200, 1, 0, ""), open, Fine, "", "hardly any"},
		{"its place is set", file("db", 200, 1, 150, ""), "func load(name string) { f, _ := os.Open(name); f.Seek(0, 0); read(f) }", Fine, "", "hardly any"},
		{"it is written", file("log", 90, 60, 0, `,"writes":true`), open, NotApplicable, "", "no look"},
		{"nobody opens files", file("refs", 90, 60, 0, ""), "func load(name string) { read(name) }", Fine, "", "no function"},
		{"none", "", open, NotApplicable, "", "no look"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\nimport \"os\"\n\n"+c.source+"\n\nfunc main() {\nfor {\nload(\"refs\")\n}\n}\n"))
		r.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(`{"t_ns":2000000000,"pid":7,"looks":200,"files":[`+c.files+"]}\n"))
		withProfile(r, recording.CPU, "cpu", column{"main.main:/src/main.go:9 main.load:/src/main.go:5 os.(*File).Read syscall.read", []int64{30}},
			column{"main.main:/src/main.go:9 main.load:/src/main.go:5 strings.ToLower", []int64{50}}, column{"main.main:/src/main.go:9 main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP25")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) || f.State == Found && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
	}
}

// TestCP25Sorts: where much of what it costs is a sort in the function that opens the file, a doubt says so; not where the sort is elsewhere or small.
func TestCP25Sorts(t *testing.T) {
	const load, open = "main.main:/src/main.go:9 main.load:/src/main.go:5 ", "func load(name string) { f, _ := os.Open(name); read(f) }"
	for _, c := range []struct {
		name, stack string
		samples     int64
		want        bool
	}{
		{"slices", load + "slices.SortFunc[...] slices.pdqsortCmpFunc[...] main.load.func1:/src/main.go:5", 30, true},
		{"sort", load + "main.order:/src/main.go:7 sort.Slice sort.pdqsort_func", 30, true},
		{"a small part", load + "sort.Slice sort.pdqsort_func", 3, false},
		{"elsewhere", "main.main:/src/main.go:9 main.show:/src/main.go:7 sort.Slice sort.pdqsort_func", 30, false},
		{"another function of package slices", load + "slices.Contains[...]", 30, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte("package main\n\nimport \"os\"\n\n"+open+"\n\nfunc main() {\nfor {\nload(\"refs\")\n}\n}\n"))
		r.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(`{"t_ns":2000000000,"pid":7,"looks":200,"files":[{"path":"/data/refs","seen":90,"opened":60,"rewound":0}]}`+"\n"))
		withProfile(r, recording.CPU, "cpu", column{load + "os.(*File).Read syscall.read", []int64{30}}, column{c.stack, []int64{c.samples}}, column{load + "strings.ToLower", []int64{20}})
		f := answers(t, r, "CP25")[0]
		if got := strings.Contains(strings.Join(f.Doubts, "; "), "of it is a sort at"); f.State != Found || got != c.want {
			t.Errorf("%s: %s: %q", c.name, f.State, f.Doubts)
		}
	}
}
