package report

import (
	"fmt"
	"io"
	"strings"

	"loupe/analysis/gc"
	"loupe/value/unit"
)

// AdviceText is what to set in a container, in sentences; or why nothing is advised.
func AdviceText(a *gc.Advice) string {
	size := unit.BytesOf(float64(a.Container))
	if a.Refused != "" {
		text := fmt.Sprintf("No advice for %s: %s.", size, a.Refused)
		if a.Verdict == gc.TooSmall {
			text += " Give the container about twice that, or keep less alive."
		}
		return text + runText(a)
	}
	p := a.Advised
	text := fmt.Sprintf("For a memory limit of %s set %s. Predicted: %s collections for the same work, peak heap %s, memory of Go up to %s of %s, %s of the Ps' time for the collector",
		size, p.Settings, collectionsText(p), mbText(float64(p.PeakHeapMB.Estimate)), mbText(float64(p.MemoryMB.High)), mbText(float64(a.GoLimitMB)), percentFigure(p.GCPercent))
	if p.CPUMS.Estimate.Known() {
		text += fmt.Sprintf(", %s of CPU time in all", msText(float64(p.CPUMS.Estimate)))
		if a.CPUWhy != "" {
			text += fmt.Sprintf(" (low confidence: %s)", a.CPUWhy)
		}
	}
	text += fmt.Sprintf(". Confidence: %s", a.Confidence)
	if len(a.Why) > 0 {
		text += " (" + strings.Join(a.Why, "; ") + ")"
	}
	text += "."
	if a.Verdict == gc.Tight {
		if a.LimitStarts() {
			text += fmt.Sprintf(" It is tight: even at GOGC=%d the limit, not GOGC, would start collections.", gc.SweepGOGC[0])
		} else {
			text += fmt.Sprintf(" It is tight: without the limit, even GOGC=%d could need more memory than is left for Go.", gc.SweepGOGC[0])
		}
	}
	return text + runText(a)
}

// runText says which of several runs the advice is for.
func runText(a *gc.Advice) string {
	if a.Run == nil {
		return ""
	}
	return fmt.Sprintf(" The log holds %d runs: this is for %s, which has the highest peak heap (%s). For another one give its lines alone: grep NAME LOG | loupe gc -advise -limit %s -", a.Run.Runs, clean(a.Run.Name), mbText(float64(a.Run.PeakMB)), strings.ReplaceAll(strings.ReplaceAll(unit.BytesOf(float64(a.Container)), " ", ""), ",", ""))
}

// roomText says how the limit of Go was found.
func roomText(a *gc.Advice) string {
	text := fmt.Sprintf("%s are left for Go of %s", mbText(float64(a.GoLimitMB)), unit.BytesOf(float64(a.Container)))
	if a.From != "" {
		text += " (" + a.From + ")"
	}
	if a.OutsideMB.Known() {
		return text + fmt.Sprintf(": %s outside Go were measured, and there is a reserve", mbText(float64(a.OutsideMB)))
	}
	return text + ": a tenth is left for memory outside Go, which a log does not show"
}

// adviceSheet compares settings; the advised ones are marked.
func adviceSheet(a *gc.Advice) *Sheet {
	s := &Sheet{Key: "gc_advice", Columns: []Column{
		{"advised", ""}, {"settings", "settings"}, {"collections", "collections"}, {"peak_heap", "peak heap"}, {"memory", "memory"},
		{"gc_percent", "of the Ps"}, {"cpu", "program CPU"}, {"state", "started by"}, {"grade", "confidence"},
	}}
	c := &a.Recorded
	s.Rows = append(s.Rows, []any{"", recordedName(c), unit.Count(c.Collections), mbText(float64(c.PeakHeapMB)), "", percentFigure(c.GCPercent), "", "", "measured"})
	for i := range a.Compared {
		p := &a.Compared[i]
		mark, memory, grade := "", "≤ "+mbText(float64(p.MemoryMB.High)), gradeText(p)
		if a.Advised != nil && p.Settings == a.Advised.Settings {
			mark = "→"
		}
		if a.Exceeds(p) {
			memory += ", too much"
		}
		if grade == string(gc.Poor) {
			grade = "low"
		}
		s.Rows = append(s.Rows, []any{mark, p.Settings.String(), collectionsText(p), mbText(float64(p.PeakHeapMB.Estimate)), memory, percentOf(p), msFigure(p.CPUMS.Estimate), stateTexts[p.State], grade})
	}
	return s
}

// WriteAdvice prints what to set, the comparison, and runs beside their predictions.
func WriteAdvice(out io.Writer, a *gc.Advice, s Style) error {
	l := &lines{w: out}
	if a.Phase != "" {
		l.printf("%s\n", s.paint(dim, clean(a.Phase)))
	}
	l.printf("%s\n\n", s.paint(bold, wrap(AdviceText(a), s.width(), "")))
	if len(a.Compared) > 0 {
		writeGrid(l, adviceSheet(a), s)
	}
	if len(a.Outcomes) > 0 {
		l.printf("\n%s\n", s.paint(bold, "Predicted and measured"))
		writeGrid(l, outcomeSheet(a.Outcomes), s)
	}
	notes := []string{roomText(a)}
	for _, n := range a.Notes {
		notes = append(notes, n.Text)
	}
	for _, n := range notes {
		l.printf("  %s\n", s.paint(dim, wrap("Note: "+n, s.width()-2, "  ")))
	}
	return l.err
}
