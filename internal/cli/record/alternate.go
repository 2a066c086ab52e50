package record

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
)

// Alternative is one of several programs that are recorded alternately.
type Alternative struct {
	Name string // in reports, and of the recording's folder
	// Target is an absolute path of a package or a program.
	Target string
	Args   []string
	// Flags are those of loupe run for this one, as words.
	Flags []string
}

// Alternate records the alternatives in rounds and prints their comparison. The flags of
// the first one say where the recordings go, how many rounds there are, and what is
// printed. It returns the recordings; with an error there may be none.
func Alternate(e *command.Env, name string, all []Alternative) (dirs []string, err error) {
	flags := make([]*runFlags, len(all))
	for i, a := range all {
		fs := command.NewFlagSet(Run.Name)
		flags[i] = declareRun(fs)
		rest, err := Run.Parse(fs, a.Flags)
		switch {
		case err != nil:
			return nil, err
		case len(rest) > 0:
			return nil, command.Usagef("unexpected arguments: %q", rest)
		}
		for _, flag := range []string{"vs", "test", "title", "budget"} {
			if fs.Given(flag) {
				return nil, command.Usagef("-%s is for loupe run alone", flag)
			}
		}
	}
	first := flags[0]
	base := cmp.Or(first.out, freeDir(fmt.Sprintf("loupe-%s-%s", SafeName(name), time.Now().Format("20060102-150405"))))
	if filepath.Ext(base) == ".zip" {
		return nil, command.Usagef("-o: want a folder, for a recording of each form")
	}
	if err := first.limits(); err != nil {
		return nil, err
	}
	err = e.WithTemp(func(temp string) error {
		turns, err := alternatives(e, all, flags, base, temp)
		if err != nil {
			return err
		}
		err = TakeTurns(e, turns, Rounds{Number: first.rounds, Turns: true, Seed: first.seed})
		for _, t := range turns {
			if t.Recorder != nil && len(t.Recorder.Writer().Manifest().Phases) > 0 {
				dirs = append(dirs, t.Dir)
			}
		}
		if err != nil && len(dirs) == 0 {
			return command.Unreachable(err)
		}
		return errors.Join(err, examine.ConcludeBeyond(e, dirs, first.json, first.Quiet, first.share), failures(turns, err))
	})
	if len(dirs) == 0 {
		os.Remove(base) // when it is empty
	}
	return dirs, err
}

// alternatives builds what takes turns.
func alternatives(e *command.Env, all []Alternative, flags []*runFlags, base, temp string) ([]*Turn, error) {
	var turns []*Turn
	for i, a := range all {
		f := flags[i]
		plan, err := f.Plan()
		if err != nil {
			return nil, err
		}
		dir := filepath.Join(base, SafeName(a.Name))
		if err := CheckPlace(dir); err != nil {
			return nil, err
		}
		sub := filepath.Join(temp, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return nil, err
		}
		args := append([]string{a.Target}, a.Args...)
		v := version{dir: filepath.Dir(a.Target), target: a.Target}
		t, err := f.target(e, v, args, plan.Has("goroutineleak"), sub)
		if err != nil {
			return nil, err
		}
		t.Name, t.Dir, t.Plan = a.Name, dir, plan
		t.Made = f.made(e, args, v, t.Program.Root)
		turns = append(turns, t)
	}
	return turns, nil
}
