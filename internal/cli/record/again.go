package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"loupe/internal/cli/command"
	"loupe/recording"
)

// Again makes a recording once more, of two versions of its program that take turns.
type Again struct {
	Made recording.Made
	// Before and After are versions, as -vs names them; the empty one is what the folder has.
	Before, After string
	// Env is set for both sides, under what the flags of the recording set; AfterEnv for what
	// is after alone.
	Env, AfterEnv []string
	// Out is the folder for the recordings.
	Out string
	// Rounds is their number; 0 takes as many as it takes, until Decided says so, or Budget is
	// spent.
	Rounds  int
	Budget  time.Duration
	Decided func(dirs []string) (bool, error)
	// Confirm, if set, is asked of both sides when all rounds are taken: whether all phases of
	// what is after are to be recorded once more, by themselves.
	Confirm func(dirs []string) (bool, error)
	Quiet   bool
}

// Take takes the rounds, in the folder in which the recording was made. Dirs are the recordings
// of both sides, none where nothing was recorded, and behind them the one that confirms what is
// after, where it was wanted. An error is that of the rounds, and of programs and phases that failed.
func (a *Again) Take(e *command.Env) (dirs []string, err error) {
	f, args, err := a.flags()
	if err != nil {
		return nil, err
	}
	back, err := Enter(a.Made.Dir)
	if err != nil {
		return nil, err
	}
	defer back()
	plan, err := f.Plan()
	if err != nil {
		return nil, err
	}
	err = e.WithTemp(func(temp string) error {
		turns, err := f.targets(e, args, plan, sides{names: []string{a.Before, a.After}, env: a.AfterEnv}, temp)
		if err != nil {
			return err
		}
		for _, t := range turns {
			t.Plan = plan
		}
		rounds := Rounds{Number: a.Rounds, Turns: true, Budget: a.Budget}
		if a.Rounds == 0 {
			rounds.until(turns, a.Decided)
		}
		err = TakeTurns(e, turns, rounds)
		err = errors.Join(err, failures(turns, err))
		for _, t := range turns {
			if t.Recorder != nil {
				dirs = append(dirs, t.Dir)
			}
		}
		if err != nil || a.Confirm == nil {
			return err
		}
		if more, err := a.Confirm(dirs); err != nil || !more {
			return err
		}
		last := *turns[len(turns)-1]
		last.Dir, last.Options.Temp = filepath.Join(a.Out, confirmed), filepath.Join(temp, confirmed)
		if err := os.Mkdir(last.Options.Temp, 0o700); err != nil {
			return err
		}
		last.Options.Progress("the 'after' side, once more")
		err = TakeTurns(e, []*Turn{&last}, Rounds{Number: 1})
		err = errors.Join(err, failures([]*Turn{&last}, err))
		if last.Recorder != nil && err == nil {
			dirs = append(dirs, last.Dir)
		}
		return err
	})
	return dirs, err
}

// confirmed is the folder of a recording that confirms what is after.
const confirmed = "after-again"

// flags are those that the recording was made with, and what followed them.
func (a *Again) flags() (*runFlags, []string, error) {
	fs := command.NewFlagSet("run")
	f := declareRun(fs)
	words := slices.Concat(a.Made.Flags, []string{a.Made.Target}, a.Made.Args)
	args, err := Run.Parse(fs, words)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read how the recording was made (loupe run %q): %w", words, err)
	}
	f.out, f.vs, f.title, f.json, f.Quiet = a.Out, "", "", false, a.Quiet
	if f.output == "show" {
		f.output = "keep"
	}
	f.env = slices.Concat(a.Env, f.env)
	return f, args, nil
}

// Enter goes into a folder until back is called: programs are built and run in the folder that a
// command is in.
func Enter(dir string) (back func(), err error) {
	was, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	return func() { os.Chdir(was) }, nil
}
