package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/insight"
	"loupe/value/stats"
	"loupe/value/unit"
)

// quantity prints a value of a row.
func quantity(u compare.Unit, v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	switch u {
	case compare.Count:
		return unit.Count(int64(math.Round(v)))
	case compare.PerSecond:
		return unit.Number(v)
	case compare.Nanoseconds:
		return unit.Nanoseconds(v)
	case compare.Bytes:
		return unit.BytesOf(v)
	case compare.Share:
		return unit.Percent(v)
	}
	return unit.Number(v)
}

// median is what a cell shows: "never" where most of the rounds have a time that
// never came.
func median(u compare.Unit, c *compare.Cell) string {
	if c.NeverCame() {
		return "never"
	}
	return quantity(u, float64(c.Median))
}

// Figures is the table of one recording as a sheet, in the words of loupe report.
func Figures(t *compare.Table) *Sheet {
	s := &Sheet{Key: "figures", Columns: []Column{{"figure", "figure"}, {"value", "value"}, {"rounds", "rounds"}}, Notes: slices.Clone(t.Notes)}
	for _, r := range t.Rows {
		var all []string
		for _, v := range r.Cells[0].Rounds {
			all = append(all, quantity(r.Unit, v))
		}
		text := ""
		if len(all) > 1 {
			text = strings.Join(all, ", ")
		}
		s.Rows = append(s.Rows, []any{r.Name, median(r.Unit, &r.Cells[0]), text})
	}
	return s
}

// Rounds says in words how many rounds a table's medians are of, "" for one.
func Rounds(t *compare.Table) string { return rounds(t) }

// change prints a ratio with its interval: "+93% [+85%, +101%]".
func change(c compare.Change) string {
	if !c.Ratio.Known() {
		return "–"
	}
	print := unit.Change
	if c.Ratio >= factor || c.High >= factor {
		print = times // all three in one form
	}
	text := print(float64(c.Ratio))
	if c.Low.Known() && c.High.Known() {
		text += fmt.Sprintf(" [%s, %s]", print(float64(c.Low)), print(float64(c.High)))
	}
	return text
}

// factor is the ratio from which unit.Change prints a factor.
const factor = 3

// times prints a ratio as a factor.
func times(ratio float64) string {
	switch {
	case ratio >= factor:
		return unit.Change(ratio)
	case ratio >= 1:
		return fmt.Sprintf("×%.1f", ratio)
	}
	return fmt.Sprintf("×%.2f", ratio)
}

// shortChange prints a ratio without its interval; "?" marks one that may be
// chance.
func shortChange(c compare.Change) string {
	text := "–"
	if c.Ratio.Known() {
		text = unit.Change(float64(c.Ratio))
	}
	if c.Verdict == compare.Undecided {
		text += " ?"
	}
	return text
}

var verdictPaint = map[compare.Verdict]string{compare.Improved: green, compare.Regressed: red, compare.Undecided: dim, compare.Same: dim}

// Comparison is what is printed of several recordings.
type Comparison struct {
	Table *compare.Table `json:"table"`
	// Findings are those of each recording, in the order of the table.
	Findings [][]insight.Finding `json:"findings"`
	// Cards put the findings of each recording together by their causes.
	Cards [][]insight.Card `json:"cards"`
	// Paths say where the recordings are.
	Paths []string `json:"paths"`
}

// WriteComparison prints recordings side by side: the figures with their
// changes, and which findings came and went.
func WriteComparison(out io.Writer, c *Comparison, s Style) error {
	w := &lines{w: out}
	writeTable(w, c.Table, s)
	w.printf("\n")
	writeCameAndWent(w, c, s)
	return w.err
}

// writeTable prints the figures in columns. Two recordings have their change
// with its interval and verdict in words; more of them would not fit, so that
// the change alone stands behind each, marked where it is undecided.
func writeTable(w *lines, t *compare.Table, s Style) {
	short := len(t.Titles) > 2
	g := tableGrid(t, rounds(t), short)
	if text := rounds(t); g.width()+2 > s.width() && text != "" {
		// The first column need not be as wide as what is said of all.
		w.printf("  %s\n", s.paint(dim, text))
		g = tableGrid(t, "", short)
	}
	g.write(w, s, "  ")
	text := confidence(t)
	if short && text != "" {
		text = "Changes are relative to " + clean(t.Titles[0]) + "; ? is undecided. -format json or md has the intervals."
	}
	if text != "" {
		w.printf("\n  %s\n", s.paint(dim, wrap(text, s.width()-2, "  ")))
	}
	for _, n := range t.Notes {
		w.printf("  %s\n", s.paint(yellow, wrap("Note: "+clean(n), s.width()-2, "  ")))
	}
}

