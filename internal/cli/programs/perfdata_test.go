package cli

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loupe/profile"
	"loupe/session"
)

// TestPerfDataFiles: perf.data is a profile wherever one is named.
func TestPerfDataFiles(t *testing.T) {
	const name = "../../profile/testdata/perf/plain.data"
	what, _, err := sniff(name)
	if err != nil || what[0] != "pprof" || !loose(name) {
		t.Errorf("%v, %v", what, err)
	}
	l := newLoose([]string{name})
	data, err := fs.ReadFile(l.files, "plain.data")
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil || p.Len() == 0 || p.SampleTypes[1].String() != "cpu/nanoseconds" {
		t.Errorf("%+v, %v", p, err)
	}
	s, known, err := session.Loose(l.files, l.short)
	if err != nil || len(known) != 1 || s == nil {
		t.Errorf("%v, %v", known, err)
	}
}

// TestPerfDataNamed: the names come from the binary, when that is here.
func TestPerfDataNamed(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	dir := t.TempDir()
	c := exec.Command("perf", "record", "-q", "-F", "999", "-g", "-e", "cpu-clock", "-o", "perf.data", "go", "version")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil && strings.Contains(strings.ToLower(string(out)), "permi") {
		t.Skipf("this machine does not permit perf record: %v: %s", err, out)
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, err := profileIn(nil, filepath.Join(dir, "perf.data"))
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
