package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/compare"
	"loupe/value/unit"
)

// HistorySchema is the version of the JSON form of a history of benchmarks.
const HistorySchema = "loupe.history/1"

// HistoryJSON is a history in JSON.
type HistoryJSON struct {
	Schema string `json:"schema"`
	*compare.History
}

// historyColumns is how wide the picture of a series is at most.
const historyColumns = 40

// HistorySheets are the tables of a history: a row for each series, by kind of machine, and the
// changes, as a table or in sentences.
func HistorySheets(h *compare.History, sentences bool) *Trace {
	t := &Trace{Schema: HistorySchema}
	for i := 0; i < len(h.Series); {
		next := i + 1
		for next < len(h.Series) && historyTitle(h.Series[next]) == historyTitle(h.Series[i]) {
			next++
		}
		s := seriesSheet(h, h.Series[i:next])
		if s.Key = "series"; i > 0 {
			s.Key = fmt.Sprintf("series_%d", len(t.Sheets)+1)
		}
		t.Sheets, i = append(t.Sheets, s), next
	}
	changes := changesSheet(h)
	if sentences && len(changes.Rows) > 0 {
		changes.Rows, changes.Notes = nil, changeSentences(h)
		t.Sheets = append(t.Sheets, changes, &Sheet{Notes: slices.Concat(changeNotes(h), h.Notes)})
		return t
	}
	t.Sheets = append(t.Sheets, changes)
	return t
}

// historyTitle says what the series of one table have in common.
func historyTitle(s *compare.HistorySeries) string {
	return strings.Trim(s.Machine+"; "+s.Other, "; ")
}

// seriesName is the name of a benchmark, with its package where there are several.
func seriesName(h *compare.History, s *compare.HistorySeries) string {
	name := strings.TrimPrefix(s.Name, "Benchmark")
	if s.Package != "" && slices.ContainsFunc(h.Series, func(o *compare.HistorySeries) bool { return o.Package != s.Package }) {
		name = s.Package + "." + name
	}
	return name
}

func seriesSheet(h *compare.History, series []*compare.HistorySeries) *Sheet {
	s := &Sheet{Title: historyTitle(series[0]), Columns: []Column{
		{"benchmark", "benchmark"}, {"unit", "unit"}, {"runs", "runs"}, {"history", "history"}, {"first", "first"}, {"newest", "newest"}, {"changes", "changes"},
	}}
	last := ""
	for _, one := range series {
		name := seriesName(h, one)
		shown := name
		if name == last {
			shown = ""
		}
		last = name
		s.Rows = append(s.Rows, []any{
			named{shown, name}, one.Unit, len(one.Values), spark{one}, measuredIn{one.Values[0], one.Unit},
			measuredIn{one.Values[len(one.Values)-1], one.Unit}, changesInShort(one),
		})
	}
	return s
}

// named is a name that stands once for several rows; programs have it in each.
type named struct{ shown, name string }

func (n named) text() string { return clean(n.shown) }
func (n named) plain() any   { return n.name }
func (n named) left()        {}

// changesInShort says what became of a series.
func changesInShort(s *compare.HistorySeries) string {
	switch {
	case s.Needs > 0:
		return fmt.Sprintf("needs %d more runs", s.Needs)
	case len(s.Changes) == 0 && s.Exact:
		return "none"
	case len(s.Changes) == 0:
		return "none found"
	}
	c := &s.Changes[len(s.Changes)-1]
	text := changeInShort(c)
	switch n := len(s.Changes) - 1; {
	case n == 1:
		text += ", and one before"
	case n > 1:
		text += fmt.Sprintf(", and %d before", n)
	}
	return text
}

func changeInShort(c *compare.LevelChange) string {
	text := string(c.Verdict)
	if c.Ratio.Known() {
		text += ", " + unit.Change(float64(c.Ratio))
	}
	return text
}

// spark is the picture of a series, from its smallest value to its largest, with a bar at each
// change that came at once.
type spark struct{ series *compare.HistorySeries }

