package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestDiscards: what is opened anew for each item and read up to it is told; what somebody keeps, a header, the rest of something, and what is opened
// once are not.
func TestDiscards(t *testing.T) {
	const head = "package main\n\nimport (\n\"bufio\"\n\"compress/flate\"\n\"io\"\n\"os\"\n)\n\ntype entry struct {\nblock int\noff, size int64\n}\n\ntype archive struct {\nf *os.File\nr io.Reader\npos int64\n}\n\n" +
		"func (a *archive) stream(n int) io.ReadCloser {\nreturn flate.NewReader(io.NewSectionReader(a.f, int64(n), 9))\n}\n\n"
	const drive = "func run(a *archive, all []entry) {\nfor _, e := range all {\na.open(e) // 2\n}\n}\n"
	method := func(body string) string { return "func (a *archive) open(e entry) io.Reader {\n" + body + "\n}\n" }
	for _, c := range []struct {
		name, source string
		found, plain bool
	}{
		{"a stream of its own", method("s := a.stream(e.block)\nif _, err := io.CopyN(io.Discard, s, e.off); err != nil { // 1\nreturn nil\n}\nreturn s") + drive, true, false},
		{"by a limit", method("s := a.stream(e.block)\nio.Copy(io.Discard, io.LimitReader(s, e.off)) // 1\nreturn s") + drive, true, false},
		{"by a buffer", method("s := bufio.NewReader(a.stream(e.block))\ns.Discard(int(e.off)) // 1\nreturn s") + drive, true, false},
		{"a file, which could seek", method("f, err := os.Open(\"all\")\nif err != nil {\nreturn nil\n}\nio.CopyN(io.Discard, f, e.off) // 1\nreturn f") + drive, true, true},
		{"lines", method("f, _ := os.Open(\"all\")\nsc := bufio.NewScanner(f)\nfor i := int64(0); i < e.off; i++ {\nsc.Scan() // 1\n}\nreturn f") + drive, true, true},
		{"lines that may end", method("f, _ := os.Open(\"all\")\nbr := bufio.NewReader(f)\nfor range e.off {\nif _, err := br.ReadString(10); err != nil { // 1\nreturn nil\n}\n}\nreturn br") + drive, true, true},
		{"into a scratch buffer", method("s := a.stream(e.block)\nbuf := make([]byte, 512)\nfor left := e.off; left > 0; {\nn, err := s.Read(buf) // 1\nif err != nil {\nbreak\n}\nleft -= int64(n)\n}\nreturn s") + drive, true, false},
		{"in the loop itself", "func run(a *archive, all []entry) {\nfor _, e := range all {\ns := a.stream(e.block)\nio.CopyN(io.Discard, s, e.off) // 2\n}\n}\n", true, false},

		{"a reader that is kept", method("io.CopyN(io.Discard, a.r, e.off-a.pos) // 1\nreturn a.r") + drive, false, false},
		{"one that is opened where it has to be", method("if a.pos > e.off {\na.r, a.pos = a.stream(e.block), 0\n}\nio.CopyN(io.Discard, a.r, e.off-a.pos) // 1\nreturn a.r") + drive, false, false},
		{"the same in a loop", "func run(a *archive, all []entry) {\nvar s io.Reader\nfor i, e := range all {\nif i == 0 || e.off == 0 {\ns = a.stream(e.block)\n}\nio.CopyN(io.Discard, s, e.off) // 2\n}\n}\n", false, false},
		{"opened before the loop", "func run(a *archive, all []entry) {\ns := a.stream(0)\nfor _, e := range all {\nio.CopyN(io.Discard, s, e.off) // 2\n}\n}\n", false, false},
		{"a reader that it is given", "func (a *archive) open(r io.Reader, e entry) {\nbr := bufio.NewReader(r)\nbr.Discard(int(e.off)) // 1\n}\nfunc run(a *archive, all []entry) {\nfor _, e := range all {\na.open(a.r, e) // 2\n}\n}\n", false, false},
		{"a header of fixed length", method("s := a.stream(e.block)\nio.CopyN(io.Discard, s, 512) // 1\nreturn s") + drive, false, false},
		{"the rest of it", method("s := a.stream(e.block)\nio.Copy(io.Discard, s) // 1\nreturn s") + drive, false, false},
		{"the body of a response", "func (a *archive) open(e entry) {\nresp, err := client.Do(request)\nif err != nil {\nreturn\n}\nio.CopyN(io.Discard, resp.Body, e.off) // 1\nresp.Body.Close()\n}\n" + drive, false, false},
		{"a part of an archive that is gone through", "func run(a *archive, all []entry) {\ntr := tar.NewReader(a.f)\nfor _, e := range all {\nh, _ := tr.Next()\n_ = h\nio.CopyN(io.Discard, tr, e.off) // 2\n}\n}\n", false, false},
		{"called once", method("s := a.stream(e.block)\nio.CopyN(io.Discard, s, e.off) // 1\nreturn s") + "func run(a *archive, all []entry) {\na.open(all[0]) // 2\n}\n", false, false},
		{"lines that are looked at", method("f, _ := os.Open(\"all\")\nsc := bufio.NewScanner(f)\nfor i := int64(0); i < e.off; i++ {\nsc.Scan() // 1\nprintln(sc.Text())\n}\nreturn f") + drive, false, false},
		{"copied to something", method("s := a.stream(e.block)\nio.CopyN(os.Stdout, s, e.off) // 1\nreturn s") + drive, false, false},
		{"the stream may be kept", "func (a *archive) kept(n int) io.Reader {\nif a.r != nil {\nreturn a.r\n}\nreturn a.stream(n)\n}\n" + method("s := a.kept(e.block)\nio.CopyN(io.Discard, s, e.off) // 1\nreturn s") + drive, false, false},
	} {
		text := head + c.source
		c2 := sourceOf(text)
		frames := []stack.Frame{{Func: "main.run", File: "a.go", Line: lineOfMark(text, "2")}}
		if line := lineOfMark(text, "1"); line > 0 {
			frames = append([]stack.Frame{{Func: "main.(*archive).open", File: "a.go", Line: line}}, frames...)
		}
		x, _, found := discardsOn(c2, newDerivations(c2), frames)
		if found != c.found || found && x.plain != c.plain {
			t.Errorf("%s: %v %v", c.name, found, x.plain)
		}
	}
}

