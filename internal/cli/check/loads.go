package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/record"
	"loupe/report"
)

// runLoads runs the loads one after the other, each within its share of the time that is left.
func (k *checker) runLoads() {
	if k.base.kept != nil {
		if n := len(k.cfg.loads); n > 0 {
			k.out.Notes = append(k.out.Notes, fmt.Sprintf("Loads are compared with a revision, not with a baseline: %d left out.", n))
		}
		return
	}
	for i := range k.cfg.loads {
		if k.e.Ctx.Err() != nil {
			return
		}
		l := &k.cfg.loads[i]
		if time.Since(k.began) >= k.cfg.budget {
			k.broken(l.name, "", fmt.Errorf("load %s was not measured: the time budget of %v was spent before (-budget)", l.name, k.cfg.budget))
			continue
		}
		k.progress("load %s", l.name)
		k.broken(l.name, "", k.load(l, k.left()/time.Duration(len(k.cfg.loads)-i)))
	}
}

// load runs one load on both sides, as loupe run -vs does, and judges it.
func (k *checker) load(l *loads, within time.Duration) error {
	dir := filepath.Join(k.temp, l.fileName())
	if k.flags.out != "" {
		abs, err := filepath.Abs(k.flags.out)
		if err != nil {
			return err
		}
		dir = filepath.Join(abs, l.fileName())
	}
	code, said, cut, err := k.record(l, dir, within)
	if err != nil {
		return err
	}
	sides := []string{filepath.Join(dir, "before"), filepath.Join(dir, "after")}
	for _, side := range sides {
		if _, serr := os.Stat(side); serr != nil {
			if k.e.Ctx.Err() != nil {
				return nil // it is said that the check was interrupted
			}
			if cut {
				return fmt.Errorf("load %s: its share of the time budget, %v, was spent before one round of both sides was complete (-budget)", l.name, within.Round(time.Second))
			}
			return fmt.Errorf("load %s was not measured:\n%s", l.name, said)
		}
	}
	all, closeAll, err := examine.All(examine.Recorded(sides))
	if err != nil {
		return err
	}
	defer closeAll()
	if cut {
		k.out.Notes = append(k.out.Notes, fmt.Sprintf("Load %s ended with its share of the time budget, %v: it had fewer rounds.", l.name, within.Round(time.Second)))
	}
	comparison := examine.SideBySide(all)
	k.out.Rows = append(k.out.Rows, l.rows(comparison.Table)...)
	for _, note := range comparison.Table.Notes {
		k.out.Notes = append(k.out.Notes, l.name+": "+note)
	}
	k.findings(l, comparison.Findings[0], comparison.Findings[1])
	if failed := examine.Failed(all); len(failed) > 0 {
		return fmt.Errorf("load %s: %s", l.name, strings.Join(failed, "; "))
	}
	if code != command.ExitOK && code != command.ExitFound && !cut && k.e.Ctx.Err() == nil {
		return fmt.Errorf("load %s failed:\n%s", l.name, said)
	}
	return nil
}

// record lets loupe run take the rounds. Cut tells that the time was over before they were.
func (k *checker) record(l *loads, dir string, within time.Duration) (code int, said string, cut bool, err error) {
	words := []string{"run", "-quiet", "-o", dir, "-vs", "@" + k.base.commit, "-rounds", fmt.Sprint(l.rounds), "-phases", l.phases, "-output", "keep"}
	if l.url != "" {
		words = append(words, "-load", l.url)
	}
	words = append(append(append(words, l.flags...), l.target), l.args...)
	back, err := record.Enter(k.cfg.dir)
	if err != nil {
		return 0, "", false, err
	}
	defer back()
	outer, stdout, stderr := k.e.Ctx, k.e.Stdout, k.e.Stderr
	ctx, cancel := context.WithTimeout(outer, within)
	defer cancel()
	var errs strings.Builder
	k.e.Ctx, k.e.Stdout, k.e.Stderr = ctx, io.Discard, &errs
	code = k.e.Call(words)
	k.e.Ctx, k.e.Stdout, k.e.Stderr = outer, stdout, stderr
	return code, strings.TrimSpace(errs.String()), errors.Is(ctx.Err(), context.DeadlineExceeded), nil
}

