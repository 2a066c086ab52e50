package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// keptBy is a recording whose heap profile has objects of 8 KiB of line 5 of a source in use.
func keptBy(source string, objects int64) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\n"+source+"\n"))
	r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"main.main shop.f:/src/a.go:5", []int64{4 * objects, 4 * objects * 8192, objects, objects * 8192}}))
	return r
}

// TestSized: a short result that is built in an array as large as the input keeps that, and is a
// warning where it is much; one that is about as long, or copied, is none.
func TestSized(t *testing.T) {
	const short = `	for _, c := range in {
		if c == ' ' {
			continue
		}
		b.WriteRune(c)
	}
`
	builder := func(loop, result string) string {
		return "func f(in string) string {\n\tvar b strings.Builder\n\tb.Grow(len(in))\n" + loop + "\treturn " + result + "\n}"
	}
	for _, c := range []struct {
		name, source string
		objects      int64
		says         string
	}{
		{"a builder", builder(short, "b.String()"), 20000, "b.Grow makes as large as len(in), and b.String(), returned at a.go:12, keeps all of its array"},
		{"a little", builder(short, "b.String()"), 4000, ""},
		{"few large ones", builder(short, "b.String()"), 100, ""},
		{"a copy", builder(short, "strings.Clone(b.String())"), 20000, ""},
		{"an escaper", builder("\tfor _, c := range in {\n\t\tif c == '<' {\n\t\t\tb.WriteString(\"&lt;\")\n\t\t\tcontinue\n\t\t}\n\t\tb.WriteRune(c)\n\t}\n", "b.String()"), 20000, ""},
		{"a slice that is filtered", "func f(in []row) []row {\n\tif len(in) == 0 { return nil }\n\tout := make([]row, 0, len(in))\n\tfor _, r := range in {\n\t\tif r.ok {\n\t\t\tout = append(out, r)\n\t\t}\n\t}\n\treturn out\n}", 20000,
			"make makes as large as len(in), and out, returned at a.go:11, keeps all of its array"},
		{"a slice that is mapped", "func f(in []row) []row {\n\tif len(in) == 0 { return nil }\n\tout := make([]row, 0, len(in))\n\tfor _, r := range in {\n\t\tout = append(out, r)\n\t}\n\treturn out\n}", 20000, ""},
	} {
		f := answers(t, keptBy(c.source, c.objects), "GC16")[0]
		warns := f.State == Found && f.Severity == Warning
		if warns != (c.says != "") || c.says != "" && (!strings.Contains(f.Summary, c.says) || !strings.HasPrefix(f.Advice, "Copy the result before it is kept")) {
			t.Errorf("%s: %s %s: %s %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
	in := NewInput(session.New(keptBy(builder(short, "b.String()"), 40000).Open()))
	all := append(Run(in), seenAt("AL21", Warning, 60, "/src/b.go", 7).bytesOf(0.2))
	if cards := Cards(in, all); all[cards[0].Finding].Rule != "GC16" {
		t.Errorf("the first card is %s", all[cards[0].Finding].Rule)
	}
}
