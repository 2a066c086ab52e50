package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/value/timeline"
)

// write makes a small recording and leaves it open.
func write(t *testing.T) *Writer {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "rec"), Manifest{Title: "test", Target: Target{Kind: "package", Name: "./x"}})
	if err != nil {
		t.Fatal(err)
	}
	bare := Phase{Name: "bare", Run: 0}
	check(t, w.SetPhase(bare))
	check(t, w.UpdateTarget(func(t *Target) { t.Runs = append(t.Runs, Run{PID: 42}) }))
	check(t, w.Put(Entry{Path: "cpu/cpu.pb.gz", Kind: CPU, Phase: "bare"}, []byte("profile")))
	log, err := w.Append(Entry{Path: "stderr.log", Kind: Stderr})
	check(t, err)
	fmt.Fprintln(log, "gc 1")
	bare.Span.End = 7
	check(t, w.SetPhase(bare))
	check(t, w.SetClock(Clock{Path: "stderr.log", Clock: timeline.Clock{Offset: 5}}))
	check(t, w.Mark("interrupted"))
	check(t, w.Note("once"))
	check(t, w.Miss("cpu", "why"))
	check(t, w.Note("once"))
	t.Cleanup(func() { log.Close() })
	return w
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dirOf is the folder that a recording is written into.
func dirOf(w *Writer) string { return string(w.store.(inFolder)) }

func TestRoundTrip(t *testing.T) {
	w := write(t)
	check(t, w.Close())
	r, err := OpenFile(dirOf(w))
	check(t, err)
	defer r.Close()
	if !r.Complete || r.Title != "test" || len(r.Phases) != 1 || r.Phases[0].Span.End != 7 || len(r.Notes) != 1 || len(r.Missed) != 1 || r.Missed[0] != (Missed{"cpu", "why"}) {
		t.Errorf("read back %+v", r.Manifest)
	}
	if got := r.Of(CPU); len(got) != 1 || got[0].Bytes != 7 || got[0].SHA256 == "" || got[0].Partial {
		t.Errorf("the profile came back as %+v", got)
	}
	data, err := r.ReadFile("cpu/cpu.pb.gz", 100)
	if err != nil || string(data) != "profile" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	if _, err := r.ReadFile("cpu/cpu.pb.gz", 3); err == nil {
		t.Error("a file over the limit was read")
	}
}

// TestKilled reads what a writer left that never came to Close, with the
// journal cut at every byte of its last line.
func TestKilled(t *testing.T) {
	w := write(t)
	journal, err := os.ReadFile(filepath.Join(dirOf(w), JournalName))
	check(t, err)
	last := bytes.LastIndexByte(journal[:len(journal)-1], '\n') + 1
	for cut := last; cut <= len(journal); cut++ {
		m, err := readJournal(bytes.NewReader(journal[:cut]))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if m.Complete || len(m.Phases) != 1 || len(m.Entries) != 2 || !m.Entries[1].Partial || m.Target.Runs[0].PID != 42 {
			t.Fatalf("cut at %d: %+v", cut, m)
		}
	}
	r, err := OpenFile(dirOf(w))
	check(t, err)
	defer r.Close()
	if e := r.Of(Stderr)[0]; e.Bytes != 5 || !e.Partial {
		t.Errorf("the open log is %+v, want 5 bytes and partial", e)
	}
}

func TestZip(t *testing.T) {
	w := write(t)
	check(t, w.Close())
	name := filepath.Join(t.TempDir(), "rec.zip")
	check(t, Zip(dirOf(w), name))
	r, err := OpenFile(name)
	check(t, err)
	defer r.Close()
	if data, err := r.ReadFile("stderr.log", 100); err != nil || string(data) != "gc 1\n" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	if err := Zip(dirOf(w), name); err == nil {
		t.Error("Zip replaced an existing file")
	}
}

func TestBadInput(t *testing.T) {
	f := func(want string, files map[string]string) {
		t.Helper()
		fsys := fstest.MapFS{}
		for name, text := range files {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if _, err := Open(fsys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open = %v, want an error with %q", err, want)
		}
	}
	f("not a recording", nil)
	f("cannot read manifest.json", map[string]string{ManifestName: "{"})
	f("unknown schema", map[string]string{ManifestName: `{"schema":"other/1"}`})
	f("newer loupe", map[string]string{ManifestName: `{"schema":"loupe.recording/9"}`})
	f("leaves the recording", map[string]string{ManifestName: `{"schema":"loupe.recording/1","entries":[{"path":"../x"}]}`})
	f("entry a is of run -1", map[string]string{ManifestName: `{"schema":"loupe.recording/1","entries":[{"path":"a","run":-1}]}`})
	f("line 1", map[string]string{JournalName: "garbage\n"})
	f("no header", map[string]string{JournalName: ""})
	if _, err := OpenFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenFile of nothing = %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o644))
	if _, err := Create(dir, Manifest{}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("Create in a used directory = %v", err)
	}
}

