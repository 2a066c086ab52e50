package trace

import (
	"bufio"

	"loupe/analysis/sched"
	"loupe/internal/cli/command"
	"loupe/report"
)

// traceProfile prints the functions in which time was spent in some state, or
// writes them as a profile that go tool pprof opens.
func traceProfile(e *command.Env, f *traceFlags, args []string) error {
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	if f.kind == sched.ProfileWall.String() {
		return traceWall(e, f, name)
	}
	kind, err := sched.ProfileKindNamed(f.kind)
	if err != nil {
		return command.Usage(err)
	}
	q := sched.ProfileQuery{Kind: kind, Filter: f.parsed, Compat: f.compat}
	if err := q.Check(); err != nil {
		return command.Usage(err)
	}
	t, done, err := openTrace(e, f, name)
	if err != nil {
		return err
	}
	defer done()
	p, err := q.Of(t)
	if err != nil {
		return err
	}
	if len(p.IDs) == 0 {
		hint := ""
		if kind == sched.ProfileCPU {
			hint = " (it has some only if the CPU profiler ran alongside the tracer)"
		}
		return command.Nothingf("%s has no time %s%s", name, kind.About(), hint)
	}
	return f.writeProfile(e, report.TraceProfile(p, f.top), p)
}

// writeProfile prints a page of a profile, or writes the profile where -o says so.
func (f *traceFlags) writeProfile(e *command.Env, page *report.Trace, p *sched.StateProfile) error {
	if f.out != "" {
		return command.WriteFile(f.out, func(w *bufio.Writer) error { return p.Profile().Encode(w) })
	}
	return f.write(e, page)
}
