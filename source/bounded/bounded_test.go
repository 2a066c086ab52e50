package bounded_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/source/bounded"
)

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadAll(t *testing.T) {
	if data, err := bounded.ReadAll(zeros{}, "it", 100); !errors.Is(err, bounded.ErrTooLong) || len(data) != 100 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, err := bounded.ReadAll(strings.NewReader("12345"), "it", 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestLimit(t *testing.T) {
	if data, err := io.ReadAll(bounded.Limit(zeros{}, "it", 100)); !errors.Is(err, bounded.ErrTooLong) || len(data) != 100 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if data, err := io.ReadAll(bounded.Limit(strings.NewReader("12345"), "it", 5)); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
}

// TestOpen: of what nobody has named only regular files are opened.
func TestOpen(t *testing.T) {
	for _, name := range []string{t.TempDir(), os.DevNull} {
		if f, err := bounded.Open(name); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s is opened as %v, %v", name, f, err)
		}
	}
	if _, err := bounded.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	name := filepath.Join(t.TempDir(), "file")
	write(t, name, "12345")
	if text, err := bounded.Read(name, 5); err != nil || string(text) != "12345" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := bounded.Read(name, 4); !errors.Is(err, bounded.ErrTooLong) {
		t.Error(err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPlaces: a profile may name any file. Source files are read, in the user's
// folders and in Go modules; links lead nowhere else.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write(t, at("secret/passwd"), "root:x")
	write(t, at("secret/key.go"), "package key")
	write(t, at("module/go.mod"), "module m\n")
	write(t, at("module/main.go"), "package main")
	write(t, at("module/go.sum"), "h1:")
	write(t, at("named/deep/a.go"), "package a")
	link := func(name, to string) {
		t.Helper()
		if err := os.Symlink(at(to), at(name)); err != nil {
			t.Fatal(err)
		}
	}
	link("module/evil.go", "secret/passwd")
	link("module/stolen.go", "secret/key.go")
	link("module/same.go", "module/main.go")
	p := bounded.Places{Roots: []string{at("named"), ""}}
	for name, ok := range map[string]bool{
		"module/main.go": true, "module/same.go": true, "named/deep/a.go": true,
		"secret/passwd": false, "secret/key.go": false, "module/evil.go": false, "module/stolen.go": false, "module/go.sum": false,
		"named/../secret/key.go": false, "none.go": false,
	} {
		text, err := p.Read(at(name))
		if (err == nil) != ok || ok && !strings.HasPrefix(string(text), "package") || p.Has(at(name)) != ok {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := p.Read("/etc/passwd"); err == nil {
		t.Error("/etc/passwd is read")
	}
}
