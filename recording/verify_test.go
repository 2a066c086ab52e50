package recording_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/recording"
)

// recorded writes a recording of three entries.
func recorded(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"cpu.pb.gz", "source/main.txt", "large"} {
		size := 100
		if path == "large" {
			size = 2 << 20
		}
		if err := w.Put(recording.Entry{Path: path, Kind: recording.CPU}, []byte(strings.Repeat("x", size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// verified returns what is not whole, and the notes on opening.
func verified(t *testing.T, name string) (wrong, notes []string) {
	t.Helper()
	r, err := recording.OpenFile(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := r.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.State != recording.Whole {
			wrong = append(wrong, string(c.State)+" "+c.Path)
		}
	}
	return wrong, r.Notes
}

func TestVerify(t *testing.T) {
	change := func(wrong, note string, do func(dir string) error) {
		t.Helper()
		dir := recorded(t)
		if err := do(dir); err != nil {
			t.Fatal(err)
		}
		got, notes := verified(t, dir)
		if strings.Join(got, ", ") != wrong || (note != "") != slices.ContainsFunc(notes, func(n string) bool { return note != "" && strings.Contains(n, note) }) {
			t.Errorf("%q with notes %q, want %q", got, notes, wrong)
		}
	}
	write := func(dir, path, text string) error {
		return os.WriteFile(filepath.Join(dir, filepath.FromSlash(path)), []byte(text), 0o600)
	}
	change("", "", func(string) error { return nil })
	change("changed cpu.pb.gz", "cpu.pb.gz was changed", func(dir string) error { return write(dir, "cpu.pb.gz", strings.Repeat("y", 100)) })
	change("changed source/main.txt", "it has 3 bytes, but 100 were recorded", func(dir string) error { return write(dir, "source/main.txt", "xxx") })
	// What is not cheap is found by Verify alone.
	change("changed large", "", func(dir string) error { return write(dir, "large", strings.Repeat("y", 2<<20)) })
	change("missing cpu.pb.gz", "", func(dir string) error { return os.Remove(filepath.Join(dir, "cpu.pb.gz")) })
	change("unlisted odd", "", func(dir string) error { return write(dir, "odd", "x") })
	change("unreadable cpu.pb.gz", "", func(dir string) error {
		name := filepath.Join(dir, "cpu.pb.gz")
		return errors.Join(os.Remove(name), os.Mkdir(name, 0o700))
	})
	// The manifest fits the file, and the journal does not.
	change("changed cpu.pb.gz", "", func(dir string) error {
		name := filepath.Join(dir, recording.JournalName)
		text, err := os.ReadFile(name)
		at := strings.Index(string(text), `"sha256":"`) + len(`"sha256":"`)
		copy(text[at:], "0123456789")
		return errors.Join(err, os.WriteFile(name, text, 0o600))
	})
	// Of the two that hold each other, one is gone or knows less.
	change("missing "+recording.ManifestName, "", func(dir string) error { return os.Remove(filepath.Join(dir, recording.ManifestName)) })
	change("missing "+recording.JournalName, "", func(dir string) error { return os.Remove(filepath.Join(dir, recording.JournalName)) })
	change("changed "+recording.JournalName, "", func(dir string) error {
		text, err := os.ReadFile(filepath.Join(dir, recording.JournalName))
		header, _, _ := strings.Cut(string(text), "\n")
		return errors.Join(err, write(dir, recording.JournalName, header+"\n"))
	})
	change("changed "+recording.ManifestName+", unlisted cpu.pb.gz", "", func(dir string) error {
		text, err := os.ReadFile(filepath.Join(dir, recording.ManifestName))
		var m recording.Manifest
		err = errors.Join(err, json.Unmarshal(text, &m))
		m.Entries = slices.DeleteFunc(m.Entries, func(e recording.Entry) bool { return e.Path == "cpu.pb.gz" })
		text, merr := json.Marshal(m)
		return errors.Join(err, merr, write(dir, recording.ManifestName, string(text)))
	})
}

// TestVerifyTwice: which of two files of one name is read depends on who reads.
func TestVerifyTwice(t *testing.T) {
	good := filepath.Join(t.TempDir(), "rec.zip")
	if err := recording.Zip(recorded(t), good); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(good)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		if err := w.Copy(f); err != nil {
			t.Fatal(err)
		}
	}
	second, err := w.Create("cpu.pb.gz")
	if err == nil {
		_, err = second.Write([]byte("another"))
	}
	bad := filepath.Join(t.TempDir(), "rec.zip")
	if err := errors.Join(err, w.Close(), os.WriteFile(bad, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if wrong, _ := verified(t, bad); strings.Join(wrong, ", ") != "changed cpu.pb.gz" {
		t.Errorf("%q", wrong)
	}
}

func TestVerifyZip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rec.zip")
	if err := recording.Zip(recorded(t), name); err != nil {
		t.Fatal(err)
	}
	if wrong, notes := verified(t, name); len(wrong)+len(notes) > 0 {
		t.Errorf("%q, %q", wrong, notes)
	}
}

// TestVerifyPartial: of a recording that was cut off, what was not closed cannot be
// checked.
func TestVerifyPartial(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: "t"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Append(recording.Entry{Path: "stderr.log", Kind: recording.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	e.Write([]byte("x"))
	if wrong, _ := verified(t, dir); strings.Join(wrong, ", ") != "partial stderr.log" {
		t.Errorf("%q", wrong)
	}
	if err := errors.Join(e.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyCancelled(t *testing.T) {
	r, err := recording.OpenFile(recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Verify(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
