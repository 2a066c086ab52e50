package collect

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"time"

	"loupe/capture/debuginfo"
)

// Edits are the commits that have changed a function.
type Edits struct {
	Function string
	File     string // from the top of the repository
	Commits  []Revision
}

// Since is a range of commits: those after a revision, or, where that is "", after a time.
type Since struct {
	Revision string
	Time     time.Time
}

// words limit git log to the range.
func (s Since) words() []string {
	if s.Revision != "" {
		return []string{s.Revision + "..HEAD"}
	}
	return []string{"--since=" + s.Time.UTC().Format(time.RFC3339), "HEAD"}
}

// Commits are all commits of a range.
func (r *Repository) Commits(ctx context.Context, since Since) ([]Revision, error) {
	out, err := r.git.run(ctx, append([]string{"log", "--format=%H%x00%s"}, since.words()...)...)
	if err != nil {
		return nil, fmt.Errorf("cannot list commits: %w", err)
	}
	return revisionsIn(out), nil
}

// Touched tells which commits of a range have changed lines of a function, as HEAD has it in a
// file: parse, T.parse or (*T).parse, without type parameters. It returns nil where the file, or
// the function in it, is not in HEAD.
func (r *Repository) Touched(ctx context.Context, since Since, file, function string) (*Edits, error) {
	rel, err := filepath.Rel(r.Root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, nil
	}
	rel = filepath.ToSlash(rel)
	git := gitIn{dir: r.Root}
	text, err := git.run(ctx, "show", "HEAD:"+rel)
	if err != nil {
		return nil, ctx.Err()
	}
	first, last := linesOf(text, function)
	if first == 0 {
		return nil, nil
	}
	words := append([]string{"log", "-s", "--format=%H%x00%s", fmt.Sprintf("-L%d,%d:%s", first, last, rel)}, since.words()...)
	out, err := git.run(ctx, words...)
	if err != nil {
		return nil, fmt.Errorf("cannot ask git about %s: %w", function, err)
	}
	return &Edits{Function: function, File: rel, Commits: revisionsIn(out)}, nil
}

func revisionsIn(out []byte) (all []Revision) {
	for line := range bytes.Lines(out) {
		hash, subject, ok := strings.Cut(strings.TrimRight(string(line), "\n"), "\x00")
		if ok {
			all = append(all, Revision{hash, subject})
		}
	}
	return all
}

// linesOf finds the lines of a function, by its name in a symbol: parse, T.parse, (*T).parse.
func linesOf(text []byte, name string) (first, last int) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if f == nil || err != nil {
		return 0, 0
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || debuginfo.Symbol(fn) != name {
			continue
		}
		return fset.PositionFor(fn.Pos(), false).Line, fset.PositionFor(fn.End(), false).Line
	}
	return 0, 0
}
