package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestTimeLayout: times that are parsed in a constant layout with a faster way are a warning by their share; a layout with a
// way of its own, one of names, one that is not constant, and formatting are not.
func TestTimeLayout(t *testing.T) {
	const head = "package main\n\nimport \"time\"\n\nconst layout = \"2006-01-02T15:04:05.999Z07:00\"\nconst exact = time.RFC3339\nconst sql = \"2006-01-02 15:04:05\"\nvar changed = \"2006-01-02\"\n\n"
	for _, c := range []struct {
		name, call, callee string
		severity           Severity
		advice             string
	}{
		{"another fraction", "time.Parse(layout, s)", "time.Parse", Warning, "Parse with time.RFC3339"},
		{"in place", "time.Parse(\"2006-01-02T15:04:05.000Z\", s)", "time.Parse", Warning, "Parse with time.RFC3339"},
		{"of digits", "time.Parse(sql, s)", "time.Parse", Warning, "the digits are at fixed places"},
		{"in a place", "time.ParseInLocation(\"2006/01/02\", s, time.UTC)", "time.ParseInLocation", Warning, "the digits are at fixed places"},
		{"by a name of package time", "time.Parse(time.DateTime, s)", "time.Parse", Warning, "the digits are at fixed places"},
		{"the fast one", "time.Parse(time.RFC3339, s)", "time.Parse", Info, "A layout is read again"},
		{"the fast one with its fraction", "time.Parse(time.RFC3339Nano, s)", "time.Parse", Info, "A layout is read again"},
		{"the fast one by another name", "time.Parse(exact, s)", "time.Parse", Info, "A layout is read again"},
		{"the fast one in its own text", "time.Parse(\"2006-01-02T15:04:05Z07:00\", s)", "time.Parse", Info, "A layout is read again"},
		{"names of months", "time.Parse(\"02 Jan 2006\", s)", "time.Parse", Info, "A layout is read again"},
		{"another zone", "time.Parse(\"2006-01-02T15:04:05-0700\", s)", "time.Parse", Info, "A layout is read again"},
		{"a variable", "time.Parse(changed, s)", "time.Parse", Info, "A layout is read again"},
		{"what it is given", "time.Parse(s[:3], s)", "time.Parse", Info, "A layout is read again"},
		{"formatting", "time.Time{}.Format(sql)", "time.Time.Format", Info, "A layout is read again"},
	} {
		text := head + "func work(s string) {\n" + c.call + " // A\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{stackAt(text, "runtime.main main.main:/src/none.go:1 main.work@A "+c.callee+" time.parse"), []int64{40}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{60}})
		if f := answers(t, r, "CP23")[0]; f.State != Found || f.Severity != c.severity || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s: %s: %s", c.name, f.Severity, f.Summary, f.Advice)
		}
	}
}
