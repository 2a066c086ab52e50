package counting_test

import (
	"encoding/json"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loupe/capture/counting"
	"loupe/format/repeats"
	"loupe/internal/long"
)

// ending is a program that ends in each way, sooner than the counts are written otherwise.
const ending = `package main

import (
	"os"
	"syscall"
)

func step(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * len(os.Args)
	}
	return sum
}

func main() {
	for i := 0; i < 300; i++ {
		step(i)
	}
	switch os.Args[1] {
	case "os.Exit":
		os.Exit(0)
	case "two at once":
		go os.Exit(0)
		go os.Exit(0)
	case "syscall.Exit":
		syscall.Exit(0)
	}
}
`

// TestEnd: the counts of a program that ends by itself are those at its end, however it ends and whatever Go it is built by; where they
// cannot be, there are none.
func TestEnd(t *testing.T) {
	for minor, toolchain := range map[int]string{minorOf(t): "local", 21: "go1.21.13", 22: "go1.22.12"} {
		t.Run(toolchain, func(t *testing.T) {
			if toolchain != "local" {
				long.Only(t, "downloads a toolchain")
			}
			run := builtToCount(t, toolchain, minor, ending)
			for _, way := range []string{"return", "os.Exit", "two at once", "syscall.Exit"} {
				text, err := run(way)
				if way == "syscall.Exit" {
					if err == nil {
						t.Errorf("%s: counts without the last", way)
					}
					continue
				}
				set, decodes := repeats.Decode(text)
				if err != nil || decodes != nil {
					t.Errorf("%s: %v, %v", way, err, decodes)
					continue
				}
				at := slices.IndexFunc(set.Functions, func(f repeats.Func) bool { return f.Name == "main.step" })
				if at < 0 || set.Functions[at].Calls != 300 || set.Files[0].Blocks[1].Count != 300*299/2 {
					t.Errorf("%s: %+v", way, set)
				}
			}
		})
	}
}

// minorOf is the minor version of the Go that runs the test.
func minorOf(t *testing.T) int {
	t.Helper()
	tags := build.Default.ReleaseTags // one for each up to this, also where it is no release itself
	minor, err := strconv.Atoi(strings.TrimPrefix(tags[len(tags)-1], "go1."))
	if err != nil {
		t.Fatal(err)
	}
	return minor
}

// builtToCount builds a program so that it counts, and returns what runs it with an argument and reads its counts.
func builtToCount(t *testing.T, toolchain string, minor int, source string) func(arg string) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	gocmd := func(words ...string) string {
		cmd := exec.Command("go", words...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+toolchain, "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(words, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write("go.mod", "module example.com/ending\n\ngo 1.21\n")
	main := write("main.go", source)
	s, err := counting.Copies(map[string][]string{"main": {main}}, minor, runtime.GOARCH, map[string]bool{"main": true})
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for path, text := range s.Files(filepath.Join(gocmd("env", "GOROOT"), "src")) {
		replace[path] = write(fmt.Sprintf("copy%d", len(replace)), text)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program.exe")
	gocmd("build", "-overlay", write("overlay.json", string(overlay)), "-o", program, ".")
	return func(arg string) ([]byte, error) {
		counts := filepath.Join(t.TempDir(), "counts")
		cmd := exec.Command(program, arg)
		cmd.Env = append(os.Environ(), s.Env()+"="+counts)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		f, err := os.Open(counts)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return s.Read(f, false, true)
	}
}
