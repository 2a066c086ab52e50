package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"loupe/compare"
	"loupe/insight"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
)

var reportCommand = &command{
	name:  "report",
	short: "what a recording or a file shows: findings first, then the figures",
	args:  "[flags] FILE…",
	example: []string{
		"loupe report loupe-server-20261120-101500",
		"loupe report cpu.pb.gz block.pb.gz trace.out",
		"loupe report -format md rec.zip > report.md",
		"loupe report -format html rec > report.html        all views in one file",
		"loupe report -fail critical rec && echo good enough",
	},
	about: `
FILE is a recording, a directory or a .zip file that run, attach or demo wrote;
one that was cut off, or is still being written, is read as far as it goes. Or
it is a file of some other origin: a profile of any type, an execution trace, or a
log of GODEBUG=gctrace=1,schedtrace=1000. Several of these are taken to be of one
program, and get one report. A goroutine dump is shown by itself. The sources
that a profile names are read where they are.

With -format html it is the pages that loupe open shows, as one file that needs no
server and loads nothing: with what each view shows at first of the whole time.

Exits with 3 when there is a finding of the severity that -fail names or above.`,
	files: true,
	reads: true,
	setup: func(fs *flagSet) func(*env, []string) error {
		format := fs.String("format", "text", "`form` of the output: text, json, md, svg (a picture of the text) or html\n(the pages of loupe open as one file)")
		asJSON := fs.Bool("json", false, "same as -format json")
		fail := fs.String("fail", "warning", "`severity` from which a finding makes the exit code 3: info, warning,\ncritical, or never")
		return func(e *env, args []string) error {
			if *asJSON {
				*format = "json"
			}
			if known := append(slices.Clone(formats), "html"); !slices.Contains(known, *format) {
				return usagef("-format: unknown form %q: there are %s", *format, strings.Join(known, ", "))
			}
			if !slices.Contains([]string{"info", "warning", "critical", "never"}, *fail) {
				return usagef("-fail: unknown severity %q", *fail)
			}
			if len(args) == 0 {
				return usagef("say what to report on: loupe report FILE")
			}
			if *format == "html" {
				return reportHTML(e, args, *fail)
			}
			return reportAll(e, args, *format, *fail)
		}
	},
}

// formats are the forms that reports and comparisons are printed in.
var formats = []string{"text", "json", "md", "svg"}

// svgColumns is the width of the text in a picture.
const svgColumns = 100

func reportAll(e *env, names []string, format, fail string) error {
	hit := false
	for i, what := range subjects(names) {
		if i > 0 && format == "text" {
			fmt.Fprintln(e.stdout)
		}
		dump := !what.loose && isDump(what.names[0])
		what.loose = what.loose || dump
		for _, name := range what.names {
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
				e.reads(name, info)
			}
		}
		r, err := what.examine()
		if err != nil {
			return err
		}
		if dump {
			err = reportStacks(e, r.report, what.names[0], format)
		} else {
			err = writeReport(e, r.report, format)
		}
		if err != nil {
			return err
		}
		if err := r.close(); err != nil {
			return err
		}
		for _, f := range r.report.Findings {
			hit = hit || fail != "never" && f.State == insight.Found && f.Severity.AtLeast(insight.Severity(fail))
		}
	}
	if hit {
		return exitError{exitFound, nil}
	}
	return nil
}

// examined is an opened recording with everything that is said about it.
type examined struct {
	report  *report.Recording
	facts   *compare.Facts
	session *session.Session
	close   func() error
}

// examine opens a recording, gathers its figures and lets the rules look.
func examine(name string) (*examined, error) {
	rec, err := recording.OpenFile(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
		}
		switch _, _, unknown := sniff(name); {
		case isCore(name):
			err = fmt.Errorf("%s is a core: loupe core %s shows it", name, shellWord(name))
		case unknown != nil && !strings.HasSuffix(name, ".zip"):
			err = unknown
		}
		return nil, err
	}
	s := session.New(rec)
	in := insight.NewInput(s)
	for _, stray := range s.Strays() {
		m := s.Manifest()
		m.Notes = append(m.Notes, fmt.Sprintf("%s: %s", stray.Path, strayText(stray)))
	}
	return &examined{
		report: &report.Recording{
			Schema: report.Schema, Path: name, Manifest: s.Manifest(), Findings: insight.Run(in), Incomplete: in.Incomplete(),
			Figures: compare.Compare(in.Facts), Phases: compare.PhaseCosts(s), Slow: in.Slow(),
		},
		facts: in.Facts, session: s, close: rec.Close,
	}, nil
}

