package trace

import (
	"cmp"
	"strconv"

	"loupe/analysis/account"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report/requests"
)

// traceRequests shows where the time of requests goes, or with an id of one of them.
func traceRequests(e *command.Env, f *traceFlags, args []string) error {
	opts := account.Options{Filter: f.parsed, Sample: !f.slow}
	if len(args) == 2 {
		id, err := strconv.ParseInt(args[0], 10, 64)
		switch {
		case err != nil || id < 1:
			return command.Usagef("%q is not the id of a unit: loupe trace requests 7 trace.out", args[0])
		case f.parsed != nil:
			return command.Usagef("-filter: a unit is shown as a whole")
		case f.slow:
			return command.Usagef("-slow: a unit is shown by its id alone")
		}
		opts.ID, args = id, args[1:]
	}
	name, err := command.OneArg(args, "the trace")
	if err != nil {
		return err
	}
	a, err := accountOf(e, f, name, opts)
	switch {
	case err != nil:
		return err
	case opts.ID > 0 && a.One == nil:
		return command.Nothingf("%s has no unit %d (loupe trace requests lists the slowest with their ids)", name, opts.ID)
	case opts.ID > 0:
		return f.write(e, requests.One(a, a.One, f.top))
	}
	return cmp.Or(f.write(e, requests.List(a, f.slow, f.top)), f.nothing(name, len(a.Groups) > 0))
}

// traceWall prints the time of units of work by function, or writes it as a profile.
func traceWall(e *command.Env, f *traceFlags, name string) error {
	if f.compat {
		return command.Usagef("-compat counts as go tool trace does, which has no -kind wall")
	}
	if err := termsFor("requests", f.parsed); err != nil {
		return err
	}
	a, err := accountOf(e, f, name, account.Options{Filter: f.parsed, Wall: true})
	if err != nil {
		return err
	}
	if len(a.Groups) == 0 {
		return cmp.Or(f.nothing(name, false), command.Nothingf("%s has no complete request, user task, benchmark, test or job of a loop, and no main goroutine", name))
	}
	p := a.Wall()
	return f.writeProfile(e, requests.Wall(a, p, f.top), p)
}

// accountOf reads the trace that was named.
func accountOf(e *command.Env, f *traceFlags, name string, opts account.Options) (*account.Account, error) {
	all, err := traceInputs(e, f.door(e), name)
	if err != nil {
		return nil, err
	}
	t, done, err := tracesOf(e, all)
	if err != nil {
		return nil, err
	}
	defer done()
	opts.Scope, opts.Serves = door.ScopeOf(all[0]), door.ServesOf(all[0])
	return account.Of(t, opts, f.stopAt())
}
