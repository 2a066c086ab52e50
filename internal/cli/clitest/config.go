// Package clitest makes what tests of commands stand on: terminals, folders for settings.
package clitest

import (
	"os"
	"path/filepath"
	"testing"
)

// ConfigDir returns a folder for the user's settings. The go command, which is asked for
// its folders, counts there what it is asked, in a process of its own that may outlive the
// test, unless it is told not to (https://go.dev/doc/telemetry).
func ConfigDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "go", "telemetry"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go", "telemetry", "mode"), []byte("off"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