func TestAbortKeepsPart(t *testing.T) {
	w := write(t)
	e, err := w.Create(Entry{Path: "trace.out", Kind: ExecTrace})
	check(t, err)
	e.Write([]byte("half"))
	if err := e.Abort(errors.New("connection lost")); err == nil || !strings.Contains(err.Error(), "connection lost") {
		t.Errorf("Abort = %v", err)
	}
	empty, err := w.Create(Entry{Path: "none.pb.gz", Kind: Heap})
	check(t, err)
	if err := empty.Close(); err == nil {
		t.Error("an empty entry was kept")
	}
	check(t, w.Close())
	r, err := OpenFile(dirOf(w))
	check(t, err)
	defer r.Close()
	if got := r.Of(ExecTrace); len(got) != 1 || !got[0].Partial || got[0].Bytes != 4 {
		t.Errorf("the aborted trace is %+v", got)
	}
	if got := r.Of(Heap); len(got) != 0 {
		t.Errorf("the empty profile is %+v", got)
	}
	left, _ := filepath.Glob(filepath.Join(dirOf(w), "*"+partSuffix))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"header":{"schema":"loupe.recording/1"}}` + "\n" + `{"phase":{"name":"bare"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		readJournal(bytes.NewReader(data))
	})
}

func ExampleOpen() {
	fsys := fstest.MapFS{JournalName: &fstest.MapFile{Data: []byte(
		`{"header":{"schema":"loupe.recording/1","title":"newssearch"}}
{"phase":{"name":"bare","span":{"start_ns":0,"end_ns":5000000000},"run":0}}
{"phase":{"name":"cp`)}}
	r, err := Open(fsys)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Title, r.Phases[0].Name, r.Phases[0].Span.Len(), r.Complete)
	// Output: newssearch bare 5s false
}

// TestBounds has more phases than anybody records: a reader that works on each
// of them must not be kept busy for hours.
func TestBounds(t *testing.T) {
	var journal, manifest strings.Builder
	journal.WriteString("{\"header\":{\"schema\":\"" + Schema + "\"}}\n")
	manifest.WriteString("{\"schema\":\"" + Schema + "\",\"phases\":[")
	for i := range maxPhases + 1 {
		phase := fmt.Sprintf("{\"name\":\"bare-%d\"}", i)
		fmt.Fprintf(&journal, "{\"phase\":%s}\n", phase)
		manifest.WriteString(phase + ",")
	}
	manifest.WriteString("{}]}")
	for name, text := range map[string]string{JournalName: journal.String(), ManifestName: manifest.String()} {
		if _, err := Open(fstest.MapFS{name: {Data: []byte(text)}}); err == nil || !strings.Contains(err.Error(), "more than 10000 phases") {
			t.Errorf("%s: %v, want an error about the number of phases", name, err)
		}
	}
}

// TestAbortSaysOnce aborts with the very error that the writing met.
func TestAbortSaysOnce(t *testing.T) {
	w := write(t)
	e, err := w.Create(Entry{Path: "trace.out", Kind: ExecTrace})
	check(t, err)
	fmt.Fprint(e, "some")
	e.f.(*folderFile).Close()
	_, cause := fmt.Fprint(e, "more")
	if err := e.Abort(cause); err == nil || strings.Count(err.Error(), cause.Error()) != 1 {
		t.Errorf("Abort = %v, want %q in it once", err, cause)
	}
	check(t, w.Close())
}

func TestReadFileLimit(t *testing.T) {
	w := write(t)
	check(t, w.Close())
	r, err := OpenFile(dirOf(w))
	check(t, err)
	defer r.Close()
	if data, err := r.ReadFile("cpu/cpu.pb.gz", 7); err != nil || string(data) != "profile" {
		t.Errorf("a file of the limit's size: %q, %v", data, err)
	}
	if _, err := r.ReadFile("cpu/cpu.pb.gz", 6); err == nil || !strings.Contains(err.Error(), "larger than 6 bytes") {
		t.Errorf("a file above the limit: %v", err)
	}
}

// TestReaderAt reads an entry of a folder, of any size and also when it becomes
// shorter, and one of a file system that has no files.
func TestReaderAt(t *testing.T) {
	dir := t.TempDir()
	want := bytes.Repeat([]byte("trace"), 1000)
	name := filepath.Join(dir, "trace.out")
	check(t, os.WriteFile(name, want, 0o666))
	for _, fsys := range []fs.FS{os.DirFS(dir), fstest.MapFS{"trace.out": &fstest.MapFile{Data: want}}} {
		r := Of(Manifest{}, fsys)
		data, size, err := r.ReaderAt("trace.out", 1<<20)
		check(t, err)
		got := make([]byte, size)
		if _, err := data.ReadAt(got, 0); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if _, _, err := r.ReaderAt("none", 1<<20); err == nil {
			t.Error("a file that is not there has bytes")
		}
		check(t, r.Close())
	}
	r := Of(Manifest{}, os.DirFS(dir))
	defer r.Close()
	data, _, err := r.ReaderAt("trace.out", 10) // the limit is of what takes memory
	check(t, err)
	check(t, os.Truncate(name, 3))
	if n, err := data.ReadAt(make([]byte, 5), 0); n != 3 || err != io.EOF {
		t.Errorf("of a file that became shorter %d bytes are read, %v", n, err)
	}
}
