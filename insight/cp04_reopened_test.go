package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestAppendsReopened: a file that is opened to append one record, and closed, for each turn of a loop is told as such. Another file for each item, one
// that is kept open, and one that is written anew are not.
func TestAppendsReopened(t *testing.T) {
	const head = "package main\n\nimport \"os\"\n\ntype item struct { name string; text []byte }\ntype log struct { name string; f *os.File }\nvar items []item\nvar logs []*log\n"
	const loop = "func main() {\n\tl := &log{name: \"x\"}\n\tfor _, x := range items {\n\t\tl.append(append(x.text, 10)) // B\n\t}\n}\n"
	const write = "func (l *log) append(b []byte) error {\n\tf, err := os.OpenFile(l.name, os.O_APPEND|os.O_WRONLY, 0o600) // A\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer f.Close()\n\t_, err = f.Write(b)\n\treturn err\n}\n"
	const rotate = "func (l *log) rotate() { os.Rename(l.name, l.name+\".1\") }\n"
	const opens = " os.OpenFile os.openFileNolog os.open syscall.openat syscall.Syscall6 internal/runtime/syscall/linux.Syscall6"
	for _, c := range []struct {
		name, source, stack string
		want                bool
	}{
		{"for each item", loop + write, "main.main@B main.(*log).append@A", true},
		{"for each request", "func main() {}\nfunc (l *log) handle() {\n\tl.append(nil) // B\n}\n" + write, "net/http.(*conn).serve main.(*log).handle@B main.(*log).append@A", true},
		{"in a loop of a handler", "func main() {\n\tl := &log{name: \"x\"}\n\thandle(func() {\n\t\tfor range 40 {\n\t\t\tl.append(nil) // B\n\t\t}\n\t})\n}\n" + write + rotate, "net/http.(*conn).serve main.main.func1@B main.(*log).append@A", true},
		{"with a rotation", loop + write + rotate, "main.main@B main.(*log).append@A", true},
		{"a constant name", strings.Replace(loop+write, "l.name,", "\"audit.log\",", 1), "main.main@B main.(*log).append@A", true},
		{"the file of each log", strings.Replace(strings.Replace(loop, "_, x := range items", "_, l := range logs", 1), "x.text", "nil", 1) + write, "main.main@B main.(*log).append@A", false},
		{"the file of each item", strings.Replace(loop, "append(x.text, 10)", "x.name", 1) + strings.Replace(strings.Replace(strings.Replace(write, "b []byte", "name string", 1), "l.name", "name", 1), "Write(b)", "WriteString(name)", 1), "main.main@B main.(*log).append@A", false},
		{"kept", loop + strings.Replace(write, "defer f.Close()", "l.f = f", 1), "main.main@B main.(*log).append@A", false},
		{"handed back", loop + strings.Replace(write, "_, err = f.Write(b)", "keep := f\n\tl.f = keep", 1), "main.main@B main.(*log).append@A", false},
		{"written anew", loop + strings.Replace(write, "O_APPEND", "O_TRUNC", 1), "main.main@B main.(*log).append@A", false},
		{"once", strings.Replace(strings.Replace(loop, "for _, x := range items {", "{\n\t\tx := items[0]", 1), "l.append", "l.append", 1) + write, "main.main@B main.(*log).append@A", false},
		{"the name changes", loop + write + "func (l *log) next() { l.name += \".1\" }\n", "main.main@B main.(*log).append@A", false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		source := head + c.source
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, c.stack) + opens, []int64{280}}, column{"main.main:/src/main.go:40 main.other:/src/other.go:3", []int64{120}})
		f := answers(t, r, "CP04")[0]
		if got := strings.HasPrefix(f.Title, "The same file is opened"); got != c.want || got && f.Severity != Warning || f.State != Found {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
		if strings.Contains(f.Advice, "after the rename at") != (c.want && strings.Contains(c.source, "Rename")) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
