package exectrace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
)

// corpus returns the inputs that Go keeps for the fuzzing of its own reader,
// its test traces, and a real trace.
func corpus(f *testing.F) (out [][]byte) {
	tree := filepath.Join(exectracetest.Tree(f), "testdata")
	seeds, _ := filepath.Glob(filepath.Join(tree, "fuzz", "FuzzReader", "*"))
	for _, name := range seeds {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, quoted, ok := bytes.Cut(text, []byte("[]byte("))
		if !ok {
			continue
		}
		if s, err := strconv.Unquote(string(bytes.TrimSuffix(bytes.TrimSpace(quoted), []byte(")")))); err == nil {
			out = append(out, []byte(s))
		}
	}
	dir := f.TempDir()
	if text, err := exectracetest.Oracle(f, "unpack", filepath.Join(tree, "tests"), dir); err != nil {
		f.Fatal(text, err)
	}
	traces, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
	for _, name := range traces {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 64<<10 {
			out = append(out, data)
		}
	}
	if len(out) < 20 {
		f.Fatalf("%d seeds, there should be 20 at least", len(out))
	}
	for _, real := range recorded(f) {
		if len(real) < 64<<10 {
			out = append(out, real)
		}
	}
	return out
}

// FuzzReader reads anything, leniently and strictly. What both give must be
// possible.
func FuzzReader(f *testing.F) {
	for _, seed := range corpus(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Formats before 1.22 have a target of their own.
		if len(data) > 8 && !bytes.HasPrefix(data, []byte("go 1.2")) {
			return
		}
		strict := possible(t, data, exectrace.Options{Strict: true})
		lenient := possible(t, data, exectrace.Options{})
		if lenient < strict {
			t.Errorf("%d events, and the strict reader has %d", lenient, strict)
		}
	})
}

// possible reads a trace and checks what holds for each. It returns the number
// of events.
func possible(t *testing.T, data []byte, opts exectrace.Options) (n int) {
	tr, err := exectrace.Open(data, opts)
	if err != nil {
		return 0
	}
	r := tr.Reader()
	last := exectrace.Event{Time: -1 << 63}
	slots := map[exectrace.Slot]int64{}
	var text []byte
	for ; r.Next(); n++ {
		e := r.Event()
		if n > 0 && e.Time <= last.Time {
			t.Fatalf("event %d is at %d, that before at %d", n, e.Time, last.Time)
		}
		last = *e
		if e.Reset() {
			clear(slots)
		}
		if e.Kind == exectrace.KindGoTransition {
			if e.SubjectSlot == exectrace.NoSlot || int(e.SubjectSlot) > len(data) {
				t.Fatalf("event %d: goroutine %d has slot %d", n, e.Subject, e.SubjectSlot)
			}
			if e.From == exectrace.NotExist || e.From == exectrace.Undetermined {
				slots[e.SubjectSlot] = e.Subject
			}
			if g, ok := slots[e.SubjectSlot]; !ok || g != e.Subject {
				t.Fatalf("event %d: goroutine %d has the slot of goroutine %d", n, e.Subject, g)
			}
		}
		if g, ok := slots[e.GSlot]; e.GSlot != exectrace.NoSlot && (!ok || g != int64(e.G)) {
			t.Fatalf("event %d: goroutine %d has the slot of goroutine %d", n, e.G, g)
		}
		r.Name(e.Name)
		r.Stacks().Frames(e.Stack)
		r.Stacks().Frames(e.SubjectStack)
		text = r.AppendText(text[:0])
	}
	if opts.Strict != (r.Err() != nil) && opts.Strict && len(r.Problems()) > 0 {
		t.Fatal("a problem, but no error")
	}
	if !opts.Strict && (r.Err() != nil || n > 0 && last.Kind != exectrace.KindSync) {
		t.Fatalf("error %v, last event %v", r.Err(), last.Kind)
	}
	if n > 4*len(data)+2 {
		t.Fatalf("%d events of %d bytes", n, len(data))
	}
	return n
}
