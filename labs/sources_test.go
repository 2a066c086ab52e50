package labs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoSources wants that what is embedded is a module that builds by itself:
// without a checkout, without a network, whatever the user's settings.
func TestDemoSources(t *testing.T) {
	root := t.TempDir()
	dir, err := WriteDemoSources(root)
	if err != nil {
		t.Fatal(err)
	}
	again, err := WriteDemoSources(root)
	if err != nil || again != dir {
		t.Errorf("the second time the sources are in %s, %v; the first in %s", again, err, dir)
	}
	c := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(root, "demo"), "./labs/newssearch")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Errorf("beside the folder and the program there is something else: %v, %v", entries, err)
	}
}

// TestDemoModule wants the version of Go that loupe itself has.
func TestDemoModule(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), demoModule) {
		t.Errorf("the module of the demo begins with %q, go.mod does not", demoModule)
	}
}

// TestDemoDamaged wants that files which somebody has changed in the cache are
// written again.
func TestDemoDamaged(t *testing.T) {
	root := t.TempDir()
	dir, err := WriteDemoSources(root)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "labs", "newssearch", "main.go")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("package nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteDemoSources(root); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
		t.Errorf("a damaged file stays: %q, %v", got, err)
	}
}
