package cli

import (
	"loupe/report"
	"loupe/sched"
)

// traceMMU shows how much of the machine the collector leaves to the program
// in windows of growing length.
func traceMMU(e *env, f *traceFlags, args []string) error {
	name, err := oneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.parsed != nil {
		return usagef("-filter: mutator utilisation is that of the whole program (loupe trace cut -from -to makes a part)")
	}
	t, done, err := openTrace(e, name)
	if err != nil {
		return err
	}
	defer done()
	count := sched.CommonLosses
	if f.sweep {
		count |= sched.LossSweep
	}
	r := t.Reader()
	m := sched.NewMutator(r, sched.MutatorOptions{Count: count, PerProc: f.perProc, Compat: f.compat})
	for r.Next() {
		m.Event(r.Event())
	}
	if err := r.Err(); err != nil {
		return err
	}
	return f.write(e, report.TraceMMU(m.Curve(), m.Steps(), count))
}
