package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"loupe/compare"
	"loupe/gc"
	"loupe/godebug"
	"loupe/recording"
	"loupe/report"
	"loupe/sched"
	"loupe/session"
	"loupe/source"
	"loupe/unit"
)

var gcCommand = &command{
	name:  "gc",
	short: "what the collector did, from a gctrace log or a recording",
	args:  "[flags] FILE|RECORDING",
	example: []string{
		"GODEBUG=gctrace=1 ./server 2> server.log; loupe gc server.log",
		"loupe gc -requests 10000 -duration 5.3s server.log     with what the load tool said",
		"loupe gc loupe-server-20261120-101500                  the bare phases of a recording",
		"loupe gc -json server.log | jq .derived",
		"loupe gc -json REC | jq '.phases[].derived.gc_percent' each round of a recording",
		"loupe gc -what-if all REC                              collections, heap and GC CPU under other GOGC",
		"loupe gc -what-if 'GOGC=200 GOMEMLIMIT=400MiB' server.log",
		"loupe gc -container 512MiB REC                         what to set in a container of that size",
		"loupe gc -what-if GOGC=200 -verify -- ./tool -n 5      predict, run, compare",
	},
	about: `
Reads the dialect of every Go version since 1.4; program output in between, and
lines that begin in the middle of one, do not matter. Lines that are torn or
unknown are counted and shown, never guessed at. - reads standard input.

JSON of a recording has the fields of a log, with the figures of the first
round, and beside them "phases": every round with the same fields.

-what-if replays the recorded program through the pacer of Go 1.18 and later
with other settings: what was reachable, how fast it allocated and what marking
cost stay as they were recorded. Each prediction has a grade; -verify runs the
program to see. Where the log is too short to follow, loupe says so instead.`,
	files: true,
	reads: true,
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON (loupe.gc/1; loupe.gc-what-if/1)")
		requests := fs.Int64("requests", 0, "`number` of requests that the program answered")
		duration := fs.String("duration", "0", "`time` that the work took; 0 takes it from the log")
		cycles := fs.Bool("cycles", false, "also list every collection")
		var ask whatIfFlags
		fs.group("Other settings", func() { ask.declare(fs) })
		return func(e *env, args []string) error {
			ask.asJSON = *asJSON
			if ask.verify {
				return ask.verifyCommand(e, args)
			}
			name, err := oneArg(args, "the log")
			if err != nil {
				return err
			}
			if ask.asked() {
				return ask.whatIf(e, name)
			}
			d, err := unit.ParseDuration(*duration)
			if err != nil {
				return usagef("-duration: %w", err)
			}
			return showGC(e, name, gc.Options{Duration: d, Requests: *requests}, *asJSON, *cycles)
		}
	},
}

// runtimeLog is what the runtime printed: of a log file, or of the rounds of
// a recording.
type runtimeLog struct {
	log    *godebug.Log
	rounds []compare.Round // of a recording
	// attached tells that the recording has no standard error.
	attached bool
	session  *session.Session // of a recording, until close
	close    func() error
}

// openRuntime reads a log or the bare phases of a recording, which the caller
// closes.
func openRuntime(e *env, name string) (*runtimeLog, error) {
	if name == "-" {
		log, err := godebug.Collect(source.Limit(e.stdin, "standard input", source.MaxStream))
		return &runtimeLog{log: log, close: nothingToClose}, err
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var magic [4]byte
	if n, _ := f.ReadAt(magic[:], 0); info.IsDir() || n == 4 && string(magic[:]) == "PK\x03\x04" {
		x, err := examine(name)
		if err != nil {
			return nil, err
		}
		return &runtimeLog{
			rounds: x.facts.Rounds, attached: len(x.facts.Manifest.Of(recording.Stderr)) == 0,
			session: x.session, close: x.close,
		}, nil
	}
	var text io.Reader = f
	if !info.Mode().IsRegular() {
		text = source.Limit(f, name, source.MaxStream)
	}
	log, err := godebug.Collect(text)
	return &runtimeLog{log: log, close: nothingToClose}, err
}

func nothingToClose() error { return nil }

// nothing says that there are no lines of a kind, and how to get some.
func (l *runtimeLog) nothing(name, lines, setting string) error {
	if l.attached {
		return exitError{exitNothing, fmt.Errorf("%s holds no %s lines: attach does not see the standard error of a service", name, lines)}
	}
	if l.log == nil {
		return exitError{exitNothing, fmt.Errorf("no %s lines fall into the bare phases of %s (record longer: loupe run -for 30s)", lines, name)}
	}
	return exitError{exitNothing, fmt.Errorf("%s holds no %s lines (run the program with GODEBUG=%s)", name, lines, setting)}
}

func showGC(e *env, name string, opt gc.Options, asJSON, cycles bool) error {
	l, err := openRuntime(e, name)
	if err != nil {
		return err
	}
	defer l.close()
	var all []report.Collections
	if l.log != nil {
		opt.Unrecognised, opt.Doubtful = l.log.Torn, l.log.Stats.Doubtful
		all = append(all, report.Collections{Summary: gc.Analyse(l.log.Cycles, opt), Unrecognised: l.log.Unrecognised})
	}
	for _, r := range l.rounds {
		if r.GC != nil {
			all = append(all, report.Collections{Title: r.Phase.Name, Summary: r.GC})
		}
	}
	if l.log != nil && l.log.Cut {
		fmt.Fprintf(e.stderr, "loupe gc: %s holds more than %s collections: only the first ones are counted (look at parts of the log: tail -n 1000000 %s | loupe gc -)\n", name, unit.Count(godebug.MaxRecords), name)
	}
	found := false
	for _, c := range all {
		found = found || len(c.Summary.Cycles) > 0 || c.Summary.Unrecognised > 0
	}
	if asJSON && len(all) > 0 {
		shown := report.GC{Collections: all[0]}
		if l.log == nil {
			shown.Phases = all
		}
		return buffered(e.stdout, func(w io.Writer) error { return report.WriteJSON(w, shown) })
	}
	if !found {
		return l.nothing(name, "gctrace", "gctrace=1")
	}
	return buffered(e.stdout, func(w io.Writer) error { return report.WriteGC(w, all, cycles, e.style()) })
}

var schedCommand = &command{
	name:  "sched",
	short: "how busy the Ps were, from a schedtrace log or a recording",
	args:  "[flags] FILE|RECORDING",
	example: []string{
		"GODEBUG=schedtrace=1000 ./server 2> server.log; loupe sched server.log",
		"loupe sched loupe-server-20261120-101500",
		"loupe sched -json server.log | jq .derived",
	},
	about: `
JSON of a recording has the fields of a log, with the figures of the first
round, and beside them "phases": every round with the same fields.`,
	files: true,
	reads: true,
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON (loupe.sched/1)")
		return func(e *env, args []string) error {
			name, err := oneArg(args, "the log")
			if err != nil {
				return err
			}
			return showSched(e, name, *asJSON)
		}
	},
}

func showSched(e *env, name string, asJSON bool) error {
	l, err := openRuntime(e, name)
	if err != nil {
		return err
	}
	defer l.close()
	var all []report.Samples
	if l.log != nil {
		all = append(all, report.Samples{Summary: sched.Analyse(l.log.Samples, sched.Options{Unrecognised: l.log.Torn})})
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
		return buffered(e.stdout, func(w io.Writer) error { return report.WriteJSON(w, shown) })
	}
	if !found {
		return l.nothing(name, "SCHED", "schedtrace=1000")
	}
	return buffered(e.stdout, func(w io.Writer) error { return report.WriteSched(w, all, e.style()) })
}
