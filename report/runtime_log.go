package report

import (
	"fmt"

	"loupe/analysis/gc"
	"loupe/analysis/startup"
	"loupe/format/godebug"
	"loupe/value/unit"
)

// RuntimeLines is what a log says besides collections and the scheduler: the lines of
// GODEBUG=inittrace=1, scavtrace=1 and gcpacertrace=1, with an entry for each run.
type RuntimeLines struct {
	// Name is the file or the process that they are of.
	Name      string             `json:"name,omitempty"`
	Init      []*startup.Summary `json:"init,omitempty"`
	Scavenger []*gc.Scavenger    `json:"scavenger,omitempty"`
	Pacer     []*gc.Paced        `json:"pacer,omitempty"`
}

// RuntimeLinesOf adds up the lines of a log. It returns nil where there are none.
func RuntimeLinesOf(name string, l *godebug.Log) *RuntimeLines {
	r := &RuntimeLines{Name: name, Init: startup.Analyse(l.Inits, l.Names), Scavenger: gc.AnalyseScavenger(l), Pacer: gc.AnalysePacer(l)}
	if len(r.Init)+len(r.Scavenger)+len(r.Pacer) == 0 {
		return nil
	}
	return r
}

// fewRows is how many rows the tables have where not all are asked for, fewRuns how
// many runs are shown.
const fewRows, fewRuns = 20, 8

// runSection is one kind of line of one run.
type runSection struct {
	title   string
	figures figures
	rows    *Sheet
}

// sections are the kinds of lines and runs that there are. Of many rows some are left
// out unless all are wanted: the packages that were initialised fastest, and the first
// lines of the others.
func (r *RuntimeLines) sections(all bool) (sections []runSection) {
	add := func(n, of int, title, name string, run int, figures figures, rows *Sheet) {
		switch {
		case n > fewRuns && !all:
			return
		case n == fewRuns && !all:
			before := sections[len(sections)-1].rows
			before.Notes = append(before.Notes, fmt.Sprintf("… and %s more (loupe gc -cycles shows all)", unit.Plural(of-fewRuns, "run")))
			return
		case of > 1 || name != "":
			title += ", " + runName(run, name)
		}
		sections = append(sections, runSection{title, figures, rows})
	}
	for n, s := range r.Init {
		add(n, len(r.Init), "Package initialisation (inittrace)", s.Name, s.Run, initFigures(s), initRows(s, all))
	}
	for n, s := range r.Scavenger {
		add(n, len(r.Scavenger), "Scavenger: memory returned to the operating system (scavtrace)", s.Name, s.Run, scavengerFigures(s), scavengerRows(s, all))
	}
	for n, s := range r.Pacer {
		add(n, len(r.Pacer), "GC pacer (gcpacertrace)", s.Name, s.Run, pacerFigures(s), pacerRows(s, all))
	}
	return sections
}

// Sheets are the tables: for each kind of line and each run the figures, and the rows
// behind them.
func (r *RuntimeLines) Sheets() (sheets []*Sheet) {
	for _, c := range r.sections(false) {
		figures := c.figures.sheet(c.rows.Key + "_figures")
		figures.Title = c.title
		sheets = append(sheets, figures, c.rows)
	}
	return sheets
}

// write prints the tables as text.
func (r *RuntimeLines) write(w *lines, all bool, s Style) {
	for i, c := range r.sections(all) {
		if i > 0 {
			w.printf("\n")
		}
		w.printf("%s\n", s.paint(bold, clean(c.title)))
		c.figures.write(w, s)
		w.printf("\n")
		if err := WriteSheet(w, c.rows, s); err != nil {
			return
		}
	}
}

// last returns the last rows, few of them unless all are wanted, and how many were
// left out.
func last[T any](rows []T, all bool) ([]T, int) {
	if all || len(rows) <= fewRows {
		return rows, 0
	}
	return rows[len(rows)-fewRows:], len(rows) - fewRows
}

func initFigures(s *startup.Summary) figures {
	return figures{
		{"Packages", unit.Count(int64(len(s.Packages))), "with something to initialise"},
		{"Time to main", unit.Duration(s.Main), "from process start until the last package was initialised"},
		{"Initialisation", unit.Duration(s.Clock), "sum of all packages"},
		{"Allocated", unit.BytesOf(float64(s.Bytes)), fmt.Sprintf("in %s", unit.Plural(int(s.Allocs), "object"))},
	}
}

// initRows are the packages, the slowest first.
func initRows(s *startup.Summary, all bool) *Sheet {
	sheet := &Sheet{Key: "init", Columns: []Column{{"package", "package"}, {"at_ns", "began"}, {"clock_ns", "clock"}, {"share", "share"}, {"bytes", "allocated"}, {"allocs", "objects"}}}
	rows := s.Packages
	if !all {
		rows = rows[:min(len(rows), fewRows)]
	}
	for _, p := range rows {
		var share any
		if s.Clock > 0 {
			share = Share(float64(p.Clock) / float64(s.Clock))
		}
		sheet.Rows = append(sheet.Rows, []any{p.Package, p.At, p.Clock, share, Bytes(p.Bytes), p.Allocs})
	}
	if n := len(s.Packages) - len(rows); n > 0 {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("… and %s that took less (loupe gc -cycles lists all)", unit.Plural(n, "package")))
	}
	return sheet
}

