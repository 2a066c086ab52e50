package trace

import (
	"loupe/analysis/sched"
	"loupe/format/exectrace/sweep"
	"loupe/internal/cli/command"
	"loupe/report"
)

// traceMMU shows how much of the machine the collector leaves to the program
// in windows of growing length.
func traceMMU(e *command.Env, f *traceFlags, args []string) error {
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.parsed != nil {
		return command.Usagef("-filter: mutator utilisation is for the whole program (loupe trace cut -from -to makes a part)")
	}
	t, done, err := openTrace(e, f, name)
	if err != nil {
		return err
	}
	defer done()
	count := sched.CommonLosses
	if f.sweep {
		count |= sched.LossSweep
	}
	pass := sweep.New(t)
	m := sched.NewMutator(pass.Goroutines(), sched.MutatorOptions{Count: count, PerProc: f.perProc, Compat: f.compat})
	pass.Join(m)
	if err := pass.Run(nil); err != nil {
		return err
	}
	return f.write(e, report.TraceMMU(m.Curve(), m.Steps(), count))
}
