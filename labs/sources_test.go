package labs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestSources wants that what is embedded is a module that builds by itself, tests and
// all: without a checkout, without a network, whatever the user's settings.
func TestSources(t *testing.T) {
	root := t.TempDir()
	dir, err := CacheSources(root)
	if err != nil {
		t.Fatal(err)
	}
	again, err := CacheSources(root)
	if err != nil || again != dir {
		t.Errorf("the second time the sources are in %s, %v; the first in %s", again, err, dir)
	}
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = dir
	vet.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	if out, err := vet.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := exec.Command("go", "list", "./...")
	list.Dir, list.Env = vet.Dir, vet.Env
	packages, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range All {
		if !strings.Contains(string(packages), l.Package()+"\n") {
			t.Errorf("the module has no package %s", l.Package())
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the folder there is something else: %v, %v", entries, err)
	}
}

// TestModule wants the version of Go that loupe itself has.
func TestModule(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(module, "\n\n")
	if !strings.Contains(string(text), "\n"+version) {
		t.Errorf("the module of the labs wants %q, go.mod does not", version)
	}
}

// TestSourcesDamaged wants that files which somebody has changed in the cache are
// written again.
func TestSourcesDamaged(t *testing.T) {
	root := t.TempDir()
	dir, err := CacheSources(root)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "newssearch", "main.go")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("package nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CacheSources(root); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
		t.Errorf("a damaged file stays: %q, %v", got, err)
	}
}

// TestCopySources: a copy goes into an empty folder, or a new one, and nowhere else.
func TestCopySources(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "labs")
	if err := CopySources(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "stream", "stream_test.go")); err != nil {
		t.Error(err)
	}
	if err := CopySources(dir); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("the second copy: %v", err)
	}
}

// TestSourcesAtOnce: several that begin at the same time, with an empty cache, get the
// same whole files.
func TestSourcesAtOnce(t *testing.T) {
	root := t.TempDir()
	want, err := Sources()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			dir, err := CacheSources(root)
			if err != nil {
				t.Error(err)
				return
			}
			for name, text := range want {
				if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(got) != string(text) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			}
		})
	}
	wg.Wait()
}
