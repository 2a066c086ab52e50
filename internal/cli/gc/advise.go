package gc

import (
	"io"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/unit"
)

// advice recommends settings from a log or a recording.
func (f *whatIfFlags) advice(e *command.Env, name string) error {
	if f.settings != "" || f.measured != "" || f.verify {
		return command.Usagef("-advise chooses the settings by itself: -what-if, -measured and -verify are for settings of yours")
	}
	limit := f.limit
	if limit == "" {
		limit = f.container
	}
	opt := gc.AdviceOptions{Outside: -1}
	if limit != "" {
		size, err := unit.ParseBytes(limit)
		if err != nil || size <= 0 {
			return command.Usagef("-limit %q: want a size such as 512MiB", limit)
		}
		opt.Container, opt.From = int64(size), "-limit"
	}
	l, err := openRuntime(e, name)
	if err != nil {
		return err
	}
	defer l.close()
	if opt, err = l.adviceOptions(opt); err != nil {
		return err
	}
	r, phase, err := l.replay()
	if err != nil {
		return err
	}
	a := gc.Advise(r, opt)
	a.Phase = phase
	err = command.Buffered(e.Stdout, func(out io.Writer) error {
		if f.asJSON {
			return report.WriteJSON(out, a)
		}
		return report.WriteAdvice(out, a, e.Style())
	})
	if err == nil && a.Refused != "" {
		return command.Exit(command.ExitNothing)
	}
	return err
}

// adviceOptions adds what a recording knows: its cgroup's limit, and how much memory the Go
// runtime did not know of.
func (l *runtimeLog) adviceOptions(opt gc.AdviceOptions) (gc.AdviceOptions, error) {
	if l.facts != nil {
		opt = facts.AdviceOptions(l.facts, opt)
	}
	if opt.Container == 0 {
		return opt, command.Usagef("no memory limit is known: %s was not recorded in a cgroup with one (give it: loupe gc -advise -limit 512MiB %s)", l.name, command.ShellWord(l.name))
	}
	return opt, nil
}
