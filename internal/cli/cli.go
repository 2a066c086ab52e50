// Package cli is loupe's command line: one file per subcommand, which parses
// flags, opens files, calls the libraries and picks the exit code. Nothing is
// computed here.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"loupe/internal/cli/code"
	"loupe/internal/cli/command"
	"loupe/internal/cli/compare"
	"loupe/internal/cli/demo"
	"loupe/internal/cli/gc"
	"loupe/internal/cli/load"
	"loupe/internal/cli/open"
	"loupe/internal/cli/pprof"
	"loupe/internal/cli/proof"
	"loupe/internal/cli/record"
	"loupe/internal/cli/report"
	"loupe/internal/cli/serve"
	"loupe/internal/cli/stacks"
	"loupe/internal/cli/trace"
	"loupe/internal/cli/watch"
)

// commands returns every subcommand in the order of the overview.
func commands() []*command.Command {
	return slices.Concat([]*command.Command{
		demo.Command, record.Run, record.Attach, watch.Command,
	}, serve.Commands, []*command.Command{load.Command}, proof.Commands, open.Commands, []*command.Command{
		report.Command, compare.Command, compare.Benchstat, gc.Command, watch.Leak, gc.Sched, stacks.Command, stacks.Core, pprof.Command, trace.Command,
		code.PGO, code.Callers, code.Implements,
		report.Verify, report.Rules, demo.Labs, record.Doctor, newCompletionCommand(), versionCommand,
	})
}

// Main runs loupe with the given arguments, without the program's name, and
// returns the exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	if len(args) == 0 {
		overview(stderr)
		return command.ExitUsage
	}
	e, stop := command.NewEnv(stdin, stdout, stderr)
	defer stop()
	e.Call = func(args []string) int { return call(e, args) }
	e.Inside = inside
	code := dispatch(e, args)
	if err := e.Unprinted(); err != nil && code == command.ExitOK {
		fmt.Fprintf(stderr, "loupe: not everything was printed: %v\n", err)
		return command.ExitFailed
	}
	return code
}

// call runs a command that another one hands its inputs to.
func call(e *command.Env, args []string) int { return find(args[0]).Main(e, args[1:]) }

// inside runs a command for another one that goes on: what it prints goes elsewhere, and
// nobody is there to ask.
func inside(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	e := &command.Env{Stdout: stdout, Stderr: stderr, Ctx: ctx, Quiet: true, NoLive: true, Inside: inside}
	e.Call = func(args []string) int { return call(e, args) }
	return dispatch(e, args)
}

// dispatch runs the command of a line.
func dispatch(e *command.Env, args []string) int {
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(e, rest)
	case "-version", "--version":
		name = "version"
	}
	c := find(name)
	if c == nil {
		fmt.Fprintf(e.Stderr, "loupe: unknown command %q%s\n", name, suggestion(name))
		return command.ExitUsage
	}
	if c.Reads {
		defer command.BoundMemory(e, rest)()
	}
	return c.Main(e, rest)
}

func find(name string) *command.Command {
	for _, c := range commands() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func overview(w io.Writer) {
	fmt.Fprint(w, `loupe records what a Go program does, puts it under load, shows with evidence what is wrong, and proves that a fix helped.

	loupe demo                                   see the whole loop in two minutes
	loupe run -load http://localhost:8080/ ./cmd/server
	loupe attach :6060                           record a running service
	loupe report DIR                             what a recording shows
	loupe compare A B                            what a change did

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-11s %s\n", c.Name, c.Short)
	}
	fmt.Fprint(w, "\nloupe help COMMAND tells more. Exit codes: 0 fine, 1 failed, 2 wrong usage,\n"+
		"3 a finding or a regression, 4 nothing to show, 130 interrupted.\n")
}

func help(e *command.Env, args []string) int {
	if len(args) == 0 {
		overview(e.Stdout)
		return command.ExitOK
	}
	c := find(args[0])
	if c == nil {
		fmt.Fprintf(e.Stderr, "loupe: unknown command %q%s\n", args[0], suggestion(args[0]))
		return command.ExitUsage
	}
	c.Help(e.Stdout)
	return command.ExitOK
}

// suggestion returns ", did you mean …?" for a name close to a command.
func suggestion(name string) string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.Name)
	}
	if meant := command.Meant(name, names); meant != "" {
		return meant
	}
	return " (loupe help lists them)"
}
