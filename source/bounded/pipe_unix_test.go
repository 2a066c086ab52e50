//go:build unix

package bounded_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"loupe/source/bounded"
)

// TestPipe: nobody waits for the writer of a pipe that something else than the user
// has named.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "main.go")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bounded.Open(name); err == nil || !strings.Contains(err.Error(), "it is a pipe") {
		t.Error(err)
	}
	if _, err := (bounded.Places{}).Read(name); err == nil {
		t.Error("a pipe is read")
	}
}
