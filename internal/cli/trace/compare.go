package trace

import (
	"cmp"

	"loupe/analysis/sched"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report"
	"loupe/source"
)

// traceCompare lays two traces side by side.
func traceCompare(e *command.Env, f *traceFlags, args []string) error {
	if len(args) != 2 {
		return command.Usagef("loupe trace compare takes two traces")
	}
	d := f.door(e)
	a, err := door.TakeOne(e, d, args[0])
	if err != nil {
		return err
	}
	b, err := door.TakeOne(e, d, args[1])
	if err != nil {
		return err
	}
	return f.compare(e, a, b)
}

// CompareTwo lays two traces side by side in a format of loupe trace.
func CompareTwo(e *command.Env, format string, a, b *source.Input) error {
	return (&traceFlags{format: format, top: 20}).compare(e, a, b)
}

func (f *traceFlags) compare(e *command.Env, a, b *source.Input) error {
	var both [2]*sched.Analysis
	for i, in := range []*source.Input{a, b} {
		t, done, err := traceOf(e, in)
		if err != nil {
			return err
		}
		defer done()
		if both[i], err = sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: f.top, Compat: f.compat}); err != nil {
			return err
		}
	}
	err := f.write(e, report.TraceComparison(sched.Compare(both[0], both[1]), a.Name, b.Name, f.top))
	return cmp.Or(err, f.nothing(a.Name, f.shows(both[0])), f.nothing(b.Name, f.shows(both[1])))
}
