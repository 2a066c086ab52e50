package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// keptBy is a recording whose heap profile has objects of 8 KiB of line 5 of a source in use, and
// one at a peak before it a half of them. More columns are what else was allocated.
func keptBy(source string, objects int64, more ...column) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\n"+source+"\n"))
	made := func(n int64) []byte {
		return heapProfile(append([]column{{"main.main shop.add:/src/a.go:15 shop.f:/src/a.go:5", []int64{2 * objects, 2 * objects * 8192, n, n * 8192}}}, more...)...)
	}
	r.Put(recording.Entry{Path: "peak/heap-01.pb.gz", Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: 5e9, End: 5e9}}, made(objects/2))
	r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, made(objects))
	return r
}

// hashed is what calls f and copies all of its result, in a function of its own: at line 21.
const hashed = `
func add(in string) {
	q := f(in)
	hash(q)
	keep(q)
}
func hash(q string) {
	h := fnv.New64a()
	io.WriteString(h, q)
}`

// copied is a column of copies of so many bytes at line 21.
func copied(n, size int64) column {
	return column{"main.main shop.add:/src/a.go:16 shop.hash:/src/a.go:21 io.WriteString", []int64{n, n * size, 0, 0}}
}

// TestSized: a short result that is built in an array as large as the input may keep that, where it
// is much; one that is about as long, or copied, does not.
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
		may := f.Title == "What is kept may hold more memory than it needs"
		if f.Severity == Warning || may != (c.says != "") || c.says != "" && (!strings.Contains(f.Summary, c.says) || !strings.HasPrefix(f.Advice, "If the results are usually much shorter than len(in), copy the result before it is kept")) {
			t.Errorf("%s: %s %s: %s: %s %s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}

// TestNeeded: that most of what is kept is not needed is said only where the recording has seen
// how long the results are, and that they stay.
func TestNeeded(t *testing.T) {
	const source = "func f(in string) string {\n\tvar b strings.Builder\n\tb.Grow(len(in))\n\tfor _, c := range in {\n\t\tif c == ' ' {\n\t\t\tcontinue\n\t\t}\n\t\tb.WriteRune(c)\n\t}\n\treturn b.String()\n}"
	for _, c := range []struct {
		name, source string
		copies       column
		warns        bool
	}{
		{"short copies", source + hashed, copied(40000, 144), true},
		{"long copies", source + hashed, copied(40000, 7168), false},
		{"a few short copies", source + hashed, copied(5000, 144), false},
		{"short copies of some of them", source + strings.Replace(hashed, "\thash(q)", "\tif len(q) < 200 { hash(q) }", 1), copied(40000, 144), false},
		{"copies of a part", source + strings.Replace(hashed, "\thash(q)", "\thash(q[:20])", 1), copied(40000, 144), false},
		{"copies of what it becomes", source + strings.Replace(hashed, "h := fnv.New64a()", "q = q[:20]; h := fnv.New64a()", 1), copied(40000, 144), false},
		{"something else at the line", source + hashed, column{"main.main shop.add:/src/a.go:16 shop.hash:/src/a.go:21 fnv.New64a", []int64{40000, 40000 * 8, 0, 0}}, false},
		{"no copies", source + hashed, copied(1, 1), false},
	} {
		f := answers(t, keptBy(c.source, 20000, c.copies), "GC16")[0]
		if (f.Severity == Warning) != c.warns || (f.Title == "What is kept holds much more memory than it needs") != c.warns {
			t.Errorf("%s: %s: %s: %s", c.name, f.Severity, f.Title, f.Summary)
		}
		if doubts := strings.Join(f.Doubts, " "); c.name == "long copies" && !strings.Contains(doubts, "sampled at a.go:21 takes 7.00 KiB") || strings.Contains(doubts, "does not show how long") == (c.warns || c.name == "long copies") {
			t.Errorf("%s: the doubts are %s", c.name, doubts)
		}
		if c.warns && (!strings.Contains(f.Summary, "at a.go:21 takes 144 B, the arrays 8.00 KiB on average") || !strings.HasPrefix(f.Advice, "Copy the result before it is kept")) {
			t.Errorf("%s: %s %s", c.name, f.Summary, f.Advice)
		}
	}
	part := func(of string) string {
		return "func f(s *store, name string) {\n\tif s == nil { return }\n\tcontent := string(read(name))\n\ts.files[name] = " + of + "\n}"
	}
	for of, title := range map[string]string{"content[:8]": "What is kept holds much more memory than it needs", "content[:6000]": "What is kept may hold more memory than it needs", "content[at:end]": "What is kept may hold more memory than it needs"} {
		if f := answers(t, keptBy(part(of), 20000), "GC16")[0]; f.Title != title || (f.Severity == Warning) != strings.Contains(title, "much") {
			t.Errorf("%s: %s: %s: %s", of, f.Severity, f.Title, f.Summary)
		}
	}
	in := NewInput(session.New(keptBy(source+hashed, 40000, copied(80000, 144)).Open()))
	all := append(Run(in), seenAt("AL21", Warning, 60, "/src/b.go", 7).bytesOf(0.2))
	if cards := Cards(in, all); all[cards[0].Finding].Rule != "GC16" {
		t.Errorf("the first card is %s", all[cards[0].Finding].Rule)
	}
}

// TestStays: what is in work at a peak, and let go after it, is not kept.
func TestStays(t *testing.T) {
	source := "func f(in []byte) []byte {\n\tif in == nil { return nil }\n\tout := make([]byte, 0, len(in))\n\tfor _, c := range in {\n\t\tif c == ' ' {\n\t\t\tcontinue\n\t\t}\n\t\tout = append(out, c)\n\t}\n\treturn out\n}" + hashed
	r := keptBy(source, 0, copied(40000, 144))
	r.Put(recording.Entry{Path: "peak/heap-02.pb.gz", Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: 6e9, End: 6e9}},
		heapProfile(column{"main.main shop.add:/src/a.go:15 shop.f:/src/a.go:5", []int64{40000, 40000 * 8192, 20000, 20000 * 8192}}, copied(40000, 144)))
	f := answers(t, r, "GC16")[0]
	if f.State != Found || f.Severity != Info || strings.Contains(f.Title, "What is kept") {
		t.Errorf("%s %s: %s: %s", f.State, f.Severity, f.Title, f.Summary)
	}
}

// TestConstantPart: the length of a part is known where its ends are numbers.
func TestConstantPart(t *testing.T) {
	for expr, want := range map[string]int64{"text[:16]": 16, "text[4:20]": 16, "f.Raw[at : at+20]": 20, "text[at:end]": 0, "text[:n]": 0, "text[4:]": 0, "text[a : b+4]": 0, "strings.Fields(text)": 0, "text[20:4]": 0,
		"data[start : start+size]": 4096, "data[start : start+limit]": 0} {
		if got := constantPart(codeOf("package main\n\nconst size = 4096\n\nvar limit = 4096\n"), expr); got != want {
			t.Errorf("%s: %d, want %d", expr, got, want)
		}
	}
}
