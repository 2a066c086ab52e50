package exectrace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/format/exectrace/fixture"
)

// rawText returns the trace as text.
func rawText(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	if err := exectrace.WriteText(&b, open(t, data)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRawText writes traces of all formats as text, which must be that of the
// standard library, and reads the text again.
func TestRawText(t *testing.T) {
	dir := t.TempDir()
	if out, err := exectracetest.Oracle(t, "unpack", filepath.Join(exectracetest.Tree(t), "testdata", "tests"), dir); err != nil {
		t.Fatal(out, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
	more, _ := filepath.Glob(filepath.Join(os.Getenv("LOUPE_TRACES"), "*-10.trace"))
	now := filepath.Join(dir, "now")
	if err := os.WriteFile(now, exectracetest.Record(t), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range append(append(files, more...), now) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := exectracetest.Oracle(t, "wire", file)
		if err != nil {
			t.Fatal(err)
		}
		got := rawText(t, data)
		same(t, file, got, want)
		back, err := exectrace.ParseText(strings.NewReader(got))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if strings.HasPrefix(filepath.Base(file), "go1") && !bytes.Equal(back, data) {
			t.Errorf("%s: text and back gives %d bytes, it has %d", file, len(back), len(data))
		}
		same(t, file, rawText(t, back), got)
	}
}

const short = `
Trace Go1.26
# One goroutine waits for another.
EventBatch m=1 time=100
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
GoCreate dt=5 new_g=2 new_stack=main.worker@main.go:20 stack=main.main@main.go:7
GoBlock dt=2 reason_string="chan receive" stack=runtime.chanrecv1@chan.go:506;main.main@main.go:9
GoStart dt=3 g=2 g_seq=1
UserRegionBegin dt=1 name_string=work stack=main.worker@main.go:21
EventBatch gen=2 m=1 time=200
ProcStatus p=0 pstatus=running
GoStatus g=2 m=1 gstatus=running
GoStatus g=1 m=-1 gstatus=waiting
GoUnblock dt=8 g=1 g_seq=1 stack=runtime.chansend1@chan.go:161;main.worker@main.go:30
`

// TestShortText reads a text that leaves out what can be computed. The
// standard library takes what comes out, and so do older formats.
func TestShortText(t *testing.T) {
	for _, version := range []string{"1.22", "1.23", "1.25", "1.26"} {
		data := fixture.Trace(t, strings.Replace(short, "1.26", version, 1))
		got, err := words(t, data, exectrace.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := exectracetest.Oracle(t, "events", file)
		if err != nil {
			t.Fatal(err)
		}
		same(t, version, got, want)
		for _, part := range []string{
			"Time=109 GoID=1 Running->Waiting Reason=\"chan receive\"", "main.worker @ 0x", "chan.go:506", `Type="work"`, "Time=208 GoID=1 Waiting->Runnable",
		} {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q is missing in\n%s", version, part, got)
			}
		}
	}
}

// TestBadText names the line of what it cannot read.
func TestBadText(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := exectrace.ParseText(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	f("", "it is empty")
	f("Trace Go1.21\n", "Go1.22 or later")
	f("Trace Go1.22\nGoSwitch g=1\n", `line 2: format 1.22 has no event "GoSwitch"`)
	f("Trace Go1.22\nProcStop\n", "line 2: ProcStop stands in front of the first EventBatch")
	f("Trace Go1.22\n\nEventBatch gin=1\n", `line 3: EventBatch has no argument "gin", but gen, m, time, size`)
	f("Trace Go1.22\nEventBatch\nGoStart g=x\n", "line 3: g=x is not a number")
	f("Trace Go1.22\nEventBatch\nGoStart g\n", `line 3: "g" should be NAME=VALUE`)
	f("Trace Go1.22\nEventBatch\nString id=1\n", `line 3: String should be followed by data="..."`)
	f("Trace Go1.22\nEventBatch\nGoStop reason_string=\"x\n", "line 3: cannot find the end of the string")
	f("Trace Go1.22\nEventBatch\nStack id=1 nframes=1\n\tpc=1 func=2\n", "a frame is")
}

func FuzzParseText(f *testing.F) {
	f.Add(short)
	f.Add("Trace Go1.22\nEventBatch gen=1 m=0 time=0 size=1\nStrings\nString id=1\n\tdata=\"x\"\nStacks\nStack id=1 nframes=1\n\tpc=1 func=1 file=1 line=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		data, err := exectrace.ParseText(strings.NewReader(text))
		if err != nil {
			return
		}
		possible(t, data, exectrace.Options{})
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			return
		}
		var first, second strings.Builder
		if exectrace.WriteText(&first, tr) != nil {
			return
		}
		back, err := exectrace.ParseText(strings.NewReader(first.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, first.String())
		}
		if tr, err = exectrace.Open(back, exectrace.Options{}); err != nil {
			t.Fatal(err)
		}
		if exectrace.WriteText(&second, tr) != nil || first.String() != second.String() {
			t.Errorf("text and back:\n%s\n%s", first.String(), second.String())
		}
	})
}
