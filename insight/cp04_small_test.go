package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestSmallCalls: reads and writes of a few bytes by the source, which go to the kernel without a buffer, are told as such; a
// buffer in between, large ones and unknown sizes are not.
func TestSmallCalls(t *testing.T) {
	const read = " internal/poll.(*FD).Read syscall.read syscall.Syscall internal/runtime/syscall/linux.Syscall6"
	const write = " internal/poll.(*FD).Write syscall.write syscall.Syscall internal/runtime/syscall/linux.Syscall6"
	for _, c := range []struct {
		name, line, way, title string
		severity               Severity
	}{
		{"a header", "io.ReadFull(s.conn, s.hdr[:])", "io.ReadFull io.ReadAtLeast net.(*conn).Read net.(*netFD).Read" + read, "Small reads", Warning},
		{"a local array", "var b [4]byte\nio.ReadFull(s.conn, b[:2])", "io.ReadFull io.ReadAtLeast net.(*conn).Read net.(*netFD).Read" + read, "Small reads", Warning},
		{"a number", "binary.Read(s.conn, binary.BigEndian, &s.n)", "encoding/binary.Read io.ReadFull net.(*conn).Read net.(*netFD).Read" + read, "Small reads", Warning},
		{"one byte of a file", "b := make([]byte, 1)\ns.file.Read(b)", "os.(*File).Read" + read, "Small reads", Warning},
		{"a number is written", "binary.Write(s.conn, binary.BigEndian, s.n)", "encoding/binary.Write net.(*conn).Write net.(*netFD).Write" + write, "Small writes", Warning},
		{"a literal is written", "s.conn.Write([]byte{1, 2})", "net.(*conn).Write net.(*netFD).Write" + write, "Small writes", Warning},
		{"it answers each", "s.conn.Write(in)\nio.ReadFull(s.conn, s.hdr[:])", "io.ReadFull io.ReadAtLeast net.(*conn).Read net.(*netFD).Read" + read, "Small reads", Info},
		{"its place is set", "s.file.Seek(9, 0)\nio.ReadFull(s.file, s.hdr[:])", "io.ReadFull io.ReadAtLeast os.(*File).Read" + read, "System calls", Warning},
		{"packets", "s.conn, _ = net.Dial(\"udp\", \"host\")\ns.conn.Write([]byte{1, 2})", "net.(*conn).Write net.(*netFD).Write" + write, "System calls", Info},
		{"tokens of a pipe", "_, s.file, _ = os.Pipe()\ns.file.Write([]byte{1})", "os.(*File).Write" + write, "System calls", Warning},
		{"records of a log that others may write", "s.file, _ = os.OpenFile(\"log\", os.O_APPEND|os.O_WRONLY, 0)\ns.file.Write([]byte{1})", "os.(*File).Write" + write, "Small writes", Info},
		{"flushed after each", "fmt.Fprintln(s.w, s.n)\ns.w.Flush()", "bufio.(*Writer).Flush os.(*File).Write" + write, "A buffer is flushed", Warning},
		{"flushed at the end", "for range in {\nfmt.Fprintln(s.w, s.n)\n}\ns.w.Flush()", "bufio.(*Writer).Flush os.(*File).Write" + write, "System calls", Warning},
		{"through a buffer", "io.ReadFull(s.conn, s.hdr[:])", "io.ReadFull io.ReadAtLeast bufio.(*Reader).Read net.(*conn).Read net.(*netFD).Read" + read, "System calls", Info},
		{"much at a time", "io.ReadFull(s.conn, s.big[:])", "io.ReadFull io.ReadAtLeast net.(*conn).Read net.(*netFD).Read" + read, "System calls", Info},
		{"nobody knows how much", "io.ReadFull(s.conn, in)", "io.ReadFull io.ReadAtLeast net.(*conn).Read net.(*netFD).Read" + read, "System calls", Info},
	} {
		source := "package main\n\nimport (\n\"bufio\"\n\"fmt\"\n\"encoding/binary\"\n\"io\"\n\"net\"\n\"os\"\n)\n\ntype session struct {\nconn net.Conn\nfile *os.File\nw *bufio.Writer\nhdr [2]byte\nbig [65536]byte\nn uint32\n}\n\nfunc (s *session) next(in []byte) {\n" +
			c.line + "/*here*/\n}\n\nfunc main() { (&session{}).next(nil) }\n"
		line := 1 + strings.Count(source[:strings.Index(source, "/*here*/")], "\n")
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("main.main:/src/main.go:40 main.(*session).next:/src/main.go:%d %s", line, c.way), []int64{280}},
			column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP04")[0]
		if f.State != Found || f.Severity != c.severity || !strings.HasPrefix(f.Title, c.title) {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}
