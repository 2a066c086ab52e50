package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"loupe/unit"
)

// Sheet is a table of values that prints itself in every form: text with
// scaled quantities, Markdown, CSV and JSON with the plain ones.
type Sheet struct {
	// Key names the table in JSON; Title stands above it.
	Key, Title string
	Columns    []Column
	Rows       [][]any
	// Notes say what a figure hides, or why there are no rows.
	Notes []string
}

// Column is one column of a sheet.
type Column struct {
	Key  string // in JSON and CSV, with the unit: "exec_ns"
	Head string
}

// Share is a ratio that is printed in percent.
type Share float64

// Stack is a call stack, leaf first. Text shows the line where the user's code
// is, JSON all of it.
type Stack struct {
	Frames []string
	Where  string
}

// Bytes is a number of bytes in a sheet.
type Bytes = unit.Bytes

// text is a value as people read it.
func text(v any) (s string, left bool) {
	switch v := v.(type) {
	case nil:
		return "–", false
	case string:
		return clean(v), true
	case Stack:
		return clean(v.Where), true
	case time.Duration:
		return unit.Duration(v), false
	case Share:
		return unit.Percent(float64(v)), false
	case Bytes:
		return unit.BytesOf(float64(v)), false
	case int64:
		return unit.Count(v), false
	case int:
		return unit.Count(int64(v)), false
	case float64:
		return unit.Number(v), false
	}
	return clean(fmt.Sprint(v)), true
}

// plain is a value as programs read it: durations in ns, shares as ratios.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return int64(v)
	case Stack:
		return v.Frames
	case Share:
		return float64(v)
	case Bytes:
		return int64(v)
	}
	return v
}

// WriteSheet prints a sheet as text.
func WriteSheet(out io.Writer, t *Sheet, s Style) error {
	w := &lines{w: out}
	if t.Title != "" {
		w.printf("%s\n", s.paint(bold, clean(t.Title)))
	}
	g := &grid{}
	if len(t.Rows) > 0 {
		head := make([]cell, len(t.Columns))
		for i, c := range t.Columns {
			_, left := text(t.Rows[0][i])
			head[i] = cell{text: c.Head, paint: dim, left: left}
		}
		g.add(head...)
	}
	for _, row := range t.Rows {
		cells := make([]cell, len(row))
		for i, v := range row {
			txt, left := text(v)
			cells[i] = cell{text: txt, left: left}
		}
		g.add(cells...)
	}
	fit(g, s.width()-2)
	g.write(w, s, "  ")
	for _, n := range t.Notes {
		w.printf("  %s\n", s.paint(dim, wrap(clean(n), s.width()-2, "  ")))
	}
	return w.err
}

// fit shortens the longest texts of the last columns, in the middle, until the
// grid is at most width wide. A column keeps 16 characters.
func fit(g *grid, width int) {
	widths := g.widths()
	for col := len(widths) - 1; col >= 0; col-- {
		over := g.width() - width
		if over <= 0 {
			return
		}
		keep := max(16, widths[col]-over)
		for _, row := range g.rows {
			if c := &row[col]; c.left && utf8.RuneCountInString(c.text) > keep {
				r := []rune(c.text)
				half := (keep - 1) / 2
				c.text = string(r[:half]) + "…" + string(r[len(r)-(keep-1-half):])
			}
		}
	}
}

// WriteSheetMarkdown prints a sheet as a Markdown table.
func WriteSheetMarkdown(out io.Writer, t *Sheet) error {
	w := &lines{w: out}
	if t.Title != "" {
		w.printf("### %s\n\n", escape(t.Title))
	}
	if len(t.Rows) > 0 {
		var head, rule []string
		for i, c := range t.Columns {
			head = append(head, escape(c.Head))
			align := "---:"
			if _, left := text(t.Rows[0][i]); left {
				align = "---"
			}
			rule = append(rule, align)
		}
		w.printf("| %s |\n| %s |\n", strings.Join(head, " | "), strings.Join(rule, " | "))
	}
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			txt, left := text(v)
			cells[i] = escape(txt)
			if _, isStack := v.(Stack); isStack && left && txt != "" {
				cells[i] = code(txt)
			}
		}
		w.printf("| %s |\n", strings.Join(cells, " | "))
	}
	for _, n := range t.Notes {
		w.printf("\n%s\n", escape(n))
	}
	return w.err
}

// WriteSheetCSV prints a sheet as CSV: a line of keys, then the plain values;
// a stack is one field, its frames divided by semicolons.
func WriteSheetCSV(out io.Writer, t *Sheet) error {
	w := csv.NewWriter(out)
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Key
	}
	w.Write(head)
	for _, row := range t.Rows {
		fields := make([]string, len(row))
		for i, v := range row {
			switch v := plain(v).(type) {
			case nil:
			case []string:
				fields[i] = strings.Join(v, ";")
			case float64:
				fields[i] = strconv.FormatFloat(v, 'g', -1, 64)
			default:
				fields[i] = fmt.Sprint(v)
			}
		}
		w.Write(fields)
	}
	w.Flush()
	return w.Error()
}

// MarshalJSON makes a sheet a list of objects, one for each row.
func (t *Sheet) MarshalJSON() ([]byte, error) {
	rows := make([]json.RawMessage, len(t.Rows))
	for i, row := range t.Rows {
		var b strings.Builder
		b.WriteByte('{')
		for k, v := range row {
			if k > 0 {
				b.WriteByte(',')
			}
			key, _ := json.Marshal(t.Columns[k].Key)
			value, err := json.Marshal(plain(v))
			if err != nil {
				return nil, err
			}
			b.Write(key)
			b.WriteByte(':')
			b.Write(value)
		}
		b.WriteByte('}')
		rows[i] = json.RawMessage(b.String())
	}
	return json.Marshal(rows)
}
