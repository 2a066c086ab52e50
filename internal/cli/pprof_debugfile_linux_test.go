package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loupe/format/symbol"
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
)

const stripped = `#include <stdio.h>
__attribute__((noinline)) int fill_cache(int n) { return n * 7; }
int main(int argc, char **argv) { printf("%d\n", fill_cache(argc)); return 0; }
`

// buildStripped builds a program of C and takes its debug information out: the
// program, the file with that, and the text of a heap profile with an address in the
// function fill_cache.
func buildStripped(t *testing.T, flags ...string) (program, debug, text string) {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("app.c"), []byte(stripped), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
	}
	run("gcc", append([]string{"-g", "-O1", "-o", "app", "app.c"}, flags...)...)
	f, err := os.Open(at("app"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := symbol.Open(f, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := b.Functions(regexp.MustCompile("^fill_cache$"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	base := uint64(0)
	if b.PIE {
		base = 0x555555554000
	}
	for _, s := range b.Segments {
		if s.Exec {
			const page = 4 << 10
			text = fmt.Sprintf("heap_v2/524288\n  t*: 1: 600000 [0: 0]\n@ %#x\n  t*: 1: 600000 [0: 0]\n\nMAPPED_LIBRARIES:\n%08x-%08x r-xp %08x fd:01 1234  %s\n",
				base+found[0].Entry+2, base+s.Addr&^(page-1), base+(s.Addr+s.Size+page-1)&^(page-1), s.Offset&^(page-1), at("app"))
		}
	}
	run("objcopy", "--only-keep-debug", "app", "app.debug")
	run("strip", "app")
	return at("app"), at("app.debug"), text
}

// TestDebugFiles: a stripped program of C gets its names from where its debug
// information was put, and from nothing else.
func TestDebugFiles(t *testing.T) {
	programs.DebugFolder = t.TempDir()
	defer func() { programs.DebugFolder = "/usr/lib/debug" }()
	put := func(from, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	has := func(what, text string, want bool) {
		t.Helper()
		profile := filepath.Join(t.TempDir(), "app.heap")
		if err := os.WriteFile(profile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, said, code := shown(t, "pprof -top -lines X", profile, nil)
		if code != command.ExitOK || regexp.MustCompile(`fill_cache .*app\.c:2`).MatchString(out) != want {
			t.Errorf("%s: exit code %d, named %v wanted: %s%s", what, code, want, out, said)
		}
	}
	for _, flags := range [][]string{{"-no-pie", "-fno-pie", "-Wl,--build-id"}, {"-pie", "-fPIE", "-Wl,--build-id"}} {
		_, debug, text := buildStripped(t, flags...)
		has("without a debug file", text, false)
		f, err := os.Open(debug)
		if err != nil {
			t.Fatal(err)
		}
		b, err := symbol.Open(f, symbol.Options{})
		f.Close()
		if err != nil || len(b.BuildID) < 8 {
			t.Fatalf("build id %q, %v", b.BuildID, err)
		}
		put(debug, filepath.Join(programs.DebugFolder, ".build-id", b.BuildID[:2], b.BuildID[2:]+".debug"))
		has(strings.Join(flags, " "), text, true)
	}
	// By .gnu_debuglink: with a build id, and by the checksum without one.
	for _, id := range []string{"-Wl,--build-id", "-Wl,--build-id=none"} {
		program, debug, text := buildStripped(t, "-no-pie", "-fno-pie", id)
		if out, err := exec.Command("objcopy", "--add-gnu-debuglink="+debug, program).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		put(debug, filepath.Join(filepath.Dir(program), ".debug", "app.debug"))
		has(id, text, true)
		_, other, _ := buildStripped(t, "-no-pie", "-fno-pie", id, "-DOTHER", "-O0", "-Wl,-z,now", "-include", "stdlib.h")
		put(other, filepath.Join(filepath.Dir(program), ".debug", "app.debug"))
		has(id+", of another build", text, false)
	}
}

// TestPerfMapFiles: what a JIT compiler has made gets the names that it has noted for
// perf.
func TestPerfMapFiles(t *testing.T) {
	programs.PerfMapFolder = t.TempDir()
	defer func() { programs.PerfMapFolder = "/tmp" }()
	const script = `node 4711/4711 100.000000001: 250000 cycles:u:
	    7f0000001010 [unknown] (/tmp/perf-4711.map)
	    7f0000009010 [unknown] (/tmp/perf-4711.map)
	        55550010 main (/usr/bin/node)

`
	profile := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(profile, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want bool) {
		t.Helper()
		out, said, code := shown(t, "pprof -top -compact_labels X", profile, nil)
		if code != command.ExitOK || strings.Contains(out, "LazyCompile:*work") != want || !strings.Contains(out, "main") {
			t.Errorf("exit code %d, named %v wanted: %s%s", code, want, out, said)
		}
	}
	f(false)
	if err := os.WriteFile(filepath.Join(programs.PerfMapFolder, "perf-4711.map"), []byte("7f0000001000 20 LazyCompile:*work /app/main.js:12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f(true)
}
