package report

import (
	"fmt"
	"io"

	"loupe/analysis/gc"
	"loupe/value/unit"
)

// rangeText is an estimate and what it may be off by.
func rangeText(r gc.Range, text func(float64) string) string {
	switch {
	case !r.Estimate.Known() && r.Low.Known():
		return text(float64(r.Low)) + " or more"
	case !r.Estimate.Known():
		return "–"
	}
	if !r.High.Known() {
		return fmt.Sprintf("%s (%s or more)", text(float64(r.Estimate)), text(float64(r.Low)))
	}
	return fmt.Sprintf("%s (%s–%s)", text(float64(r.Estimate)), text(float64(r.Low)), text(float64(r.High)))
}

func mbText(mb float64) string { return unit.Number(mb) + " MB" }
func msText(ms float64) string { return unit.Nanoseconds(ms * 1e6) }

// rounded is a number of collections that is an estimate.
func rounded(n float64) string { return unit.Count(int64(n + 0.5)) }

// stateTexts say what starts the collections.
var stateTexts = map[gc.State]string{
	gc.Unlimited: "GOGC", gc.Limited: "the limit", gc.Thrashing: "the limit, continuously", gc.Unbounded: "nothing: memory grows",
}

// WhatIfSheet is the table of predictions. The first row is what was recorded.
func WhatIfSheet(w *gc.WhatIf) *Sheet {
	s := &Sheet{Key: "gc_what_if", Columns: []Column{
		{"settings", "settings"}, {"collections", "collections"}, {"peak_heap", "peak heap"}, {"memory", "memory"},
		{"gc_cpu", "GC CPU"}, {"gc_percent", "of the Ps"},
	}}
	cpu, grades := false, map[gc.Grade]bool{}
	for _, p := range w.Predictions {
		cpu = cpu || p.CPUMS.Estimate.Known()
	}
	if cpu {
		s.Columns = append(s.Columns, Column{"cpu", "program CPU"})
	}
	s.Columns = append(s.Columns, Column{"state", "started by"}, Column{"grade", "grade"})
	row := func(cells []any, program, state, grade string) {
		if cpu {
			cells = append(cells, program)
		}
		s.Rows = append(s.Rows, append(cells, state, grade))
	}
	// Ranges of every figure make a table that no terminal holds: JSON has
	// them, and a note says what each grade is worth.
	c := &w.Recorded
	row([]any{recordedName(c), unit.Count(c.Collections), mbText(float64(c.PeakHeapMB)), "", msFigure(c.GCCPUMS), percentFigure(c.GCPercent)}, "", "", "measured")
	refused := ""
	for i := range w.Predictions {
		p := &w.Predictions[i]
		if p.Refused != "" {
			refused = p.Refused
		}
		row([]any{
			p.Settings.String(), collectionsText(p), mbText(float64(p.PeakHeapMB.Estimate)), "≤ " + mbText(float64(p.MemoryMB.High)),
			msFigure(p.GCCPUMS.Estimate), percentOf(p),
		}, msFigure(p.CPUMS.Estimate), stateTexts[p.State], gradeText(p))
		grades[p.Grade] = grades[p.Grade] || p.Refused == ""
	}
	if refused != "" {
		s.Notes = append(s.Notes, "refused: "+refused)
	}
	for _, g := range []gc.Grade{gc.Good, gc.Fair, gc.Poor} {
		if c, h, _ := g.Misses(); grades[g] {
			s.Notes = append(s.Notes, fmt.Sprintf("grade %s: nine in ten such predictions were within %s (collections) and %s (peak heap) of the measurement", g, plusMinus(c), plusMinus(h)))
		}
	}
	for _, n := range w.Notes {
		s.Notes = append(s.Notes, n.Text)
	}
	return s
}

// percentOf is the share of the Ps' time that the collector takes.
func percentOf(p *gc.Prediction) string {
	if p.Refused != "" {
		return "–"
	}
	return percentFigure(p.GCPercent)
}

// gradeText is the grade, or that there is no prediction.
func gradeText(p *gc.Prediction) string {
	if p.Refused != "" {
		return "refused"
	}
	return string(p.Grade)
}

func plusMinus(share float64) string { return fmt.Sprintf("±%.0f%%", 100*share) }

// collectionsText is the number of collections, and how many there may be
// where a limit starts them.
func collectionsText(p *gc.Prediction) string {
	if p.Refused != "" {
		if p.Collections.Low < 1 {
			return "–"
		}
		return "at least " + rounded(float64(p.Collections.Low))
	}
	text := rounded(float64(p.Collections.Estimate))
	switch {
	case p.State != gc.Limited && p.State != gc.Thrashing:
	case !p.Collections.High.Known():
		text += " or more"
	default:
		text += " to " + rounded(float64(p.Collections.High))
	}
	return text
}

func recordedName(c *gc.Recorded) string {
	if c.Settings == nil {
		return "as recorded"
	}
	return "recorded, " + c.Settings.String()
}

