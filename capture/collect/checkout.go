package collect

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Checkout writes the git repository that holds the package target, seen from
// dir, as it was at a revision into a folder of its name below tree, and returns
// where and as what the same package is to be built there. The user's checkout
// and its index are not touched.
//
// Note: git archive would leave out what .gitattributes keeps out of releases, which
// may be what tests read; a worktree of git's would be known to the user's repository.
func Checkout(ctx context.Context, dir, target, rev, tree string) (newDir, newTarget string, err error) {
	if info, serr := os.Stat(filepath.Join(dir, target)); serr == nil && info.IsDir() && !filepath.IsAbs(target) {
		dir, target = filepath.Join(dir, target), "."
	}
	git := gitIn{dir: dir}
	top, err := git.run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", "", fmt.Errorf("cannot take revision %s: %w", rev, err)
	}
	prefix, err := git.run(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return "", "", fmt.Errorf("cannot take revision %s: %w", rev, err)
	}
	dir = strings.TrimSpace(string(top))
	git.dir = dir
	if strings.HasPrefix(rev, "-") {
		return "", "", fmt.Errorf("cannot take revision %q: it looks like a flag", rev)
	}
	index := filepath.Join(tree, ".index")
	tree = asLong(tree, filepath.Base(dir), len(dir)) // a package in it is named by its folder
	if err := os.MkdirAll(tree, 0o700); err != nil {
		return "", "", fmt.Errorf("cannot unpack revision %s: %w", rev, err)
	}
	git.index = index
	if _, err := git.run(ctx, "read-tree", rev); err != nil {
		return "", "", fmt.Errorf("cannot take revision %s: %w", rev, err)
	}
	if _, err := git.run(ctx, "checkout-index", "--all", "--prefix="+tree+"/"); err != nil {
		return "", "", fmt.Errorf("cannot unpack revision %s: %w", rev, err)
	}
	return filepath.Join(tree, strings.TrimSpace(string(prefix))), target, nil
}

// asLong is a folder of a name in another one whose path is as long as wanted, or longer: what
// a program makes of its own path (runtime.Caller, slog's AddSource, errors of files) takes
// memory by its length.
func asLong(parent, name string, want int) string {
	for {
		missing := want - len(filepath.Join(parent, name))
		switch {
		case missing <= 0:
			return filepath.Join(parent, name)
		case missing == 1:
			parent += "x"
		default:
			parent = filepath.Join(parent, strings.Repeat("x", min(missing-1, 200)))
		}
	}
}

// Unchanged tells that the working tree around dir is what a revision has: then
// building both makes the same program, under other paths.
func Unchanged(ctx context.Context, dir, rev string) bool {
	for _, args := range [][]string{{"diff", "--quiet", rev, "--", ":/"}, {"ls-files", "--others", "--exclude-standard", "--", ":/"}} {
		if out, err := (gitIn{dir: dir}).run(ctx, args...); err != nil || len(out) > 0 {
			return false
		}
	}
	return true
}

// gitIn runs git in a folder, with an index of its own where that is named.
type gitIn struct{ dir, index string }

func (g gitIn) run(ctx context.Context, args ...string) ([]byte, error) {
	// No hook of the user's repository has a part in it.
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0") // git diff would refresh the user's index
	if g.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+g.index)
	}
	return run(cmd)
}
