package exectrace_test

import (
	"os"
	"path/filepath"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
	"loupe/format/exectrace/fixture"
)

// TestSyscallTold is a thread whose system call another thread tells of before
// its own first event.
func TestSyscallTold(t *testing.T) {
	data := fixture.Trace(t, `
Trace Go1.22
EventBatch m=1 time=100
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=0 gstatus=syscall
EventBatch m=0 time=200
GoSyscallEndBlocked dt=1
`)
	file := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := exectracetest.Oracle(t, "events", file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := words(t, data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "told", got, want)
}
