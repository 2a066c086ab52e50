package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"loupe/capture/bench"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/stats"
	"loupe/value/unit"
)

// conclude prints what came of it, and returns the error that makes the exit code.
func (m *measurement) conclude(e *command.Env, sheets ...*report.Sheet) error {
	rounds, regressed := 0, false
	for _, c := range m.cases {
		rounds = max(rounds, c.Rounds())
	}
	if rounds == 0 {
		if m.failed == nil && e.Ctx.Err() == nil {
			m.failed = errNoResults
		}
		return m.failed
	}
	m.noise()
	out := &report.Measured{Schema: report.MeasuredSchema, Sides: m.titles, Cases: m.casesJSON()}
	if m.again > 0 {
		out.Sides = append(slices.Clip(out.Sides), m.againTitle())
	}
	for side := 1; side < len(m.titles); side++ {
		figures := m.figures(side)
		for i := range figures {
			regressed = regressed || figures[i].Beyond(m.flags.share)
		}
		out.Figures = append(out.Figures, report.MeasuredFigures(figures, m.titles[side])...)
		sheet := report.FigureSheet(figures, [2]string{"before", "after"})
		sheet.Title = m.titles[0] + " → " + m.titles[side]
		sheets = append(sheets, sheet)
	}
	if len(sheets) > 0 {
		sheets[len(sheets)-1].Notes = append(sheets[len(sheets)-1].Notes, m.notes...)
	}
	for _, c := range m.causes {
		sheets = append(sheets, report.CauseSheet(c))
	}
	out.Causes, out.Recordings, out.Bisected = m.causes, m.recordings, m.bisected
	if m.failed != nil {
		out.Failed = strings.Split(m.failed.Error(), "\n")
	}
	out.Notes = m.notes
	err := command.Buffered(e.Stdout, func(w io.Writer) error { return m.print(e, w, out, sheets) })
	switch {
	case err != nil || m.failed != nil:
		return errors.Join(m.failed, err)
	case regressed:
		return command.ErrFound
	}
	return nil
}

func (m *measurement) print(e *command.Env, w io.Writer, out *report.Measured, sheets []*report.Sheet) error {
	t := &report.Trace{Schema: report.MeasuredSchema, Sheets: sheets}
	switch m.flags.format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	case "md":
		return report.WriteTraceMarkdown(w, t)
	case "csv":
		return report.WriteTraceCSV(w, t)
	}
	if len(sheets) == 0 {
		return nil
	}
	return report.WriteTrace(w, t, e.Style())
}

func (m *measurement) casesJSON() (out []report.MeasuredCase) {
	for _, c := range m.cases {
		one := report.MeasuredCase{Package: c.Package, Name: c.Name, Stopped: c.Stopped}
		if c.Failed != nil {
			one.Failed = c.Failed.Error()
		}
		for _, s := range c.Sides {
			results := s.Results
			if results == nil {
				results = []bench.Result{}
			}
			one.Sides = append(one.Sides, results)
		}
		out = append(out, one)
	}
	return out
}

// noise adds a note on what others did on the machine meanwhile.
func (m *measurement) noise() {
	var other, steal []float64
	for _, c := range m.cases {
		for _, s := range c.Sides {
			for _, r := range s.Results {
				other, steal = append(other, r.Noise.Other), append(steal, r.Noise.Steal)
			}
		}
	}
	if stats.Mean(other) < 0.2 && stats.Mean(steal) < 0.05 {
		return
	}
	m.notes = append(m.notes, fmt.Sprintf("Other programs used %s CPUs on average meanwhile, and the hypervisor withheld %s: wall times suffer most.",
		unit.Number(stats.Mean(other)), unit.Number(stats.Mean(steal))))
}
