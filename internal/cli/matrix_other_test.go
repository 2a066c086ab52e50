//go:build !unix

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// pipe is a file where there are no named pipes.
func pipe(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
