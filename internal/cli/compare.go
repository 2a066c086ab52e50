package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"loupe/compare"
	"loupe/report"
)

var compareCommand = &command{
	name:  "compare",
	short: "put recordings or profiles side by side, with verdicts",
	args:  "[flags] BEFORE AFTER…",
	example: []string{
		"loupe compare loupe-server-before loupe-server-after",
		"loupe compare before.trace after.trace                   two execution traces",
		"loupe compare old.pb.gz new.pb.gz                        two profiles",
		"loupe compare old.txt new.txt                            outputs of go test -bench -count=10",
		"loupe compare 'runs/a-*' 'runs/b-*'                      load runs of loupe load -save",
		"loupe compare -per second -fail 5% old/ new/             profiles of several runs a side",
		"loupe compare -format md before.zip after.zip > pull-request.md",
	},
	about: `
Every figure of the second recording, and of any further one, is compared with
that of the first. The unit is the round (loupe run -rounds): from five rounds a
side a change has its interval and a verdict; one run against another has none,
because one run against another proves nothing.

Load runs that loupe load has saved (-save) are compared run by run: a side is a
file, several with commas between, a folder, or a pattern in quotes.

Two execution traces are laid side by side too, without verdicts: see loupe trace
compare.

Outputs of go test -bench become the tables of benchstat: medians, intervals, and what
is more than chance (Mann and Whitney's test). -count=10 gives enough of each.

Exits with 3 when requests per second, CPU time or wall time got worse, and with 1 when
a program failed: then nothing is decided.

Profiles of one kind, in any format that loupe reads, are laid side by side by
function: both values, the change with its interval of 95%, and whether it is
more than chance. A side is a profile, several with commas between, a folder, or
a pattern in quotes. With several on both sides chance is the spread between
them; with one it is the error of sampling, which of block and mutex profiles
nobody knows. The call paths that explain the change follow. With -fail profiles
exit with 3, without they never do; with 4 when there is nothing to compare.`,
	files: true,
	reads: true,
	setup: func(fs *flagSet) func(*env, []string) error {
		format := fs.String("format", "text", "`form` of the output: text, json, md or svg (a picture of the text);\nof profiles text, json, md or csv")
		asJSON := fs.Bool("json", false, "same as -format json")
		var profiles profileCompare
		profiles.declare(fs)
		return func(e *env, args []string) error {
			if *asJSON {
				*format = "json"
			}
			if areLoads(args) {
				if !slices.Contains([]string{"text", "json", "md"}, *format) {
					return usagef("-format: unknown form %q of load runs: there are text, json and md", *format)
				}
				return compareLoads(e, args, *format)
			}
			if areBenchmarks(args) {
				if !slices.Contains([]string{"text", "json", "csv", "md"}, *format) {
					return usagef("-format: unknown form %q of benchmarks: there are text, json, csv and md", *format)
				}
				return writeBenchmarks(e, args, *format)
			}
			if err := allBenchmarks(args); err != nil {
				return err
			}
			if len(args) == 2 && isCore(args[0]) && isCore(args[1]) {
				return fmt.Errorf("%s and %s are cores: loupe core diff %s %s compares them", args[0], args[1], shellWord(args[0]), shellWord(args[1]))
			}
			if areProfiles(args) {
				return profiles.run(e, args, *format)
			}
			if !slices.Contains(formats, *format) {
				return usagef("-format: unknown form %q: there are %s", *format, strings.Join(formats, ", "))
			}
			if len(args) < 2 {
				return usagef("two recordings are needed")
			}
			if err := noProfileFlags(fs); err != nil {
				return err
			}
			if len(args) == 2 && isTrace(args[0]) && isTrace(args[1]) {
				return traceCompare(e, &traceFlags{format: *format, top: 20}, args)
			}
			return compareAll(e, args, *format)
		}
	},
}

func compareAll(e *env, names []string, format string) error {
	all, closeAll, err := examineAll(names)
	if err != nil {
		return err
	}
	defer closeAll()
	c := sideBySide(all)
	err = buffered(e.stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return writeComparisonJSON(w, c)
		case "md":
			return report.WriteComparisonMarkdown(w, c)
		case "svg":
			return report.WriteSVG(w, svgColumns, func(w io.Writer, s report.Style) error { return report.WriteDemo(w, c, s) })
		}
		return report.WriteComparison(w, c, e.style())
	})
	if err != nil {
		return err
	}
	var facts []*compare.Facts
	for _, x := range all {
		facts = append(facts, x.facts)
	}
	if failed := compare.Failed(facts...); len(failed) > 0 {
		return errors.New(strings.Join(failed, "; "))
	}
	if c.Table.Regressed() {
		return exitError{exitFound, nil}
	}
	return nil
}

// noProfileFlags fails when a flag was given that only profiles have.
func noProfileFlags(fs *flagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		if slices.Contains(profileFlags, f.Name) {
			err = usagef("-%s is for profiles alone", f.Name)
		}
	})
	return err
}

// isTrace says whether a file is an execution trace.
func isTrace(name string) bool {
	command, _, err := sniff(name)
	return err == nil && command[0] == "trace"
}
