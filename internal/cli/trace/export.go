package cli

import (
	"bufio"
	"errors"
	"io"

	"loupe/exectrace"
	"loupe/report"
	"loupe/sched"
)

// traceExport writes every stay of a goroutine in a state, for other programs.
func traceExport(e *env, f *traceFlags, args []string) error {
	name, err := oneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.format == "text" {
		f.format = "csv"
	}
	t, done, err := openTrace(e, name)
	if err != nil {
		return err
	}
	defer done()
	write := func(w io.Writer) error {
		x, err := report.NewIntervalWriter(w, f.format)
		if err != nil {
			return usageError{err}
		}
		_, err = sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: 1, Named: true, Each: func(r *exectrace.Reader, i *sched.Interval) { x.Interval(r, i) }})
		return errors.Join(err, x.Close())
	}
	if f.out != "" {
		return writeFile(f.out, func(w *bufio.Writer) error { return write(w) })
	}
	return buffered(e.stdout, write)
}
