//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package collect

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAbandoned: of everything that is called loupe-… only what a run that is
// gone has left is removed.
func TestAbandoned(t *testing.T) {
	parent, outside := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", parent)
	inParent := func(name string, mode os.FileMode, files ...string) string {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, mode); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	dead := inParent("loupe-dead", 0o700, tempLock, "program")
	live, err := NewTemp()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("what a killed run left is still there: %v", err)
	}
	inParent("loupe-recording", 0o755, "manifest.json")
	inParent("loupe-shared", 0o755, tempLock)
	inParent("loupe-begins", 0o700, tempLock+".new")
	inParent("other", 0o700, tempLock)
	if err := os.WriteFile(filepath.Join(outside, tempLock), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(parent, "loupe-link")); err != nil {
		t.Fatal(err)
	}
	next, err := NewTemp()
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{live.Dir, next.Dir, "loupe-recording", "loupe-shared", "loupe-begins", "other", "loupe-link", filepath.Join(outside, tempLock)} {
		if !filepath.IsAbs(kept) {
			kept = filepath.Join(parent, kept)
		}
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%s was removed: %v", kept, err)
		}
	}
	live.Remove()
	next.Remove()
	if left, _ := filepath.Glob(filepath.Join(parent, "loupe-[0-9]*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
