package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"loupe/capture/collect"
)

// Revision is what the name of another version means in git, if it is no file or folder: @REV
// is always a revision.
func Revision(name string) (rev string, ok bool) {
	if rev, ok := strings.CutPrefix(name, "@"); ok {
		return rev, true
	}
	_, err := os.Stat(name)
	return name, err != nil
}

// Counterpart is the folder in another copy of the module that is what dir is in this one.
func Counterpart(dir, there string) string {
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	if !exists(filepath.Join(there, "go.mod")) {
		return there // the folder of the package itself
	}
	for root := dir; ; root = filepath.Dir(root) {
		if exists(filepath.Join(root, "go.mod")) {
			rel, err := filepath.Rel(root, dir)
			if err == nil && exists(filepath.Join(there, rel)) {
				return filepath.Join(there, rel)
			}
			return there
		}
		if root == filepath.Dir(root) {
			return there
		}
	}
}

// version is where another version of a target is built.
type version struct {
	dir, target string
	// revision is that in git, "" of none.
	revision string
}

// find finds the version of a target in dir that a name stands for. A revision is unpacked
// below temp. The empty name is what dir has.
func find(ctx context.Context, dir, target, name, temp string) (version, error) {
	if name == "" {
		return version{dir: dir, target: target}, nil
	}
	rev, ok := Revision(name)
	if ok && !strings.HasPrefix(name, "@") && !known(ctx, dir, rev) {
		if strings.HasPrefix(name, ".") || filepath.IsAbs(name) {
			return version{}, fmt.Errorf("-vs %s: there is no such file or folder", name)
		}
		ok = false // a package by its import path, or a program of the PATH
	}
	if ok {
		at, as, err := collect.Checkout(ctx, dir, target, rev, filepath.Join(temp, "tree"))
		return version{dir: at, target: as, revision: rev}, err
	}
	there := name
	if !filepath.IsAbs(there) {
		there = filepath.Join(dir, name)
	}
	if _, err := os.Stat(filepath.Join(there, "go.mod")); err != nil {
		return version{dir: dir, target: name}, nil
	}
	here := target
	if !filepath.IsAbs(here) {
		here = filepath.Join(dir, target)
	}
	if info, err := os.Stat(here); err == nil && info.IsDir() {
		return version{dir: Counterpart(here, there), target: "."}, nil
	}
	return version{dir: Counterpart(dir, there), target: target}, nil
}

// known tells whether git knows a revision in the repository around dir.
func known(ctx context.Context, dir, rev string) bool {
	repo, err := collect.RepositoryOf(ctx, dir)
	return err == nil && repo.Commit(ctx, rev) != ""
}
