package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"loupe/analysis/sched"
	"loupe/value/unit"
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

// Distribution is a histogram: text shows its shape, JSON all of it.
type Distribution struct {
	h *sched.Histogram
}

// Course is a number over time: text shows its shape, JSON its values.
type Course struct {
	Start  time.Duration `json:"start_ns"`
	Width  time.Duration `json:"width_ns"`
	Values []float64     `json:"values"`
	// Top is what the highest bar stands for; 0 for the highest value.
	Top float64 `json:"-"`
}

// bars are eighths of a line's height.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// shape draws values as bars, as many as there are columns.
func shape(values []float64, top float64, columns int) string {
	if len(values) == 0 {
		return ""
	}
	columns = min(columns, len(values))
	means := make([]float64, columns)
	for i := range means {
		from, to := i*len(values)/columns, (i+1)*len(values)/columns
		for _, v := range values[from:to] {
			means[i] += v / float64(to-from)
		}
	}
	if top == 0 {
		top = slices.Max(means)
	}
	var b strings.Builder
	for _, v := range means {
		n := 0
		if top > 0 && v > 0 { // what is there is seen
			n = min(len(bars)-1, 1+int(v/top*float64(len(bars)-2)+0.5))
		}
		b.WriteRune(bars[n])
	}
	return b.String()
}

// shape draws a distribution over powers of two.
func (d Distribution) shape() string {
	var counts []float64
	first := -1
	d.h.Classes()(func(from, _ time.Duration, n int) bool {
		octave := bits.Len64(uint64(from))
		if first < 0 {
			first = octave
		}
		for len(counts) <= octave-first {
			counts = append(counts, 0)
		}
		counts[octave-first] += float64(n)
		return true
	})
	return shape(counts, 0, len(counts))
}

// classes are the classes of a distribution: from, to and how many.
func (d Distribution) classes() [][3]int64 {
	list := [][3]int64{}
	d.h.Classes()(func(from, to time.Duration, n int) bool {
		list = append(list, [3]int64{int64(from), int64(to), int64(n)})
		return true
	})
	return list
}

// printer is a value that knows its own forms.
type printer interface {
	text() string
	plain() any
}

// lefthand is a printer whose text is words, which stand on the left of their column.
type lefthand interface{ left() }

// Bytes is a number of bytes in a sheet.
type Bytes = unit.Bytes

// text is a value as people read it.
func text(v any) (s string, left bool) {
	switch v := v.(type) {
	case nil:
		return "–", false
	case printer:
		_, left := v.(lefthand)
		return v.text(), left
	case string:
		return clean(v), true
	case Stack:
		return clean(v.Where), true
	case Distribution:
		return v.shape(), true
	case Course:
		return shape(v.Values, v.Top, 60), true
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
	case printer:
		return v.plain()
	case time.Duration:
		return int64(v)
	case Stack:
		return v.Frames
	case Distribution:
		return v.classes()
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
	s.fit(g, 2)
	g.write(w, s, "  ")
	for _, n := range t.Notes {
		w.printf("  %s\n", s.paint(dim, wrap(clean(n), s.width()-2, "  ")))
	}
	return w.err
}

// fit shortens the longest texts of the last columns, in the middle, until the
// grid is at most width wide. A column keeps 16 characters, and what two rows differ
// by: names that become the same are not shortened.
func fit(g *grid, width int) {
	widths := g.widths()
	for col := len(widths) - 1; col >= 0; col-- {
		over := g.width() - width
		if over <= 0 {
			return
		}
		keep := max(16, widths[col]-over)
		shortened := make([]string, len(g.rows))
		whole := map[string]string{} // what each text was
		same := false
		for i, row := range g.rows {
			c := row[col]
			shortened[i] = c.text
			if c.left && utf8.RuneCountInString(c.text) > keep {
				r := []rune(c.text)
				half := (keep - 1) / 2
				shortened[i] = string(r[:half]) + "…" + string(r[len(r)-(keep-1-half):])
			}
			old, known := whole[shortened[i]]
			same = same || known && old != c.text
			whole[shortened[i]] = c.text
		}
		for i := range g.rows {
			if !same {
				g.rows[i][col].text = shortened[i]
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
// a stack is one field, its frames divided by semicolons. What a name holds is text:
// no control characters, and no formula.
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
				fields[i] = csvText(strings.Join(v, ";"))
			case float64:
				fields[i] = strconv.FormatFloat(v, 'g', -1, 64)
			default:
				fields[i] = csvText(fmt.Sprint(v))
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

// Cell returns a value of a sheet in both of its forms, as text for people and
// as JSON has it, and whether the text stands on the left of its column.
func Cell(v any) (shown string, value any, left bool) {
	shown, left = text(v)
	return shown, plain(v), left
}
