package collect

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"loupe/format/metrics"
)

// TestTransfers: what a process writes is in the samples of the system, and a file that is not there, or garbage, leaves them alone.
func TestTransfers(t *testing.T) {
	if _, err := os.ReadFile("/proc/self/io"); err != nil {
		t.Skipf("this kernel does not count what processes read and write: %v", err)
	}
	before := sampleOS(os.Getpid())
	if before.WriteCalls == 0 && before.ReadCalls == 0 {
		t.Error("/proc/self/io is there, and the sample has none of it")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 100 {
		if _, err := f.Write(bytes.Repeat([]byte{'x'}, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	after := sampleOS(os.Getpid())
	if calls, bytes := after.WriteCalls-before.WriteCalls, after.WriteBytes-before.WriteBytes; calls < 100 || bytes < 100_000 {
		t.Errorf("%d calls with %d bytes, want at least 100 with 100,000", calls, bytes)
	}
	for _, text := range []string{"", "rchar\nwchar: \nsyscr: x\nsyscw 7\n", "\x00\xff"} {
		if err := os.WriteFile(f.Name(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var s metrics.OSSample
		if sampleTransfers(&s, f.Name()); s.WriteCalls != 0 || s.WriteBytes != 0 || s.ReadCalls != 0 || s.ReadBytes != 0 {
			t.Errorf("%q: %+v", text, s)
		}
	}
	var s metrics.OSSample
	if sampleTransfers(&s, filepath.Join(t.TempDir(), "none")); s.WriteCalls != 0 {
		t.Errorf("%+v", s)
	}
}
