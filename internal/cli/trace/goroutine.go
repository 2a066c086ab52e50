package trace

import (
	"strconv"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/internal/cli/command"
	"loupe/report"
)

// traceGoroutine shows the life of one goroutine.
func traceGoroutine(e *command.Env, f *traceFlags, args []string) error {
	if len(args) != 2 {
		return command.Usagef("loupe trace goroutine takes an id and the trace: loupe trace goroutine 12 trace.out")
	}
	if f.parsed != nil {
		return command.Usagef("-filter: a goroutine is shown as a whole")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return command.Usagef("%q is not a goroutine id", args[0])
	}
	t, done, err := openTrace(e, f, args[1])
	if err != nil {
		return err
	}
	defer done()
	h, err := sched.FindGoroutine(t, exectrace.GoID(id), max(f.top, 100_000))
	if err != nil {
		return command.Nothing(err)
	}
	return f.write(e, report.TraceGoroutine(h, f.top))
}
