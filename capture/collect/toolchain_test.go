package collect

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loupe/internal/long"
	"loupe/recording"
)

// TestWays builds a program in each way that there is, from all of the agent to
// none of it, and records it.
func TestWays(t *testing.T) {
	eachWay(t, 4)
}

// TestOlderToolchains does the same with Go from the first version that the agent
// can reach into, in a copy of the toolchain. TestDownloadedToolchain does it with
// one that the go command has chosen and keeps in the module cache.
func TestOlderToolchains(t *testing.T) {
	long.Only(t, "downloads and copies toolchains")
	for _, version := range []string{"1.20.14", "1.22.12", "1.24.9"} {
		t.Run(version, func(t *testing.T) {
			out, err := exec.Command("go", "mod", "download", "-json", "golang.org/toolchain@v0.0.1-go"+version+"."+runtime.GOOS+"-"+runtime.GOARCH).Output()
			var module struct{ Dir string }
			if err != nil || json.Unmarshal(out, &module) != nil {
				t.Fatalf("cannot download Go %s: %v\n%s", version, err, out)
			}
			root := filepath.Join(t.TempDir(), "go")
			if err := os.CopyFS(root, os.DirFS(module.Dir)); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{"bin", "pkg/tool/" + runtime.GOOS + "_" + runtime.GOARCH} {
				names, err := filepath.Glob(filepath.Join(root, dir, "*"))
				if err != nil || len(names) == 0 {
					t.Fatalf("%s is empty: %v", dir, err)
				}
				for _, name := range names {
					os.Chmod(name, 0o755) // a module has no executable files
				}
			}
			t.Setenv("PATH", filepath.Join(root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			t.Setenv("GOTOOLCHAIN", "local")
			t.Setenv("GOROOT", "")
			t.Setenv("GOFLAGS", "-mod=mod")
			eachWay(t, 4)
		})
	}
}

func TestDownloadedToolchain(t *testing.T) {
	long.Only(t, "downloads a toolchain")
	t.Setenv("GOTOOLCHAIN", "go1.24.9")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	// The build cache is found by the same variable.
	t.Setenv("GOCACHE", filepath.Join(t.TempDir(), "build"))
	if goes := toolchainIn(t.Context(), t.TempDir(), "."); !below(goes.modCache, goes.root) {
		t.Fatalf("the toolchain is %+v, not in the module cache", goes)
	}
	eachWay(t, 4)
}

// eachWay builds testdata/guest, which is copied into a module of its own.
func eachWay(t *testing.T, want int) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/guest/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": string(text), "go.mod": "module example.com/guest\n\ngo 1.20\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goes := toolchainIn(t.Context(), t.TempDir(), dir)
	opt := BuildOptions{Target: ".", Dir: dir, Temp: t.TempDir()}
	pkg, err := list(t.Context(), opt, dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	ways, why := plan(opt, pkg, goes)
	if len(ways) != want || why != "" {
		t.Fatalf("%d ways for %+v, %q; want %d", len(ways), goes, why, want)
	}
	for _, a := range ways {
		temp := t.TempDir()
		prog := &Program{
			Path: filepath.Join(temp, "guest"), Dir: dir, Agent: a.agent, ExitHook: a.opt.Hook,
			Target: recording.Target{Kind: "package", Name: ".", Go: "go", Package: "example.com/guest"},
		}
		opt.Temp = temp
		if err := buildOnce(t.Context(), opt, pkg, goes, dir, []string{"."}, prog.Path, a); err != nil {
			t.Errorf("agent %v, hook %v, share %v: %v", a.agent, a.opt.Hook, a.opt.Share, err)
			continue
		}
		dies := a.opt.Hook || !a.agent
		length := "bare:1s"
		if dies {
			length = "bare:1m" // it ends by itself
		}
		rec := recordBare(t, prog, temp, length)
		out, err := rec.ReadFile("stdout.log", 1<<20)
		errs, err2 := rec.ReadFile("stderr.log", 1<<20)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		sees := "1   \n"
		if !a.agent {
			sees = "1 " + RuntimeDebug + "  \n"
		}
		if string(out) != sees {
			t.Errorf("agent %v, hook %v, share %v: the program sees %q, want %q", a.agent, a.opt.Hook, a.opt.Share, out, sees)
		}
		run := rec.Target.Runs[0]
		if dies && (run.Exit != "exit status 2" || !strings.Contains(string(errs), "all goroutines are asleep - deadlock!")) {
			t.Errorf("agent %v, hook %v, share %v: it ended with %q and %q", a.agent, a.opt.Hook, a.opt.Share, run.Exit, errs)
		}
		if own := len(rec.Of(recording.ExecTrace)) + len(rec.Of(recording.CPU)); a.opt.Share != (own == 2) {
			t.Errorf("share %v: %d captures of the program's own", a.opt.Share, own)
		}
	}
}

// recordBare records the bare phase of a program.
func recordBare(t *testing.T, prog *Program, temp, length string) *recording.Recording {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := recording.Create(dir, recording.Manifest{Title: "guest", Host: HostFacts()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(w, prog, RecorderOptions{Temp: temp, Launch: LaunchOptions{GODEBUG: RuntimeDebug, KeepStdout: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Record(t.Context(), Plan{Phases: phases(t, length)}); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	rec, err := recording.OpenFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

// TestQuietGODEBUG: what a user has set to look at a program does not make the go
// command's compiler talk.
func TestQuietGODEBUG(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := quietGODEBUG(in); got != want {
			t.Errorf("quietGODEBUG(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("gctrace=1", "")
	f("gctrace=1,schedtrace=1000,goindex=0", "goindex=0")
	f("goindex=0,inittrace=1", "goindex=0")
}
