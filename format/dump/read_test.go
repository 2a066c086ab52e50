package dump

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestEndlessLine: a line without an end does not end the reading, however long it
// is and in how many pieces it comes, and the dump behind it is found.
func TestEndlessLine(t *testing.T) {
	const crash = "\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:3 +0x1d\n"
	line := bytes.Repeat([]byte{0}, 40<<20)
	f, err := Read(io.MultiReader(pieces{bytes.NewReader(line), 100 << 10}, strings.NewReader(crash)))
	if err != nil || f.Len() != 1 || f.Bytes != int64(len(line)+len(crash)) {
		t.Errorf("%d goroutines in %d bytes: %v", f.Len(), f.Bytes, err)
	}
}

// pieces gives away so many bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }
