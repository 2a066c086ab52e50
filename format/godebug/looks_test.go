package godebug_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loupe/format/godebug"
)

// TestLooks: the traces of every version are told, and what is like them is not.
func TestLooks(t *testing.T) {
	files, err := filepath.Glob("testdata/go1.*trace*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		gctrace, schedtrace := godebug.Looks(text)
		switch {
		case strings.Contains(name, "gctrace") && !gctrace:
			t.Errorf("%s is not a gctrace", name)
		case strings.Contains(name, "schedtrace") && !schedtrace:
			t.Errorf("%s is not a schedtrace", name)
		}
	}
	for _, text := range []string{"", "gc", "gc 1", "gc @", "SCHED ", "SCHED 12", "disk 30%: the gc is late", "SCHED now: 3ms: late", "gc 7 done"} {
		if gctrace, schedtrace := godebug.Looks([]byte(text)); gctrace || schedtrace {
			t.Errorf("%q: gctrace %v, schedtrace %v", text, gctrace, schedtrace)
		}
	}
	if gctrace, _ := godebug.Looks([]byte("web-0  | gc 12 @3.4s 1%: 0.1+")); !gctrace {
		t.Error("no gctrace behind a prefix")
	}
}
