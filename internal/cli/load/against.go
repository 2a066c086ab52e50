package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/capture/collect"
	"loupe/capture/load"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/record"
	"loupe/value/secret"
	"loupe/value/unit"
)

// againstFlags make a load run an experiment: several runs, in turns with those
// of another service.
type againstFlags struct {
	repeat  int
	against string
	start   string
	wait    string
}

func (a *againstFlags) declare(fs *command.FlagSet) {
	fs.IntVar(&a.repeat, "repeat", 1, "run the load `number` times, and print the runs as a table")
	fs.StringVar(&a.against, "against", "", "alternate with another service, and say which is faster: its `URL`, or the\ncommand that starts it on the same port (see -start)")
	fs.StringVar(&a.start, "start", "", "start this `command` for each run, wait until it listens on the URL's port,\nand stop it afterwards")
	fs.StringVar(&a.wait, "start-wait", "30s", "how `long` to wait until a started command listens")
	fs.Needs([]string{"start-wait"}, "start")
}

// used tells whether any of the flags was given.
func (a *againstFlags) used() bool { return a.repeat != 1 || a.against != "" || a.start != "" }

// arm is one of the services that are compared.
type arm struct {
	title   string
	config  load.Config
	command string           // starts it; empty when it runs
	at      collect.Endpoint // where the load gets to, and the command listens
	side    compare.LoadSide
	prefix  string // of the names of saved runs
}

// arms makes the services of the flags; config makes the load of a URL.
func (a *againstFlags) arms(address string, config func(address string) (load.Config, error)) ([]*arm, error) {
	make := func(title, address, start string) (*arm, error) {
		c, err := config(address)
		if err != nil {
			return nil, command.Usage(err)
		}
		at, err := record.Endpoints(&c)
		if err != nil {
			return nil, command.Usage(err)
		}
		return &arm{title: secret.Text(title), config: c, command: start, at: at[0]}, nil
	}
	first := address
	if a.start != "" {
		first = a.start
	}
	one, err := make(first, address, a.start)
	if err != nil {
		return nil, err
	}
	if a.against == "" {
		return goOn(one), nil
	}
	var other *arm
	switch {
	case strings.Contains(a.against, "://"):
		other, err = make(a.against, a.against, "")
	case a.start == "":
		return nil, command.Usagef("-against %q is a command, which would listen where %s does: start that one with -start COMMAND too, or give the URL of a running service", a.against, address)
	default:
		other, err = make(a.against, address, a.against)
	}
	if err != nil {
		return nil, err
	}
	if one.title == other.title {
		one.title, other.title = one.title+" (first)", other.title+" (again)"
	}
	return goOn(one, other), nil
}

// goOn has the runs of each service go on where the one before ended, if the same process answers all those of one of them.
// Services that are started for each run begin afresh.
func goOn(arms ...*arm) []*arm {
	if slices.ContainsFunc(arms, func(m *arm) bool { return m.command == "" }) {
		for _, m := range arms {
			m.config.Series = &load.Series{}
		}
	}
	return arms
}

// inStep has all services get the same in the next round.
func inStep(arms []*arm) {
	var all []*load.Series
	for _, m := range arms {
		if m.config.Series != nil {
			all = append(all, m.config.Series)
		}
	}
	load.InStep(all...)
}

// run puts the load on all services in rounds, in an order that is drawn for each
// round, so that neither a drift of the machine nor what comes back every so often
// falls on one of them.
func (a *againstFlags) run(e *command.Env, arms []*arm, save, format string) error {
	if a.repeat < 1 {
		return command.Usagef("-repeat wants at least 1")
	}
	wait, err := unit.ParseDuration(a.wait)
	if err != nil {
		return command.Usagef("-start-wait: %w", err)
	}
	if save != "" {
		if err := os.MkdirAll(save, 0o700); err != nil {
			return err
		}
	}
	progress := e.Progress(false)
	order := command.DrawOrder(0)
	names := []string{"a", "b"}
	var failed error
rounds:
	for round := range a.repeat {
		inStep(arms)
		for _, i := range order.Block(round, len(arms)) {
			m := arms[i]
			m.prefix = names[i]
			progress("run %d of %d: %s", round+1, a.repeat, m.title)
			if failed = m.once(e, wait, save, round+1); failed != nil {
				break rounds
			}
			if e.Ctx.Err() != nil {
				break rounds
			}
		}
	}
	var sides []compare.LoadSide
	for _, m := range arms {
		if len(m.side.Runs) == 0 {
			return errors.Join(failed, e.Ctx.Err())
		}
		m.side.Title = m.title
		sides = append(sides, m.side)
	}
	return errors.Join(failed, examine.PrintLoads(e, compare.Loads(sides, len(arms) > 1), format))
}

// once is one run on one service.
func (m *arm) once(e *command.Env, wait time.Duration, save string, round int) error {
	if m.command != "" {
		server, err := collect.StartServer(e.Ctx, m.command, m.at, wait)
		if err != nil {
			return command.Nothing(err)
		}
		defer server.Stop()
		if err := m.load(e, save, round, server.Ours); err != nil {
			return errors.Join(server.Ended(), err)
		}
		return server.Ended()
	}
	return m.load(e, save, round, func() error { return nil })
}

// load is one load; ours is an error when others than the service have answered, and nothing is kept.
func (m *arm) load(e *command.Env, save string, round int, ours func() error) error {
	used := m.serviceCPU()
	l, err := runLoad(e, m.config)
	if err != nil {
		return refusal(err)
	}
	l.ServiceCPU = used()
	if err := ours(); errors.Is(err, collect.ErrForeign) {
		return fmt.Errorf("the requests of run %d of %s are not kept: %w", round, m.title, err)
	}
	if save != "" {
		if err := saveLoad(filepath.Join(save, fmt.Sprintf("%s-%02d.requests", m.prefix, round)), l); err != nil {
			return err
		}
	}
	if e.Ctx.Err() != nil {
		return nil // half a run is none
	}
	s := l.Summary()
	if s.Requests > 0 && s.Responses == 0 {
		return allFailed(&m.config, s)
	}
	m.side.Open = l.Open
	m.side.Runs, m.side.Starts = append(m.side.Runs, s), append(m.side.Starts, l.Start)
	return nil
}

// serviceCPU returns a function that tells what CPU time the service has used since: 0
// where it is not on this machine or not one process, has been started again, or was warmed up meanwhile, which
// would count as requests that nobody has counted.
func (m *arm) serviceCPU() func() time.Duration {
	if m.config.Warmup != 0 {
		return func() time.Duration { return 0 }
	}
	before, pid := collect.ServiceCPU(m.at)
	return func() time.Duration {
		after, now := collect.ServiceCPU(m.at)
		if pid == 0 || now != pid {
			return 0
		}
		return after - before
	}
}