// tableGrid lays the figures out; corner stands above the names of the rows.
func tableGrid(t *compare.Table, corner string, short bool) *grid {
	var g grid
	head := []cell{{text: corner, left: true, paint: dim}}
	for i, title := range t.Titles {
		head = append(head, cell{text: clean(title), paint: bold})
		switch {
		case i > 0 && short:
			head = append(head, cell{left: true})
		case i > 0:
			head = append(head, cell{text: "change", left: true, paint: dim}, cell{left: true})
		}
	}
	g.add(head...)
	for _, r := range t.Rows {
		row := []cell{{text: r.Name, left: true}}
		for i, c := range r.Cells {
			row = append(row, cell{text: median(r.Unit, &c)})
			if i == 0 {
				continue
			}
			ch := r.Changes[i-1]
			if short {
				row = append(row, cell{text: shortChange(ch), left: true, paint: verdictPaint[ch.Verdict]})
			} else {
				row = append(row, cell{text: change(ch), left: true}, cell{text: string(ch.Verdict), left: true, paint: verdictPaint[ch.Verdict]})
			}
		}
		g.add(row...)
	}
	return &g
}

// rounds says how many rounds the medians are of.
func rounds(t *compare.Table) string {
	if slices.Max(t.Rounds) <= 1 {
		return ""
	}
	n := fmt.Sprint(t.Rounds[0])
	for _, r := range t.Rounds[1:] {
		if r != t.Rounds[0] {
			n = strings.Trim(strings.ReplaceAll(fmt.Sprint(t.Rounds), " ", ", "), "[]")
			break
		}
	}
	text := "medians of " + n + " rounds"
	if t.Interleaved {
		text += ", interleaved"
	}
	return text
}

// confidence says what the intervals are, from the first row that has one.
func confidence(t *compare.Table) string {
	for _, r := range t.Rows {
		for _, c := range r.Changes {
			if c.Low.Known() {
				return fmt.Sprintf("The change is the median over all pairs of rounds%s; […] is its interval, with a confidence of at least %.0f%% by the exact rank test", neighbours(t), 100*min(c.Confidence, compare.Confidence))
			}
		}
	}
	return ""
}

// neighbours says of which figures only the rounds that followed each other make pairs.
func neighbours(t *compare.Table) string {
	paired, rows := 0, 0
	for _, r := range t.Rows {
		for _, c := range r.Changes {
			if c.Low.Known() {
				rows++
			}
			if c.Method == stats.ByPairs {
				paired++
			}
		}
	}
	switch paired {
	case 0:
		return ""
	case rows:
		return " that were adjacent"
	}
	return fmt.Sprintf(" (of %s: over those that were adjacent, whose noise is the same)", unit.Plural(int64(paired), "figure"))
}

// writeCameAndWent tells which findings of the first recording are gone in
// the others, and which are new there.
func writeCameAndWent(w *lines, c *Comparison, s Style) {
	for i, all := range c.Findings {
		if i == 0 {
			continue
		}
		title := clean(c.Table.Titles[i])
		for _, group := range []struct {
			what     string
			from, to []insight.Finding
		}{{"gone in " + title, c.Findings[0], all}, {"new in " + title, all, c.Findings[0]}} {
			for _, f := range onlyIn(group.from, group.to) {
				head := fmt.Sprintf("  %s: ", group.what)
				w.printf("%s%s\n", head, wrap(fmt.Sprintf("%s %s", f.Rule, f.Title), s.width()-len(head), "    "))
			}
		}
	}
}

// onlyIn returns the findings of rules that say "fine" in others, one for each
// rule. A rule that could not look there is neither gone nor new.
func onlyIn(all, others []insight.Finding) []insight.Finding {
	fine := map[string]bool{}
	for _, f := range others {
		if f.State == insight.Fine {
			fine[f.Rule] = true
		}
	}
	var out []insight.Finding
	for _, f := range all {
		if f.State == insight.Found && fine[f.Rule] {
			delete(fine, f.Rule)
			out = append(out, f)
		}
	}
	return out
}
