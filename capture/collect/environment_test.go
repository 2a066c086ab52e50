//go:build unix

package collect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvironmentNamed: an error that a variable of the environment is the reason of names it, and
// what to set it to.
func TestEnvironmentNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	module := t.TempDir()
	for name, text := range map[string]string{file: "", filepath.Join(module, "go.mod"): "module m\n\ngo 1.22\n", filepath.Join(module, "main.go"): "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unusable := filepath.Join(file, "below")
	temp, home := os.TempDir(), os.Getenv("HOME")
	f := func(name string, err error, want ...string) {
		t.Helper()
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q", name, err, w)
			}
		}
	}
	build := func() error {
		_, err := Build(t.Context(), BuildOptions{Target: ".", Dir: module, Temp: t.TempDir()})
		if _, ok := errors.AsType[noCache](err); !ok {
			t.Errorf("%v is no error of the cache", err)
		}
		return err
	}
	t.Setenv("GOCACHE", unusable)
	f("an unusable cache", build(), "GOCACHE="+unusable+" names it", "or unset it")
	t.Setenv("GOCACHE", "relative")
	f("a relative cache", build(), "GOCACHE=relative names it", "absolute path")

	t.Setenv("GOCACHE", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	built := t.TempDir() // while there is one
	t.Setenv("TMPDIR", unusable)
	_, err := Build(t.Context(), BuildOptions{Target: ".", Dir: module, Temp: built})
	f("neither a home nor temporary files", err, "set GOCACHE to the absolute path of a folder that can be written")

	t.Setenv("GOTMPDIR", "")
	_, err = NewTemp()
	f("no temporary files", err, "TMPDIR="+unusable+" names it", "or unset it")
	t.Setenv("GOTMPDIR", unusable)
	_, err = NewTemp()
	f("none for builds", err, "GOTMPDIR="+unusable+" names it")
	t.Setenv("TMPDIR", temp)
	t.Setenv("HOME", home)
}
