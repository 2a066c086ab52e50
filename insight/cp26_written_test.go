package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP26Written: a file that is written again with what it has is told with its line and with the function that makes and writes it.
func TestCP26Written(t *testing.T) {
	const source = "package main\n\nimport \"os\"\n\nfunc save(b []byte) error { // 5\n\tb = make(b)\n\treturn os.WriteFile(\"state\", b, 0o644)\n}\n\nfunc main() {\n\tfor range 600 {\n\t\tsave(nil)\n\t}\n}\n"
	for _, c := range []struct {
		name     string
		counts   string
		took     int // ns of save, of 10 s
		state    State
		severity Severity
		says     string
		doubts   string
	}{
		{"one content", `"distinct":1,"again":599`, 8e9, Found, Warning, "599 of 600 calls of os.WriteFile wrote the same content to the same file: the calls of main.save that do so take 79.9% of the time of main.main", ""},
		{"several", `"distinct":11,"again":589`, 8e9, Found, Warning, "589 of 600 calls of os.WriteFile wrote content that had been written before to the same file", "goes to and fro"},
		{"part of the time", `"distinct":1,"again":599`, 15e8, Found, Info, "15.0%", ""},
		{"little of the time", `"distinct":1,"again":599`, 5e8, Fine, "", "", ""},
		{"each is new", `"distinct":600,"again":0`, 8e9, Fine, "", "", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{"runtime.main main.main:/src/main.go:12 main.save:/src/main.go:6 main.make:/src/make.go:5", []int64{90}}, column{"runtime.main main.main:/src/main.go:12 main.save:/src/main.go:7 os.WriteFile", []int64{10}})
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":10000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":10,"calls":1,"time_ns":10000000000},
{"name":"main.save","file":"/src/main.go","line":5,"calls":600,"time_ns":%[2]d},{"name":"os.WriteFile","file":"/src/main.go","line":7,"caller":"main.save","calls":600,"time_ns":300000000,"everywhere":{"calls":600,"time_ns":300000000,%[1]s,"again_ns":200000000,"plain":true,"void":true}}],
"within":[{"in":0,"call":1,"around":1,"around_ns":10000000000,"calls":600,"time_ns":%[2]d,"distinct":0,"again":0,"again_ns":0,"most":600,"most_one":0,"void":true},
{"in":0,"call":2,"around":1,"around_ns":10000000000,"calls":600,"time_ns":300000000,%[1]s,"again_ns":200000000,"most":600,"most_one":600,"plain":true,"void":true}]}`, c.counts, c.took))
		f := answers(t, r, "CP26")[0]
		if f.State != c.state || !strings.Contains(f.Summary, c.says) || f.State == Found && (f.Severity != c.severity || f.Evidence[0].Line != 7) || !strings.Contains(strings.Join(f.Doubts, "\n"), c.doubts) {
			t.Errorf("%s: %s %s: %s %+v %q", c.name, f.State, f.Severity, f.Summary, f.Evidence, f.Doubts)
		}
	}
}
