package report

import (
	"fmt"

	"loupe/analysis/compare"
	"loupe/insight"
)

// ComparisonRow is a row of a comparison as it is shown.
type ComparisonRow struct {
	ID     string         `json:"id"`
	Name   string         `json:"name"`
	Better compare.Better `json:"better"`
	Key    bool           `json:"key"`
	// Shown are the medians, Rounds the values of the single rounds and
	// RoundsShown how they are printed.
	Shown       []string    `json:"shown"`
	Rounds      [][]float64 `json:"rounds"`
	RoundsShown [][]string  `json:"rounds_shown"`
	// Change is that of the second against the first: "+93% [+85%, +101%]".
	Change     string          `json:"change"`
	Ratio      *float64        `json:"ratio"`
	P          *float64        `json:"p"`
	PShown     string          `json:"p_shown"`
	Confidence float64         `json:"confidence"`
	Verdict    compare.Verdict `json:"verdict"`
}

// ComparisonRows are the rows of a comparison of two, as [WriteComparison] prints
// them.
func ComparisonRows(t *compare.Table) []ComparisonRow {
	rows := []ComparisonRow{}
	for _, r := range t.Rows {
		row := ComparisonRow{ID: r.ID, Name: r.Name, Better: r.Better, Key: r.Key}
		for _, c := range r.Cells {
			row.Shown = append(row.Shown, median(r.Unit, &c))
			values, shown := []float64{}, []string{}
			for _, v := range c.Rounds {
				if v == v { // is known
					values, shown = append(values, v), append(shown, quantity(r.Unit, v))
				}
			}
			row.Rounds, row.RoundsShown = append(row.Rounds, values), append(row.RoundsShown, shown)
		}
		if len(r.Changes) > 0 {
			c := r.Changes[0]
			row.Change, row.Verdict, row.Confidence = change(c), c.Verdict, c.Confidence
			if c.Ratio.Known() {
				ratio := float64(c.Ratio)
				row.Ratio = &ratio
			}
			if c.Verdict != compare.NoVerdict {
				row.P, row.PShown = &c.P, pValue(c.P)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// ComparisonNotes are what is said of a whole comparison: of how many rounds the
// medians are, and what the intervals are.
func ComparisonNotes(t *compare.Table) (notes []string) {
	for _, text := range []string{rounds(t), confidence(t)} {
		if text != "" {
			notes = append(notes, text)
		}
	}
	for _, n := range t.Notes {
		notes = append(notes, fmt.Sprintf("Note: %s", n))
	}
	return notes
}

// CameAndWent returns the findings of the first of two that are gone in the
// second, and those that are new there.
func CameAndWent(first, second []insight.Finding) (gone, come []insight.Finding) {
	return onlyIn(first, second), onlyIn(second, first)
}
