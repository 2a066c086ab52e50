package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestMakersOf: where a writer allocates at its first Write, the source tells which line has
// made it.
func TestMakersOf(t *testing.T) {
	const source = "package main\n\nimport \"compress/gzip\"\n\nfunc open(w io.Writer) *gzip.Writer {\n\tz, _ := gzip.NewWriterLevel(w, 9)\n\treturn z\n}\n\nfunc write(z *gzip.Writer) {\n\tz.Write(text)\n}\n"
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
	in := NewInput(session.New(r.Open()))
	if got := makersOf(in, stack.Frame{File: "a.go", Line: 11}, "writer"); len(got) != 1 || got[0].Line != 6 {
		t.Errorf("a line that writes: %+v", got)
	}
	if got := makersOf(in, stack.Frame{File: "a.go", Line: 6}, "writer"); len(got) != 0 {
		t.Errorf("the line that makes it: %+v", got)
	}
	if got := makersOf(in, stack.Frame{File: "a.go", Line: 11}, "reader"); len(got) != 0 {
		t.Errorf("readers, of which there are none: %+v", got)
	}
}