// outcomeSheet sets predictions beside runs: predicted, measured, and by how
// much the prediction was off.
func outcomeSheet(all []gc.Outcome) *Sheet {
	s := &Sheet{Key: "gc_outcomes", Title: "Predicted and measured", Columns: []Column{
		{"settings", "settings"}, {"figure", "figure"}, {"predicted", "predicted"}, {"measured", "measured"}, {"off", "off"}, {"grade", "grade"},
	}}
	for i := range all {
		o := &all[i]
		name, grade := o.Predicted.Settings.String(), gradeText(&o.Predicted)
		row := func(figure string, p gc.Range, m gc.Figure, text func(float64) string) {
			if !p.Low.Known() || !m.Known() {
				return
			}
			off := "–"
			if m > 0 && p.Estimate.Known() {
				off = unit.Change(float64(p.Estimate / m))
			}
			if p.Low > m || p.High.Known() && m > p.High {
				off += ", outside"
			}
			s.Rows = append(s.Rows, []any{name, figure, rangeText(p, text), text(float64(m)), off, grade})
			name, grade = "", ""
		}
		row("collections", o.Predicted.Collections, gc.Figure(o.Measured.Collections), rounded)
		row("peak heap", o.Predicted.PeakHeapMB, o.Measured.PeakHeapMB, mbText)
		row("memory, max RSS", o.Predicted.MemoryMB, o.MaxRSSMB, mbText)
		row("GC CPU", o.Predicted.GCCPUMS, o.Measured.GCCPUMS, msText)
		row("program CPU", o.Predicted.CPUMS, o.CPUMS, msText)
	}
	return s
}

// choiceText says what to set in a container, in sentences.
func choiceText(c *gc.Choice) string {
	size := unit.BytesOf(float64(c.Container))
	need := mbText(float64(c.NeedMB))
	switch c.Verdict {
	case gc.TooSmall:
		return fmt.Sprintf("A container of %s is too small: the live heap and its overhead take about %s, and the limit could trigger collections without end. Give it twice that, or keep less alive.", size, need)
	case gc.Tight:
		return fmt.Sprintf("In a container of %s set %s. It is tight: even at GOGC=%d the limit, not GOGC, would trigger collections, and they would use about %s of the Ps.",
			size, c.Prediction.Settings, gc.SweepGOGC[0], percentFigure(c.Prediction.GCPercent))
	}
	return fmt.Sprintf("In a container of %s set %s: about %s of memory and %s of the Ps' time for the collector (grade: %s). The limit is a safety net for when more is live; a tenth of the container is left for memory that the Go runtime does not see.",
		size, c.Prediction.Settings, mbText(float64(c.Prediction.MemoryMB.Estimate)), percentFigure(c.Prediction.GCPercent), c.Prediction.Grade)
}

// PredictionText is a prediction in a sentence.
func PredictionText(p *gc.Prediction) string {
	text := fmt.Sprintf("%s: %s collections, peak heap %s, memory up to %s, %s of the Ps' time for the collector; prediction of grade %s.",
		p.Settings, collectionsText(p), mbText(float64(p.PeakHeapMB.Estimate)), mbText(float64(p.MemoryMB.High)), percentFigure(p.GCPercent), p.Grade)
	if p.Refused != "" {
		text = fmt.Sprintf("%s: peak heap %s, memory up to %s. The rest is not predicted: %s.", p.Settings, mbText(float64(p.PeakHeapMB.Estimate)), mbText(float64(p.MemoryMB.High)), p.Refused)
	}
	switch p.State {
	case gc.Thrashing:
		text += " The limit leaves next to no room above the live heap: the collector may run continuously, until the runtime lets the heap grow beyond it."
	case gc.Unbounded:
		text += " Nothing would trigger a collection: memory grows by everything that is allocated."
	}
	return text
}

// WriteWhatIf prints predictions, a choice, and runs beside them.
func WriteWhatIf(out io.Writer, w *gc.WhatIf, s Style) error {
	l := &lines{w: out}
	if w.Phase != "" {
		l.printf("%s\n", s.paint(bold, clean(w.Phase)))
	}
	if w.Choice != nil {
		l.printf("%s\n\n", wrap(choiceText(w.Choice), s.width(), ""))
	}
	sheet := WhatIfSheet(w)
	if len(w.Predictions) > 0 {
		writeGrid(l, sheet, s)
	}
	if len(w.Outcomes) > 0 {
		l.printf("\n%s\n", s.paint(bold, "Predicted and measured"))
		writeGrid(l, outcomeSheet(w.Outcomes), s)
	}
	for _, n := range sheet.Notes {
		l.printf("  %s\n", s.paint(dim, wrap("Note: "+n, s.width()-2, "  ")))
	}
	return l.err
}

// writeGrid prints a sheet of text, the first column to the left.
func writeGrid(l *lines, sheet *Sheet, s Style) {
	var g grid
	var head []cell
	for i, c := range sheet.Columns {
		head = append(head, cell{text: c.Head, paint: dim, left: i == 0 || c.Key == "state" || c.Key == "figure"})
	}
	g.add(head...)
	for _, row := range sheet.Rows {
		var cells []cell
		for i, v := range row {
			cells = append(cells, cell{text: fmt.Sprint(v), left: head[i].left})
		}
		g.add(cells...)
	}
	g.write(l, s, "  ")
}
