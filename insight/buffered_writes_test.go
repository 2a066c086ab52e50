package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestBufferedWrites: who writes to a bufio.Writer is told neither to take it away, nor to put one in front; where that is in front of another buffer, or there is
// none, the advice remains.
func TestBufferedWrites(t *testing.T) {
	const copied, sent = "bufio.(*Writer).Write:/bufio.go:680 runtime.memmove:/move.s:9", "net.(*conn).Write:/net.go:1 internal/poll.(*FD).Write:/fd.go:1 syscall.write:/sys.go:1 syscall.Syscall:/sys.go:2 internal/runtime/syscall/linux.Syscall6:/asm.s:1"
	for _, c := range []struct {
		name, rule, make, frames string
		advice, not              string
		severity                 Severity
	}{
		{"pieces are put together", "CP06", "out := bufio.NewWriterSize(w, 64<<10)", copied, "(out) of 64.0 KiB, which copies pieces that are smaller", "remove a buffer", Info},
		{"in front of a buffer", "CP06", "var buf bytes.Buffer\nout := bufio.NewWriter(&buf)", copied, "Write to buf directly", "keep it", Warning},
		{"another copy", "CP06", "out := w", "main.move:/src/main.go:3 runtime.memmove:/move.s:9", "remove a buffer from a chain", "bufio.Writer", Warning},
		{"a buffer is there", "CP04", "out := bufio.NewWriterSize(w, 64<<10)", "bufio.(*Writer).Write:/bufio.go:690 bufio.(*Writer).Flush:/bufio.go:640 " + sent, "the price of the bytes", "flushed once per response", Info},
		{"a small one is there", "CP04", "out := bufio.NewWriter(w)", "bufio.(*Writer).Write:/bufio.go:690 bufio.(*Writer).Flush:/bufio.go:640 " + sent, "of 4.00 KiB, so that the calls are not made for each piece. Make it larger", "flushed once per response", Info},
		{"one of the library", "CP04", "out := w", "net/http.(*response).Write:/http.go:1 bufio.(*Writer).Write:/bufio.go:690 " + sent, "flushed once per response", "(out)", Info},
	} {
		source := "package main\n\nimport (\n\"bufio\"\n\"bytes\"\n\"io\"\n)\n\nfunc send(w io.Writer, all [][]byte) {\n" + c.make + "\nfor _, x := range all {\nout.Write(x) // here\n}\n}\n"
		at := 1 + strings.Count(source[:strings.Index(source, "// here")], "\n")
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("main.main:/src/main.go:400 main.send:/src/main.go:%d %s", at, c.frames), []int64{80}}, column{"main.main:/src/main.go:400 main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, c.rule)[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Advice, c.advice) || strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s %s: %s → %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
