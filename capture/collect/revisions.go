package collect

import (
	"context"
	"fmt"
	"strings"
)

// Revision is a commit of git.
type Revision struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject"`
}

// Short is the beginning of its hash.
func (r Revision) Short() string { return r.Hash[:min(len(r.Hash), 12)] }

// Revisions lists the commits from one to another, both included, in the repository around dir. Of
// a merge the first parent counts alone, so that each commit is the change from the one in
// front of it. It errs where one is no ancestor of the other by that way.
func Revisions(ctx context.Context, dir, from, to string) ([]Revision, error) {
	git := gitIn{dir: dir}
	one := func(rev string) (Revision, error) {
		if strings.HasPrefix(rev, "-") {
			return Revision{}, fmt.Errorf("cannot take revision %q: it looks like a flag", rev)
		}
		out, err := git.run(ctx, "log", "-1", "--format=%H%x00%s", rev+"^{commit}", "--")
		if err != nil {
			return Revision{}, fmt.Errorf("cannot take revision %s: %w", rev, err)
		}
		hash, subject, _ := strings.Cut(strings.TrimSpace(string(out)), "\x00")
		return Revision{hash, subject}, nil
	}
	first, err := one(from)
	if err != nil {
		return nil, err
	}
	last, err := one(to)
	if err != nil {
		return nil, err
	}
	out, err := git.run(ctx, "log", "--first-parent", "--reverse", "--format=%H%x00%P%x00%s", first.Hash+".."+last.Hash, "--")
	if err != nil {
		return nil, fmt.Errorf("cannot list the revisions from %s to %s: %w", from, to, err)
	}
	list := []Revision{first}
	for line := range strings.Lines(string(out)) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), "\x00", 3)
		parent, _, _ := strings.Cut(parts[1], " ")
		if parent != list[len(list)-1].Hash {
			return nil, fmt.Errorf("%s is not an ancestor of %s by first parents (git merge-base %s %s names one that is)", from, to, from, to)
		}
		list = append(list, Revision{parts[0], parts[2]})
	}
	if len(list) < 2 {
		return nil, fmt.Errorf("there is no revision after %s up to %s", from, to)
	}
	return list, nil
}
