package leak_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"loupe/internal/long"
)

// planted are the programs of testdata/programs: where it leaks is the line marked LEAK; in
// those that are sound there is none.
var planted = []struct{ name, what string }{
	{"channel", "goroutines"}, {"ticker", "goroutines"}, {"body", "goroutines"}, {"map", "heap"}, {"cgo", "memory outside Go"},
	{"overdue", "goroutines"}, {"cache", ""}, {"loading", ""}, {"rush", ""}, {"workers", ""},
}

// verdict is what the test reads of one.
type verdict struct {
	Answer string
	Causes []struct {
		What, Summary string
		Rate          [3]float64
		Evidence      []struct {
			File string
			Line int
		}
	}
	Looked []struct{ What, Shape string }
}

// TestPlanted records the programs, some of which leak, and asks loupe leak for its verdict: the
// right line, or silence. What the programs keep is by the time that has passed, so that a busy
// machine records the same.
func TestPlanted(t *testing.T) {
	long.Only(t, "it records ten programs, each for sixteen seconds")
	if runtime.GOOS != "linux" {
		t.Skip("descriptors and memory beyond Go's own are counted on Linux")
	}
	dir := t.TempDir()
	loupe := filepath.Join(dir, "loupe")
	if out, err := exec.Command("go", "build", "-o", loupe, "loupe/cmd/loupe").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module := filepath.Join(dir, "module")
	if err := os.CopyFS(module, os.DirFS("testdata/programs")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module example.com/planted\n\ngo 1.26\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			if _, err := exec.LookPath("gcc"); err != nil && p.name == "cgo" {
				t.Skip("there is no C compiler")
			}
			// The opposite verdict is wrong at once. On a busy machine a record may be too poor
			// to decide.
			for n := 1; ; n++ {
				rec := filepath.Join(dir, fmt.Sprintf("%s-%d", p.name, n))
				c := exec.Command(loupe, "run", "-quiet", "-diagnostics=false", "-o", rec, "-phases", "bare:2s,growth:14s", "./"+p.name)
				c.Dir = module
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				v, code := verdictOf(t, loupe, rec)
				if v.Answer == "undecided" && n < 5 {
					t.Logf("once more: %+v", v)
					continue
				}
				if p.what == "" {
					if v.Answer != "no leak" || code != 0 || len(v.Causes) > 0 {
						t.Errorf("%s (%d), want no leak: %+v", v.Answer, code, v)
					}
				} else {
					checkLeak(t, v, code, p.what, leakLine(t, filepath.Join(module, p.name, "main.go")))
				}
				return
			}
		})
	}
}

// checkLeak holds a verdict against the leak that was planted.
func checkLeak(t *testing.T, v verdict, code int, what string, line int) {
	t.Helper()
	if v.Answer != "leak" || code != 3 || len(v.Causes) == 0 {
		t.Fatalf("%s (%d), want a leak: %+v", v.Answer, code, v)
	}
	first := v.Causes[0]
	if first.What != what || len(first.Evidence) == 0 || first.Evidence[0].Line != line || filepath.Base(first.Evidence[0].File) != "main.go" {
		t.Errorf("the first cause is %+v, want %s at line %d", first, what, line)
	}
	if first.Rate[0] <= 0 || first.Rate[0] > first.Rate[1] || first.Rate[1] > first.Rate[2] {
		t.Errorf("its rate is %v", first.Rate)
	}
	t.Logf("%s, rate %v", first.Summary, first.Rate)
}

// leakLine is the line of a file that is marked.
func leakLine(t *testing.T, file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), "// LEAK")
	if !found {
		t.Fatalf("%s has no line marked LEAK", file)
	}
	return strings.Count(before, "\n") + 1
}

// verdictOf asks loupe.
func verdictOf(t *testing.T, loupe, rec string) (v verdict, code int) {
	c := exec.Command(loupe, "leak", "-json", rec)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run()
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("%v\n%s%s", err, out.Bytes(), errs.Bytes())
	}
	return v, c.ProcessState.ExitCode()
}
