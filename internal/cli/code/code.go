// Package code has loupe callers and loupe implements: answers that are in the source, which no
// other command loads. Loupe pgo, which asks the compiler, is a package below it.
package code

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"loupe/capture/static"
	"loupe/internal/cli/code/pgo"
	"loupe/internal/cli/command"
)

// PGO is loupe pgo.
var PGO = pgo.Command

// flags are those of both commands.
type flags struct {
	json, quiet, fresh bool
	tags               string
}

func (f *flags) declare(fs *command.FlagSet, schema string) {
	fs.BoolVar(&f.json, "json", false, "print JSON ("+schema+")")
	fs.BoolVar(&f.quiet, "quiet", false, "print no progress")
	fs.BoolVar(&f.fresh, "fresh", false, "do not read or write the cache")
	fs.StringVar(&f.tags, "tags", "", "build `tags`, as go build takes them")
}

// options are how the packages are loaded; without any it is those below this folder.
func (f *flags) options(e *command.Env, patterns []string) static.Options {
	o := static.Options{Patterns: patterns, Progress: e.Progress(f.quiet)}
	if len(patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	if f.tags != "" {
		o.Flags = []string{"-tags=" + f.tags}
	}
	if dir, err := static.CacheDir(); err == nil && !f.fresh {
		o.Cache = dir
	}
	return o
}

// failed gives an error of loading its exit code, and says what to do where that is known.
func failed(e *command.Env, err error) error {
	switch text := err.Error(); {
	case e.Ctx.Err() != nil:
		return e.Ctx.Err()
	case strings.Contains(text, "go.mod file not found"), strings.Contains(text, "cannot find main module"), strings.Contains(text, "does not contain main module"):
		return errors.Join(err, errors.New("change to a module's folder, or create one: go mod init NAME"))
	case errors.Is(err, static.ErrNoPackages):
		return command.Nothing(err)
	}
	return err
}

// here writes the path of a file below this folder from here.
func here(file string) string {
	dir, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
