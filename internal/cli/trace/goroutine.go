package cli

import (
	"strconv"

	"loupe/exectrace"
	"loupe/report"
	"loupe/sched"
)

// traceGoroutine shows the life of one goroutine.
func traceGoroutine(e *env, f *traceFlags, args []string) error {
	if len(args) != 2 {
		return usagef("loupe trace goroutine takes an id and the trace: loupe trace goroutine 12 trace.out")
	}
	if f.parsed != nil {
		return usagef("-filter: a goroutine is shown as a whole")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return usagef("%q is no goroutine id", args[0])
	}
	t, done, err := openTrace(e, args[1])
	if err != nil {
		return err
	}
	defer done()
	h, err := sched.FindGoroutine(t, exectrace.GoID(id), max(f.top, 100_000))
	if err != nil {
		return exitError{exitNothing, err}
	}
	return f.write(e, report.TraceGoroutine(h, f.top))
}
