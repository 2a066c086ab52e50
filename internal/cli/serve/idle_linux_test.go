package serve

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
)

// mapped is how many kB of files are in the memory of this process.
func mapped(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssFile:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Skip("this kernel does not tell RssFile")
	return 0
}

// TestGiveBack: pages of the program go, all of it is as it was, and none that hold something else than the file are
// among them.
func TestGiveBack(t *testing.T) {
	parts := programParts()
	if len(parts) == 0 {
		t.Fatal("no parts of the program are found")
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for range 50 { // what is read is mapped
		before := mapped(t)
		giveBack()
		after := mapped(t)
		if after >= before && before > 8<<10 {
			t.Fatalf("%d kB of files before, %d after", before, after)
		}
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for _, m := range parts {
		text := make([]byte, m.end-m.begin)
		if _, err := memory.ReadAt(text, int64(m.begin)); err != nil {
			t.Skipf("this process may not read its own memory: %v", err)
		}
		if end := len(bytes.TrimRight(text, "\x00")); !bytes.Contains(program, text[:min(end, 4096)]) {
			t.Errorf("the part at %x is not in the file", m.begin)
		}
	}
}
