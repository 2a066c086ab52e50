package cli

import (
	"loupe/report"
	"loupe/sched"
)

// traceCompare lays two traces side by side.
func traceCompare(e *env, f *traceFlags, args []string) error {
	if len(args) != 2 {
		return usagef("loupe trace compare takes two traces")
	}
	var both [2]*sched.Analysis
	for i, name := range args {
		t, done, err := openTrace(e, name)
		if err != nil {
			return err
		}
		defer done()
		if both[i], err = sched.Analyze(t, sched.AnalyzeOptions{Filter: f.parsed, Top: f.top, Compat: f.compat}); err != nil {
			return err
		}
	}
	return f.write(e, report.TraceComparison(sched.Compare(both[0], both[1]), args[0], args[1], f.top))
}
