package trace

import (
	"strconv"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/internal/cli/command"
	"loupe/report"
)

// traceTasks shows the tasks by type, or with an id one of them.
func traceTasks(e *command.Env, f *traceFlags, args []string) error {
	if len(args) != 2 {
		return analysed(func(a *sched.Analysis, f *traceFlags) *report.Trace { return report.TraceTasks(a, f.top) })(e, f, args)
	}
	if f.parsed != nil {
		return command.Usagef("-filter: a task is shown as a whole")
	}
	id, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return command.Usagef("%q is not a task id: loupe trace tasks 7 trace.out", args[0])
	}
	t, done, err := openTrace(e, f, args[1])
	if err != nil {
		return err
	}
	defer done()
	h, err := sched.FindTask(t, exectrace.TaskID(id), nil)
	if err != nil {
		return command.Nothing(err)
	}
	return f.write(e, report.TraceTask(h, f.top))
}
