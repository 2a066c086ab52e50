package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"loupe/capture/alert"
	"loupe/capture/collect"
	"loupe/internal/cli/command"
)

// TestWatchHooks: for each rule -exec runs once within -pause, however often the rule
// fires.
func TestWatchHooks(t *testing.T) {
	w, err := collect.Watch(t.Context(), strconv.Itoa(os.Getpid()), collect.WatchOptions{Interval: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	calls := filepath.Join(t.TempDir(), "calls")
	t.Setenv("CALLS", calls)
	line := `echo called >>"$CALLS"`
	if os.PathSeparator == '\\' {
		line = `echo called>>%CALLS%`
	}
	var out bytes.Buffer
	v := &watching{
		watchFlags: &watchFlags{exec: line, resting: time.Hour}, e: &command.Env{Stdout: &out, Stderr: &out}, w: w, name: "it",
		known: map[string]bool{}, told: map[*alert.Rule]time.Time{}, last: time.Now(),
	}
	for _, text := range []string{"rss>1B", "goroutines>1"} {
		r, err := alert.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if err := v.raise(t.Context(), r, "it holds"); err != nil {
				t.Fatal(err)
			}
		}
	}
	said, err := os.ReadFile(calls)
	if got := bytes.Count(said, []byte("called")); got != 2 || err != nil {
		t.Errorf("the hook was called %d times, want once for each rule (%v)\n%s", got, err, &out)
	}
}
