package facts_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestLooksOfProcesses: goroutine profiles tell which of them are of one process, by the
// addresses that the system has drawn for it.
func TestLooksOfProcesses(t *testing.T) {
	const looks = 3
	if dir := os.Getenv("LOUPE_TEST_LOOKS"); dir != "" {
		for i := range looks {
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%d.pb.gz", os.Getenv("LOUPE_TEST_NAME"), i)))
			if err == nil {
				err = pprof.Lookup("goroutine").WriteTo(f, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		return
	}
	if text, err := os.ReadFile("/proc/sys/kernel/randomize_va_space"); err != nil || strings.TrimSpace(string(text)) == "0" {
		t.Skip("the system gives every process the same addresses")
	}
	dir := t.TempDir()
	r := recordingtest.New("title x\ntarget files looks\n")
	for _, name := range []string{"first", "second"} {
		c := exec.Command(os.Args[0], "-test.run=TestLooksOfProcesses$")
		c.Env = append(os.Environ(), "LOUPE_TEST_LOOKS="+dir, "LOUPE_TEST_NAME="+name)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for i := range looks {
			file := fmt.Sprintf("%s-%d.pb.gz", name, i)
			data, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			r.Put(recording.Entry{Path: file, Kind: recording.Goroutine}, data)
		}
	}
	g := facts.Gather(session.New(r.Open())).Growth(recording.Goroutine, "goroutine", 2)
	if g == nil || len(g.Looks) != 2*looks {
		t.Fatalf("the looks are %+v", g)
	}
	parts := g.Parts(false)
	if len(parts) != 2 {
		t.Fatalf("%d parts, want 2: %+v", len(parts), g.Looks)
	}
	for i, p := range parts {
		want := fmt.Sprintf("process %d of 2, which was restarted", i+1)
		if len(p.Times) != looks || p.Process != want || !strings.HasPrefix(p.Last.Path, []string{"first", "second"}[i]) {
			t.Errorf("part %d: %d looks of %q, the last %s", i+1, len(p.Times), p.Process, p.Last.Path)
		}
	}
}
