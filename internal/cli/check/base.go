package check

import (
	"context"
	"errors"
	"fmt"
	"os"

	"loupe/capture/collect"
)

// base is what the working tree is held against: a commit, or a baseline.
type base struct {
	// commit is its hash, title how it is called in a sentence.
	commit, title string
	kept          *baseline
	// same tells that the working tree is what the commit has.
	same bool
}

// errNoRepository tells that there is no revision to compare with at all.
var errNoRepository = errors.New("without a repository you can keep a baseline to compare with: loupe check -keep")

// name is how messages call it.
func (b *base) name() string { return "the base " + short(b.commit) }

// short is the beginning of a hash that people know commits by.
func short(hash string) string { return hash[:min(12, len(hash))] }

// usualBranches are looked for when nobody names a base.
var usualBranches = []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"}

// revision finds the commit to compare with: the last one that HEAD has in common with a revision,
// or with the branch that others work on. There, where nothing has changed since, it is the
// commit before HEAD: a check of what was pushed.
func revision(ctx context.Context, dir, rev string) (*base, error) {
	repo, err := collect.RepositoryOf(ctx, dir)
	if err != nil {
		return nil, errors.Join(errNoRepository, err)
	}
	head := repo.Commit(ctx, "HEAD")
	if head == "" {
		return nil, errors.New("this repository has no commit: there is nothing to compare with")
	}
	named := rev != ""
	if !named {
		if rev = branch(ctx, repo); rev == "" {
			return nil, noBranch(ctx, repo)
		}
	}
	there := repo.Commit(ctx, rev)
	if there == "" {
		return nil, missing(ctx, repo, rev)
	}
	b := &base{commit: repo.MergeBase(ctx, rev)}
	if b.commit == "" {
		return nil, unrelated(ctx, repo, rev)
	}
	what := fmt.Sprintf("the merge base of HEAD and %s", rev)
	if b.commit == there {
		what = rev
	}
	b.same = collect.Unchanged(ctx, dir, b.commit)
	if !named && b.commit == head && !repo.Edited(ctx) {
		if before := repo.Commit(ctx, "HEAD^"); before != "" {
			b.commit, what, b.same = before, "the commit before HEAD, which is what "+rev+" has", collect.Unchanged(ctx, dir, before)
		} else if repo.Shallow(ctx) {
			return nil, fmt.Errorf("this clone is shallow and has no commit before HEAD: %s", deepen)
		}
	}
	b.title = fmt.Sprintf("%s (%s)", short(b.commit), what)
	if subject := repo.Subject(ctx, b.commit); subject != "" {
		b.title += ": " + subject
	}
	return b, nil
}

// branch is the first of the usual branches that is there; of a pull request on GitHub the one
// that it is to be merged into.
func branch(ctx context.Context, repo *collect.Repository) string {
	if into := os.Getenv("GITHUB_BASE_REF"); into != "" {
		return "origin/" + into // missing is an error: another branch would be another question
	}
	for _, name := range usualBranches {
		if repo.Commit(ctx, name) != "" {
			return name
		}
	}
	return ""
}

// deepen says how a shallow clone gets its history.
const deepen = "with actions/checkout set fetch-depth: 0, elsewhere run git fetch --unshallow"

// noBranch says that there is no base.
func noBranch(ctx context.Context, repo *collect.Repository) error {
	if repo.Shallow(ctx) {
		return fmt.Errorf("this clone is shallow and has no branch to compare with: %s", deepen)
	}
	return errors.New("there is no branch origin/main, origin/master, main or master to compare with: name a revision with -vs, or as base in the file")
}

// missing says that a revision is not there.
func missing(ctx context.Context, repo *collect.Repository, rev string) error {
	if repo.Shallow(ctx) {
		return fmt.Errorf("revision %s is not in this clone, which is shallow: %s", rev, deepen)
	}
	hint := ""
	if _, err := os.Stat(rev); err == nil {
		hint = " (a folder or a binary is compared with by loupe bench -vs)"
	}
	return fmt.Errorf("revision %s is not in this repository%s: fetch it, or name another with -vs", rev, hint)
}

// unrelated says that two revisions have no commit in common.
func unrelated(ctx context.Context, repo *collect.Repository, rev string) error {
	if repo.Shallow(ctx) {
		return fmt.Errorf("the common ancestor of HEAD and %s is not in this clone, which is shallow: %s", rev, deepen)
	}
	return fmt.Errorf("HEAD and %s have no commit in common", rev)
}
