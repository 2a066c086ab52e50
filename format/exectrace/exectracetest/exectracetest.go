// Package exectracetest is for tests of package exectrace and of what stands
// on it. It builds an oracle from the installed Go tree: a command around the
// standard library's own trace reader, which other modules cannot import. And
// it makes traces.
package exectracetest

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

//go:embed oracle/main.go.txt
var oracleMain []byte

var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loupe-oracle-")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "oracle"), buildOracle(dir)
})

// Build makes the oracle if it is not there yet and returns its path. [Cleanup]
// removes it.
func Build() (string, error) { return build() }

// Cleanup removes the oracle. Call it at the end of TestMain.
func Cleanup() {
	if path, err := build(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
}

// Oracle runs the oracle and returns what it prints. A trace that the oracle
// refuses is an error with its words; what it printed before comes with it.
func Oracle(t testing.TB, args ...string) (string, error) {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("cannot build the oracle from %s: %v", runtime.GOROOT(), err)
	}
	var stderr strings.Builder
	cmd := exec.Command(path, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// Tree returns the folder of internal/trace in the installed Go tree.
func Tree(t testing.TB) string {
	t.Helper()
	root, err := goroot()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "src", "internal", "trace")
}

func goroot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
}

// sortedKeys makes the oracle say the same every time. Of the formats before
// Go 1.22 the standard library's reader takes two orders from a map: that of
// goroutines from before the trace, and of events of different Ps with one
// time. In the oracle it is the order of ids.
const sortedKeys = `package %s

import (
	"cmp"
	"maps"
	"slices"
)

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
`

// buildOracle copies internal/trace into a module of its own in dir, where
// nothing is internal to others, and builds the command beside it.
func buildOracle(dir string) error {
	root, err := goroot()
	if err != nil {
		return err
	}
	from := filepath.Join(root, "src", "internal", "trace")
	rename := strings.NewReplacer(`"internal/trace/internal/tracev1"`, `"oracle/trace/tracev1"`,
		`"internal/trace`, `"oracle/trace`, `"internal/txtar"`, `"oracle/txtar"`,
		"for pid := range p.batchOffsets {", "for _, pid := range sorted(p.batchOffsets) {",
		"for gid := range it.createdPreInit {", "for _, gid := range sorted(it.createdPreInit) {")
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "traceviewer" {
				return filepath.SkipDir
			}
			return nil
		}
		// helpers.go needs the standard library's own test environment.
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || rel == filepath.Join("testtrace", "helpers.go") || rel == filepath.Join("testtrace", "platforms.go") {
			return nil
		}
		rel = strings.Replace(rel, filepath.Join("internal", "tracev1"), "tracev1", 1)
		return copyGo(path, filepath.Join(dir, "trace", rel), rename)
	})
	if err != nil {
		return err
	}
	txtar := filepath.Join(root, "src", "internal", "txtar", "archive.go")
	if err := copyGo(txtar, filepath.Join(dir, "txtar", "archive.go"), rename); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"main.go": oracleMain, "go.mod": []byte("module oracle\n\ngo 1.26\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	for _, pkg := range []string{"trace", "trace/tracev1"} {
		text := fmt.Sprintf(sortedKeys, filepath.Base(pkg))
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(pkg), "sorted.go"), []byte(text), 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", "oracle", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	return nil
}

func copyGo(from, to string, rename *strings.Replacer) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(rename.Replace(string(text))), 0o600)
}
