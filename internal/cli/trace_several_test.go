package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"

	"loupe/internal/cli/command"
)

// TestTraceSeveral: the traces of one process are shown as one, whether they are named
// one by one, by a pattern or by their folder.
func TestTraceSeveral(t *testing.T) {
	dir := t.TempDir()
	names := make([]string, 3)
	for i := range names {
		names[i] = filepath.Join(dir, fmt.Sprintf("%d.trace", i))
		f, err := os.Create(names[i])
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Start(f); err != nil {
			t.Fatal(err)
		}
		trace.Log(t.Context(), "mark", names[i])
		trace.Stop()
		f.Close()
	}
	const medium = "../../format/exectrace/testdata/recorded/medium.trace"
	var want string
	for _, args := range []string{strings.Join(names, " "), names[2] + " " + names[0] + " " + names[1], dir, filepath.Join(dir, "*.trace")} {
		text, said, code := shown(t, "trace summary "+args, "", nil)
		if code != command.ExitOK || !strings.Contains(said, "3 traces of one process, shown as one: with 2 gaps between them") {
			t.Errorf("trace %s: exit code %d: %s", args, code, said)
		}
		if want == "" {
			want = text
		}
		if text != want {
			t.Errorf("trace %s: %s", args, whereDifferent(want, text))
		}
	}
	if text, said, code := shown(t, "trace events X", dir, nil); code != command.ExitOK || strings.Count(text, "mark") < 3 {
		t.Errorf("events: exit code %d: %s%s", code, text, said)
	}
	f := func(line, want string) {
		t.Helper()
		if _, said, code := shown(t, line, "", nil); code != command.ExitFailed && code != command.ExitNothing || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d: %s", line, code, said)
		}
	}
	f("trace "+names[0]+" "+medium, "cannot show ")
	f("trace "+names[0]+" testdata/goldens/cpu.pb.gz", "is a profile: open each separately")
	f("trace testdata/goldens", "there is no execution trace in")
}
