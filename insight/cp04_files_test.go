package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestSmallFiles: reads of a few bytes that go straight to a file count with all that Go does around the system call, and with the seeks between
// them. Buffers, the program's own included, large reads and files that are read at any place are told otherwise, or not at all.
func TestSmallFiles(t *testing.T) {
	const head = "package main\n\nimport (\n\"bufio\"\n\"io\"\n\"os\"\n)\n\ntype dec struct {\nsrc io.ReadSeeker\nw io.Writer\nhdr [6]byte\nbig [65536]byte\nbody []byte\n}\n\ntype through struct { r io.Reader }\n\nfunc (t *through) Read(p []byte) (int, error) {\nreturn t.r.Read(p) //through\n}\n\ntype own struct { r io.Reader; buf [65536]byte }\n\nfunc (o *own) Read(p []byte) (int, error) {\no.r.Read(o.buf[:]) //own\nreturn copy(p, o.buf[:]), nil\n}\n\nfunc (d *dec) next() {\n"
	const small, large, back, anywhere, body = "io.ReadFull(d.src, d.hdr[:]) //read", "io.ReadFull(d.src, d.big[:]) //read", "d.src.Seek(-6, io.SeekCurrent) //seek", "d.src.Seek(at, io.SeekStart) //seek", "io.ReadFull(d.src, d.body) //body"
	const full, file, fd, kernel = " io.ReadFull io.ReadAtLeast", " os.(*File).Read internal/poll.(*FD).Read", " internal/poll.(*FD).Read internal/poll.(*fdMutex).rwlock", " syscall.Syscall internal/runtime/syscall/linux.Syscall6"
	for _, c := range []struct {
		name, lines string
		stacks      map[string]int64 // below a marked line
		title       string           // "" is no finding
		says        string
		advises     string
	}{
		{"reads alone", small, map[string]int64{"read" + full + file: 60, "read" + full + file + kernel: 90}, "Small reads", "37.5% of the CPU time goes into reads of an os.File, a few bytes at a time and with no buffer in between: 6 bytes at main.go:%read%", "Put a bufio.Reader in front of the file"},
		{"reads and seeks back", small + "\n" + back, map[string]int64{"read" + full + file: 60, "seek os.(*File).Seek os.(*File).seek" + kernel: 60}, "Small reads", "reads and seeks of an os.File", "The place in the same file is moved as well (Seek at main.go:%seek%), and a bufio.Reader has no Seek"},
		{"handed on by a method of the program", small, map[string]int64{"read" + full + " main.(*through).Read:/src/main.go:%through%" + file: 150}, "Small reads", "6 bytes at main.go:%read%", "bufio.Reader"},
		{"through a buffer", small, map[string]int64{"read" + full + " bufio.(*Reader).Read" + file: 150}, "", "", ""},
		{"through a buffer of the program", small, map[string]int64{"read" + full + " main.(*own).Read:/src/main.go:%own%" + file: 150}, "", "", ""},
		{"through a buffer of another module", small, map[string]int64{"read" + full + " example.org/buffered.(*Reader).Read" + file: 150}, "", "", ""},
		{"much at a time", large, map[string]int64{"read" + full + file: 150}, "", "", ""},
		{"at any place", small + "\n" + anywhere, map[string]int64{"read" + full + file: 90, "seek os.(*File).Seek os.(*File).seek": 90}, "", "", ""},
		{"a connection", small, map[string]int64{"read" + full + " net.(*conn).Read net.(*netFD).Read" + fd: 150}, "", "", ""},
		{"little of the time", small, map[string]int64{"read" + full + file: 80}, "", "", ""},
		{"most of it may be large", small + "\n" + body, map[string]int64{"read" + full + file: 40, "body" + full + file: 150}, "", "", ""},
		{"writes", "d.w.Write(d.hdr[:]) //read", map[string]int64{"read os.(*File).Write internal/poll.(*FD).Write": 150}, "Small writes", "writes of an os.File", "bufio.Writer"},
	} {
		source := head + c.lines + "\n}\n\nfunc main() { (&dec{}).next() }\n"
		place := func(text string) string {
			for _, mark := range []string{"read", "seek", "body", "through", "own"} {
				if i := strings.Index(source, "//"+mark); i >= 0 {
					text = strings.ReplaceAll(text, "%"+mark+"%", fmt.Sprint(1+strings.Count(source[:i], "\n")))
				}
			}
			return text
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		columns, rest := []column{}, int64(400)
		for way, n := range c.stacks {
			mark, below, _ := strings.Cut(way, " ")
			columns = append(columns, column{place("main.main:/src/main.go:60 main.(*dec).next:/src/main.go:%" + mark + "% " + below), []int64{n}})
			rest -= n
		}
		withProfile(r, recording.CPU, "cpu", append(columns, column{"main.main:/src/main.go:60 main.other:/src/other.go:3", []int64{rest}})...)
		var found *Finding
		for _, f := range answers(t, r, "CP04") {
			if f.State == Found && strings.HasPrefix(f.Title, "Small") {
				found = &f
			}
		}
		switch {
		case c.title == "" && found != nil:
			t.Errorf("%s: %s: %s", c.name, found.Title, found.Summary)
		case c.title == "":
		case found == nil:
			t.Errorf("%s: nothing", c.name)
		case !strings.HasPrefix(found.Title, c.title) || found.Severity != Warning || !strings.Contains(found.Summary, place(c.says)) || !strings.Contains(found.Advice, place(c.advises)):
			t.Errorf("%s: %s %s: %s\n%s", c.name, found.Severity, found.Title, found.Summary, found.Advice)
		}
	}
}
