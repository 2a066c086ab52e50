// Package examine opens recordings, and files that stand alone, lets the rules look at them,
// and prints what was found.
package examine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/source"
)

// Examined is an opened recording with everything that is said about it.
type Examined struct {
	Report  *report.Recording
	Facts   *facts.Facts
	Session *session.Session
	Failed  []string // tests that failed while this was measured
	Close   func() error
}

// Recording opens a recording, gathers its figures and lets the rules look.
func Recording(of *source.Input) (*Examined, error) {
	rec, err := recording.OpenFile(of.Path)
	if err != nil {
		return nil, err
	}
	s := session.New(rec)
	in := insight.NewInput(s)
	findings := insight.Run(in)
	for i := range findings {
		findings[i].Prove = strings.Replace(findings[i].Prove, "RECORDING", command.ShellWord(of.Name), 1)
	}
	return &Examined{
		Report: &report.Recording{
			Schema: report.Schema, Path: of.Name, Manifest: s.Manifest(), Findings: findings, Cards: insight.Cards(in, findings), Incomplete: in.Incomplete(), Time: insight.TimeGapsIn(in),
			Figures: compare.Compare(in.Facts), Phases: compare.PhaseCosts(s), Slow: in.Slow(),
		},
		Facts: in.Facts, Session: s, Close: rec.Close,
	}, nil
}

// All opens several recordings, or files that stand alone; closeAll closes them.
func All(all []Subject) (examinedAll []*Examined, closeAll func(), err error) {
	closeAll = func() {
		for _, x := range examinedAll {
			x.Close()
		}
	}
	for _, s := range all {
		x, err := s.Examine()
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		examinedAll = append(examinedAll, x)
	}
	return examinedAll, closeAll, nil
}

// Recorded are recordings that loupe has just made.
func Recorded(dirs []string) (all []Subject) {
	for _, dir := range dirs {
		all = append(all, Subject{{Name: dir, Path: dir, Recording: true}})
	}
	return all
}

// Write prints what is said about a recording, or about files, in a form of loupe report:
// whole, or what fits on a screen.
func Write(e *command.Env, r *report.Recording, format string, whole bool) error {
	return command.Buffered(e.Stdout, func(w io.Writer) error {
		text, markdown := report.WriteRecording, report.WriteRecordingMarkdown
		switch {
		case !whole:
			more := "loupe report -v " + r.Path
			text = func(w io.Writer, r *report.Recording, s report.Style) error { return report.WriteBrief(w, r, more, s) }
			markdown = func(w io.Writer, r *report.Recording) error { return report.WriteBriefMarkdown(w, r, more) }
		case r.Files != nil:
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
			return report.WriteSVG(w, command.SVGColumns, func(w io.Writer, s report.Style) error { return text(w, r, s) })
		}
		return text(w, r, e.Style())
	})
}

// Figures compares recordings that may still be written with the first, without a look at
// what is wrong in them.
func Figures(dirs []string) (*compare.Table, error) {
	var all []*facts.Facts
	for _, dir := range dirs {
		rec, err := recording.OpenFile(dir)
		if err != nil {
			return nil, err
		}
		defer rec.Close()
		all = append(all, facts.Gather(session.New(rec)))
	}
	return compare.Compare(all...), nil
}

// Conclude prints what new recordings show, and what to type next.
func Conclude(e *command.Env, dirs []string, asJSON, quiet bool) error {
	return ConcludeBeyond(e, dirs, asJSON, quiet, 0)
}

// ConcludeBeyond is [Conclude] where a regression of no more than a share is none.
func ConcludeBeyond(e *command.Env, dirs []string, asJSON, quiet bool, share float64) error {
	e.HoldWhenLeaving()
	all, closeAll, err := All(Recorded(dirs))
	if err != nil {
		return err
	}
	defer closeAll()
	var regressed error
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1 && asJSON:
		return Write(e, all[0].Report, "json", true)
	case len(all) == 1:
		if err := Write(e, all[0].Report, "text", false); err != nil {
			return err
		}
	default:
		c := SideBySide(all)
		if c.Table.RegressedBy(share) {
			regressed = command.ErrFound
		}
		if asJSON {
			return cmp.Or(command.Buffered(e.Stdout, func(w io.Writer) error { return WriteComparisonJSON(w, c) }), regressed)
		}
		if err := command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteComparison(w, c, e.Style()) }); err != nil {
			return err
		}
	}
	Next(e, dirs, quiet)
	return regressed
}

// Next says where the recordings are and, unless quiet, what to do with them.
func Next(e *command.Env, dirs []string, quiet bool) {
	fmt.Fprintln(e.Stdout)
	for _, d := range dirs {
		fmt.Fprintf(e.Stdout, "recording  %s\n", d)
	}
	if quiet {
		return
	}
	fmt.Fprintln(e.Stdout, "next       loupe report "+command.ShellWord(dirs[0]))
	if len(dirs) > 1 {
		fmt.Fprintf(e.Stdout, "           loupe compare %s %s\n", command.ShellWord(dirs[0]), command.ShellWord(dirs[1]))
	}
}

// WriteComparisonJSON prints a comparison with its schema in front.
func WriteComparisonJSON(w io.Writer, c *report.Comparison) error {
	return report.WriteJSON(w, struct {
		Schema string `json:"schema"`
		*report.Comparison
	}{compare.Schema, c})
}

// SideBySide compares examined recordings with the first.
func SideBySide(all []*Examined) *report.Comparison {
	c := &report.Comparison{}
	for _, x := range all {
		c.Findings = append(c.Findings, x.Report.Findings)
		c.Cards = append(c.Cards, x.Report.Cards)
		c.Paths = append(c.Paths, x.Report.Path)
	}
	c.Table = compare.Compare(factsOf(all)...)
	return c
}

// PrintLoads prints a comparison of load runs, and returns what makes the exit
// code 3 when something got worse.
func PrintLoads(e *command.Env, t *compare.Table, format string) error {
	err := command.Buffered(e.Stdout, func(w io.Writer) error {
		switch format {
		case "json":
			return report.WriteJSON(w, t)
		case "md":
			return report.WriteLoadComparisonMarkdown(w, t)
		case "text", "":
			return report.WriteLoadComparison(w, t, e.Style())
		}
		return errors.New("BUG: unknown form " + format)
	})
	if err == nil && t.Regressed() {
		return command.ErrFound
	}
	return err
}

// Failed says which of the programs failed: then nothing is decided.
func Failed(all []*Examined) []string { return compare.Failed(factsOf(all)...) }

func factsOf(all []*Examined) (sides []*facts.Facts) {
	for _, x := range all {
		sides = append(sides, x.Facts)
	}
	return sides
}
