package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFresh fails when the committed bundle is not what the sources give.
func TestFresh(t *testing.T) {
	files, err := Bundle("../ui")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join("../dist", f.Name))
		if err != nil || !bytes.Equal(have, f.Data) {
			t.Errorf("web/dist/%s is stale: go -C web/tools run .", f.Name)
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(f.Data)
		_ = z.Close()
		total += b.Len()
		t.Logf("%s: %d bytes, %d packed", f.Name, len(f.Data), b.Len())
	}
	if have, err := os.ReadDir("../dist"); err != nil || len(have) != len(files) {
		t.Errorf("web/dist has %d files, want %d", len(have), len(files))
	}
	if total > payload {
		t.Errorf("the pages are %d bytes packed, want at most %d", total, payload)
	}
}

// TestLicences wants the licence of each vendored package, and our own, in the
// script, word by word.
func TestLicences(t *testing.T) {
	files, err := Bundle("../ui")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"../../LICENSE"}
	folders := map[string]bool{}
	for _, file := range vendored {
		folder, _, _ := strings.Cut(file, "/")
		if !folders[folder] {
			folders[folder] = true
			names = append(names, "../ui/vendor/"+folder+"/LICENSE")
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(files[0].Data, bytes.TrimSpace(text)) {
			t.Errorf("%s does not have %s", files[0].Name, name)
		}
	}
}

// payload is what all of the pages may weigh, packed.
const payload = 120 << 10

// TestTypes lets the compiler of TypeScript look at the sources.
func TestTypes(t *testing.T) {
	out, err := exec.Command("go", "tool", "tsgo", "--noEmit", "-p", "../ui").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
