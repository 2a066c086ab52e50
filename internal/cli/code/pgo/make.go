package pgo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"loupe/analysis/pgo"
	"loupe/capture/collect"
	"loupe/format/profile"
	"loupe/internal/cli/code/pgo/inputs"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
	"loupe/report"
	"loupe/report/guided"
	"loupe/value/stack"
	"loupe/value/unit"
)

// makeProfile is loupe pgo make.
func (f *flags) makeProfile(e *command.Env, args []string) error {
	keep, err := inputs.Share("keep", f.keep)
	if err != nil {
		return err
	}
	if f.whole && keep < 1 {
		return command.Usagef("-whole and -keep do not go together")
	}
	if err := inputs.Named(args); err != nil {
		return err
	}
	name := f.out
	var home *collect.Main
	if f.out == "" || f.set.Given("for") {
		m, err := f.home(e)
		if err != nil {
			return err
		}
		home = &m
		if name == "" {
			name = m.ProfileOf()
		}
	}
	all, err := inputs.Take(e, args, f.weights)
	if err != nil {
		return err
	}
	if home != nil && !f.foreign {
		if err := f.own(e, *home, all); err != nil {
			return err
		}
	}
	p, parts, err := f.merged(all, !f.whole)
	if err != nil {
		return err
	}
	return f.finish(e, p, parts, name, keep)
}

// home finds the package that the profile is for.
func (f *flags) home(e *command.Env) (m collect.Main, err error) {
	err = e.WithTemp(func(temp string) error {
		m, err = collect.FindMain(e.Ctx, f.buildOptions(temp, f.pkg))
		if err == nil && m.Name != "main" && f.out == "" {
			err = command.Usagef("%s is package %s: the go command takes default.pgo from the folder of a main package (-for PACKAGE names it, -o FILE another file)", m.ImportPath, m.Name)
		}
		return err
	})
	return m, err
}

func (f *flags) buildOptions(temp, target string) collect.BuildOptions {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return collect.BuildOptions{Target: target, Dir: dir, Flags: record.SplitFlags(f.build), Temp: temp}
}

// own refuses profiles of another program: those that have functions of packages outside of the
// standard library, but none of what the package imports.
func (f *flags) own(e *command.Env, m collect.Main, all []pgo.Source) error {
	var imported map[string]bool
	err := e.WithTemp(func(temp string) (err error) {
		imported, err = collect.Imported(e.Ctx, f.buildOptions(temp, f.pkg), m)
		return err
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		packages, err := pgo.Packages(s.Profile)
		if err != nil {
			return err
		}
		var others []string
		known := false
		for _, pkg := range slices.Sorted(maps.Keys(packages)) {
			switch {
			case pkg == "main" || stack.IsStandard(pkg) || stack.IsRuntime(pkg):
			case imported[pkg]:
				known = true
			default:
				others = append(others, pkg)
			}
		}
		if !known && len(others) > 0 {
			return fmt.Errorf("%s seems to be from another program: it has functions of %s, and %s imports none of its packages (-foreign accepts it anyway)", s.Name, others[0], m.ImportPath)
		}
	}
	return nil
}

// taken are the inputs of what writes a profile, which has to say where.
func (f *flags) taken(e *command.Env, args []string) ([]pgo.Source, error) {
	if f.out == "" {
		return nil, command.Usagef("-o FILE is missing: where to write the profile (- is standard output)")
	}
	if err := inputs.Named(args); err != nil {
		return nil, err
	}
	return inputs.Take(e, args, f.weights)
}

// merge is loupe pgo merge.
func (f *flags) merge(e *command.Env, args []string) error {
	all, err := f.taken(e, args)
	if err != nil {
		return err
	}
	p, parts, err := f.merged(all, !f.whole)
	if err != nil {
		return err
	}
	return f.finish(e, p, parts, f.out, 1)
}

// trim is loupe pgo trim.
func (f *flags) trim(e *command.Env, args []string) error {
	keep, err := inputs.Share("keep", f.keep)
	if err != nil {
		return err
	}
	all, err := f.taken(e, args)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return command.Usagef("trim takes one profile, but there are %d: loupe pgo merge combines them", len(all))
	}
	p, err := pgo.Trim(all[0].Profile)
	if err != nil {
		return inputs.Refused(all[0].Name, err)
	}
	return f.finish(e, p, nil, f.out, keep)
}

