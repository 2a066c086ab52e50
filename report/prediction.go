package report

import (
	"fmt"
	"strings"

	"loupe/analysis/gc"
)

// PredictionSheet has the figures of one prediction, each beside what was recorded.
func PredictionSheet(c *gc.Recorded, p *gc.Prediction) *Sheet {
	s := &Sheet{Key: "gc_prediction", Columns: []Column{
		{"figure", "figure"}, {"predicted", "predicted"}, {"between", "nine times of ten"}, {"recorded", "recorded"},
	}}
	row := func(name string, r gc.Range, recorded gc.Figure, text func(float64) string) {
		predicted, between, was := "–", "", ""
		switch {
		case r.Estimate.Known():
			predicted = text(float64(r.Estimate))
		case r.Low.Known() && r.Low >= 1:
			predicted = "at least " + text(float64(r.Low))
		}
		switch {
		case !r.Estimate.Known() || !r.Low.Known():
		case !r.High.Known() || p.State == gc.Thrashing: // there the upper end says that it runs without end
			between = text(float64(r.Low)) + " or more"
		default:
			between = text(float64(r.Low)) + " to " + text(float64(r.High))
		}
		if recorded.Known() {
			was = text(float64(recorded))
		}
		s.Rows = append(s.Rows, []any{name, predicted, between, was})
	}
	row("collections", p.Collections, gc.Figure(c.Collections), rounded)
	row("peak heap", p.PeakHeapMB, c.PeakHeapMB, mbText)
	row("memory of Go", p.MemoryMB, gc.Unknown(), mbText)
	row("GC CPU (Ps' time)", p.GCCPUMS, c.GCCPUMS, msText)
	s.Rows = append(s.Rows, []any{"share of the Ps' time", percentOf(p), "", percentFigure(c.GCPercent)})
	if p.CPUMS.Low.Known() {
		row("CPU of the program", p.CPUMS, gc.Unknown(), msText)
	}
	return s
}

// GradeText says how far a prediction is to be trusted, and why no further; or why there is
// none.
func GradeText(p *gc.Prediction) string {
	if p.Refused != "" {
		return fmt.Sprintf("Not predicted: how often the collector runs, and what that costs. Reason: %s.", p.Refused)
	}
	collections, heap, _ := p.Grade.Misses()
	text := fmt.Sprintf("Grade %s: nine in ten such predictions were within %s (collections) and %s (peak heap) of the measurement", p.Grade, plusMinus(collections), plusMinus(heap))
	if len(p.GradeWhy) > 0 {
		text += "; not better because " + strings.Join(p.GradeWhy, "; ")
	}
	return text + "."
}
