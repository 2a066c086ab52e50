// Package gc has loupe gc and loupe sched: what the runtime has printed of its collector and
// scheduler.
package gc

import (
	"context"
	"fmt"
	"io"
	"os"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/format/godebug"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/value/secret"
	"loupe/value/unit"
)

// Command is loupe gc.
var Command = &command.Command{
	Name:  "gc",
	Short: "what the garbage collector did, from a runtime log or a recording",
	Args:  "[flags] FILE|RECORDING",
	Example: []string{
		"GODEBUG=gctrace=1 ./server 2> server.log; loupe gc server.log",
		"loupe gc -requests 10000 -duration 5.3s server.log     with the load tool's figures",
		"loupe gc loupe-server-20261120-101500                  the bare phases of a recording",
		"GODEBUG=inittrace=1 ./server 2> start.log; loupe gc start.log   what happens before main",
		"loupe gc -json server.log | jq .derived",
		"loupe gc -json REC | jq '.phases[].derived.gc_percent' each round of a recording",
		"loupe gc -what-if all REC                              collections, heap and GC CPU with other GOGC values",
		"loupe gc -what-if 'GOGC=200 GOMEMLIMIT=400MiB' server.log",
		"loupe gc -advise -limit 512MiB REC                     which GOGC and GOMEMLIMIT, and what they would do",
		"loupe gc -what-if GOGC=200 -verify -- ./tool -n 5      predict, run, compare",
		"loupe gc -explain 'gc 14 @0.253s 3%: 0.009+0.84+…'       what each part of a line means",
	},
	About: `
Reads the format of every Go version since 1.4; program output in between, and lines that
start in the middle of another, do not matter. Torn or unknown lines are counted and shown,
never guessed at. - reads standard input; a log may be compressed, or be a URL.

A log of several processes (docker compose, kubectl --prefix, syslog, JSON) is split by the
prefix or the fields that identify the process: each process has its own figures, and the
table covers the one with the most collections.

For a log with lines of inittrace=1, scavtrace=1 and gcpacertrace=1, alone or among others, it
shows their totals: package initialisation, slowest first, with the time to main; what the
scavenger returned to the operating system, and how fast; and the pacer's goal, trigger,
utilisation and assist ratio.

The JSON of a recording has the fields of a log, with the figures of the first
round, and beside them "phases": every round with the same fields.

-what-if replays the recorded program through the pacer of Go 1.18 and later with other
settings: the live heap, the allocation rate and the marking cost stay as recorded. Each
prediction has a grade; -verify runs the program to check it. If the log is too short, loupe
says so instead.

-advise recommends GOGC and GOMEMLIMIT for a memory limit: -limit, or the recorded cgroup's. It
compares the usual settings in one table, leaves room for memory outside Go, and says how far to
trust it: good, fair or low, with the reason. It refuses, with exit code 4, if the log is too
short, the live heap still rises, or the limit is too close to it. loupe run -tune gc checks the
advice by running the program.

-explain says in words what each number in a line means: for gctrace, schedtrace, scheddetail,
inittrace, scavtrace and gcpacertrace, in the format of any Go version. From a file, or
standard input (-), it takes the first line of each format.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON (loupe.gc/1; loupe.gc-what-if/1; loupe.gc-advice/1; loupe.gc-explain/1)")
		requests := fs.Int64("requests", 0, "`number` of requests that the program answered")
		duration := fs.String("duration", "0", "`time` that the work took; 0 takes it from the log")
		cycles := fs.Bool("cycles", false, "also list every collection, and all rows of the other tables")
		words := fs.Bool("explain", false, "what follows is a runtime log line, or a file with some: explain each part")
		var ask whatIfFlags
		fs.Group("Other settings", func() { ask.declare(fs) })
		return func(e *command.Env, args []string) error {
			ask.asJSON = *asJSON
			if ask.verify {
				return ask.verifyCommand(e, args)
			}
			name, err := command.OneArg(args, "the log")
			if err != nil {
				return err
			}
			if *words {
				return explain(e, name, *asJSON)
			}
			if ask.advise {
				return ask.advice(e, name)
			}
			if ask.limit != "" {
				return command.Usagef("-limit is for -advise")
			}
			if ask.asked() {
				return ask.whatIf(e, name)
			}
			d, err := unit.ParseDuration(*duration)
			if err != nil {
				return command.Usagef("-duration: %w", err)
			}
			return showGC(e, name, gc.Options{Duration: d, Requests: *requests}, *asJSON, *cycles)
		}
	},
}

// runtimeLog is what the runtime printed: of a log file, or of the rounds of
// a recording.
type runtimeLog struct {
	name   string
	kind   kind.Kind
	log    *godebug.Log
	rounds []facts.Round // of a recording
	// attached tells that the recording has no standard error.
	attached bool
	facts    *facts.Facts     // of a recording
	session  *session.Session // of a recording, until close
	close    func() error
}

// openRuntime reads a log or the bare phases of a recording, which the caller
// closes.
func openRuntime(e *command.Env, name string) (*runtimeLog, error) {
	d := door.New(e, "", nil)
	d.Capture = func(_ context.Context, target, _ string) error {
		target = secret.URL(target)
		return command.Nothingf("the runtime of %s prints to the standard error it was started with: name the log; loupe report %s shows what can be learnt about its collector", target, target)
	}
	in, err := door.TakeOne(e, d, name)
	if err != nil {
		return nil, err
	}
	if in.Recording {
		x, err := examine.Recording(in)
		if err != nil {
			return nil, err
		}
		return &runtimeLog{
			name: in.Name, rounds: x.Facts.Rounds, attached: len(x.Facts.Manifest.Of(recording.Stderr)) == 0,
			facts: x.Facts, session: x.Session, close: x.Close,
		}, nil
	}
	if k := in.Kind; k != kind.Unknown && k != kind.Empty && k != kind.Dump && !door.IsLog(k) { // a dump may stand in a log
		return nil, door.WrongKind(in, "a log of GODEBUG=gctrace=1,schedtrace=1000 or a recording")
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	log, err := godebug.Collect(f)
	return &runtimeLog{name: in.Name, kind: in.Kind, log: log, close: nothingToClose}, err
}

func nothingToClose() error { return nil }

// nothing says that there are no lines of a kind, and how to get some.
func (l *runtimeLog) nothing(lines, setting string) error {
	if l.attached {
		return command.Nothingf("%s has no %s lines: attach does not see the standard error of a service", l.name, lines)
	}
	if l.log == nil {
		return command.Nothingf("no %s lines fall into the bare phases of %s (record longer: loupe run -for 30s)", lines, l.name)
	}
	instead := ""
	if view := door.Views[l.kind]; view != "" {
		instead = fmt.Sprintf("; it is a %s: %s %s shows it", l.kind, view, command.ShellWord(l.name))
	}
	return command.Nothingf("%s has no %s lines (run the program with GODEBUG=%s)%s", l.name, lines, setting, instead)
}

func showGC(e *command.Env, name string, opt gc.Options, asJSON, cycles bool) error {
	l, err := openRuntime(e, name)
	if err != nil {
		return err
	}
	defer l.close()
	var all []report.Collections
	if l.log != nil {
		opt.Unrecognised, opt.Doubtful = l.log.Torn, l.log.Stats.Doubtful
		opt.Names, opt.Ends = l.log.Names, l.log.Ends != nil
		all = append(all, report.Collections{Summary: gc.Analyse(l.log.Cycles, opt), Unrecognised: l.log.Unrecognised})
	}
	for _, r := range l.rounds {
		if r.GC != nil {
			all = append(all, report.Collections{Title: r.Phase.Name, Summary: r.GC})
		}
	}
	if l.log != nil && l.log.Cut {
		fmt.Fprintf(e.Stderr, "loupe gc: %s holds more than %s collections: only the first ones are counted (look at parts of the log: tail -n 1000000 %s | loupe gc -)\n", name, unit.Count(godebug.MaxRecords), name)
	}
	others := l.lines()
	found := len(others) > 0
	for _, c := range all {
		found = found || len(c.Summary.Cycles) > 0 || c.Summary.Unrecognised > 0
	}
	if asJSON && len(all) > 0 {
		shown := report.GC{Collections: all[0], Lines: others}
		if l.log == nil {
			shown.Phases = all
		}
		err := command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteJSON(w, shown) })
		if err == nil && !found {
			err = l.nothing("gctrace", "gctrace=1")
		}
		return err
	}
	if !found {
		return l.nothing("gctrace", "gctrace=1")
	}
	if len(others) > 0 && len(all[0].Cycles) == 0 && all[0].Summary.Unrecognised == 0 {
		all = nil // a log of other lines alone
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteGC(w, all, others, cycles, e.Style()) })
}

// lines is what the log, or the log of each process of the recording, says besides
// collections and the scheduler.
func (l *runtimeLog) lines() (all []*report.RuntimeLines) {
	add := func(name string, log *godebug.Log) {
		if r := report.RuntimeLinesOf(name, log); r != nil {
			all = append(all, r)
		}
	}
	if l.log != nil {
		add(l.name, l.log)
		return all
	}
	for _, entry := range l.session.Manifest().Of(recording.Stderr) {
		if log, err := l.session.Runtime(entry.Run); err == nil {
			add(fmt.Sprintf("process %d", entry.Run+1), log.Log)
		}
	}
	return all
}

// Sched is loupe sched.
var Sched = &command.Command{
	Name:  "sched",
	Short: "how busy the Ps were, from a schedtrace log or a recording",
	Args:  "[flags] FILE|RECORDING",
	Example: []string{
		"GODEBUG=schedtrace=1000 ./server 2> server.log; loupe sched server.log",
		"loupe sched loupe-server-20261120-101500",
		"loupe sched -json server.log | jq .derived",
	},
	About: `
The JSON of a recording has the fields of a log, with the figures of the first
round, and beside them "phases": every round with the same fields.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON (loupe.sched/1)")
		return func(e *command.Env, args []string) error {
			name, err := command.OneArg(args, "the log")
			if err != nil {
				return err
			}
			return showSched(e, name, *asJSON)
		}
	},
}

func showSched(e *command.Env, name string, asJSON bool) error {
	l, err := openRuntime(e, name)
	if err != nil {
		return err
	}
	defer l.close()
	var all []report.Samples
	if l.log != nil {
		all = append(all, report.Samples{Summary: sched.Analyse(l.log.Samples, sched.Options{Unrecognised: l.log.Torn, Names: l.log.Names, Ends: l.log.Ends != nil})})
	}
	found := false
	for _, r := range l.rounds {
		if r.Sched != nil {
			all = append(all, report.Samples{Title: r.Phase.Name, Summary: r.Sched})
		}
	}
	for _, s := range all {
		found = found || len(s.Summary.Samples) > 0
	}
	if asJSON && len(all) > 0 {
		shown := report.Sched{Samples: all[0]}
		if l.log == nil {
			shown.Phases = all
		}
		err := command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteJSON(w, shown) })
		if err == nil && !found {
			err = l.nothing("SCHED", "schedtrace=1000")
		}
		return err
	}
	if !found {
		return l.nothing("SCHED", "schedtrace=1000")
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteSched(w, all, e.Style()) })
}
