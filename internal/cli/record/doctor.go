package record

import (
	"fmt"
	"os"
	"time"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/report"
)

// Doctor is loupe doctor.
var Doctor = &command.Command{
	Name:  "doctor",
	Short: "is this machine fit for measurements, and what does its kernel permit",
	Args:  "[-json] [PID]",
	Example: []string{
		"loupe doctor",
		"loupe doctor -json | jq '.checks[] | select(.verdict != \"good\")'",
		"loupe doctor 4711                   what can be learnt about that process",
		"loupe doctor -agent ./cmd/server    does the agent change the program's behaviour?",
	},
	About: `
Checks for a second which other programs use the CPUs and how much the same work varies here.
Exits with 3 if something is bad: measurements will mislead.

With a process ID it says what can be learnt about that process from outside: for each method
whether it is available, why not, and what would enable it.

With -agent the package is built with and without loupe's agent. Both are run three times,
with the arguments after the package, and compared: exit code, standard output and error,
goroutines, package initialization order. A run that lasts longer than -for has its goroutines
dumped and is killed. Exits with 3 if they differ.`,
	StopAtFirst: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		watch := fs.Duration("watch", time.Second, "how `long` to measure")
		agent := fs.Bool("agent", false, "compare a package with and without the agent")
		test := fs.Bool("test", false, "with -agent: the tests of the package")
		build := fs.String("build", "", "with -agent: `flags` for go build")
		length := fs.Duration("for", 5*time.Second, "with -agent: how `long` a run may take")
		return func(e *command.Env, args []string) error {
			if !*agent && (*test || *build != "") {
				return command.Usagef("-test and -build go with -agent")
			}
			if *agent {
				if args = withoutDashes(args); len(args) == 0 {
					return command.Usagef("the package is missing")
				}
				return compareAgent(e, collect.CompareAgentOptions{
					Build: collect.BuildOptions{Target: args[0], Test: *test, Flags: SplitFlags(*build), Progress: e.Progress(*asJSON)},
					Args:  args[1:], For: *length,
				}, *asJSON)
			}
			if len(args) > 0 {
				text, err := command.OneArg(args, "a process")
				if err != nil {
					return err
				}
				pid, err := processID(text)
				if err != nil {
					return err
				}
				return explainProcess(e, pid, *asJSON)
			}
			return doctor(e, *watch, *asJSON)
		}
	},
}

// compareAgent holds a program with the agent against the same without.
func compareAgent(e *command.Env, opt collect.CompareAgentOptions, asJSON bool) error {
	return e.WithTemp(func(temp string) (err error) {
		opt.Build.Temp = temp
		if opt.Build.Dir, err = os.Getwd(); err != nil {
			return err
		}
		if opt.Build.Test {
			opt.Args = testFlags(opt.Args)
		}
		checks, err := collect.CompareAgent(e.Ctx, opt)
		if err != nil {
			return err
		}
		return writeChecks(e, checks, asJSON)
	})
}

func doctor(e *command.Env, watch time.Duration, asJSON bool) error {
	return writeChecks(e, collect.Examine(e.Ctx, watch), asJSON)
}

// writeChecks prints checks; the exit code is 3 when one is bad.
func writeChecks(e *command.Env, checks []collect.Check, asJSON bool) error {
	worst := collect.Good
	for _, c := range checks {
		if c.Verdict == collect.Bad || worst == collect.Good {
			worst = c.Verdict
		}
	}
	if asJSON {
		if err := report.WriteJSON(e.Stdout, map[string]any{"schema": "loupe.doctor/1", "verdict": worst, "host": collect.HostFacts(), "checks": checks}); err != nil {
			return err
		}
	} else {
		const indent = 20
		for _, c := range checks {
			fmt.Fprintf(e.Stdout, "%-8s %-10s %s\n", c.Verdict, c.Name, e.Style().Wrap(c.Found, indent))
			if c.Advice != "" {
				fmt.Fprintf(e.Stdout, "%*s%s\n", indent, "", e.Style().Wrap(c.Advice, indent))
			}
		}
	}
	if worst == collect.Bad {
		return command.ErrFound
	}
	return nil
}
