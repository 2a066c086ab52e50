package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/value/unit"
)

// most is how many packages a new file lists one by one.
const most = 12

// initialise writes a file for the module that a folder lies in.
func initialise(e *command.Env, dir, path string) error {
	root := moduleOf(dir)
	if root == "" {
		return errors.New("there is no go.mod in this folder or above it: loupe check -init writes a file for a module")
	}
	shown := path
	if path == "" {
		path = filepath.Join(root, ConfigName)
		shown = path
		if rel, err := filepath.Rel(dir, path); err == nil {
			shown = rel
		}
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists and is left unchanged", shown)
	}
	var packages []string
	err := e.WithTemp(func(temp string) error {
		all, err := collect.TestPackages(e.Ctx, collect.BuildOptions{Test: true, Dir: filepath.Dir(absolute(dir, path)), Temp: temp}, []string{"./..."})
		for _, p := range all {
			if rel, rerr := filepath.Rel(filepath.Dir(absolute(dir, path)), p.Dir); p.Benchmarks && rerr == nil {
				packages = append(packages, strings.TrimSuffix("./"+filepath.ToSlash(rel), "/."))
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		return command.Nothingf("no package of %s has benchmarks: write one (func BenchmarkX(b *testing.B)), or a file with loads by hand (loupe help check)", root)
	}
	slices.Sort(packages)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists and is left unchanged", shown)
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(initial(packages))
	if err = cmp.Or(err, file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "wrote %s: %s with benchmarks\nnext  loupe check\n", shown, unit.Plural(int64(len(packages)), "package"))
	return nil
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// moduleOf is the folder of go.mod, "" without one.
func moduleOf(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// initial is the text of a new file.
func initial(packages []string) string {
	var b strings.Builder
	b.WriteString(`# What loupe check measures, and by how much it may grow: see loupe help check.

benchmarks:
`)
	if len(packages) > most {
		fmt.Fprintf(&b, "  - packages: ./...   # %d of them have benchmarks\n", len(packages))
	} else {
		b.WriteString("  - packages:\n")
		for _, p := range packages {
			fmt.Fprintf(&b, "      - %s\n", p)
		}
	}
	b.WriteString(`    # bench: 'Parse|Write'   # as go test -bench has it

# loads:   # as loupe run -load has them
#   - target: ./cmd/server
#     args: -addr localhost:8080
#     url: http://localhost:8080/
#     phases: bare,allocs,cpu

# A check fails when something grew by more than this, and that is proven.
allow:
  time: 10%
  cpu: 5%
  B/op: 1%
  allocs/op: 0%

findings: critical   # of loads: info, warning, critical or never
undecided: pass      # or fail
budget: 10m
`)
	return b.String()
}
