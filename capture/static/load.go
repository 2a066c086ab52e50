// Package static answers questions about Go source without running it: who may call a function,
// and which types implement an interface. It loads packages with the go command, type-checks
// them, and keeps what it worked out for as long as the sources stay the same.
package static

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"loupe/source/system"
)

// Options say which packages are loaded, and how.
type Options struct {
	// Dir is where the go command runs; empty means here.
	Dir string
	// Patterns are packages as the go command takes them.
	Patterns []string
	// Flags are those of the build: "-tags=foo".
	Flags []string
	// Tests also loads the files of tests.
	Tests bool
	// Cache is the folder where answers are kept; empty keeps none. [CacheDir] names the usual one.
	Cache string
	// Progress, if set, is told what takes time.
	Progress func(format string, args ...any)
}

// ErrNoPackages means that the patterns match no package with Go files.
var ErrNoPackages = errors.New("no packages match")

// CacheDir is where answers are kept for this user.
func CacheDir() (string, error) {
	dir, err := system.UserCache()
	if err != nil {
		return "", fmt.Errorf("cannot keep call graphs: %w", err)
	}
	return filepath.Join(dir, "static"), nil
}

func (o *Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
}

// config is how packages are loaded to some depth.
func (o *Options) config(ctx context.Context, mode packages.LoadMode) *packages.Config {
	return &packages.Config{Context: ctx, Mode: mode, Dir: o.Dir, BuildFlags: o.Flags, Tests: o.Tests, Env: append(os.Environ(), system.GoEnvironment()...)}
}

// listed are the packages that were asked for, with all that they import, as the go command
// lists them; nothing is parsed yet.
type listed struct {
	roots []*packages.Package
	paths map[string]bool // of all packages
	key   string          // names the sources; empty when they have errors
}

// list asks the go command which packages there are.
func (o *Options) list(ctx context.Context) (*listed, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule
	roots, err := packages.Load(o.config(ctx, mode), o.Patterns...)
	if err != nil {
		return nil, loadError(err)
	}
	roots = slices.DeleteFunc(roots, func(p *packages.Package) bool {
		return len(p.GoFiles)+len(p.CompiledGoFiles) == 0 && len(p.Errors) == 0
	})
	if len(roots) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoPackages, strings.Join(o.Patterns, " "))
	}
	if said := unmatched(roots); said != "" {
		return nil, fmt.Errorf("%w: %s", ErrNoPackages, said)
	}
	if err := failures(roots); err != nil {
		return nil, err
	}
	l := &listed{roots: roots, paths: map[string]bool{}}
	l.key, err = o.keyOf(ctx, roots, l.paths)
	return l, err
}

// whole loads packages and all that they import with syntax and types.
func (o *Options) whole(ctx context.Context, patterns []string) ([]*packages.Package, error) {
	loaded, err := packages.Load(o.config(ctx, packages.LoadAllSyntax), patterns...)
	if err != nil {
		return nil, loadError(err)
	}
	if err := failures(loaded); err != nil {
		return nil, err
	}
	return loaded, ctx.Err()
}

// keepIfSame keeps an answer if the sources still are what was listed: a file that was changed
// meanwhile belongs to another key.
func (o *Options) keepIfSame(ctx context.Context, l *listed, name string, answer any) {
	if again, err := o.list(ctx); err == nil && again.key == l.key {
		keep(o.Cache, name, answer)
	}
}

// unmatched is what the go command says of a pattern that stands for nothing; empty where all
// stand for something.
func unmatched(roots []*packages.Package) string {
	for _, p := range roots {
		if len(p.GoFiles)+len(p.CompiledGoFiles)+len(p.IgnoredFiles) > 0 {
			continue
		}
		for _, e := range p.Errors {
			if e.Kind == packages.ListError && (e.Pos == "" || e.Pos == "-") {
				return strings.TrimSpace(e.Msg)
			}
		}
	}
	return ""
}

// loadError keeps what the go command has said of a failure, without how it was called.
func loadError(err error) error {
	text := err.Error()
	if _, said, ok := strings.Cut(text, "stderr: "); ok {
		text = said
	}
	return fmt.Errorf("cannot load packages: %s", strings.TrimSpace(text))
}

// maxErrors is how many compiler errors are told: those behind follow from the first ones.
const maxErrors = 5

// failures joins the first errors of packages; nil where there are none.
func failures(roots []*packages.Package) error {
	var texts []string
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			text := e.Msg
			if e.Pos != "" && e.Pos != "-" {
				text = relative(e.Pos) + ": " + e.Msg
			}
			if text = strings.TrimSpace(text); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	})
	if len(texts) == 0 {
		return nil
	}
	more := ""
	if n := len(texts) - maxErrors; n > 0 {
		texts, more = texts[:maxErrors], fmt.Sprintf("\n(%d more)", n)
	}
	return fmt.Errorf("the packages do not build:\n%s%s", strings.Join(texts, "\n"), more)
}

// relative writes a path below this folder from here.
func relative(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// keyOf names the sources: it is another one when any file, the toolchain or the build has
// changed. Files of the toolchain and of the module cache never change under their names.
func (o *Options) keyOf(ctx context.Context, roots []*packages.Package, paths map[string]bool) (string, error) {
	vars := []string{"GOVERSION", "GOROOT", "GOMODCACHE", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS", "GOEXPERIMENT"}
	c := exec.CommandContext(ctx, "go", append([]string{"env"}, vars...)...)
	c.Dir, c.Env = o.Dir, append(os.Environ(), system.GoEnvironment()...)
	env, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("cannot ask go env: %w", err)
	}
	lines := strings.Split(string(env), "\n")
	fixed := lines[1:3]
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %q %v\n", keyVersion, env, o.Flags, o.Tests)
	for _, p := range roots {
		fmt.Fprintf(h, "asked %s\n", p.ID)
	}
	var all []*packages.Package
	packages.Visit(roots, nil, func(p *packages.Package) {
		all, paths[p.PkgPath] = append(all, p), true
	})
	slices.SortFunc(all, func(a, b *packages.Package) int { return strings.Compare(a.ID, b.ID) })
	for _, p := range all {
		fmt.Fprintf(h, "package %s\n", p.ID)
		for _, file := range slices.Concat(p.GoFiles, p.OtherFiles) {
			fmt.Fprintf(h, "%s\n", file)
			if !slices.ContainsFunc(fixed, func(dir string) bool { return dir != "" && strings.HasPrefix(file, dir+string(filepath.Separator)) }) {
				if err := hashFile(h, file); err != nil {
					return "", err
				}
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// keyVersion changes with what is kept, and how it is worked out.
const keyVersion = 1

func hashFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// hashOf makes a name that a file may have of any text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