// merged makes one profile of all.
func (f *flags) merged(all []pgo.Source, trim bool) (*profile.Profile, []pgo.Part, error) {
	how := f.how
	if len(all) == 1 {
		how = pgo.BySum // there is nothing to weigh
	}
	p, parts, err := pgo.Merge(all, how, trim)
	if errors.Is(err, pgo.ErrNoDuration) {
		return nil, nil, fmt.Errorf("%w, and by rate is counted (-weigh equal gives each profile equal weight, -weigh sum each sample)", err)
	}
	return p, parts, err
}

// finish leaves out what is to be left out, writes the profile, and tells what it is.
func (f *flags) finish(e *command.Env, p *profile.Profile, parts []pgo.Part, name string, keep float64) error {
	before, err := pgo.CallsOf(p)
	if err != nil {
		return err
	}
	made := guided.Made{File: name, Calls: len(before.Weight), Parts: parts, Trimmed: !f.whole}
	if len(parts) > 1 {
		made.Weighing = f.how
	}
	if keep < 1 {
		if p, err = pgo.Keep(p, keep); err != nil {
			return err
		}
		after, err := pgo.CallsOf(p)
		if err != nil {
			return inputs.Refused("what -keep "+f.keep+" leaves", err)
		}
		made.Cut = guided.CutOf(before, after)
		made.Calls = len(after.Weight)
	}
	var data bytes.Buffer
	if err := p.Encode(&data); err != nil {
		return err
	}
	made.Stacks, made.Size = p.Len(), int64(data.Len())
	if name == "-" {
		if command.IsTerminal(e.Stdout) {
			return command.Usagef("-o - would write a compressed profile to the terminal: name a file")
		}
		_, err := e.Stdout.Write(data.Bytes())
		return err
	}
	if made.Did, made.Before, err = f.put(name, data.Bytes()); err != nil {
		return err
	}
	return f.print(e, made.Sheets())
}

// put writes a file, atomically. It says what it did, and how large the file was before.
func (f *flags) put(name string, data []byte) (did guided.Did, before int64, err error) {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // a link stays one
	}
	mode := os.FileMode(0o644) // as go tool pprof makes profiles: this one belongs into a repository
	did = guided.Wrote
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
		switch {
		case info.IsDir():
			return "", 0, fmt.Errorf("cannot write %s: it is a folder", name)
		case !info.Mode().IsRegular():
		case same(name, info.Size(), data):
			return guided.Left, info.Size(), nil
		case !f.replace:
			return "", 0, fmt.Errorf("%s already exists (%s, from %s): -replace replaces it", name, unit.BytesOf(float64(info.Size())), info.ModTime().Format("2006-01-02 15:04"))
		default:
			did, before = guided.Replaced, info.Size()
		}
	}
	err = command.WriteFile(name, func(w *bufio.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return "", 0, fmt.Errorf("cannot write profile: %w", err)
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		if err := os.Chmod(name, mode); err != nil {
			return "", 0, err
		}
	}
	return did, before, nil
}

// same tells whether a file has this content.
func same(name string, size int64, data []byte) bool {
	if size != int64(len(data)) {
		return false
	}
	has, err := os.ReadFile(name)
	return err == nil && bytes.Equal(has, data)
}

// print prints the answer in the form that was asked for.
func (f *flags) print(e *command.Env, t *report.Trace) error {
	return command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteTraceAs(w, t, f.format, e.Style()) })
}
