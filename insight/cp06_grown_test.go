package insight

import (
	"testing"

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
		{"a parameter", "tw := tar.NewWriter(in)\ntw.Write(b) // here", ""},
		{"one of two", "var x, y bytes.Buffer\nfmt.Fprint(&x, 1)\nfmt.Fprint(&y, b) // here", ""},
		{"a builder", "var sb strings.Builder\nfmt.Fprint(&sb, b) // here", ""},
		{"a file", "f, _ := os.Create(\"x\")\ntw := tar.NewWriter(f)\ntw.Write(b) // here", ""},
		{"to a function of the program", "var buf bytes.Buffer\npack(&buf) // here", ""},
	} {
		text := "package main\n\nimport (\n\"archive/tar\"\n\"bytes\"\n\"fmt\"\n\"os\"\n\"strings\"\n)\n\nfunc pack(w *bytes.Buffer) {}\n\nfunc f(in *bytes.Buffer, b []byte) {\n" + c.body + "\n}\n"
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
