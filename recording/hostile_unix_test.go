//go:build unix

package recording_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loupe/recording"
	"loupe/source/bounded"
)

// TestPipes: a pipe in the place of the manifest, the journal or an entry is not
// waited for.
func TestPipes(t *testing.T) {
	for _, name := range []string{recording.ManifestName, recording.JournalName} {
		dir := t.TempDir()
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := recording.OpenFile(dir); err == nil || !strings.Contains(err.Error(), "it is a pipe") {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, recording.ManifestName), []byte(`{"schema":"loupe.recording/1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "cpu.pb.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := recording.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.ReadFile("cpu.pb.gz", 1<<20); err == nil || !strings.Contains(err.Error(), "it is a pipe") {
		t.Error(err)
	}
	if _, _, err := r.ReaderAt("cpu.pb.gz", 1<<20); err == nil {
		t.Error("a pipe is read")
	}
}

// TestBomb: an entry that is packed a thousandfold is refused, whatever its header
// says of its size.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, data []byte) {
		t.Helper()
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	add(recording.ManifestName, []byte(`{"schema":"loupe.recording/1"}`))
	add("stderr.log", make([]byte, 64<<20))
	add("small.log", make([]byte, 1<<20))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(data []byte) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "rec.zip")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := recording.OpenFile(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, err := r.ReadFile("stderr.log", 1<<30); !errors.Is(err, bounded.ErrTooLong) && !errors.Is(err, zip.ErrFormat) && !errors.Is(err, zip.ErrChecksum) {
			t.Errorf("the bomb: %v", err)
		}
		if text, err := r.ReadFile("small.log", 1<<30); err != nil || len(text) != 1<<20 {
			t.Errorf("a real entry: %d bytes, %v", len(text), err)
		}
	}
	check(b.Bytes())
	// The size in the central directory, which is what is believed.
	lie := bytes.ReplaceAll(b.Bytes(), []byte{0, 0, 0, 4, 10, 0, 0, 0}, []byte{0, 1, 0, 0, 10, 0, 0, 0})
	if bytes.Equal(lie, b.Bytes()) {
		t.Fatal("the size was not found")
	}
	check(lie)
}
