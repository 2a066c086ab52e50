package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestGivenBuffer: a buffer that a function makes and gives to a library is told from one that has its room, is given to it, or is
// one of several.
func TestGivenBuffer(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a variable", "var buf bytes.Buffer\ntw := tar.NewWriter(&buf)\ntw.Write(b) // here", "buf"},
		{"a pointer", "out := new(bytes.Buffer)\ntw := tar.NewWriter(out)\ntw.Write(b) // here", "out"},
		{"a literal", "out := &bytes.Buffer{}\nfmt.Fprintf(out, \"%s\", b) // here", "out"},
		{"given twice", "var buf bytes.Buffer\nfmt.Fprint(&buf, 1)\nfmt.Fprint(&buf, b) // here", "buf"},

		{"it has its room", "var buf bytes.Buffer\ntw := tar.NewWriter(&buf)\nbuf.Grow(1 << 20)\ntw.Write(b) // here", ""},
		{"another one has its room", "var buf bytes.Buffer\nin.Grow(9)\nfmt.Fprint(&buf, b) // here", "buf"},
		{"no room", "buf := bytes.NewBuffer(make([]byte, 0))\nfmt.Fprint(buf, b) // here", "buf"},

		{"it gets its room first", "var buf bytes.Buffer\nbuf.Grow(1 << 20)\ntw := tar.NewWriter(&buf)\ntw.Write(b) // here", ""},
		{"it is made with its room", "buf := bytes.NewBuffer(make([]byte, 0, 1<<20))\ntw := tar.NewWriter(buf)\ntw.Write(b) // here", ""},
		{"one of two, given again", "var x, y bytes.Buffer\nfmt.Fprint(&x, 1)\nfmt.Fprint(&y, b) // here\nfmt.Fprint(&x, 2)", ""},
		{"a variable of the package", "fmt.Fprint(&shared, b) // here", ""},
		{"a parameter", "tw := tar.NewWriter(in)\ntw.Write(b) // here", ""},
		{"one of two", "var x, y bytes.Buffer\nfmt.Fprint(&x, 1)\nfmt.Fprint(&y, b) // here", ""},
		{"a builder", "var sb strings.Builder\nfmt.Fprint(&sb, b) // here", ""},
		{"a file", "f, _ := os.Create(\"x\")\ntw := tar.NewWriter(f)\ntw.Write(b) // here", ""},
		{"to a function of the program", "var buf bytes.Buffer\npack(&buf) // here", ""},
	} {
		text := "package main\n\nimport (\n\"archive/tar\"\n\"bytes\"\n\"fmt\"\n\"os\"\n\"strings\"\n)\n\nvar shared bytes.Buffer\n\nfunc pack(w *bytes.Buffer) {}\n\nfunc f(in *bytes.Buffer, b []byte) {\n" + c.body + "\n}\n"
		src := sourceOf(text)
		d := derivationsOf(src)
		file := d.t.files[0].name
		in, found := d.at(stack.Frame{Func: "main.f", File: file, Line: lineWith(text, "// here").Line})
		if !found {
			t.Fatalf("%s: no function", c.name)
		}
		b, ok := givenBuffer(d, in.decl)
		if ok != (c.want != "") || ok && b.name != c.want {
			t.Errorf("%s: %v %+v", c.name, ok, b)
		}
	}
}

// TestGrownBuffer: a buffer that grows while a library writes to it is named with what it is for: only one that is filled from a stream and then sent or written, once,
// need not be in memory.
func TestGrownBuffer(t *testing.T) {
	const (
		tars   = "var buf bytes.Buffer\ntw := tar.NewWriter(&buf)\nio.Copy(tw, f) // A\ntw.Close()\n"
		posts  = "_, err := http.Post(\"x\", \"y\", &buf)\nreturn err"
		room   = "Give buf its room before anything is written: buf.Grow(n)"
		stream = "buf is only put together to be sent. Stream it: with pr, pw := io.Pipe()"
		above  = "main.main:/src/main.go:400 main.pack@A io.Copy io.copyBuffer archive/tar.(*Writer).Write "
		grows  = above + "bytes.(*Buffer).Write bytes.(*Buffer).grow runtime.memmove"
		clears = above + "bytes.(*Buffer).Write bytes.growSlice runtime.memclrNoHeapPointers"
		moves  = above + "archive/tar.copyHeader runtime.memmove"
		copies = "a part of what the library does"
		theirs = "Most of it is a buffer (bytes.Buffer) that grows while the library writes to it"
	)
	head := "package main\n\nimport (\n\"archive/tar\"\n\"bytes\"\n\"encoding/json\"\n\"io\"\n\"net/http\"\n\"os\"\n\"strings\"\n)\n\nvar last *bytes.Buffer\n\nfunc pack(f *os.File, out *os.File, mark []byte) error {\n"
	at := stackAt(head+tars, "main.pack@A")
	elsewhere := func(first, second string) string {
		return strings.Replace(grows, "main.pack@A", first, 1) + "|" + strings.Replace(grows, "main.pack@A", second, 1)
	}
	for _, c := range []struct {
		name, body, most, rest string // rest are stacks that each take less
		advice, not            string
	}{
		{"it is sent", tars + posts, grows, grows, stream, room},
		{"it is cleared", tars + posts, clears, clears, stream, room},
		{"less of the copying is another one", tars + posts, grows, moves, stream, copies},
		{"it is written", tars + "_, err := io.Copy(out, &buf)\nreturn err", grows, grows, "buf is only put together to be sent. Write to out itself, instead of to buf: tar.NewWriter over it", room},
		{"it may have to stay", tars + posts, grows, grows, "If it has to stay a buffer, give it its room before anything is written: buf.Grow(n)", room},

		{"it is kept", tars + "last = &buf\n" + posts, grows, grows, room, "io.Pipe"},
		{"it is sent twice", tars + "http.Post(\"x\", \"y\", bytes.NewReader(buf.Bytes()))\n_, err := http.Post(\"x\", \"z\", bytes.NewReader(buf.Bytes()))\nreturn err", grows, grows, room, "io.Pipe"},
		{"all of it is looked at", tars + "if bytes.Contains(buf.Bytes(), mark) {\nreturn nil\n}\n" + posts, grows, grows, room, "io.Pipe"},
		{"it is not filled from a stream", "var buf bytes.Buffer\njson.NewEncoder(&buf).Encode(f) // A\n" + posts, grows, grows, room, "io.Pipe"},
		{"nothing is done with it", tars + "return nil", grows, grows, room, "io.Pipe"},
		{"another one is sent", "var buf bytes.Buffer\nvar z strings.Builder\ntar.NewWriter(&buf)\nio.Copy(&z, f) // A\nlast = &buf\n_, err := http.Post(\"x\", \"y\", strings.NewReader(z.String()))\nreturn err", grows, grows, room, "io.Pipe"},
		{"the buffer of the library", "tw := tar.NewWriter(out)\nio.Copy(tw, f) // A\nreturn nil", grows, grows, theirs, "io.Pipe"},
		{"another copy", tars + posts, moves, grows, copies, "io.Pipe"},
		{"growth on other lines", tars + posts, moves, elsewhere("main.pack:/src/main.go:3", "main.pack:/src/main.go:4"), copies, "io.Pipe"},
		{"growth in other functions", tars + posts, moves, elsewhere("main.first@A", "main.second@A"), copies, "io.Pipe"},
		{"growth in other files", tars + posts, moves, elsewhere(strings.Replace(at, "main.go", "first.go", 1), strings.Replace(at, "main.go", "second.go", 1)), copies, "io.Pipe"},
		{"growth that does not copy", tars + posts, moves, above + "bytes.(*Buffer).Write bytes.(*Buffer).grow archive/tar.work|" + above + "bytes.(*Buffer).Write bytes.(*Buffer).grow archive/tar.rest", copies, "io.Pipe"},
	} {
		text := head + c.body + "\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		columns := []column{{stackAt(text, c.most), []int64{40}}, {"main.main:/src/main.go:400 main.other:/src/other.go:3", []int64{20}}}
		for frames := range strings.SplitSeq(c.rest, "|") {
			columns = append(columns, column{stackAt(text, frames), []int64{30}})
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		f := answers(t, r, "CP06")[0]
		if f.State != Found || !strings.Contains(f.Advice, c.advice) || strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
		}
	}
}
