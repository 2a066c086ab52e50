package collect

import (
	"strings"
	"testing"
	"time"
)

// text is a sink that keeps everything.
type text struct{ strings.Builder }

func (s *text) started(int)                         {}
func (s *text) packet(p []byte, _ time.Time, _ int) { s.Write(p) }
func (s *text) end()                                {}

// TestReadsWhatCameInTime: the program has written and ended, its standard
// error is still open elsewhere, and the reader gets to run only when the time
// to drain is over.
func TestReadsWhatCameInTime(t *testing.T) {
	for _, pipe := range []bool{false, true} {
		r, err := newStderrReader(pipe)
		if err != nil {
			t.Fatal(err)
		}
		defer r.child.Close()
		want := ""
		for range 1000 {
			r.child.WriteString("a line of the program\n")
			want += "a line of the program\n"
		}
		past := time.Now().Add(-time.Second)
		r.end.Store(past.UnixNano())
		if pipe {
			r.pipe.SetReadDeadline(past)
		}
		var got text
		r.readAll(&got)
		if got.String() != want {
			t.Errorf("pipe %v: %d of %d bytes were read", pipe, got.Len(), len(want))
		}
	}
}
