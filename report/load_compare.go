package report

import (
	"io"
	"math"
	"strings"

	"loupe/analysis/compare"
)

// WriteLoadComparison prints load runs side by side, and how each quantile has
// shifted.
func WriteLoadComparison(out io.Writer, t *compare.Table, s Style) error {
	w := &lines{w: out}
	writeTable(w, t, s)
	writeShift(w, t, s)
	return w.err
}

// WriteLoadComparisonMarkdown prints load runs side by side as Markdown.
func WriteLoadComparisonMarkdown(out io.Writer, t *compare.Table) error {
	w := &lines{w: out}
	var titles []string
	for _, title := range t.Titles {
		titles = append(titles, escape(title))
	}
	w.printf("# %s\n\n", strings.Join(titles, " → "))
	markdownTable(w, t)
	return w.err
}

// shiftColumns is the length of a bar on either side.
const shiftColumns = 20

// writeShift draws how much larger each percentile is on the second of two
// sides: where only the tail has moved, only its bars are long.
func writeShift(w *lines, t *compare.Table, s Style) {
	if len(t.Titles) != 2 {
		return
	}
	type bar struct {
		name    string
		log     float64
		decided bool
	}
	var bars []bar
	most := math.Log(1.05) // smaller shifts do not fill the picture
	for _, r := range t.Rows {
		i := strings.LastIndex(r.Name, " p")
		if !strings.HasPrefix(r.ID, "latency_p") || i < 0 || !r.Changes[0].Ratio.Known() || r.Changes[0].Ratio <= 0 {
			continue
		}
		b := bar{r.Name[i+1:], math.Log(float64(r.Changes[0].Ratio)), r.Changes[0].Verdict == compare.Improved || r.Changes[0].Verdict == compare.Regressed}
		bars = append(bars, b)
		most = max(most, math.Abs(b.log))
	}
	if len(bars) < 2 {
		return
	}
	w.printf("\n  Shift of the percentiles, %s against %s\n", clean(t.Titles[1]), clean(t.Titles[0]))
	for _, b := range bars {
		n := min(int(math.Round(math.Abs(b.log)/most*shiftColumns)), shiftColumns)
		left, right := "", strings.Repeat("█", n)
		colour := red
		if b.log < 0 {
			left, right, colour = right, "", green
		}
		if !b.decided {
			colour = dim
		}
		w.printf("  %-6s ×%-5.3g %s%s\n", b.name, math.Exp(b.log), strings.Repeat(" ", shiftColumns-len([]rune(left)))+s.paint(colour, left)+"│", s.paint(colour, right))
	}
}
