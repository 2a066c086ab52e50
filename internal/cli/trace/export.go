package trace

import (
	"bufio"
	"cmp"
	"errors"
	"io"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/internal/cli/command"
	"loupe/report"
)

// traceExport writes every stay of a goroutine in a state, for other programs.
func traceExport(e *command.Env, f *traceFlags, args []string) error {
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.format == "text" {
		f.format = "csv"
	}
	t, done, err := openTrace(e, f, name)
	if err != nil {
		return err
	}
	defer done()
	some := false
	write := func(w io.Writer) error {
		x, err := report.NewIntervalWriter(w, f.format)
		if err != nil {
			return command.Usage(err)
		}
		_, err = sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: 1, Named: true, Each: func(r *exectrace.Reader, i *sched.Interval) {
			some = true
			x.Interval(r, i)
		}})
		return errors.Join(err, x.Close())
	}
	if f.out != "" {
		err = command.WriteFile(f.out, func(w *bufio.Writer) error { return write(w) })
	} else {
		err = command.Buffered(e.Stdout, write)
	}
	return cmp.Or(err, f.nothing(name, some))
}
