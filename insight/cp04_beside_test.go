package insight

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// lineMarks puts the numbers of the lines of a source that end with "// X" in the place of %X.
func lineMarks(source, text string) string {
	return regexp.MustCompile(`%[A-Z]`).ReplaceAllStringFunc(text, func(m string) string {
		before, _, ok := strings.Cut(source, "// "+m[1:]+"\n")
		if !ok {
			return m
		}
		return fmt.Sprint(1 + strings.Count(before, "\n"))
	})
}

// TestTouchedFiles: a buffer in front of a file that is written is advised without a condition only where the sources neither read the same
// file back, nor move its place, nor ask it for that.
func TestTouchedFiles(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"io\"\n\t\"os\"\n)\n\ntype table struct {\n\tf, other *os.File\n\tn int64\n}\n\n"
	const write = "func (t *table) add(b [8]byte) {\n\tt.f.Write(b[:]) // A\n}\n\n"
	const many = "func (t *table) add(b []byte) {\n\tt.f.Write(b) // A\n}\n\n"
	const end = "func main() { new(table).add([8]byte{}) }\n"
	for _, c := range []struct {
		name, source string
		says         string // "" where the plain advice stays
	}{
		{"read back at a place", write + "func (t *table) get(b []byte, at int64) {\n\tt.f.ReadAt(b, at) // C\n}\n\n" + end, "is also read, at main.go:%C"},
		{"the same, of unknown size", many + "func (t *table) get(b []byte, at int64) {\n\tt.f.ReadAt(b, at) // C\n}\n\n" + end, "is also read, at main.go:%C"},
		{"by a function of the library", write + "func (t *table) get(b []byte) {\n\tio.ReadFull(t.f, b) // C\n}\n\n" + end, "is also read, at main.go:%C"},
		{"by the one who has made it", write + "func open() *table {\n\tf, _ := os.Create(\"x\")\n\tt := &table{f: f}\n\tfor s := bufio.NewScanner(f); s.Scan(); { // C\n\t}\n\treturn t\n}\n\n" + end, "is also read, at main.go:%C"},
		{"by one who is given it", write + "func (t *table) check() { sum(t.f) }\n\nfunc sum(f *os.File) {\n\tio.ReadAll(f) // C\n}\n\n" + end, "is also read, at main.go:%C"},
		{"read and written in turns", "func (t *table) add(b [8]byte) {\n\tfor {\n\t\tio.ReadFull(t.f, b[:]) // C\n\t\tt.f.Write(b[:]) // A\n\t}\n}\n\n" + end, "is read at main.go:%C and written at main.go:%A in turns"},
		{"its place is asked for", "func (t *table) add(b [8]byte) {\n\tt.n, _ = t.f.Seek(0, io.SeekCurrent) // C\n\tt.f.Write(b[:]) // A\n}\n\n" + end, "is asked of it at main.go:%C"},
		{"its size is asked for", write + "func (t *table) size() int64 {\n\ti, _ := t.f.Stat() // C\n\treturn i.Size()\n}\n\n" + end, "is asked of it at main.go:%C"},
		{"its place is moved elsewhere", write + "func (t *table) rewind() {\n\tt.f.Seek(0, io.SeekStart) // C\n}\n\n" + end, "moved, or the file is changed past a buffer, at main.go:%C"},
		{"a head that is written later", write + "func (t *table) finish(b []byte) {\n\tt.f.WriteAt(b, 0) // C\n}\n\n" + end, "moved, or the file is changed past a buffer, at main.go:%C"},

		{"written alone", write + end, ""},
		{"another file is read", write + "func (t *table) get(b []byte, at int64) {\n\tt.other.ReadAt(b, at)\n}\n\n" + end, ""},
		{"a file of the same name elsewhere", write + "type input struct{ f *os.File }\n\nfunc (i *input) get(b []byte) {\n\ti.f.Read(b)\n}\n\n" + end, ""},
		{"closed, synced and named", write + "func (t *table) end() {\n\tt.f.Sync()\n\tfmt.Println(t.f.Name())\n\tt.f.Close()\n}\n\n" + end, ""},
		{"a local one of another function", write + "func load() {\n\tf, _ := os.Open(\"y\")\n\tio.ReadAll(f)\n}\n\n" + end, ""},
		{"written by others, too", write + "func (t *table) head() {\n\tfmt.Fprintln(t.f, \"x\")\n}\n\n" + end, ""},
	} {
		source := head + c.source
		f := answers(t, profiledSource(source, column{stackAt(source, "main.main:/src/main.go:60 main.(*table).add@A") + " os.(*File).Write internal/poll.(*FD).Write syscall.write syscall.Syscall internal/runtime/syscall/linux.Syscall6", []int64{280}}, column{"main.main:/src/main.go:60 main.other:/src/other.go:3", []int64{120}}), "CP04")[0]
		if c.says == "" {
			if !strings.HasPrefix(f.Advice, "Put a bufio.Writer in front of the file") {
				t.Errorf("%s: %s", c.name, f.Advice)
			}
			continue
		}
		if says := lineMarks(source, c.says); !strings.HasPrefix(f.Advice, "The file ") && !strings.HasPrefix(f.Advice, "The place in the file") && !strings.HasPrefix(f.Advice, "Where the file") || !strings.Contains(f.Advice, says) {
			t.Errorf("%s: %s, want %s", c.name, f.Advice, says)
		}
	}
}

// profiledSource is a recording of a program with one file, /src/main.go, and a CPU profile.
func profiledSource(source string, columns ...column) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	withProfile(r, recording.CPU, "cpu", columns...)
	return r
}
