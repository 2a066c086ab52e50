package collect

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Checkout writes the git repository that holds the package target, seen from
// dir, as it was at a revision into a folder of its name below tree, and returns
// where and as what the same package is to be built there. The user's checkout
// is not touched.
func Checkout(ctx context.Context, dir, target, rev, tree string) (newDir, newTarget string, err error) {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		return run(cmd)
	}
	if info, serr := os.Stat(filepath.Join(dir, target)); serr == nil && info.IsDir() && !filepath.IsAbs(target) {
		dir, target = filepath.Join(dir, target), "."
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", fmt.Errorf("cannot take revision %s: %w", rev, err)
	}
	prefix, err := git("rev-parse", "--show-prefix")
	if err != nil {
		return "", "", fmt.Errorf("cannot take revision %s: %w", rev, err)
	}
	dir = strings.TrimSpace(string(top))
	if strings.HasPrefix(rev, "-") {
		return "", "", fmt.Errorf("cannot take revision %q: it looks like a flag", rev)
	}
	archive, err := git("archive", "--format=tar", rev)
	if err != nil {
		return "", "", fmt.Errorf("cannot take revision %s: %w", rev, err)
	}
	tree = filepath.Join(tree, filepath.Base(dir)) // a package in it is named by its folder
	if err := untar(bytes.NewReader(archive), tree); err != nil {
		return "", "", fmt.Errorf("cannot unpack revision %s: %w", rev, err)
	}
	return filepath.Join(tree, strings.TrimSpace(string(prefix))), target, nil
}

// Unchanged tells that the working tree around dir is what a revision has: then
// building both makes the same program, under other paths.
func Unchanged(ctx context.Context, dir, rev string) bool {
	for _, args := range [][]string{{"diff", "--quiet", rev, "--", ":/"}, {"ls-files", "--others", "--exclude-standard", "--", ":/"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		if out, err := run(cmd); err != nil || len(out) > 0 {
			return false
		}
	}
	return true
}

// untar unpacks folders and plain files; everything else in an archive of
// sources does not matter to a build.
func untar(r io.Reader, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o700)
		case tar.TypeReg:
			err = writeIn(root, name, tr)
		}
		if err != nil {
			return err
		}
	}
}

func writeIn(root *os.Root, name string, r io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}
