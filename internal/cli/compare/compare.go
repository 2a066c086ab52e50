// Package compare is loupe compare: sides of any one kind, with verdicts.
package compare

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	analysis "loupe/analysis/compare"
	"loupe/format/benchmark"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/loadflags"
	"loupe/internal/cli/trace"
	"loupe/report"
	"loupe/source"
)

// Command is loupe compare.
var Command = &command.Command{
	Name:  "compare",
	Short: "compare recordings, benchmarks or profiles, with verdicts",
	Args:  "[flags] BEFORE AFTER…",
	Example: []string{
		"loupe compare loupe-server-before loupe-server-after",
		"loupe compare before.trace after.trace                   two execution traces",
		"loupe compare old.pb.gz new.pb.gz                        two profiles",
		"loupe compare old.txt new.txt                            outputs of go test -bench -count=10",
		"loupe compare -col /format -filter .unit:ns/op new.txt   sub-benchmarks of one output",
		"loupe compare 'runs/a-*' 'runs/b-*'                      load runs of loupe load -save",
		"loupe compare a.log,a.hey b.log,b.hey                   gctrace logs, with what hey has printed",
		"loupe compare -per second -fail 5% old/ new/             profiles of several runs a side",
		"loupe compare -format md before.zip after.zip > pull-request.md",
	},
	About: `
Every figure of the second recording, and of any further one, is compared with that of the
first. The unit is the round (loupe run -rounds): with five or more rounds per side a change
has an interval and a verdict; one run against another has neither, because it proves nothing.

Load runs saved by loupe load (-save) are compared run by run: a side is a file, several
separated by commas, a folder, or a quoted pattern. Summaries that hey and other tools have
printed are load runs, too.

Runtime logs are compared like recordings. A log and the load run that it is of, as one side
(a.log,a.hey), give both tables and the requests that each collection served. Cores and
goroutine dumps are compared by loupe core diff and loupe stacks.
` + door.Help + `

Two execution traces are shown side by side too, without verdicts: see loupe trace compare.

Outputs of go test -bench, with or without -json, become benchstat's tables: medians,
intervals, and what is more than chance (Mann–Whitney test). -count=10 gives enough of each.
-filter, -table, -row, -col and -ignore are those of loupe benchstat, whose help says what
they take, and which prints the bytes of benchstat.

Exits with 3 if requests per second, CPU time or wall time got worse, and with 1 if a program
failed: then nothing is decided.

Profiles of one kind, in any format that loupe reads, are compared by function: both values,
the change with its 95% interval, and whether it is more than chance. A side is a profile,
several separated by commas, a folder, or a quoted pattern. With several on both sides the
noise is the spread between them; with one it is the sampling error, which is unknown for
block and mutex profiles. The call paths that explain the change follow. Profiles exit with 3
only with -fail; with 4 if there is nothing to compare.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		format := fs.String("format", "text", "output `format`: text, json, md or svg (a picture of the text);\nfor profiles text, json, md or csv")
		asJSON := fs.Bool("json", false, "same as -format json")
		var profiles profileCompare
		profiles.declare(fs)
		benchmarks := benchmark.Everything()
		declareQuery(fs, &benchmarks)
		var asking loadflags.Flags
		asking.DeclareAccess(fs)
		return func(e *command.Env, args []string) error {
			if *asJSON {
				*format = "json"
			}
			asked := compareFlags{fs, &profiles, benchmarks}
			return compareSides(e, asked, door.New(e, door.LookPhases, &asking), args, *format)
		}
	},
}

// compared is one side of a comparison.
type compared struct {
	name   string
	inputs []*source.Input
}

// compareFlags are the flags of what is compared.
type compareFlags struct {
	*command.FlagSet
	profiles   *profileCompare
	benchmarks benchmark.Query
}

// compareSides opens the sides and compares them by what they are: each with its like.
func compareSides(e *command.Env, asked compareFlags, d *source.Door, args []string, format string) error {
	if len(args) == 0 || len(args) < 2 && !asked.Given("col") {
		return command.Usagef("two sides are needed: recordings, or files of one kind")
	}
	var sides []compared
	for _, name := range args {
		inputs, err := door.Side(e, d, name)
		if err != nil {
			return err
		}
		if err := door.Readable(inputs); err != nil {
			return err
		}
		sides = append(sides, compared{name, inputs})
	}
	if loads, logs, ok := loadsAndLogs(sides); ok {
		return besides(e, loads, logs, format)
	}
	what, err := oneKind(sides)
	if err != nil {
		return err
	}
	known := map[string][]string{"load runs": {"text", "json", "md"}, "benchmarks": {"text", "json", "csv", "md"}}
	if forms := known[what]; forms != nil && !slices.Contains(forms, format) {
		return command.Usagef("-format: unknown format %q for %s: there are %s and %s", format, what, strings.Join(forms[:len(forms)-1], ", "), forms[len(forms)-1])
	}
	if err := asked.onlyOf(what); err != nil {
		return err
	}
	switch what {
	case "profile":
		return asked.profiles.run(e, sides, format)
	case "load runs":
		return compareLoads(e, sides, format)
	case "benchmarks":
		return writeBenchmarks(e, slices.Concat(sides[0].inputs, inputsOf(sides[1:])), asked.benchmarks, format)
	}
	if !slices.Contains(command.Formats, format) {
		return command.Usagef("-format: unknown format %q: there are %s", format, strings.Join(command.Formats, ", "))
	}
	switch what {
	case "compiler":
		return fmt.Errorf("compiler outputs have no figures to compare: loupe report %s shows escapes, missed inlining and bounds checks (-json for a diff)", command.ShellWord(sides[0].inputs[0].Name))
	case "core", "dump":
		return compareEnds(e, what, sides, format)
	case "trace":
		if len(args) == 2 && len(sides[0].inputs) == 1 && len(sides[1].inputs) == 1 {
			return trace.CompareTwo(e, format, sides[0].inputs[0], sides[1].inputs[0])
		}
		return command.Usagef("compare takes two traces, not %d", len(inputsOf(sides)))
	}
	var all []examine.Subject
	for _, s := range sides {
		if what != "recording" {
			all = append(all, s.inputs)
			continue
		}
		for _, in := range s.inputs {
			all = append(all, examine.Subject{in})
		}
	}
	_, err = compareAll(e, all, format)
	return err
}

// inputsOf are those of all sides.
func inputsOf(sides []compared) (all []*source.Input) {
	for _, s := range sides {
		all = append(all, s.inputs...)
	}
	return all
}

// alike says which kinds are compared with each other.
func alike(in *source.Input) string {
	if in.Recording {
		return "recording"
	}
	switch in.Kind {
	case kind.Profile:
		return "profile"
	case kind.Trace:
		return "trace"
	case kind.Load, kind.LoadText:
		return "load runs"
	case kind.Benchmarks, kind.Tests:
		return "benchmarks"
	case kind.Core:
		return "core"
	case kind.Dump:
		return "dump"
	case kind.CompilerLog:
		return "compiler"
	}
	return "log"
}

// oneKind says what is compared, and refuses what is not alike.
func oneKind(sides []compared) (string, error) {
	all := inputsOf(sides)
	if len(all) == 0 {
		return "", command.Nothing(errors.New("there is nothing to compare"))
	}
	first := all[0]
	for _, in := range all[1:] {
		if alike(in) != alike(first) {
			return "", fmt.Errorf("%s is %s and %s is %s: only files of the same kind can be compared", first.Name, withArticle(first), in.Name, withArticle(in))
		}
	}
	return alike(first), nil
}

// withArticle says what an input is.
func withArticle(in *source.Input) string {
	if in.Recording {
		return "a recording"
	}
	return in.Kind.One()
}

// compareEnds hands cores and dumps to the commands that know them.
func compareEnds(e *command.Env, what string, sides []compared, format string) error {
	all := inputsOf(sides)
	if len(all) != 2 {
		return command.Usagef("compare takes two, not %d", len(all))
	}
	if format != "text" && format != "json" {
		return command.Usagef("-format: unknown format %q: there are text and json", format)
	}
	words := []string{"stacks"}
	if what == "core" {
		words = []string{"core", "diff"}
	}
	if format == "json" {
		words = append(words, "-json")
	}
	if code := e.Call(append(words, all[0].Path, all[1].Path)); code != command.ExitOK {
		return command.Exit(code)
	}
	return nil
}

// compareAll lays recordings, or logs, side by side.
func compareAll(e *command.Env, of []examine.Subject, format string) (*analysis.Table, error) {
	all, closeAll, err := examine.All(of)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	c := examine.SideBySide(all)
	err = command.Buffered(e.Stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return examine.WriteComparisonJSON(w, c)
		case "md":
			return report.WriteComparisonMarkdown(w, c)
		case "svg":
			return report.WriteSVG(w, command.SVGColumns, func(w io.Writer, s report.Style) error { return report.WriteDemo(w, c, s) })
		}
		return report.WriteComparison(w, c, e.Style())
	})
	if err != nil {
		return nil, err
	}
	if failed := examine.Failed(all); len(failed) > 0 {
		return c.Table, errors.New(strings.Join(failed, "; "))
	}
	if c.Table.Regressed() {
		return c.Table, command.ErrFound
	}
	return c.Table, nil
}

// onlyOf fails when a flag was given that does nothing for what is compared.
func (f compareFlags) onlyOf(what string) (err error) {
	f.Visit(func(one *flag.Flag) {
		switch {
		case what != "profile" && slices.Contains(profileFlags, one.Name):
			err = command.Usagef("-%s is only for profiles", one.Name)
		case what != "benchmarks" && slices.Contains(benchmarkFlags, one.Name):
			err = command.Usagef("-%s is only for benchmarks", one.Name)
		}
	})
	return err
}
