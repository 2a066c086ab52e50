package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/overlap"
	"loupe/format/loadlog"
	"loupe/insight"
	"loupe/value/unit"
)

// slowTail is the tail that the text shows: the slowest 1 %, or of few requests
// the slowest 10 %.
func slowTail(t *overlap.Table) int {
	if t.Tails[0].Requests >= 10 {
		return 0
	}
	return 1
}

// slowHead says what a table is of: "phase trace, by the execution trace (the
// same clock, ±2 µs): 3,500 requests; the slowest 1%, 35, took 60 ms or more".
func slowHead(s *compare.Slow) string {
	head := fmt.Sprintf("phase %s, by the %s", clean(s.Phase), s.Source)
	if s.Clock != "" && s.Table != nil {
		head += fmt.Sprintf(" (%s, ±%s)", s.Clock, unit.Duration(s.Error))
	}
	if s.Table == nil {
		return head + ": " + clean(s.Why)
	}
	tail := s.Tails[slowTail(s.Table)]
	head += fmt.Sprintf(": %s requests; the slowest %s, %s, took %s or more", unit.Count(int64(s.Requests)), percent(tail.Share), unit.Count(int64(tail.Requests)), unit.Duration(tail.From))
	if s.Due {
		head += " since they were due"
	}
	if s.Cut > 0 {
		head += fmt.Sprintf("; %s more are partly outside of it and are left out", unit.Count(int64(s.Cut)))
	}
	return head
}

// percent prints a share that is a round number without decimals.
func percent(v float64) string { return fmt.Sprintf("%.3g%%", 100*v) }

// slowShown is how many rows of either half a text has at most.
const slowShown = 8

// The table of what the program did has this many columns, or so few where there
// is no room for them.
const (
	slowWide   = 110
	fewColumns = 6
)

// SlowSheets are what the slowest requests met: what is said of all, what the
// program did meanwhile, and where the time of the requests went. Of a phase that
// has no table the sheets are empty.
func SlowSheets(s *compare.Slow) (head string, sheets []*Sheet) {
	if s.Table == nil {
		return slowHead(s), nil
	}
	sheets = []*Sheet{metSheet(s.Table)}
	if spent := spentSheet(s.Table); len(spent.Rows) > 0 {
		spent.Title = "Where the requests' time went, on average"
		spent.Columns[0].Head, spent.Columns[2].Head, spent.Columns[4].Head = "what", "share", "share"
		sheets = append(sheets, spent)
	}
	return slowHead(s), sheets
}

// metSheet is what the program did, with what is not claimed of some rows.
func metSheet(t *overlap.Table) *Sheet {
	tail := slowTail(t)
	slowest := "slowest " + percent(t.Tails[tail].Share)
	s := &Sheet{Key: "met", Title: "While the slow requests were in flight", Columns: []Column{
		{"name", "while"}, {"busy", "busy"}, {"all", "all"}, {"slowest", slowest}, {"chance", "by chance"}, {"p", "p"}, {"lift", "lift"},
		{"median_with_ns", "median with"}, {"median_without_ns", "without"},
	}}
	doubted := map[string][]string{}
	var order []string
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Own {
			continue
		}
		m := &r.Slow[tail]
		row := []any{r.Name, Share(r.Busy), Share(r.All), Share(m.Share), Share(*m.Chance), chance(*m.P), lift(m.Lift), SomeTime(r.With), SomeTime(r.Without)}
		if r.Doubt != "" {
			row[5] = nil
			if doubted[r.Doubt] == nil {
				order = append(order, r.Doubt)
			}
			doubted[r.Doubt] = append(doubted[r.Doubt], r.Name)
		}
		s.Rows = append(s.Rows, row)
	}
	for _, d := range order {
		s.Notes = append(s.Notes, fmt.Sprintf("no statement about: %s (%s)", strings.Join(doubted[d], "; "), d))
	}
	return s
}

// chance is a p-value in a sheet, lift a factor.
type (
	chance float64
	lift   float64
)

func (p chance) text() string { return pValue(float64(p)) }
func (p chance) plain() any   { return float64(p) }
func (l lift) text() string   { return unit.Number(float64(l)) + "×" }
func (l lift) plain() any     { return float64(l) }

// SomeTime is a time in a sheet, nil for none.
func SomeTime(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d
}

// slowColumns are the heads of the table of what the program did, slowRows its
// rows as texts, and what is not claimed of some of them.
func slowColumns(t *overlap.Table) []string { return heads(metSheet(t)) }

func slowRows(t *overlap.Table) (rows [][]string, doubts []string) {
	s := metSheet(t)
	return s.texts(), s.Notes
}

// heads are the heads of the columns.
func heads(s *Sheet) (names []string) {
	for _, c := range s.Columns {
		names = append(names, c.Head)
	}
	return names
}

// texts are the rows as they are shown.
func (t *Sheet) texts() (rows [][]string) {
	for _, values := range t.Rows {
		row := make([]string, len(values))
		for i, v := range values {
			row[i], _ = text(v)
		}
		rows = append(rows, row)
	}
	return rows
}

// spentColumns are the heads of the table of the requests' own time, spentRows its
// rows as texts.
func spentColumns(t *overlap.Table) []string       { return heads(spentSheet(t)) }
func spentRows(t *overlap.Table) (rows [][]string) { return spentSheet(t).texts() }

