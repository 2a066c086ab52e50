package recording

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// fill writes a recording with an entry of every fate.
func fill(w *Writer) error {
	var all []error
	all = append(all, w.SetPhase(Phase{Name: "bare"}))
	log, err := w.Append(Entry{Path: "stderr.log", Kind: Stderr, Phase: "bare"})
	if all = append(all, err); err == nil {
		_, err = log.Write([]byte("gc 1\n"))
		all = append(all, err)
	}
	all = append(all, w.Put(Entry{Path: "cpu/cpu.pb.gz", Kind: CPU, Phase: "bare"}, []byte("profile")))
	half, err := w.Create(Entry{Path: "trace.out", Kind: ExecTrace})
	if all = append(all, err); err == nil {
		half.Write([]byte("half"))
		if err := half.Abort(io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
			all = append(all, errors.New("the cause of an abort is lost"))
		}
	}
	none, err := w.Create(Entry{Path: "none.pb.gz", Kind: Heap})
	if all = append(all, err); err == nil && none.Close() == nil {
		all = append(all, errors.New("an empty entry was kept"))
	}
	if log != nil {
		if text, err := w.ReadFile("stderr.log"); err != nil || string(text) != "gc 1\n" {
			all = append(all, errors.New("a log cannot be followed"))
		}
		all = append(all, log.Close())
	}
	return errors.Join(append(all, w.Close())...)
}

// TestStores: a recording is the same wherever it was written to.
func TestStores(t *testing.T) {
	for name, store := range map[string]Store{"folder": inFolder(t.TempDir()), "memory": &Memory{}} {
		t.Run(name, func(t *testing.T) {
			w, err := Begin(store, Manifest{Title: "test"})
			check(t, err)
			check(t, fill(w))
			r, err := Open(store)
			check(t, err)
			var said []string
			for _, e := range r.Entries {
				data, err := r.ReadFile(e.Path, 100)
				check(t, err)
				said = append(said, string(e.Kind)+" "+string(data)+map[bool]string{true: " partial"}[e.Partial])
			}
			if want := "stderr gc 1\n,pprof.cpu profile,exectrace half partial"; strings.Join(said, ",") != want || !r.Complete {
				t.Errorf("complete: %v, %q; want %q", r.Complete, said, want)
			}
			var files []string
			check(t, fs.WalkDir(store, ".", func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					files = append(files, path)
				}
				return err
			}))
			if got := strings.Join(files, " "); got != "cpu/cpu.pb.gz journal.ndjson manifest.json stderr.log trace.out" {
				t.Errorf("files are %s", got)
			}
			if _, err := Begin(store, Manifest{}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a second recording in one place: %v", err)
			}
			all, err := r.Verify(t.Context())
			check(t, err)
			for _, c := range all {
				if want := map[bool]State{true: Partial, false: Whole}[c.Path == "trace.out"]; c.State != want {
					t.Errorf("verified: %+v", c)
				}
			}
		})
	}
}

// full is a store that can take so many bytes and calls, and no more.
type full struct {
	Memory
	left int
}

var errFull = errors.New("no space left")

func (f *full) Create(name string, grows bool) (File, error) {
	if f.left--; f.left < 0 {
		return nil, errFull
	}
	file, err := f.Memory.Create(name, grows)
	return &fullFile{file, f}, err
}

type fullFile struct {
	File
	of *full
}

func (f *fullFile) Write(p []byte) (int, error) {
	n := min(len(p), max(0, f.of.left))
	f.of.left -= len(p)
	if n, err := f.File.Write(p[:n]); err != nil || n < len(p) {
		return n, errFull
	}
	return len(p), nil
}

func (f *fullFile) Sync() error {
	if f.of.left < 0 {
		return errFull
	}
	return f.File.Sync()
}

func (f *fullFile) Keep() error { return errors.Join(f.Sync(), f.File.Keep()) }

// TestFull: whenever a store is full the writer says so, and what was written before can
// be read: no entry counts as whole that is not.
func TestFull(t *testing.T) {
	whole := &full{left: 1 << 20}
	w, err := Begin(whole, Manifest{Title: "test"})
	check(t, err)
	check(t, fill(w))
	all := 1<<20 - whole.left
	for left := range all - 200 { // times have more digits in one than in another
		store := &full{left: left}
		w, err := Begin(store, Manifest{Title: "test"})
		if err == nil {
			err = fill(w)
		}
		if !errors.Is(err, errFull) {
			t.Fatalf("with room for %d bytes: %v", left, err)
		}
		r, err := Open(store)
		if err != nil {
			if w != nil && w.Manifest().Title != "" && len(w.Manifest().Phases) > 0 && left > 1000 {
				t.Fatalf("with room for %d bytes nothing can be read: %v", left, err)
			}
			continue
		}
		for _, e := range r.Entries {
			data, err := r.ReadFile(e.Path, 100)
			if err != nil || !e.Partial && int64(len(data)) != e.Bytes {
				t.Fatalf("with room for %d bytes %s has %q, %v; the manifest says %+v", left, e.Path, data, err, e)
			}
		}
	}
}

// TestHoles: long runs of zeroes become holes in a folder and read as zeroes, at the end too;
// packed into a zip file they can still be read.
func TestHoles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Create(Entry{Path: "memory/core", Kind: Core})
	if err != nil {
		t.Fatal(err)
	}
	want := sha256.New()
	chunk := make([]byte, len(noBytes))
	for i := range 600 {
		chunk[7] = 0
		if i == 300 {
			chunk[7] = 1
		}
		if n, err := e.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
		want.Write(chunk)
	}
	if err := errors.Join(e.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	packed := dir + ".zip"
	if err := Zip(dir, packed); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dir, packed} {
		r, err := OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		at, size, err := r.ReaderAt("memory/core", 1<<30)
		if err != nil || size != 600*int64(len(chunk)) {
			t.Errorf("%s: %d bytes, %v", name, size, err)
			continue
		}
		got := sha256.New()
		if _, err := io.Copy(got, io.NewSectionReader(at, 0, size)); err != nil || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
			t.Errorf("%s: other bytes than were written: %v", name, err)
		}
		checked, err := r.Verify(t.Context())
		for _, c := range checked {
			if c.State != Whole || err != nil {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
		}
	}
}
