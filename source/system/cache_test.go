//go:build unix

package system_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/source/system"
)

// unset takes variables away for the time of a test.
func unset(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		t.Setenv(name, "") // which brings the old value back
		os.Unsetenv(name)
	}
}

// TestUserCache: the cache of the user; without a home, or with one that cannot be
// written, a private folder among the temporary files.
func TestUserCache(t *testing.T) {
	temp, home := t.TempDir(), t.TempDir()
	unset(t, "XDG_CACHE_HOME", "GOCACHE", "GOPATH", "GOMODCACHE")
	t.Setenv("TMPDIR", temp)
	t.Setenv("HOME", home)
	if dir, err := system.UserCache(); err != nil || !strings.HasPrefix(dir, home) {
		t.Errorf("with a home: %s, %v", dir, err)
	}
	if env := system.GoEnvironment(); len(env) > 0 {
		t.Errorf("with a home the go command is told %v", env)
	}
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, without := range []string{"", filepath.Join(file, "home")} {
		unset(t, "HOME")
		if without != "" {
			t.Setenv("HOME", without)
		}
		dir, err := system.UserCache()
		if err != nil || filepath.Dir(dir) != temp || !system.OwnPrivateDir(dir) {
			t.Fatalf("HOME %q: %s, %v", without, dir, err)
		}
		want := []string{"GOCACHE=" + filepath.Join(dir, "go-build"), "GOMODCACHE=" + filepath.Join(dir, "go-mod")}
		if env := system.GoEnvironment(); !slices.Equal(env, want) {
			t.Errorf("HOME %q: the go command is told %v, want %v", without, env, want)
		}
		t.Setenv("GOCACHE", "/elsewhere")
		t.Setenv("GOPATH", "/elsewhere")
		if env := system.GoEnvironment(); len(env) > 0 {
			t.Errorf("HOME %q: what the user has set is replaced by %v", without, env)
		}
		unset(t, "GOCACHE", "GOPATH")
		// Anybody could put a program there.
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		_, err = system.UserCache()
		if err == nil || !strings.Contains(err.Error(), "set XDG_CACHE_HOME or HOME") {
			t.Errorf("a folder that others can write: %v", err)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
}
