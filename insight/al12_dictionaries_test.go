package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestDictionaryAt: a pool of compressors is advised for each dictionary where they are made with different ones; one that all have, or a level that
// is the same, is no reason.
func TestDictionaryAt(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"compress/flate\"\n\t\"compress/gzip\"\n\t\"compress/zlib\"\n\t\"io\"\n\t\"math/rand\"\n)\n\nvar dicts = map[int][]byte{}\n\nvar one = []byte(\"hello\")\n\ntype peer struct{ dict []byte }\n\n"
	for _, c := range []struct {
		name, line string
		what, says string
	}{
		{"one of several", "func f(w io.Writer) { flate.NewWriterDict(w, 6, dicts[rand.Intn(50)]) } // A\n", "dictionary", "The dictionary at a.go:%A (dicts[rand.Intn(50)]) may be another one each time"},
		{"of what it is given", "func f(w io.Writer, p *peer) { zlib.NewWriterLevelDict(w, 6, p.dict) } // A\n", "dictionary", "Keep a pool for each dictionary"},
		{"of a reader", "func f(r io.Reader, p *peer) { flate.NewReaderDict(r, p.dict) } // A\n", "dictionary", "give it to Reset(r, dict)"},
		{"of an option", "func f(w io.Writer, p *peer) { zstd.NewWriter(w, zstd.WithEncoderDict(p.dict)) } // A\n", "dictionary", "Keep a pool for each dictionary"},
		{"a level by request", "func f(w io.Writer, level int) { gzip.NewWriterLevel(w, level) } // A\n", "level", "keep a pool for each level"},

		{"none", "func f(w io.Writer) { gzip.NewWriter(w) } // A\n", "", ""},
		{"a level that is a constant", "func f(w io.Writer) { gzip.NewWriterLevel(w, gzip.BestSpeed) } // A\n", "", ""},
		{"one for all", "func f(w io.Writer) { flate.NewWriterDict(w, 6, one) } // A\n", "", ""},
		{"no dictionary", "func f(w io.Writer) { zlib.NewWriterLevelDict(w, 6, nil) } // A\n", "", ""},
		{"that of another line", "func f(w io.Writer) {\n\tgzip.NewWriter(w) // A\n\tflate.NewWriterDict(w, 6, dicts[0])\n}\n", "", ""},
	} {
		text := head + c.line
		before, _, _ := strings.Cut(text, "// A\n")
		code := codeOf(text)
		m := dictionaryAt(code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 1 + strings.Count(before, "\n")}})
		f := Finding{Advice: "plain"}
		m.tell(code, &f)
		if want := lineMarks(text, c.says); m.what != c.what || !strings.Contains(f.Advice, want) || c.what == "" && f.Advice != "plain" {
			t.Errorf("%s: %q: %s, want %s", c.name, m.what, f.Advice, want)
		}
	}
}
