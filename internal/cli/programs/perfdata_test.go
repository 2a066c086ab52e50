package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPerfDataNamed: the names come from the binary, when that is here.
func TestPerfDataNamed(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	dir := t.TempDir()
	// It works for long enough to be seen in many samples.
	c := exec.Command("perf", "record", "-q", "-F", "999", "-g", "-e", "cpu-clock", "-o", "perf.data", "go", "list", "-deps", "std")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil && strings.Contains(strings.ToLower(string(out)), "permi") {
		t.Skipf("this machine does not permit perf record: %v: %s", err, out)
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "perf.data"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := DecodeProfile(data)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, id := range p.StackIDs {
		for _, f := range p.Stacks.Frames(id) {
			found = found || strings.HasPrefix(p.Stacks.Frame(f).Func, "runtime.")
		}
	}
	if !found {
		t.Error("no function of the runtime has its name")
	}
}