// heldRows are the figures of a load that are held to a limit, with the unit that says by how much
// they may get worse. Errors may not.
var heldRows = map[string]string{
	"requests_per_sec": "time", "wall_time": "time", "cpu_per_request": "cpu", "cpu": "cpu", "bytes_per_request": "B/op", "error_share": "",
}

// rows hold the figures of a load to their limits.
func (l *loads) rows(t *compare.Table) (out []report.CheckRow) {
	for _, r := range t.Rows {
		word, ok := heldRows[r.ID]
		if !ok {
			continue
		}
		allowed := 0.0
		if word != "" {
			if allowed, ok = l.allow.words[word]; !ok {
				allowed = math.Inf(1)
			}
		}
		limit := allowed
		if r.Better == compare.Higher {
			limit = -allowed
		}
		c, rounds := r.Changes[0], min(t.Rounds[0], t.Rounds[1])
		standing, more := c.Stand(r.Better, allowed), c.Needs
		if standing == compare.Open && rounds < compare.EnoughRounds {
			more = compare.EnoughRounds - rounds
		}
		out = append(out, report.CheckRow{
			Group: l.name, Name: r.Name, Unit: r.Name, Of: r.Unit, Before: r.Cells[0].Median, After: r.Cells[1].Median,
			Ratio: c.Ratio, Low: c.Low, High: c.High, P: c.P, Rounds: rounds, Exact: c.Exact,
			Verdict: string(c.Verdict), Standing: standing, Allowed: report.FigureOf(limit), More: more,
		})
	}
	return out
}

// findings notes what the rules say of the working tree, and whether they say it of the base.
func (k *checker) findings(l *loads, before, after []insight.Finding) {
	aside := map[string]bool{} // rules that judge the recording, not the program
	for _, r := range insight.Rules() {
		aside[r.ID] = r.Measurement
	}
	for _, f := range after {
		if f.State != insight.Found {
			continue
		}
		f.Evidence = fromTop(k.root, f.Evidence)
		one := report.CheckFinding{Load: l.name, Finding: f}
		one.Known = slices.ContainsFunc(before, func(b insight.Finding) bool { return b.State == insight.Found && report.SameFinding(&b, &f) })
		one.Fails = !one.Known && !aside[f.Rule] && l.findings != "never" && f.Severity.AtLeast(insight.Severity(l.findings))
		k.out.Findings = append(k.out.Findings, one)
	}
}

// fromTop names the files of evidence from the top of the repository, as those of benchmarks: the module
// that is checked may lie below it, and the line in another one of its workspace.
func fromTop(root string, all []insight.Evidence) []insight.Evidence {
	all = slices.Clone(all)
	for i := range all {
		file := all[i].File
		if real, err := filepath.EvalSymlinks(file); err == nil {
			file = real
		}
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsAbs(file) && filepath.IsLocal(rel) {
			all[i].Short = filepath.ToSlash(rel)
		}
	}
	return all
}

// writeSARIF writes the findings on all loads. One without a line stands at the line of the
// file that asks for its load.
func (k *checker) writeSARIF(w io.Writer) error {
	var found []insight.Finding
	var known []bool
	for _, f := range k.out.Findings {
		found, known = append(found, f.Finding), append(known, f.Known)
	}
	opt := report.SARIF{Version: command.Version(), Root: filepath.ToSlash(k.root), Known: func(i int) bool { return known[i] }}
	if abs, err := filepath.Abs(k.cfg.path); err == nil && len(k.cfg.loads) > 0 {
		if rel, err := filepath.Rel(k.root, abs); err == nil && filepath.IsLocal(rel) {
			opt.Whole = report.SourceLine{File: filepath.ToSlash(rel), Line: k.cfg.loads[0].line}
		}
	}
	return report.WriteSARIF(w, found, opt)
}
