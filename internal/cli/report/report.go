// Package report has the commands that say what is known: loupe report, loupe verify of a
// recording, and loupe rules of what is looked for.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/capture/collect"
	"loupe/format/kind"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/compare"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/loadflags"
	"loupe/internal/cli/pages"
	"loupe/internal/cli/stacks"
	"loupe/report"
	"loupe/source"
	"loupe/web"
)

// Command is loupe report.
var Command = &command.Command{
	Name:  "report",
	Short: "what is wrong, by cause, and what fixing it would gain, on one screen",
	Args:  "[flags] FILE…",
	Example: []string{
		"loupe report loupe-server-20261120-101500",
		"loupe report -v loupe-server-20261120-101500           everything that is known",
		"loupe report cpu.pb.gz block.pb.gz trace.out",
		"loupe report -format md rec.zip > report.md",
		"loupe report -format html rec > report.html        all views in one file",
		"loupe report -fail critical rec && echo good enough",
	},
	About: `
FILE is a recording (a directory or a .zip file written by run, attach or demo); one that was
cut off, or is still being written, is read as far as it goes. Or it is a file from elsewhere:
a profile of any type (also of perf, jemalloc, V8 or a Chrome trace), an execution trace, a
log of GODEBUG=gctrace=1,schedtrace=1000 or with lines of inittrace, scavtrace and
gcpacertrace, a load run, the output of go test -bench, or what the compiler prints with
-gcflags=-m, -m=2 or writes into the folder of -json=0,DIR. Several files are assumed to
belong to one program and get one report: with the compiler's output next to a heap profile it
says why a line allocates. Of several profiles of one kind, or several traces, the rules judge
only the last one, and a note says so. A goroutine dump is shown on its own. The sources named
in a profile are read from where they are.

` + door.Help[1:] + `

Everything that follows from one cause is on one card: the cause, its location, the maximum
gain (+), what to do (→), reasons for doubt (?), and related findings (≈). The cards are
ordered by what fixing them is worth; failures come first. At most five are shown, within a
screen of 60 lines; -v shows every answer.

With -format sarif the output is SARIF 2.1.0, which GitHub and editors show at the source
lines. A finding without a known line is placed at go.mod, if there is one.

With -format html the output is the pages of loupe open, as one file that needs no server and
loads nothing: each view shows its initial state for the whole time.

Exits with 3 if there is a finding of the severity named by -fail or above, and with 1 if a
file is the output of go test with failed tests.`,
	Files: true,
	Reads: true,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		format := fs.String("format", "text", "output `format`: text, json, md, svg (a picture of the text), html\n(the pages of loupe open as one file) or sarif (for code scanning)")
		asJSON := fs.Bool("json", false, "same as -format json")
		whole := fs.Bool("v", false, "print everything: all evidence, every rule's answer, all figures, what slow\nrequests overlapped with, and what the phases cost (-json always has it)")
		fail := fs.String("fail", "warning", "lowest `severity` of a finding that makes the exit code 3: info, warning,\ncritical, or never")
		var asking loadflags.Flags
		asking.DeclareAccess(fs)
		return func(e *command.Env, args []string) error {
			if *asJSON {
				*format = "json"
			}
			if known := append(slices.Clone(command.Formats), "html", "sarif"); !slices.Contains(known, *format) {
				return command.Usagef("-format: unknown format %q: there are %s", *format, strings.Join(known, ", "))
			}
			if !slices.Contains([]string{"info", "warning", "critical", "never"}, *fail) {
				return command.Usagef("-fail: unknown severity %q", *fail)
			}
			if len(args) == 0 {
				return command.Usagef("nothing to report on: loupe report FILE")
			}
			d := door.New(e, door.LookPhases, &asking)
			if *format == "html" {
				return reportHTML(e, d, args, *fail)
			}
			return reportAll(e, d, args, *format, *fail, *whole)
		}
	},
}

func reportAll(e *command.Env, d *source.Door, names []string, format, fail string, whole bool) error {
	inputs, err := door.Take(e, d, names...)
	if err != nil {
		return err
	}
	if err := door.Readable(inputs); err != nil {
		return err
	}
	for _, in := range inputs {
		if in.Kind == kind.Core {
			return door.WrongKind(in, "a recording or loose file")
		}
	}
	hit := false
	var failed []string
	var found []insight.Finding
	for i, what := range examine.Subjects(inputs) {
		if i > 0 && format == "text" {
			fmt.Fprintln(e.Stdout)
		}
		r, err := what.Examine()
		if err != nil {
			return err
		}
		if format == "sarif" {
			found = append(found, r.Report.Findings...)
		} else if what.Dump() {
			err = stacks.Report(e, r, what[0], format)
		} else {
			err = examine.Write(e, r.Report, format, whole)
		}
		if err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
		failed = append(failed, r.Failed...)
		for _, f := range r.Report.Findings {
			hit = hit || fail != "never" && f.State == insight.Found && f.Severity.AtLeast(insight.Severity(fail))
		}
	}
	if format == "sarif" {
		if err := writeSARIF(e, found); err != nil {
			return err
		}
	}
	switch {
	case len(failed) > 0:
		return errors.New(strings.Join(failed, "\n"))
	case hit:
		return command.ErrFound
	}
	return nil
}

// writeSARIF prints findings for code scanning. Files are named from the top of the repository
// that this folder lies in, or from this folder.
func writeSARIF(e *command.Env, found []insight.Finding) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if repo, err := collect.RepositoryOf(e.Ctx, root); err == nil {
		root = repo.Root
	}
	opt := report.SARIF{Version: command.Version(), Root: filepath.ToSlash(root)}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
		opt.Whole = report.SourceLine{File: "go.mod", Line: 1}
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteSARIF(w, found, opt) })
}

// reportHTML writes the pages of what was named as one file.
func reportHTML(e *command.Env, d *source.Door, names []string, fail string) error {
	if command.IsTerminal(e.Stdout) {
		return command.Usagef("HTML is not for a terminal: loupe report -format html %s > report.html", names[0])
	}
	sources, files, err := pages.Sources(e, d, names)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return command.Nothingf("there is no recording in %s", strings.Join(names, ", "))
	}
	opts := web.Options{Sources: sources, Version: command.Version(), Pages: pages.FS()}
	var found []insight.Finding
	var unread *web.UnreadError
	if err := command.Buffered(e.Stdout, func(w io.Writer) (err error) {
		if found, err = web.Export(e.Ctx, w, opts); errors.As(err, &unread) {
			return nil // the page says it, and so does the exit code
		}
		return err
	}); err != nil {
		return err
	}
	if unread != nil {
		return unread
	}
	if failed, err := compare.FailedTests(files); err != nil || len(failed) > 0 {
		return cmp.Or(err, errors.New(strings.Join(failed, "\n")))
	}
	for _, f := range found {
		if fail != "never" && f.State == insight.Found && f.Severity.AtLeast(insight.Severity(fail)) {
			return command.ErrFound
		}
	}
	return nil
}