func (p spark) left() {}
func (p spark) plain() any {
	values := []string{}
	for _, v := range p.series.Values {
		values = append(values, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return values
}

func (p spark) text() string {
	values := p.series.Values
	columns := min(historyColumns, len(values))
	means := make([]float64, columns)
	for i := range means {
		from, to := i*len(values)/columns, (i+1)*len(values)/columns
		for _, v := range values[from:to] {
			means[i] += v / float64(to-from)
		}
	}
	low, high := slices.Min(means), slices.Max(means)
	var b strings.Builder
	for i, v := range means {
		for _, c := range p.series.Changes {
			if at := c.Since * columns / len(values); at == i && i > 0 && c.Shape != compare.TrendShape {
				b.WriteRune('│')
				break
			}
		}
		level := 1
		if high > low {
			level += int(math.Round((v - low) / (high - low) * float64(len(bars)-2)))
		}
		b.WriteRune(bars[level])
	}
	return b.String()
}

// historyRun names a run of a series, with its date.
func historyRun(h *compare.History, s *compare.HistorySeries, at int) string {
	r := &h.Runs[s.Runs[at]]
	if date := r.Date(); date != "" {
		return fmt.Sprintf("%s (%s)", r.Label(), date)
	}
	return r.Label()
}

// changeSentences say each change in one sentence.
func changeSentences(h *compare.History) (all []string) {
	several := slices.ContainsFunc(h.Series, func(o *compare.HistorySeries) bool { return historyTitle(o) != historyTitle(h.Series[0]) })
	for _, one := range h.Series {
		of := fmt.Sprintf("%s of %s", one.Unit, seriesName(h, one))
		if title := historyTitle(one); several && title != "" {
			of += " on " + title
		}
		for i := range one.Changes {
			c := &one.Changes[i]
			text := fmt.Sprintf("%s: %s since %s, last run before %s", of, levelChange{c}.text(), historyRun(h, one, c.Since), historyRun(h, one, c.Last))
			if c.Shape == compare.TrendShape {
				text = fmt.Sprintf("%s: %s from %s to %s", of, levelChange{c}.text(), historyRun(h, one, c.Since), historyRun(h, one, c.Last))
			}
			if text += "; " + howCame(c); !c.Exact {
				text += fmt.Sprintf("; adjusted p %.2g", c.P)
			}
			all = append(all, text+".")
		}
	}
	return all
}

// changesSheet are all changes, the newest last of each series.
func changesSheet(h *compare.History) *Sheet {
	s := &Sheet{Key: "changes", Title: "Changes", Columns: []Column{
		{"benchmark", "benchmark"}, {"unit", "unit"}, {"change", "change"}, {"since", "since"}, {"last_before", "last run before"},
		{"shape", "how"}, {"p", "adjusted p"},
	}}
	several := slices.ContainsFunc(h.Series, func(o *compare.HistorySeries) bool { return historyTitle(o) != historyTitle(h.Series[0]) })
	if several {
		s.Columns = append(s.Columns, Column{"machine", "machine"})
	}
	for _, one := range h.Series {
		for i := range one.Changes {
			c := &one.Changes[i]
			how, since, before := howCame(c), historyRun(h, one, c.Since), historyRun(h, one, c.Last)
			if c.Shape == compare.TrendShape {
				since, before = "from "+since, "to "+before
			}
			p := sample{c.P, fmt.Sprintf("%.2g", c.P)}
			if c.Exact {
				p = sample{math.NaN(), "exact"}
			}
			row := []any{seriesName(h, one), one.Unit, levelChange{c}, since, before, how, p}
			if several {
				row = append(row, historyTitle(one))
			}
			s.Rows = append(s.Rows, row)
		}
	}
	s.Notes = append(changeNotes(h), h.Notes...)
	if len(s.Rows) == 0 {
		s.Title = ""
	}
	return s
}

// levelChange is a change with its interval.
type levelChange struct{ c *compare.LevelChange }

func (l levelChange) left()      {}
func (l levelChange) plain() any { return sample{value: float64(l.c.Ratio)}.plain() }
func (l levelChange) text() string {
	text := changeInShort(l.c)
	switch {
	case l.c.Exact:
		text += " (exact)"
	case l.c.Low.Known() && l.c.High.Known():
		text += fmt.Sprintf(" [%s, %s]", unit.Change(float64(l.c.Low)), unit.Change(float64(l.c.High)))
	}
	return text
}

// howCame says how a change came, and how well it is known where.
func howCame(c *compare.LevelChange) string {
	text := ""
	early, late := c.Since-c.Earliest, c.Latest-c.Since
	switch {
	case c.Shape == compare.TrendShape:
		text = "gradually"
	case c.Shape == compare.EitherShape:
		text = "at once or gradually"
	default:
		text = "at once"
	}
	if c.Shape != compare.TrendShape && early+late > 0 {
		var parts []string
		if early > 0 {
			parts = append(parts, fmt.Sprintf("%d earlier", early))
		}
		if late > 0 {
			parts = append(parts, fmt.Sprintf("%d later", late))
		}
		text += ", or up to " + strings.Join(parts, " or ")
	}
	if c.Unsure {
		text += "; unsure"
	}
	return text
}

// changeNotes explain the words of the table that are used.
func changeNotes(h *compare.History) (notes []string) {
	var earlier, gradual bool
	changes := 0
	for _, s := range h.Series {
		for _, c := range s.Changes {
			changes++
			gradual = gradual || c.Shape == compare.TrendShape
			earlier = earlier || c.Shape != compare.TrendShape && c.Earliest < c.Latest
		}
	}
	if changes == 0 && h.Judged > 0 {
		notes = append(notes, fmt.Sprintf("No change was found in %d series. A change has to be clear among all of them, and beyond 1%%.", h.Judged))
	}
	if changes > 0 {
		notes = append(notes, "Since names the first run of the new level, [a, b] is the interval of 95%, and the values in first and newest are of single runs.")
	}
	if earlier {
		notes = append(notes, "Earlier or later: so many runs away the change may have come as well.")
	}
	if gradual {
		notes = append(notes, "Gradually: a straight line fits these runs at least as well as levels do. No single revision is to blame; it may be the machine.")
	}
	return notes
}