// examineAll opens several recordings; closeAll closes them.
func examineAll(names []string) (all []*examined, closeAll func(), err error) {
	closeAll = func() {
		for _, x := range all {
			x.close()
		}
	}
	for _, name := range names {
		x, err := examine(name)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		all = append(all, x)
	}
	return all, closeAll, nil
}

func (e *env) style() report.Style {
	whole := !isTerminal(e.stdout) && os.Getenv("COLUMNS") == ""
	return report.Style{Width: width(e.stdout), Colour: colour(e.stdout), Whole: whole}
}

func writeReport(e *env, r *report.Recording, format string) error {
	return buffered(e.stdout, func(w io.Writer) error {
		text, markdown := report.WriteRecording, report.WriteRecordingMarkdown
		if r.Files != nil {
			text, markdown = report.WriteLoose, report.WriteLooseMarkdown
		}
		switch format {
		case "json":
			if len(r.Found()) == 0 {
				r.Headline = insight.Judge(r.Manifest, r.Findings).Headline()
			}
			return report.WriteJSON(w, r)
		case "md":
			return markdown(w, r)
		case "svg":
			return report.WriteSVG(w, svgColumns, func(w io.Writer, s report.Style) error { return text(w, r, s) })
		}
		return text(w, r, e.style())
	})
}

// buffered writes through a buffer.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	return errors.Join(write(b), b.Flush())
}

// conclude prints what new recordings show, and what to type next.
func conclude(e *env, dirs []string, asJSON, quiet bool) error {
	e.holdWhenLeaving()
	all, closeAll, err := examineAll(dirs)
	if err != nil {
		return err
	}
	defer closeAll()
	var regressed error
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1 && asJSON:
		return writeReport(e, all[0].report, "json")
	case len(all) == 1:
		if err := writeReport(e, all[0].report, "text"); err != nil {
			return err
		}
	default:
		c := sideBySide(all)
		if c.Table.Regressed() {
			regressed = exitError{exitFound, nil}
		}
		if asJSON {
			return cmp.Or(buffered(e.stdout, func(w io.Writer) error { return writeComparisonJSON(w, c) }), regressed)
		}
		if err := buffered(e.stdout, func(w io.Writer) error { return report.WriteComparison(w, c, e.style()) }); err != nil {
			return err
		}
	}
	next(e, dirs, quiet)
	return regressed
}

// next says where the recordings are and, unless quiet, what to do with them.
func next(e *env, dirs []string, quiet bool) {
	fmt.Fprintln(e.stdout)
	for _, d := range dirs {
		fmt.Fprintf(e.stdout, "recording  %s\n", d)
	}
	if quiet {
		return
	}
	fmt.Fprintln(e.stdout, "next       loupe report "+shellWord(dirs[0]))
	if len(dirs) > 1 {
		fmt.Fprintf(e.stdout, "           loupe compare %s %s\n", shellWord(dirs[0]), shellWord(dirs[1]))
	}
}

// writeComparisonJSON prints a comparison with its schema in front.
func writeComparisonJSON(w io.Writer, c *report.Comparison) error {
	return report.WriteJSON(w, struct {
		Schema string `json:"schema"`
		*report.Comparison
	}{compare.Schema, c})
}

// sideBySide compares examined recordings with the first.
func sideBySide(all []*examined) *report.Comparison {
	c := &report.Comparison{}
	var facts []*compare.Facts
	for _, x := range all {
		facts = append(facts, x.facts)
		c.Findings = append(c.Findings, x.report.Findings)
		c.Paths = append(c.Paths, x.report.Path)
	}
	c.Table = compare.Compare(facts...)
	return c
}
