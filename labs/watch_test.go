package labs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loupe/internal/long"
)

// watchedLeak are the arguments that let the lab run into a limit.
var watchedLeak = []string{"-capture", "heap,goroutine,trace", "-json", "-alert", "rss>50%"}

// TestWatched lets the map of the lab leak grow to half of a limit that nobody
// enforces.
func TestWatched(t *testing.T) {
	long.Only(t, "it watches a lab until it has grown")
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the memory of a process is not known")
	}
	loupe := buildLoupe(t, t.TempDir())
	out := t.TempDir()
	args := slices.Concat([]string{"watch"}, watchedLeak, []string{"-limit", "80MB", "-interval", "100ms", "-once", "-o", out, "--", "loupe/labs/leak", "-mode", "map", "-rate", "20000"})
	text, err := exec.Command(loupe, args...).Output()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 3 {
		t.Fatalf("loupe watch: %v, want exit status 3", err)
	}
	raised(t, text)
	namesLine(t, loupe, out)
}

// TestWatchedKill does the same in a cgroup, until the kernel kills it.
// LOUPE_CGROUP names a folder of the memory controller in which cgroups may be
// made.
func TestWatchedKill(t *testing.T) {
	parent := os.Getenv("LOUPE_CGROUP")
	if parent == "" || runtime.GOOS != "linux" {
		t.Skip("LOUPE_CGROUP names no folder of the memory controller in which cgroups may be made")
	}
	loupe := buildLoupe(t, t.TempDir())
	group := filepath.Join(parent, fmt.Sprintf("loupe-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(group) })
	limit := filepath.Join(group, "memory.max")
	if _, err := os.Stat(limit); err != nil {
		limit = filepath.Join(group, "memory.limit_in_bytes") // version 1
	}
	if err := os.WriteFile(limit, []byte("200M"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	args := slices.Concat([]string{"-c", `echo $$ > "$0"/cgroup.procs && exec "$@"`, group, loupe, "watch"}, watchedLeak, []string{"-o", out, "--", "loupe/labs/leak", "-mode", "map"})
	text, err := exec.Command("sh", args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Fatalf("loupe watch: %v, want exit status 3\n%s", err, text)
	}
	rest := raised(t, text)
	last := rest[len(rest)-1]
	if last.Kind != "ended" || !strings.Contains(last.Ended, "for want of memory") {
		t.Errorf("in the end it says %+v, want that the kernel has killed it", last)
	}
	namesLine(t, loupe, out)
}

// told is a line of loupe watch -json.
type told struct{ Kind, Alert, Why, Ended string }

// raised checks that there was one alert, and a recording of it, and returns
// what was told after that.
func raised(t *testing.T, text []byte) (rest []told) {
	t.Helper()
	alerts, recorded := 0, false
	for line := range bytes.Lines(text) {
		var x told
		if err := json.Unmarshal(line, &x); err != nil {
			continue // the program's own
		}
		switch x.Kind {
		case "alert":
			alerts++
		case "failed":
			t.Errorf("it says %s", line)
		case "recording":
			recorded = alerts == 1
		}
		rest = append(rest, x)
	}
	if alerts != 1 || !recorded {
		t.Fatalf("%d alerts, recorded %v, want one and its recording", alerts, recorded)
	}
	return rest
}

// namesLine checks that the recording of the alert is whole, and that its report
// names the line that fills the map.
func namesLine(t *testing.T, loupe, out string) {
	t.Helper()
	recs, err := filepath.Glob(filepath.Join(out, "loupe-watch-leak-*"))
	if err != nil || len(recs) != 1 {
		t.Fatalf("the recordings are %q, %v, want one", recs, err)
	}
	text, err := exec.Command(loupe, "report", "-json", "-fail", "never", recs[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		said
		Manifest struct{ Entries []struct{ Kind string } }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"pprof.heap", "pprof.goroutine", "exectrace"} {
		if !slices.ContainsFunc(got.Manifest.Entries, func(e struct{ Kind string }) bool { return e.Kind == kind }) {
			t.Errorf("the recording has no %s", kind)
		}
	}
	for _, f := range got.Findings {
		if f.Rule == "GC08" && f.State == "finding" && strings.Contains(f.Summary, "allocated at orders.go:") {
			return
		}
	}
	t.Errorf("nothing names the line: %s", text)
}
