package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
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
		{"several parts before it waits for the answer", "s.conn.Write([]byte{9})\nfor i := range in {\ns.conn.Write([]byte{in[i]})/*here*/\n}\nio.ReadFull(s.conn, s.hdr[:])", "net.(*conn).Write net.(*netFD).Write" + write, "Small writes", Warning},
		{"each part is answered", "for i := range in {\ns.conn.Write([]byte{in[i]})/*here*/\nio.ReadFull(s.conn, s.hdr[:])\n}", "net.(*conn).Write net.(*netFD).Write" + write, "Small writes", Info},
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

// TestFlushedConnection: a connection that is flushed after each piece is a fault where the goroutine that writes hardly ever waits: it
// has more to write each time.
func TestFlushedConnection(t *testing.T) {
	const source = "package main\n\nimport \"bufio\"\n\ntype sink struct {\n\tw *bufio.Writer\n}\n\nfunc (s *sink) line(l string) error {\n\ts.w.WriteString(l)\n\treturn s.w.Flush()\n}\n\nfunc main() { (&sink{}).line(\"\") }\n"
	const flush = "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;bufio.(*Writer).Flush@bufio.go:1;main.(*sink).line@main.go:11;main.main@main.go:14"
	for _, c := range []struct {
		name     string
		rests    int // after how many writes it waits for more
		severity Severity
	}{{"it goes on", 50, Warning}, {"it waits after each", 1, Info}, {"after each second", 2, Info}, {"no trace", 0, Info}} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\nphase trace 5s..7s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{"main.main:main.go:14 main.(*sink).line:main.go:11 bufio.(*Writer).Flush net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write syscall.write syscall.Syscall internal/runtime/syscall/linux.Syscall6", []int64{280}},
			column{"main.main:main.go:14 main.other:other.go:3", []int64{120}})
		if c.rests > 0 {
			p := accounttest.New()
			p.Create(7, "main.feed", "main.main@main.go:14")
			for n := range 300 {
				p.Pass(time.Millisecond)
				p.Call(10*time.Microsecond, flush)
				if n%c.rests == c.rests-1 {
					p.Block("chan receive", "runtime.chanrecv1@chan.go:1;main.main@main.go:14")
					p.Start(7)
					p.Wake(1, "main.feed@main.go:15")
					p.Block("sleep", "time.Sleep@sleep.go:1;main.feed@main.go:16")
					p.Start(1)
					p.Wake(7, "")
				}
			}
			r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		}
		if f := answers(t, r, "CP04")[0]; f.State != Found || f.Severity != c.severity || strings.HasPrefix(f.Title, "A buffer is flushed") != (c.severity == Warning) {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}
