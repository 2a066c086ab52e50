package record

import (
	"errors"
	"os"
	"path/filepath"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/tuning"
	"loupe/value/unit"
)

// Tuning is loupe run -tune gc: the program runs as it is, and once with few collections, which
// tells what one costs; from that comes the advice. Then it runs as it is and as advised, in an
// order that is drawn, and what was predicted stands beside what was measured.

// tuned are the folders of the runs.
const (
	tuneFirst = "first"
	tuneFar   = "few-collections"
)

func (f *runFlags) tuneGC(e *command.Env, args []string) error {
	if f.tune != "gc" {
		return command.Usagef("-tune %q: there is gc", f.tune)
	}
	for _, name := range []string{"vs", "rounds", "phases"} {
		if f.set.Given(name) {
			return command.Usagef("-tune takes its own runs: leave out -%s", name)
		}
	}
	limit := int64(0)
	if f.limit != "" {
		size, err := unit.ParseBytes(f.limit)
		if err != nil || size <= 0 {
			return command.Usagef("-limit %q: want a size such as 512MiB", f.limit)
		}
		limit = int64(size)
	}
	f.Phases, f.diagnostics = "bare", false
	plan, err := f.Plan()
	if err != nil {
		return err
	}
	if err := CheckPlace(f.out); err != nil {
		return err
	}
	return e.WithTemp(func(temp string) error {
		out := f.out
		if out == "" {
			out = filepath.Join(temp, "recordings")
		}
		t := &tuner{runFlags: f, e: e, args: args, plan: plan, temp: temp, out: out}
		return t.take(limit)
	})
}

// tuner takes the runs.
type tuner struct {
	*runFlags
	e         *command.Env
	args      []string
	plan      collect.Plan
	temp, out string
}

func (t *tuner) take(limit int64) error {
	progress := t.e.Progress(t.Quiet)
	progress("run 1 of 4: as it is")
	dirs, err := t.runs(tuneFirst, sides{names: []string{""}})
	if err != nil {
		return err
	}
	advice, err := tuning.New(dirs[0], limit)
	if err != nil {
		return err
	}
	if advice.Refused() {
		return errors.Join(advice.Write(t.e, t.json), command.Exit(command.ExitNothing))
	}
	progress("run 2 of 4: with few collections, to measure what one costs")
	if dirs, err = t.runs(tuneFar, sides{names: []string{""}, env: advice.Far()}); err != nil {
		return err
	}
	if err := advice.Calibrate(dirs[0]); err != nil {
		return err
	}
	env, name := advice.Advised()
	progress("runs 3 and 4: as it is, and with %s", name)
	if dirs, err = t.runs("compared", sides{names: []string{"", ""}, env: env}); err != nil {
		return err
	}
	if err := advice.Measured(dirs[0], dirs[1]); err != nil {
		return err
	}
	return advice.Write(t.e, t.json)
}

// runs records each side once, under a folder of its own.
func (t *tuner) runs(name string, of sides) (dirs []string, err error) {
	f := *t.runFlags
	f.out = filepath.Join(t.out, name)
	if err := os.MkdirAll(t.out, 0o777); err != nil {
		return nil, err
	}
	temp := filepath.Join(t.temp, name)
	if err := os.Mkdir(temp, 0o700); err != nil {
		return nil, err
	}
	targets, err := f.targets(t.e, t.args, t.plan, of, temp)
	if err != nil {
		return nil, err
	}
	for _, one := range targets {
		one.Plan = t.plan
	}
	err = TakeTurns(t.e, targets, Rounds{Number: 1, Turns: len(targets) > 1})
	err = errors.Join(err, failures(targets, err))
	for _, one := range targets {
		if one.Recorder != nil {
			dirs = append(dirs, one.Dir)
		}
	}
	if err == nil && len(dirs) < len(targets) {
		err = errors.New("the program was not started")
	}
	return dirs, err
}
