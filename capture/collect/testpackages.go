package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// TestPackage is a package as far as its tests go.
type TestPackage struct {
	ImportPath, Dir string
	// Tests tells that it has test files, Benchmarks that one of them declares a benchmark.
	Tests, Benchmarks bool
	// Err is why it cannot be loaded, "" without a reason.
	Err string
}

// TestPackages lists the packages that patterns match, seen from opt.Dir, with the flags of
// the build. An error is that of the go command, or that nothing matches.
func TestPackages(ctx context.Context, opt BuildOptions, patterns []string) ([]TestPackage, error) {
	words := append([]string{"list", "-e", "-json"}, tagFlags(opt.Flags)...)
	out, err := run(goCommand(ctx, opt.Temp, opt.Dir, append(append(words, "--"), patterns...)...))
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", strings.Join(patterns, " "), err)
	}
	var all []TestPackage
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("cannot read the answer of go list: %w", err)
		}
		files := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		one := TestPackage{ImportPath: p.ImportPath, Dir: p.Dir, Tests: len(files) > 0}
		if p.Error != nil {
			one.Err = strings.TrimSpace(p.Error.Err)
		}
		one.Benchmarks = slices.ContainsFunc(files, func(name string) bool {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			return err != nil || bytes.Contains(text, []byte("\nfunc Benchmark")) // what cannot be read is told by the build
		})
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("cannot list %s: no package matches", strings.Join(patterns, " "))
	}
	return all, nil
}
