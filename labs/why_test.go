package labs_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStreamWhy asks of the benchmark's own profile why algorithm one
// allocates, with the commands that the lab's doc.go names.
func TestStreamWhy(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds loupe and compiles what the benchmark uses once more")
	}
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	loupe, binary, profile := filepath.Join(dir, "loupe"), filepath.Join(dir, "stream.test"), filepath.Join(dir, "mem.out")
	run("go", "build", "-o", loupe, "loupe/cmd/loupe")
	bench := run("go", "test", "-run", "none", "-bench", "One", "-benchmem", "-benchtime", "10000x", "-memprofile", profile, "-memprofilerate", "1", "-o", binary, "loupe/labs/stream")
	if !strings.Contains(bench, "2 allocs/op") {
		t.Errorf("the benchmark says %s", bench)
	}
	said := run(loupe, "pprof", "-list", "replaceOne|bytes.NewBuffer", "-why", "-alloc_space", binary, profile)
	for _, reason := range []string{
		"make([]byte, len(find)) escapes: window := make([]byte, len(find)), ", "passed to io.ReadAtLeast(",
		"&bytes.Buffer{...} escapes: ", "in := ~r0, converted to an interface, ",
	} {
		if !strings.Contains(said, reason) {
			t.Errorf("the listing does not say %q:\n%s", reason, said)
		}
	}
}
