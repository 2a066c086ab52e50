package streams

import (
	"bytes"
	"slices"
	"testing"
)

// find finds the lines that begin with panic.
func find(line []byte, from int) int {
	if i := bytes.Index(line[from:], []byte("panic")); i >= 0 {
		return from + i
	}
	return -1
}

// A prefix may be of another encoding than UTF-8, or of none.
func TestPrefixOfNoUTF8(t *testing.T) {
	log := []byte("caf\xe9-1 | panic: one\ncaf\xe9-2 | panic: two\ncaf\xe9-1 | main.a\ncaf\xe9-2 | main.b\ncaf\xe9-1 | main.c\ncaf\xe9-2 | main.d\n")
	got := Learn(log, find).Split(log)
	if len(got) != 2 || string(got[0].Text) != "panic: one\nmain.a\nmain.c\n" || string(got[1].Text) != "panic: two\nmain.b\nmain.d\n" {
		t.Errorf("the streams are %q", got)
	}
}

// FuzzLearn takes any text apart: no more lines come out than went in.
func FuzzLearn(f *testing.F) {
	f.Add([]byte("web-1 | panic: one\nweb-2 | panic: two\nweb-1 | a\nweb-2 | b\n"))
	f.Add([]byte("2025-01-02T15:04:05Z a\xff[7]: panic\n2025-01-02T15:04:06Z a\xff[8]: panic\n"))
	f.Add([]byte(`{"pid":1,"msg":"panic"}` + "\n" + `{"pid":2,"msg":"panic"}` + "\n"))
	f.Add([]byte("web-1 | {\"pid\":1,\"msg\":\"panic\"}\nweb-1 | {\"pid\":2,\"msg\":\"panic\"}\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		splitter := Learn(log, find)
		if splitter == nil {
			return // one stream
		}
		lines := 0
		for _, s := range splitter.Split(log) {
			lines += len(slices.Collect(bytes.Lines(s.Text)))
		}
		// A message of an object may end with a line's end of its own, and hold some.
		if had := len(slices.Collect(bytes.Lines(log))) + bytes.Count(log, []byte(`\n`)) + bytes.Count(log, []byte(`\u`)); lines > had {
			t.Errorf("%d lines of %d", lines, had)
		}
	})
}
