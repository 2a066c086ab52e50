package compare

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"loupe/format/benchmark"
	"loupe/internal/cli/command"
	"loupe/source/bounded"
)

// TestStreamIsBounded: a stream may have so many bytes, and is refused beyond.
func TestStreamIsBounded(t *testing.T) {
	text := strings.Repeat("BenchmarkA 1 2 ns/op\n", 1000)
	f := func(limit int, refused bool) {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		go func() {
			io.WriteString(w, text) // fails when nobody reads on
			w.Close()
		}()
		c, err := benchmark.NewCollector(benchmark.Everything())
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		e := &command.Env{Stdin: r, Stderr: &said, Ctx: t.Context()}
		err = readInput(e, c, benchmark.Input{Name: "-", Label: "-"}, int64(limit))
		if errors.Is(err, bounded.ErrTooLong) != refused || (err != nil) != refused || said.Len() > 0 {
			t.Errorf("%v %q", err, &said)
		}
		if n := c.Result().Results; !refused && n != 1000 {
			t.Errorf("%d results", n)
		}
	}
	f(len(text), false)
	f(len(text)-1, true)
	f(100, true)
}
