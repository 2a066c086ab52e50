package exectracetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Record returns a real trace of a tenth of a second, which has about five
// generations and some of every common event. Two are never the same.
func Record(t testing.TB) []byte {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(path, "make", file)
	// A generation every 25 ms instead of every second.
	cmd.Env = append(os.Environ(), "GODEBUG=traceadvanceperiod=25000000")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