// TestDiscardsTold: it is a warning where the counts show that the same is opened again, or where the source does.
func TestDiscardsTold(t *testing.T) {
	const stream = "func (a *archive) stream(n int) io.Reader {\nreturn flate.NewReader(io.NewSectionReader(a.f, int64(n), 9))\n}\n\n"
	const run = "func run(a *archive, all []entry) {\nfor _, e := range all {\na.open(e) // 2\n}\n}\n"
	const counts = `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"main.run","file":"/src/main.go","line":1,"calls":1},{"name":"main.(*archive).stream","file":"/src/main.go","line":13,"calls":576,"time_ns":9000000}],` +
		`"within":[{"in":0,"call":1,"around":1,"around_ns":1000000000,"calls":576,"time_ns":9000000,"distinct":%d,"again":%d,"again_ns":1000000,"most":576,"most_one":24,"partial":true,"partial_first":true}]}`
	open := func(opener string) string {
		return "func (a *archive) open(e entry) {\ns := " + opener + "\nio.CopyN(io.Discard, s, e.off) // 1\n}\n"
	}
	for _, c := range []struct {
		name, open string
		distinct   int // of 576; 0 where nothing was counted
		skipping   int64
		severity   Severity
		told       bool
	}{
		{"the same blocks again", open("a.stream(e.block)"), 24, 80, Warning, true},
		{"each another one", open("a.stream(e.block)"), 576, 80, Info, true},
		{"not counted", open("a.stream(e.block)"), 0, 80, Info, true},
		{"the same file by the source", open("must(os.Open(\"all\"))"), 0, 80, Info, false},
		{"a file of a constant name", strings.Replace(open("os.Open(\"all\")"), "s :=", "s, _ :=", 1), 0, 80, Warning, true},
		{"a file of each", strings.Replace(open("os.Open(e.name)"), "s :=", "s, _ :=", 1), 0, 80, Info, true},
		{"an item that opens itself", strings.Replace(open("e.file.Open()"), "s :=", "s, _ :=", 1), 0, 80, Info, true},
		{"a file by a field that stays", strings.Replace(open("os.Open(a.path)"), "s :=", "s, _ :=", 1), 0, 80, Warning, true},
		{"the field is set elsewhere", strings.Replace(open("os.Open(a.path)"), "s :=", "s, _ :=", 1) + "func (a *archive) use(p string) { a.path = p }\n", 0, 80, Info, true},
		{"the field is set in a literal alone", strings.Replace(open("os.Open(a.path)"), "s :=", "s, _ :=", 1) + "func use(p string) *archive { return &archive{path: p} }\n", 0, 80, Warning, true},
		{"all of it is set in a list", strings.Replace(open("os.Open(a.path)"), "s :=", "s, _ :=", 1) + "func use(all []archive) { all[0] = archive{} }\n", 0, 80, Info, true},
		{"by a variable of the function", "func (a *archive) open(e entry) {\np := a.path\ns, _ := os.Open(p)\nio.CopyN(io.Discard, s, e.off) // 1\n}\n", 0, 80, Warning, true},
		{"by a variable that is set again", "func (a *archive) open(e entry) {\np := a.path\np = e.name\ns, _ := os.Open(p)\nio.CopyN(io.Discard, s, e.off) // 1\n}\n", 0, 80, Info, true},
		{"little of the time", open("a.stream(e.block)"), 24, 15, Info, false},
	} {
		text := "package main\n\nimport (\n\"compress/flate\"\n\"io\"\n\"os\"\n)\n\ntype entry struct{ block int; off int64; name string; file *zip.File }\n\ntype archive struct{ f *os.File; path string }\n\n" + stream + c.open + run
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		own := fmt.Sprintf("main.main:/src/other.go:3 main.run:/src/main.go:%d main.(*archive).open:/src/main.go:%d", lineOfMark(text, "2"), lineOfMark(text, "1"))
		withProfile(r, recording.CPU, "cpu", column{own + " io.CopyN:/go/io.go:3 compress/flate.(*decompressor).Read:/go/flate.go:5", []int64{c.skipping}}, column{"main.main:/src/other.go:5 main.check:/src/other.go:9", []int64{100 - c.skipping}})
		if c.distinct > 0 {
			r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, counts, c.distinct, 576-c.distinct))
		}
		told, severity := false, Info
		for _, f := range answers(t, r, "CP01") {
			if strings.HasPrefix(f.Title, "Each item is found") {
				told, severity = true, f.Severity
			}
		}
		if told != c.told || severity != c.severity {
			t.Errorf("%s: told %v, %s", c.name, told, severity)
		}
	}
}
