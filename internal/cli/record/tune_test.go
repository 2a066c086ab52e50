package record_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"loupe/internal/long"
)

// TestTune runs a program four times for its advice: what was predicted stands beside what was
// measured, as it is and as advised.
func TestTune(t *testing.T) {
	long.Only(t, "it builds and runs a program four times")
	dir := t.TempDir()
	loupe := filepath.Join(dir, "loupe")
	if out, err := exec.Command("go", "build", "-o", loupe, "loupe/cmd/loupe").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) (out []byte, code int) {
		c := exec.Command(loupe, append([]string{"run", "-quiet", "-tune", "gc"}, args...)...)
		var errs bytes.Buffer
		c.Stderr = &errs
		out, _ = c.Output()
		t.Logf("%s", errs.Bytes())
		return out, c.ProcessState.ExitCode()
	}
	var a struct {
		Refused    string
		Confidence string
		Advised    *struct {
			Settings struct {
				MemoryLimit int64 `json:"memory_limit"`
			}
		}
		Outcomes []struct {
			Predicted struct {
				Collections struct{ Low, Estimate, High float64 }
			}
			Measured struct{ Collections float64 }
			MaxRSS   float64 `json:"max_rss_mb"`
		}
	}
	const program = "../../../analysis/gc/gctest/bench/target"
	recordings := filepath.Join(dir, "recordings")
	out, code := run("-limit", "512MiB", "-o", recordings, "-json", program, "trees")
	if err := json.Unmarshal(out, &a); err != nil || code != 0 {
		t.Fatalf("%d, %v\n%s", code, err, out)
	}
	if a.Advised == nil || a.Refused != "" || a.Confidence == "" || a.Advised.Settings.MemoryLimit <= 0 || a.Advised.Settings.MemoryLimit > 512<<20 {
		t.Fatalf("advice %s", out)
	}
	if len(a.Outcomes) != 2 {
		t.Fatalf("%d runs are compared\n%s", len(a.Outcomes), out)
	}
	for _, o := range a.Outcomes {
		if o.Measured.Collections < 1 || o.MaxRSS <= 0 || o.Predicted.Collections.Estimate <= 0 {
			t.Errorf("%+v", o)
		}
	}
	for _, name := range []string{"first", "few-collections", "compared/before", "compared/after"} {
		if out, err := exec.Command(loupe, "verify", filepath.Join(recordings, name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	// In a container that its live heap fills nothing is advised.
	if out, code := run("-limit", "20MiB", program, "trees"); code != 4 || !bytes.Contains(out, []byte("No advice for 20.0 MiB")) || !bytes.Contains(out, []byte("nothing was checked")) {
		t.Errorf("%d: %s", code, out)
	}
}