func scavengerFigures(s *gc.Scavenger) figures {
	lines := ""
	if s.Forced > 0 {
		lines = unit.Count(int64(s.Forced)) + " by debug.FreeOSMemory"
	}
	f := figures{
		{"Lines", unit.Count(int64(s.Lines)), lines},
		{"Returned", unit.BytesOf(float64(s.BackgroundBytes + s.EagerBytes)), fmt.Sprintf("%s by the background scavenger, %s on demand", unit.BytesOf(float64(s.BackgroundBytes)), unit.BytesOf(float64(s.EagerBytes)))},
	}
	if s.BytesPerSec.Known() {
		f = append(f, [3]string{"Rate", unit.BytesOf(float64(s.BytesPerSec)) + "/s", "between the first and the last line with a time"})
	} else {
		f = append(f, [3]string{"Rate", "–", "the log has no clock: GODEBUG=gctrace=1,scavtrace=1 adds one"})
	}
	f = append(f, [3]string{"Released now", unit.BytesOf(float64(s.ReleasedBytes)), "at the last line; most " + unit.BytesOf(float64(s.PeakReleased))})
	if s.UtilPercent.Known() {
		f = append(f, [3]string{"Heap in use", percentFigure(s.UtilPercent), "of what is retained, at the last line; lowest " + percentFigure(s.UtilLowest)})
	}
	return f
}

// scavengerRows are the lines, the last ones where not all are wanted.
func scavengerRows(s *gc.Scavenger, all bool) *Sheet {
	sheet := &Sheet{Key: "scavenger", Columns: []Column{{"line", "line"}, {"background_bytes", "background"}, {"eager_bytes", "on demand"}, {"released_bytes", "released now"}, {"util_percent", "heap in use"}, {"trigger", "because of"}}}
	rows, left := last(s.Rows, all)
	for _, r := range rows {
		var released, util any
		if r.ReleasedBytes >= 0 {
			released = Bytes(r.ReleasedBytes)
		}
		if r.UtilPercent.Known() {
			util = Share(r.UtilPercent / 100)
		}
		why := ""
		if r.Forced {
			why = "debug.FreeOSMemory"
		}
		sheet.Rows = append(sheet.Rows, []any{r.Line, Bytes(r.BackgroundBytes), Bytes(r.EagerBytes), released, util, why})
	}
	if left > 0 {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("%s before these (loupe gc -cycles lists all)", unit.Plural(left, "line")))
	}
	return sheet
}

func pacerFigures(p *gc.Paced) figures {
	f := figures{
		{"Collections", unit.Count(int64(len(p.Rows))), ""},
		{"Mark utilisation", percentFigure(p.MeanUtilPercent), "of the Ps, on average; the pacer aims at " + percentFigure(p.TargetPercent)},
		{"Assist ratio", numberFigure(p.MeanAssist, ""), "bytes to scan for each byte allocated, on average; highest " + numberFigure(p.MaxAssist, "")},
		{"Above the goal", unit.Count(int64(p.Beyond)), ""},
	}
	if p.Beyond > 0 {
		f[3][2] = "collections ended above the goal, by at most " + unit.BytesOf(float64(p.WorstBytes))
	}
	if p.ForecastRatio.Known() {
		f = append(f, [3]string{"Scan work", percentFigure(100 * p.ForecastRatio), "of what the pacer expected"})
	}
	return f
}

// pacerRows are the collections, the last ones where not all are wanted.
func pacerRows(p *gc.Paced, all bool) *Sheet {
	sheet := &Sheet{Key: "pacer", Columns: []Column{
		{"line", "line"}, {"trigger_bytes", "trigger"}, {"goal_bytes", "goal"}, {"end_bytes", "heap at end"}, {"beyond_bytes", "above goal"}, {"assist_ratio", "assist ratio"},
		{"workers", "workers"}, {"util", "utilisation"}, {"target", "target"}, {"work_bytes", "scanned"}, {"expected_bytes", "expected"}, {"cons_mark", "cons/mark"},
	}}
	size := func(f gc.Figure) any {
		if !f.Known() {
			return nil
		}
		return Bytes(f)
	}
	number := func(f gc.Figure) any {
		if !f.Known() {
			return nil
		}
		return float64(f)
	}
	share := func(f gc.Figure) any {
		if !f.Known() {
			return nil
		}
		return Share(f / 100)
	}
	rows, left := last(p.Rows, all)
	for _, r := range rows {
		sheet.Rows = append(sheet.Rows, []any{
			r.Line, size(r.Trigger), size(r.Goal), size(r.End), size(r.End - r.Goal), number(r.AssistRatio), number(r.Workers),
			share(r.UtilPercent), share(r.TargetPercent), size(r.Work), size(r.Expected), number(r.ConsMark),
		})
	}
	if left > 0 {
		sheet.Notes = append(sheet.Notes, fmt.Sprintf("%s before these (loupe gc -cycles lists all)", unit.Plural(left, "collection")))
	}
	return sheet
}

// markdownRuntimeLines prints the tables for an issue or a pull request.
func markdownRuntimeLines(w *lines, all []*RuntimeLines) {
	for _, r := range all {
		for _, c := range r.sections(false) {
			w.printf("\n## %s: %s\n\n", escape(r.Name), escape(c.title))
			WriteSheetMarkdown(w, c.figures.sheet(""))
			w.printf("\n")
			WriteSheetMarkdown(w, c.rows)
		}
	}
}
