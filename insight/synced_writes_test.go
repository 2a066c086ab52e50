package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/value/stack"
)

// TestSyncedWrites: writes that take long are told to wait for the disk where the file is opened so: in the function that writes, in one that calls it, or as the only one of
// the folder.
func TestSyncedWrites(t *testing.T) {
	const loop = "\tfor len(data) > 0 {\n\t\tn, _ := f.Write(data) // here\n\t\tdata = data[n:]\n\t}\n"
	for _, c := range []struct {
		name, source string
		each         time.Duration
		calls        int64
		says         string
		severity     Severity
	}{
		{"pieces", "func f(data []byte) {\n\tf, _ := os.OpenFile(name, os.O_CREATE|os.O_SYNC, 0o644)\n" + loop + "\tf.Close()\n}", time.Millisecond, 500, "opened with os.O_SYNC, at a.go:4", Warning},
		{"by a variable", "func f(data []byte) {\n\tflags := os.O_CREATE\n\tflags |= syscall.O_DSYNC\n\tf, _ := os.OpenFile(name, flags, 0o644)\n" + loop + "}", time.Millisecond, 500, "opened with syscall.O_DSYNC, at a.go:6", Warning},
		{"by a constant", "const flags = os.O_CREATE | os.O_SYNC\n\nfunc f(data []byte) {\n\tf, _ := os.OpenFile(name, flags, 0o644)\n" + loop + "}", time.Millisecond, 500, "opened with os.O_SYNC, at a.go:6", Warning},
		{"a log", "type log struct{ f *os.File }\n\nfunc open() *log {\n\tf, _ := os.OpenFile(name, os.O_APPEND|os.O_SYNC, 0o644)\n\treturn &log{f}\n}\n\nfunc (l *log) f(data []byte) {\n\tl.f.Write(data) // here\n}", time.Millisecond, 500, "opened with os.O_SYNC, at a.go:6", Info},
		{"acknowledged behind the pieces", "func f(q *queue) {\n\tf, _ := os.OpenFile(name, os.O_CREATE|os.O_SYNC, 0o644)\n\tfor data := range q.all() {\n" + loop + "\tq.done(data)\n\t}\n}", time.Millisecond, 500, "opened with os.O_SYNC, at a.go:4", Info},
		{"a file for each, acknowledged behind it", "func f(q *queue) {\n\tfor data := range q.all() {\n\tf, _ := os.OpenFile(name, os.O_CREATE|os.O_SYNC, 0o644)\n" + loop + "\tf.Close()\n\tq.done(data)\n\t}\n}", time.Millisecond, 500, "opened with os.O_SYNC, at a.go:5", Warning},
		{"quick", "func f(data []byte) {\n\tf, _ := os.OpenFile(name, os.O_CREATE|os.O_SYNC, 0o644)\n" + loop + "}", 20 * time.Microsecond, 500, "", ""},
		{"few", "func f(data []byte) {\n\tf, _ := os.OpenFile(name, os.O_CREATE|os.O_SYNC, 0o644)\n" + loop + "}", time.Millisecond, 5, "", ""},
		{"without", "func f(data []byte) {\n\tf, _ := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o644)\n" + loop + "}", time.Millisecond, 500, "", ""},
		{"one of two in the folder", "func g() {\n\tos.OpenFile(name, os.O_APPEND|os.O_SYNC, 0o644)\n\tos.Create(name)\n}\n\nfunc (l *log) f(data []byte) {\n\tl.f.Write(data) // here\n}", time.Millisecond, 500, "", ""},
	} {
		text := "package main\n\n" + c.source + "\n"
		in := sourceInput(text)
		at := lineWith(text, "// here")
		f := Finding{Severity: Info, Advice: fileWrites.advice()}
		tellSynced(in, []stack.Frame{{Func: "syscall.write"}, {Func: "internal/poll.(*FD).Write"}, {Func: "os.(*File).Write"}, at}, time.Duration(c.calls)*c.each, c.calls, 0.6, &f)
		if told := f.Advice != fileWrites.advice(); told != (c.says != "") || !strings.Contains(f.Summary, c.says) || told && f.Severity != c.severity {
			t.Errorf("%s: %s: %q", c.name, f.Severity, f.Summary)
		}
	}
}
