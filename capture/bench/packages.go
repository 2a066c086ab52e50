package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"loupe/capture/collect"
)

// Tree is where packages are taken from: the user's folder, or another version of it.
type Tree struct {
	// Name is what messages call it, "" for the user's own.
	Name string
	// Dir is where patterns are looked up.
	Dir string
	// Binary is a test binary of the one package that is measured, already built.
	Binary string
}

// in names the tree in a message.
func (t Tree) in() string {
	if t.Name == "" {
		return ""
	}
	return " of " + t.Name
}

// BuildOptions say how test binaries are built.
type BuildOptions struct {
	Patterns []string
	Flags    []string // of go build
	// Layout, if it is not 0, draws another order of the functions in the binaries: what the
	// linker may do to programs whose code is the same.
	Layout uint32
	// Temp is a private directory.
	Temp     string
	Progress func(format string, args ...any)
}

// Package is a package with its test binary.
type Package struct {
	ImportPath string
	tree       string // " of REV"
	// Key names the package in any tree: by its folder, or by its import path where it
	// lies elsewhere.
	Key string
	// Dir is where its tests run.
	Dir    string
	Binary string
	// Build is the digest of the binary.
	Build string
	// Counted tells that the binary counts the CPU time of benchmarks.
	Counted bool
	program *collect.Program
}

// Build builds the test binaries of the packages of a tree that have benchmarks. An error
// is joined of those of packages; the others are returned with it.
func Build(ctx context.Context, t Tree, opt BuildOptions) ([]*Package, error) {
	if err := os.MkdirAll(opt.Temp, 0o700); err != nil { // the go command of Go 1.18 wants it
		return nil, err
	}
	build := collect.BuildOptions{Test: true, Flags: opt.Flags, Dir: t.Dir, Temp: opt.Temp}
	listed, err := collect.TestPackages(ctx, build, opt.Patterns)
	if err != nil {
		return nil, err
	}
	var packages []*Package
	var failed error
	without := 0
	for i, p := range listed {
		switch {
		case p.Err != "" && p.Dir == "":
			failed = errors.Join(failed, fmt.Errorf("cannot find package %s%s: %s", p.ImportPath, t.in(), p.Err))
			continue
		case !p.Tests && len(listed) == 1:
			return nil, fmt.Errorf("package %s%s has no test files, and so no benchmarks", p.ImportPath, t.in())
		case !p.Benchmarks && len(listed) == 1:
			return nil, fmt.Errorf("package %s%s has tests, but no benchmarks", p.ImportPath, t.in())
		case !p.Benchmarks:
			without++
			continue
		}
		one, err := buildOne(ctx, t, opt, p, filepath.Join(opt.Temp, fmt.Sprint(i)))
		if ctx.Err() != nil {
			return packages, ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		packages = append(packages, one)
	}
	if len(packages) == 0 && failed == nil {
		return nil, fmt.Errorf("none of %d packages%s has benchmarks", len(listed), t.in())
	}
	if without > 0 {
		opt.Progress("%d of %d packages%s have benchmarks", len(listed)-without, len(listed), t.in())
	}
	return packages, failed
}

// buildOne builds the test binary of one package.
func buildOne(ctx context.Context, t Tree, opt BuildOptions, p collect.TestPackage, temp string) (*Package, error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	target := p.Dir
	if target == "" {
		target = p.ImportPath
	}
	build := collect.BuildOptions{
		Target: target, Test: true, Flags: opt.Flags, Dir: t.Dir, Temp: temp, Std: overlay,
		Progress: func(format string, args ...any) {},
	}
	if opt.Layout != 0 {
		build.LinkFlag = fmt.Sprintf("-randlayout=%d", opt.Layout)
	}
	prog, err := collect.Build(ctx, build)
	if err != nil && ctx.Err() == nil && build.LinkFlag != "" {
		opt.Progress("%s%s: the linker lays functions out in one order alone (it is older than Go 1.22)", p.ImportPath, t.in())
		build.LinkFlag = ""
		prog, err = collect.Build(ctx, build)
	}
	if err != nil {
		text := strings.TrimPrefix(err.Error(), fmt.Sprintf("cannot build %s:\n", target))
		return nil, fmt.Errorf("cannot build the tests of %s%s:\n%s", p.ImportPath, t.in(), text)
	}
	for _, note := range prog.Notes {
		opt.Progress("%s%s: %s", p.ImportPath, t.in(), note)
	}
	if !prog.Std {
		opt.Progress("%s%s: CPU time is that of the whole process (%s)", p.ImportPath, t.in(), ProcessCPU)
	}
	return &Package{
		ImportPath: p.ImportPath, tree: t.in(), Key: keyOf(t.Dir, p), Dir: p.Dir, Binary: prog.Path, Build: prog.Target.Build, Counted: prog.Std,
		program: prog,
	}, nil
}

// keyOf names a package in any tree.
func keyOf(dir string, p collect.TestPackage) string {
	rel, err := filepath.Rel(dir, p.Dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return p.ImportPath
	}
	return rel
}

// name is how messages name the package.
func (p *Package) name() string { return p.ImportPath + p.tree }

// Ready is a test binary that was built by somebody else, of the same package as another
// one, in whose folder it runs.
func Ready(path string, of *Package) (*Package, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	prog, err := collect.Build(context.Background(), collect.BuildOptions{Target: abs, Dir: of.Dir})
	if err != nil {
		return nil, err
	}
	return &Package{ImportPath: of.ImportPath, Key: of.Key, Dir: of.Dir, Binary: abs, tree: " in " + path, program: prog}, nil
}