// spentSheet is the requests' own time, most in the slowest first.
func spentSheet(t *overlap.Table) *Sheet {
	tail := slowTail(t)
	s := &Sheet{Key: "spent", Columns: []Column{{"name", "where the time went, on average"}, {"all_ns", "all"}, {"all_share", ""},
		{"slowest_ns", "slowest " + percent(t.Tails[tail].Share)}, {"slowest_share", ""}}}
	if t.Served > 0 {
		s.Notes = []string{served(t)}
	}
	var own []*overlap.Row
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Own {
			own = append(own, r)
		}
	}
	slices.SortStableFunc(own, func(a, b *overlap.Row) int { return int(min(max(b.Slow[tail].Time-a.Slow[tail].Time, -1), 1)) })
	share := func(d, of time.Duration) any {
		if of <= 0 {
			return ""
		}
		return Share(min(1, float64(d)/float64(of)))
	}
	for _, r := range own[:min(len(own), slowShown)] {
		m := &r.Slow[tail]
		row := []any{r.Name, SomeTime(r.Time), share(r.Time, t.Mean), SomeTime(m.Time), share(m.Time, t.Tails[tail].Mean)}
		if m.Unknown {
			row[3], row[4] = "unknown", ""
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// pValue prints a p-value.
func pValue(p float64) string {
	if p < 0.0015 {
		return "0.001"
	}
	return fmt.Sprintf("%.2g", p)
}

// served says whose time it is.
func served(t *overlap.Table) string {
	return fmt.Sprintf("\"it\" is the goroutine that served the request, known for %s of them.", percent(t.Served))
}

// slowText prints what the slowest requests met.
func slowText(out io.Writer, all []compare.Slow, s Style) error {
	w := &lines{w: out}
	writeSlow(w, all, s)
	return w.err
}

func writeSlow(w *lines, all []compare.Slow, s Style) {
	for i := range all {
		one := &all[i]
		if i > 0 {
			w.printf("\n")
		}
		w.printf("  %s\n", s.paint(dim, wrap(slowHead(one), s.width()-2, "  ")))
		if one.Table == nil {
			continue
		}
		rows, doubts := slowRows(one.Table)
		head := slowColumns(one.Table)
		if s.width() < slowWide {
			head = head[:fewColumns]
			for i := range rows {
				rows[i] = rows[i][:fewColumns]
			}
		}
		writeTexts(w, s, head, rows)
		for _, d := range doubts {
			w.printf("  %s\n", s.paint(dim, wrap("– "+d, s.width()-2, "    ")))
		}
		if rows := spentRows(one.Table); len(rows) > 0 {
			writeTexts(w, s, spentColumns(one.Table), rows)
			if one.Served > 0 {
				w.printf("  %s\n", s.paint(dim, wrap(served(one.Table), s.width()-2, "  ")))
			}
		}
	}
}

// writeTexts prints rows of texts, the first of each to the left.
func writeTexts(w *lines, s Style, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	var g grid
	cells := func(texts []string, paint string) (row []cell) {
		for i, text := range texts {
			row = append(row, cell{text: text, left: i == 0, paint: paint})
		}
		return row
	}
	g.add(cells(head, dim)...)
	for _, r := range rows {
		g.add(cells(r, "")...)
	}
	g.write(w, s, "  ")
}

func markdownSlow(w *lines, all []compare.Slow) {
	for i := range all {
		one := &all[i]
		w.printf("\n%s\n\n", escape(slowHead(one)))
		if one.Table == nil {
			continue
		}
		rows, doubts := slowRows(one.Table)
		markdownTexts(w, slowColumns(one.Table), rows)
		for _, d := range doubts {
			w.printf("\n– %s\n", escape(d))
		}
		if rows := spentRows(one.Table); len(rows) > 0 {
			markdownTexts(w, spentColumns(one.Table), rows)
			if one.Served > 0 {
				w.printf("\n%s\n", escape(served(one.Table)))
			}
		}
	}
}

func markdownTexts(w *lines, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	w.printf("\n| %s |\n|---|%s\n", strings.Join(head, " | "), strings.Repeat("--:|", len(head)-1))
	for _, r := range rows {
		for i := range r {
			r[i] = escape(r[i])
		}
		w.printf("| %s |\n", strings.Join(r, " | "))
	}
}

// RecordedLoad is the JSON form of a load run whose service was recorded: the
// summary of the load, and beside it what the recording adds.
type RecordedLoad struct {
	*loadlog.Summary
	Slow     []compare.Slow    `json:"slow_requests"`
	Findings []insight.Finding `json:"findings"`
	// Recording is where it was kept.
	Recording string `json:"recording"`
}

// WriteRecordedLoad prints what follows the text of a load run whose service was
// recorded: what slow requests met, and the findings of the rules about loads.
func WriteRecordedLoad(out io.Writer, slow []compare.Slow, found []insight.Finding, s Style) error {
	w := &lines{w: out}
	if len(slow) > 0 {
		w.printf("\n%s\n\n", s.paint(bold, "What slow requests overlapped with"))
		writeSlow(w, slow, s)
	}
	if len(found) > 0 {
		w.printf("\n%s\n\n", s.paint(bold, "Findings"))
		for _, f := range found {
			writeFinding(w, f, s)
		}
	}
	return w.err
}
