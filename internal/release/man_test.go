package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPage makes a page of what a command's help looks like, and has mandoc read it.
func TestPage(t *testing.T) {
	s := &source{version: "1.2.3", time: time.Unix(1_750_000_000, 0).UTC()}
	text := "loupe gc [flags] FILE: what the collector did\n\n\tloupe gc server.log   its log\n\t.so /etc/passwd\n\nSome words,\nand more.\n\nFlags:\n  -json  print JSON\n\nOther settings:\n  -x\n"
	page := s.page("loupe-gc", text, nil)
	file := filepath.Join(t.TempDir(), "loupe-gc.1")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning", file).CombinedOutput(); err != nil {
		t.Errorf("mandoc -T lint: %v\n%s\n%s", err, out, page)
	}
	out, err := exec.Command("mandoc", "-T", "utf8", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	shown := plainText(out)
	for _, want := range []string{
		"loupe-gc - what the collector did", "           loupe gc server.log   its log\n", ".so /etc/passwd",
		"\nFLAGS\n         -json  print JSON\n", "\nOTHER SETTINGS\n", "loupe 1.2.3",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %q:\n%s", want, shown)
		}
	}
}
