package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/internal/cli/command"
)

// shortening makes a file shorter with the first thing that is printed.
type shortening struct {
	bytes.Buffer
	name string
	done bool
}

// Write prints.
func (s *shortening) Write(p []byte) (int, error) {
	if !s.done {
		s.done = true
		if err := os.Truncate(s.name, 10); err != nil {
			return 0, err
		}
	}
	return s.Buffer.Write(p)
}

// TestShrinks: a file that becomes shorter while it is read, as when go test -trace
// is run again, is told of, after what was read of it. It killed the program.
func TestShrinks(t *testing.T) {
	trace, err := os.ReadFile(filepath.Join("..", "..", "format", "exectrace", "testdata", "recorded", "large.trace"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"trace events FILE", "trace events -raw FILE", "trace export FILE"} {
		name := written(t, "trace.out", trace)
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
		out := &shortening{name: name}
		var stderr bytes.Buffer
		code := runForm(t, line, strings.Fields(strings.ReplaceAll(line, "FILE", name)), out, &stderr)
		if code != command.ExitFailed || out.Len() == 0 || !strings.Contains(stderr.String(), "trace.out became shorter while it was being read") {
			t.Errorf("%s: exit code %d, %d bytes, %s", line, code, out.Len(), stderr.String())
		}
	}
}
