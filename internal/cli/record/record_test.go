package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/internal/cli/command"
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
