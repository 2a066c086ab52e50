// Command release makes what people install: an archive for each system with the program, its
// man pages, shell completions and licences, a bill of materials, a container image and the
// checksums of all of them. The same commit gives the same bytes.
//
//	./release              makes all of it in dist, out of the commit that is checked out
//	./release -o DIR -only linux/amd64
//
// It is a module of its own so that what it needs is not part of the program.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are those that are released.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"}, {"freebsd", "amd64"}, {"freebsd", "arm64"},
}

type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

func main() {
	root := flag.String("root", ".", "the checkout of loupe")
	out := flag.String("o", "", "the folder to write to; it must be empty or absent (default: dist in the checkout)")
	only := flag.String("only", "", "release these systems alone: linux/amd64,darwin/arm64")
	flag.Parse()
	if *out == "" {
		*out = filepath.Join(*root, "dist")
	}
	chosen, err := choose(*only)
	if err == nil {
		err = errors.Join(noArguments(flag.Args()), release(*root, *out, chosen))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func noArguments(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected arguments: %q (see -h)", args)
	}
	return nil
}

// choose reads -only.
func choose(only string) ([]platform, error) {
	if only == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: %q is not released; these are: %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// source is the commit that is released.
type source struct {
	root, commit string
	time         time.Time // of the commit: every file in an archive has it
	version      string    // the program's own word, without "v"
}

// read reads which commit is checked out, and refuses a tree that is not that commit.
func read(root string) (*source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	changed, err := git(root, "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" {
		return nil, fmt.Errorf("the tree has changes that no commit has, so that nobody could make the same archives: commit or stash them\n%s", changed)
	}
	shown, err := git(root, "log", "-1", "--format=%H %ct")
	if err != nil {
		return nil, err
	}
	commit, at, _ := strings.Cut(shown, " ")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("time of the commit: %w", err)
	}
	return &source{root: root, commit: commit, time: time.Unix(seconds, 0).UTC()}, nil
}

func git(root string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// release makes everything for some systems.
func release(root, out string, chosen []platform) error {
	src, err := read(root)
	if err != nil {
		return err
	}
	if entries, err := os.ReadDir(out); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove it, or name another folder with -o", out)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "loupe-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	built, err := src.build(work, chosen)
	if err != nil {
		return err
	}
	texts, err := src.texts(filepath.Join(work, "here"))
	if err != nil {
		return err
	}
	for _, b := range built {
		bill, err := src.bill(b)
		if err != nil {
			return err
		}
		if err := src.pack(out, b, append(slices.Clone(texts), bill)); err != nil {
			return err
		}
	}
	if err := src.image(out, built); err != nil {
		return err
	}
	return checksums(out)
}

// checksums writes SHA256SUMS, which sha256sum -c reads.
func checksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
		fmt.Printf("%6.1f MB  %s\n", float64(len(data))/1e6, e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
