package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"loupe/format/compiler"
)

// Main is a package that is built into a program, or any other one.
type Main struct {
	ImportPath, Name, Dir string
	// Module is its module, "" outside of any.
	Module string
}

// FindMain finds the package that opt.Target names. It takes packages that are not main, too.
func FindMain(ctx context.Context, opt BuildOptions) (Main, error) {
	dir, pattern := opt.Dir, opt.Target
	name := pattern
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		dir, pattern = name, "."
	}
	p, err := list(ctx, opt, dir, pattern)
	if err != nil {
		return Main{}, err
	}
	m := Main{ImportPath: p.ImportPath, Name: p.Name, Dir: p.Dir}
	if p.Module != nil {
		m.Module = p.Module.Path
	}
	return m, nil
}

// Imported lists the packages that a package is built of, itself among them, by their import
// paths.
func Imported(ctx context.Context, opt BuildOptions, m Main) (map[string]bool, error) {
	words := append([]string{"list", "-e", "-deps", "-json=ImportPath"}, tagFlags(opt.Flags)...)
	out, err := run(goCommand(ctx, opt.Temp, m.Dir, append(words, ".")...))
	if err != nil {
		return nil, fmt.Errorf("cannot list what %s imports: %w", m.ImportPath, err)
	}
	all := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		var p goPackage
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("cannot read the answer of go list: %w", err)
		}
		all[p.ImportPath] = true
	}
	return all, nil
}

// Guide builds a package by a profile and asks the compiler what it makes of it. Wanted says
// which functions it is asked about. The binary is written to out, unless that is "". What the
// compiler prints lies in opt.Temp meanwhile: 120 MB for a program of 700 packages.
func Guide(ctx context.Context, opt BuildOptions, m Main, profile, out string, wanted func(string) bool) (*compiler.Guided, error) {
	profile, err := filepath.Abs(profile)
	if err != nil {
		return nil, err
	}
	said, err := os.CreateTemp(opt.Temp, "guided")
	if err != nil {
		return nil, err
	}
	defer func() {
		said.Close()
		os.Remove(said.Name())
	}()
	cmd := goCommand(ctx, opt.Temp, m.Dir, buildWords(opt, profile, out, "-gcflags=all="+compiler.GuidedFlags)...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := execute(cmd); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// The words of the error are among all the others: ask again for them alone.
		if plain := BuildGuided(ctx, opt, m, profile, os.DevNull); plain != nil {
			return nil, plain
		}
		return nil, fmt.Errorf("cannot build %s with %s: %w", m.ImportPath, compiler.GuidedFlags, err)
	}
	if _, err := said.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	g, err := compiler.ParseGuided(said, wanted)
	if err == nil && len(g.Sites) == 0 && len(g.Known) == 0 && g.Packages == 0 {
		err = errors.New("the compiler says nothing of the profile: Go 1.22 or later does (-d=pgodebug=3)")
	}
	return g, err
}

// BuildGuided builds a package by a profile, "off" for none, into a file.
func BuildGuided(ctx context.Context, opt BuildOptions, m Main, profile, out string) error {
	if profile != "off" {
		abs, err := filepath.Abs(profile)
		if err != nil {
			return err
		}
		profile = abs
	}
	if _, err := run(goCommand(ctx, opt.Temp, m.Dir, buildWords(opt, profile, out)...)); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("cannot build %s:\n%w", m.ImportPath, err)
	}
	return nil
}

// buildWords are those of a build of the package in a folder. The profile goes behind the user's
// flags, and so wins.
func buildWords(opt BuildOptions, profile, out string, more ...string) []string {
	if out == "" {
		out = os.DevNull
	}
	words := append([]string{"build"}, opt.Flags...)
	words = append(words, "-pgo="+profile, "-o", out)
	return append(append(words, more...), ".")
}

// profileIn is the profile that the go command takes by itself.
const profileIn = "default.pgo"

// ProfileOf is the name of the profile that the go command takes for a main package by itself,
// whether or not it is there.
func (m Main) ProfileOf() string { return filepath.Join(m.Dir, profileIn) }

// Short names the package as a user would: by its folder from dir, where that is not longer.
func (m Main) Short(dir string) string {
	rel, err := filepath.Rel(dir, m.Dir)
	switch {
	case err != nil || strings.HasPrefix(rel, ".."):
		return m.ImportPath
	case rel == ".":
		return "."
	}
	return "./" + filepath.ToSlash(rel)
}
