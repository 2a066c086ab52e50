package cli

import (
	"fmt"
	"time"

	"loupe/collect"
	"loupe/report"
)

var doctorCommand = &command{
	name:    "doctor",
	short:   "is this machine fit to measure, and what does its kernel permit",
	args:    "[-json] [PID]",
	example: []string{"loupe doctor", "loupe doctor -json | jq '.checks[] | select(.verdict != \"good\")'", "loupe doctor 4711        what may be learnt of that process"},
	about: `
Looks for a second at who else uses the CPUs and how much one and the same work
varies here. Exits with 3 when something is bad: what is measured will mislead.

With the number of a process it says what may be learnt of that process from
outside: each way, whether it is open, why not, and what would open it.`,
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		watch := fs.Duration("watch", time.Second, "how `long` to look")
		return func(e *env, args []string) error {
			if len(args) > 0 {
				text, err := oneArg(args, "a process")
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

func doctor(e *env, watch time.Duration, asJSON bool) error {
	checks := collect.Examine(e.ctx, watch)
	worst := collect.Good
	for _, c := range checks {
		if c.Verdict == collect.Bad || worst == collect.Good {
			worst = c.Verdict
		}
	}
	if asJSON {
		if err := report.WriteJSON(e.stdout, map[string]any{"schema": "loupe.doctor/1", "verdict": worst, "host": collect.HostFacts(), "checks": checks}); err != nil {
			return err
		}
	} else {
		const indent = 20
		for _, c := range checks {
			fmt.Fprintf(e.stdout, "%-8s %-10s %s\n", c.Verdict, c.Name, e.style().Wrap(c.Found, indent))
			if c.Advice != "" {
				fmt.Fprintf(e.stdout, "%*s%s\n", indent, "", e.style().Wrap(c.Advice, indent))
			}
		}
	}
	if worst == collect.Bad {
		return exitError{exitFound, nil}
	}
	return nil
}
