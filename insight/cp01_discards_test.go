package insight

import (
	"testing"

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
		x, _, _, found := discardsOn(c2, newDerivations(c2), frames)
		if found != c.found || found && x.plain != c.plain {
			t.Errorf("%s: %v %v", c.name, found, x.plain)
		}
	}
}
