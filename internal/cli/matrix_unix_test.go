//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// pipe is a named pipe out of which some bytes come, once.
func pipe(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return // the folder is gone
		}
		f.Write(data)
		f.Close()
	}()
	return name
}
