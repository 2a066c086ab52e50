package insight

import (
	"loupe/compare"
	"loupe/gc"
	"loupe/unit"
)

// predicted is what another GOGC would do to a round's program, as evidence;
// nothing where its collections cannot be replayed.
func (in *Input) predicted(r *compare.Round, gogc int) []Evidence {
	if r == nil || r.GC == nil || in.part { // a replay wants the whole of a round
		return nil
	}
	replay, err := r.Replay(in.Session)
	if err != nil {
		return nil
	}
	was := replay.Recorded()
	p := replay.Predict(gc.Settings{GOGC: gogc})
	// A program that has this much room already gains nothing by it.
	if p.Collections.Estimate > 0.8*gc.Figure(was.Collections) || !p.GCPercent.Known() || !was.GCPercent.Known() {
		return nil
	}
	text := "predicted for " + p.Settings.String() + " and the same work: " +
		unit.Count(int64(p.Collections.Estimate+0.5)) + " collections instead of " + unit.Count(was.Collections) +
		", " + unit.Percent(float64(p.GCPercent)/100) + " of the Ps' time for the collector instead of " + unit.Percent(float64(was.GCPercent)/100) +
		", a peak heap of " + unit.Number(float64(p.PeakHeapMB.Estimate)) + " MB instead of " + unit.Number(float64(was.PeakHeapMB)) + " MB" +
		" (grade: " + string(p.Grade) + "; loupe gc -what-if has more)"
	return []Evidence{Evidence{Text: text}.at(r)}
}
