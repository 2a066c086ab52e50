package record

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/recording"
)

// TestBareLoad checks what bounds the load of a bare phase: -n, or -z, or else
// -for.
func TestBareLoad(t *testing.T) {
	f := func(requests int, length time.Duration, args ...string) {
		t.Helper()
		fs := command.NewFlagSet("run")
		var r Flags
		r.declare(fs, true)
		if err := fs.Parse(append(args, "-load", "http://localhost:8080/")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Plan(); err != nil {
			t.Fatal(err)
		}
		c, err := r.Loading.Config(r.Load)
		if err != nil || c.Requests != requests || c.Duration != length {
			t.Errorf("%q gives %d requests, %v, %v; want %d, %v", args, c.Requests, c.Duration, err, requests, length)
		}
	}
	f(0, 10*time.Second)
	f(0, 3*time.Second, "-for", "3s")
	f(0, 2*time.Second, "-phases", "bare:2s,cpu")
	f(7, 0, "-n", "7")
	f(0, time.Second, "-z", "1s", "-for", "3s")
}

// TestLoadGoesOn: what answers in several phases gets new keys in each, a process that was started
// afresh the same as the one before, and each recording the same.
func TestLoadGoesOn(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen[r.URL.Path]++
	}))
	defer server.Close()
	const requests = 40
	load := func(run collect.Load, phase string, process int) map[string]int {
		t.Helper()
		mu.Lock()
		clear(seen) // a request that was given up may still come: it counts for the next phase
		mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		d := collect.Demand{Phase: phase, Run: process, UntilCancelled: !strings.HasPrefix(phase, "bare")}
		if err := run(ctx, d); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(seen)
	}
	for _, process := range []int{0, -1} { // started, and found running
		var first map[string]int
		for range 2 {
			var f Flags
			fs := command.NewFlagSet("run")
			f.declare(fs, true)
			if err := fs.Parse([]string{"-n", fmt.Sprint(requests), "-c", "1", "-load", server.URL + "/{{seq}}/{{rand}}"}); err != nil {
				t.Fatal(err)
			}
			w, err := recording.Create(filepath.Join(t.TempDir(), "rec"), recording.Manifest{})
			if err != nil {
				t.Fatal(err)
			}
			run := f.LoadInto(w)
			bare := load(run, "bare", process)
			if first == nil {
				first = bare
			} else if !maps.Equal(bare, first) {
				t.Error("a second recording sends something else")
			}
			if len(bare) != requests {
				t.Errorf("%d keys in %d requests", len(bare), requests)
			}
			all := maps.Clone(bare)
			for _, phase := range []string{"cpu", "trace"} {
				for key := range load(run, phase, process) {
					if all[key] > 0 {
						t.Errorf("phase %s sends %s again", phase, key)
					}
					all[key]++
				}
			}
			again := load(run, "bare-2", process+2)
			for key := range first {
				if again[key] != 1 {
					t.Errorf("a fresh process gets %s %d times", key, again[key])
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	f := func(out, wantDir, wantZip string) {
		t.Helper()
		if dir, zip := Place(out, "x"); dir != wantDir || zip != wantZip {
			t.Errorf("place(%q) = %q, %q, want %q, %q", out, dir, zip, wantDir, wantZip)
		}
	}
	f("rec", "rec", "")
	f("a/rec", "a/rec", "")
	f("a/rec.zip", "a/rec.recording", "a/rec.zip")
	first, _ := Place("", "./cmd/server")
	if !strings.HasPrefix(first, "loupe-cmd-server-20") {
		t.Errorf("place names a recording %q", first)
	}
}

// TestFreeDir checks that recordings of the same second get different places.
func TestFreeDir(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, want := range []string{"rec", "rec-2", "rec-3"} {
		if got := freeDir("rec"); got != want {
			t.Errorf("freeDir = %q, want %q", got, want)
		}
	}
}

func TestCheckPlace(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"full/x", "empty", "z.zip", "y.recording/x"} {
		os.MkdirAll(name, 0o700)
	}
	f := func(out string, want bool) {
		t.Helper()
		if err := CheckPlace(out); (err == nil) != want {
			t.Errorf("checkPlace(%q) = %v", out, err)
		}
	}
	f("", true)
	f("new", true)
	f("new.zip", true)
	f("empty", true)
	f("full", false)
	f("z.zip", false)
	f("y.zip", false)
}

func TestSafeName(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := SafeName(in); got != want {
			t.Errorf("safeName(%q) = %q, want %q", in, got, want)
		}
	}
	f("server", "server")
	f("slow, GOGC=off", "slow-GOGC-off")
	f("attach http://localhost:6060/debug", "attach-http-localhost-6060-debug")
	f("../..", "recording")
	f("", "recording")
	f("größe", "gr-e")
	f(strings.Repeat("x", 100), strings.Repeat("x", 60))
}

func TestTargetName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "server")
	os.MkdirAll(filepath.Join(dir, "sub"), 0o700)
	t.Chdir(dir)
	f := func(in, want string) {
		t.Helper()
		if got := TargetName(in); got != want {
			t.Errorf("targetName(%q) = %q, want %q", in, got, want)
		}
	}
	f("./cmd/server", "server")
	f("cmd/server/", "server")
	f("main.go", "main")
	f("example.com/x/tool", "tool")
	f(".", "server")
	f("sub/..", "server")
}
