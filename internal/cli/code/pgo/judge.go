package pgo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/pgo"
	"loupe/capture/collect"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/internal/cli/code/pgo/gain"
	"loupe/internal/cli/code/pgo/inputs"
	"loupe/internal/cli/command"
	"loupe/report/guided"
	"loupe/value/stack"
)

// judge is loupe pgo judge.
func (f *flags) judge(e *command.Env, args []string) error {
	words := args
	var program []string // of the program that is measured
	if f.set.Dashes {
		before := max(0, f.set.Before-1) // without the verb
		words, program = args[:before], args[before:]
	}
	target := "."
	switch {
	case len(words) > 1:
		return command.Usagef("judge one package, not %d: the program's arguments follow --", len(words))
	case len(words) == 1:
		target = words[0]
	}
	if err := f.gain.Parse(program); err != nil {
		return err
	}
	limit := 1.0
	if f.fail != "" {
		var err error
		if limit, err = inputs.Share("fail", f.fail); err != nil {
			return err
		}
	}
	if f.top < 1 {
		return command.Usagef("-n %d: at least one row", f.top)
	}
	defer e.Keeps()()
	return e.WithTemp(func(temp string) error {
		j, err := f.judged(e, target, temp)
		if j == nil {
			return err
		}
		if perr := f.print(e, j.Sheets()); perr != nil || err != nil {
			return errors.Join(err, perr)
		}
		slower := slices.ContainsFunc(j.Gain, func(x compare.Figure) bool { return strings.HasSuffix(x.Unit, "cpu-ns/op") && x.Beyond(0) })
		if f.fail != "" && 1-j.Match.Share() > limit || slower {
			return command.ErrFound
		}
		return e.Ctx.Err()
	})
}

// judged finds everything out.
func (f *flags) judged(e *command.Env, target, temp string) (*guided.Judged, error) {
	progress := e.Progress(f.quiet)
	opt := f.buildOptions(temp, target)
	m, err := collect.FindMain(e.Ctx, opt)
	if err != nil {
		return nil, err
	}
	name := f.profile
	if name == "" {
		name = m.ProfileOf()
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil, command.Nothingf("%s has no default.pgo (loupe pgo make -for %s FILE makes one, -profile FILE judges another)", m.Short(opt.Dir), command.ShellWord(target))
		}
	}
	if m.Name != "main" && f.gain.Runs() {
		return nil, command.Usagef("%s is package %s, which cannot be run: measure its benchmarks (-bench .)", m.ImportPath, m.Name)
	}
	all, err := inputs.Take(e, []string{name}, "")
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, command.Usagef("-profile %s matches %d profiles, but only one can be judged", name, len(all))
	}
	calls, err := pgo.CallsOf(all[0].Profile)
	if err != nil {
		return nil, err
	}
	file, err := written(all[0].Profile, temp)
	if err != nil {
		return nil, err
	}
	progress("building %s with %s and reading the compiler's output (all packages, the first time)", m.Short(opt.Dir), all[0].Name)
	names := calls.Names()
	begin := time.Now()
	with := filepath.Join(temp, "with")
	if m.Name != "main" {
		with = ""
	}
	g, err := collect.Guide(e.Ctx, opt, m, file, with, func(name string) bool { return names[name] })
	if err != nil {
		return nil, err
	}
	j := &guided.Judged{
		Profile: shown(all[0].Name, opt.Dir), Package: m.ImportPath, Rows: f.top, Match: pgo.Against(calls, g),
		Done: guided.Done{Inlined: len(g.Hot), TooBig: len(g.TooBig), Devirtualized: len(g.Devirtualized)},
	}
	j.BuildTimes[1] = time.Since(begin)
	f.age(e.Ctx, j, all[0].Profile, calls, g, m)
	if !f.gain.Wanted() {
		j.BuildTimes[1] = 0
		j.Notes = append(j.Notes, "Nothing was measured: -- runs the program with and without the profile, -bench its benchmarks.")
		return j, nil
	}
	subject := gain.Subject{Main: m, Build: opt, Profile: file, With: with, Quiet: f.quiet}
	if m.Name == "main" {
		progress("building %s without a profile", m.Short(opt.Dir))
		subject.Without = filepath.Join(temp, "without")
		begin := time.Now()
		if err := collect.BuildGuided(e.Ctx, opt, m, "off", subject.Without); err != nil {
			return j, err
		}
		j.BuildTimes[0] = time.Since(begin)
		j.Sizes = [2]int64{sizeOf(subject.Without), sizeOf(with)}
	}
	measured, err := f.gain.Measure(e, subject)
	if measured != nil {
		j.Gain, j.GainOf, j.Notes = measured.Figures, measured.Of, append(j.Notes, measured.Notes...)
	}
	return j, err
}

