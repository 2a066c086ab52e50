package collect

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Repository is a git repository that is asked about its commits. Nothing of it is changed.
type Repository struct {
	git gitIn
	// Root is its top folder.
	Root string
}

// RepositoryOf finds the repository that a folder lies in. It errs where there is none, and where
// there is no git.
func RepositoryOf(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{git: gitIn{dir: dir}}
	top, err := r.line(ctx, "rev-parse", "--show-toplevel")
	if err == nil && top == "" {
		err = errors.New("it has no files beside it")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot ask git about %s: %w", dir, err)
	}
	r.Root = top
	return r, nil
}

func (r *Repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.git.run(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// Commit is the commit that a revision names, "" where it names none.
func (r *Repository) Commit(ctx context.Context, rev string) string {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return ""
	}
	hash, err := r.line(ctx, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if err != nil {
		return ""
	}
	return hash
}

// MergeBase is the last commit that HEAD and a revision have in common, "" without one.
func (r *Repository) MergeBase(ctx context.Context, rev string) string {
	hash, err := r.line(ctx, "merge-base", "HEAD", rev)
	if err != nil {
		return ""
	}
	hash, _, _ = strings.Cut(hash, "\n")
	return hash
}

// Shallow tells that the clone was cut off: commits before some are not there.
func (r *Repository) Shallow(ctx context.Context) bool {
	out, err := r.line(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && out == "true"
}

// Edited tells whether files that git knows differ from HEAD, or Go files lie there that it does not
// know. Other files that it does not know, such as what an earlier step of CI has written, are no
// edit.
func (r *Repository) Edited(ctx context.Context) bool {
	out, err := r.line(ctx, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none", ":/")
	if err != nil {
		return true
	}
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n\"")
		if !strings.HasPrefix(line, "??") || strings.HasSuffix(line, ".go") {
			return true
		}
	}
	return false
}

// Subject is the first line of a commit's message.
func (r *Repository) Subject(ctx context.Context, hash string) string {
	out, err := r.line(ctx, "log", "-1", "--format=%s", hash)
	if err != nil {
		return ""
	}
	return out
}

// CommitTime is when a commit was made, as RFC 3339 has it; "" where that is not known.
func (r *Repository) CommitTime(ctx context.Context, hash string) string {
	out, err := r.line(ctx, "log", "-1", "--format=%cI", hash)
	if err != nil {
		return ""
	}
	return out
}

// GoVersion is the version of the Go that builds in a folder: "go1.26.1". Temp is a private
// directory.
func GoVersion(ctx context.Context, temp, dir string) (string, error) {
	out, err := run(goCommand(ctx, temp, dir, "env", "GOVERSION"))
	if err != nil {
		return "", fmt.Errorf("cannot ask Go for its version: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