// shown names a file from here, where that is shorter.
func shown(name, dir string) string {
	if rel, err := filepath.Rel(dir, name); err == nil && len(rel) < len(name) {
		return rel
	}
	return name
}

// written is the profile as a file of the go command's kind: what was named may be packed, or a
// recording. Its name is that of its content, so that the go command finds what it has compiled.
func written(p *profile.Profile, temp string) (string, error) {
	trimmed, err := pgo.Trim(p)
	if err != nil {
		return "", err
	}
	name := filepath.Join(temp, "judged.pgo")
	w, err := command.CreateFile(name)
	if err != nil {
		return "", err
	}
	return name, errors.Join(trimmed.Encode(w), w.Close())
}

// mostAsked bounds the functions that git is asked about: each takes it a walk through the
// history.
const mostAsked = 20

// age finds out how old the profile is, and what has become of its functions since.
func (f *flags) age(ctx context.Context, j *guided.Judged, p *profile.Profile, calls *pgo.Calls, g *compiler.Guided, m collect.Main) {
	a := &j.Age
	origin := pgo.Noted(p)
	a.Taken, a.Now, a.Go, a.Commits = p.Time, time.Now(), origin.Go, -1
	repo, err := collect.RepositoryOf(ctx, m.Dir)
	if err != nil {
		a.Why = "there is no git repository, or no git"
		return
	}
	since := collect.Since{Time: p.Time}
	switch commit := ""; {
	case len(origin.Revisions) == 1:
		if commit = repo.Commit(ctx, origin.Revisions[0]); commit != "" {
			since.Revision, a.Since = commit, "revision "+commit[:min(12, len(commit))]+", which the program was built from"
			a.Edited = len(origin.Edited) > 0
			break
		}
		fallthrough
	default:
		if p.Time.IsZero() {
			a.Why = "the profile says neither when it was taken nor which revision the program was built from"
			return
		}
		a.Since = "it was taken (by commit dates; the program's revision is not known)"
	}
	commits, err := repo.Commits(ctx, since)
	if err != nil {
		a.Why = "git log failed"
		return
	}
	a.Commits = len(commits)
	if repo.Shallow(ctx) {
		a.Why = "the clone is shallow"
		j.Notes = append(j.Notes, "The clone is shallow: there may be more commits than git knows here.")
	}
	if a.Commits == 0 {
		return
	}
	f.edits(ctx, j, repo, since, calls, g)
}

// edits asks git about the hottest functions.
func (f *flags) edits(ctx context.Context, j *guided.Judged, repo *collect.Repository, since collect.Since, calls *pgo.Calls, g *compiler.Guided) {
	files := map[string]string{}
	for _, s := range g.Sites {
		if _, ok := files[s.Caller]; !ok {
			file, _, _ := strings.Cut(s.Pos, ".go:")
			files[s.Caller] = file + ".go"
		}
	}
	weights := map[string]int64{} // of the functions as they are declared
	where := map[string]string{}
	for c, v := range calls.Weight {
		if file, ok := files[c.Caller]; ok {
			name := stack.Enclosing(c.Caller)
			weights[name] += v
			where[name] = file
		}
	}
	order := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		if weights[a] != weights[b] {
			return int(min(1, max(-1, weights[b]-weights[a])))
		}
		return strings.Compare(a, b)
	})
	for _, name := range order {
		if j.Age.Asked == mostAsked || ctx.Err() != nil {
			break
		}
		local := strings.ReplaceAll(stack.Local(stack.FoldGenerics(name)), "[...]", "")
		edits, err := repo.Touched(ctx, since, where[name], local)
		if err != nil || edits == nil {
			continue
		}
		j.Age.Asked++
		if n := len(edits.Commits); n > 0 {
			last := edits.Commits[0]
			j.Age.Edits = append(j.Age.Edits, guided.Edit{
				Function: name, File: edits.File, Commits: n, Weight: weights[name], Last: fmt.Sprintf("%s %s", last.Short(), last.Subject),
			})
		}
	}
}

// sizeOf is how large a file is, 0 where there is none.
func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
