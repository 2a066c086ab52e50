package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"loupe/format/benchmark"
)

// WriteBenchstat prints tables as benchstat does, byte for byte: above each what has
// changed of its key, then the tree of the columns' keys, the unit, the rows, and below
// it what is to be said of figures, by the numbers behind them.
func WriteBenchstat(w io.Writer, r *benchmark.Result) error {
	out := bufio.NewWriter(w)
	for i, t := range r.Tables {
		if i > 0 {
			fmt.Fprintln(out)
		}
		for _, line := range changedKeys(r.Tables, i) {
			fmt.Fprintln(out, line)
		}
		newBenchstat(t).write(out)
	}
	return out.Flush()
}

// changedKeys are the lines above the i-th table: the keys whose values are not those of
// the table before it.
func changedKeys(tables []*benchmark.Table, i int) (lines []string) {
	for k, p := range tables[i].Key {
		if i == 0 || tables[i-1].Key[k] != p {
			lines = append(lines, p.Key+": "+p.Value)
		}
	}
	return lines
}

// The parts of a figure, and how they are laid out: what stands before each, and on which
// side. Center and range are of the figure, the others of its comparison; notes are the
// numbers of what is said below the table.
const (
	centerPart = iota
	rangePart
	notePart
	deltaPart
	testPart
	testNotePart
	parts
)

var benchstatParts = [parts]struct {
	before string
	left   bool
}{
	centerPart: {"", false}, rangePart: {" ± ", false}, notePart: {" ", true},
	deltaPart: {"  ", false}, testPart: {" ", true}, testNotePart: {" ", true},
}

// Between columns there is a bar in the heads, and blanks in the rows.
const (
	headBar = " │ "
	rowBar  = "   "
)

// benchstat is a table that is being laid out. Widths are in characters.
type benchstat struct {
	t      *benchmark.Table
	rows   []benchstatRow
	names  int          // width of the names
	widths [][parts]int // of each column
	notes  []string
	marks  map[string]string // the numbers of the notes
}

// benchstatRow is a row with its texts, for each column.
type benchstatRow struct {
	name  string
	cells [][parts]string
}

func newBenchstat(t *benchmark.Table) *benchstat {
	b := &benchstat{t: t, widths: make([][parts]int, len(t.Files)), marks: map[string]string{}}
	for _, r := range t.Rows {
		row := benchstatRow{r.Name, make([][parts]string, len(r.Cells))}
		for i, c := range r.Cells {
			if c == nil {
				continue
			}
			texts := &row.cells[i]
			texts[centerPart], texts[rangePart], texts[notePart] = c.Shown, c.Range, b.mark(c.Warnings)
			if a := c.Against; a != nil {
				texts[deltaPart], texts[testPart], texts[testNotePart] = a.Delta, "("+a.Test+")", b.mark(a.Warnings)
			}
		}
		b.rows = append(b.rows, row)
	}
	if len(t.Rows) > 1 {
		row := benchstatRow{"geomean", make([][parts]string, len(t.Means))}
		for i, m := range t.Means {
			note := notePart
			if i > 0 {
				note = testNotePart
			}
			row.cells[i][centerPart], row.cells[i][deltaPart], row.cells[i][note] = m.Shown, m.Delta, b.mark(m.Warnings)
		}
		b.rows = append(b.rows, row)
	}
	b.measure()
	b.fit()
	return b
}

// measure finds the widths of the parts.
func (b *benchstat) measure() {
	for _, r := range b.rows {
		b.names = max(b.names, utf8.RuneCountInString(r.name))
		for i, texts := range r.cells {
			for k, text := range texts {
				b.widths[i][k] = max(b.widths[i][k], utf8.RuneCountInString(text))
			}
		}
	}
	b.leftUnknown()
}

// leftUnknown moves the change of a mean that there is none of to the left, where
// benchstat has it.
func (b *benchstat) leftUnknown() {
	if len(b.t.Rows) < 2 {
		return
	}
	for i := range b.t.Means {
		delta := &b.rows[len(b.rows)-1].cells[i][deltaPart]
		if *delta == "?" {
			*delta = padded(*delta, b.widths[i][deltaPart], true)
		}
	}
}

// mark returns the numbers of notes, which are the same for the same text.
func (b *benchstat) mark(warnings []string) string {
	var marks []string
	for _, w := range warnings {
		if b.marks[w] == "" {
			b.notes = append(b.notes, w)
			b.marks[w] = superscript(len(b.notes))
		}
		marks = append(marks, b.marks[w])
	}
	return strings.Join(marks, " ")
}

// width is that of some parts of a column, with what stands between them. A part that no
// row has takes no room.
func (b *benchstat) width(column, from, to int) (width int) {
	for k := from; k < to; k++ {
		n := b.widths[column][k]
		if n == 0 {
			continue
		}
		if width += n; k > from {
			width += utf8.RuneCountInString(benchstatParts[k].before)
		}
	}
	return width
}

// span is that of whole columns with the bars between them.
func (b *benchstat) span(h heading) (width int) {
	for i := h.start; i < h.end; i++ {
		width += b.width(i, 0, parts)
	}
	return width + (h.end-h.start-1)*utf8.RuneCountInString(headBar)
}

// fit makes columns wider where a heading needs it: the innermost heads first.
func (b *benchstat) fit() {
	for i := range b.widths {
		b.widen(heading{start: i, end: i + 1}, utf8.RuneCountInString(b.t.Unit)-b.width(i, 0, deltaPart))
	}
	levels := headings(b.t.Columns)
	for _, level := range slices.Backward(levels) {
		for _, h := range level {
			b.widen(h, utf8.RuneCountInString(h.text)-b.span(h))
		}
	}
}

// widen gives columns so much more room, the narrowest of them first: it goes to the left
// of their centers.
func (b *benchstat) widen(h heading, more int) {
	if more <= 0 {
		return
	}
	columns := b.widths[h.start:h.end]
	// The level up to which all of them can be filled.
	order := slices.Clone(columns)
	slices.SortFunc(order, func(x, y [parts]int) int { return x[centerPart] - y[centerPart] })
	level, used := order[0][centerPart], 1
	for ; used < len(order); used++ {
		step := order[used][centerPart] - level
		if step*used > more {
			break
		}
		level, more = level+step, more-step*used
	}
	level, more = level+more/used, more%used
	for i := range columns {
		if center := &columns[i][centerPart]; *center <= level {
			if *center = level; more > 0 {
				*center, more = *center+1, more-1
			}
		}
	}
}

// heading is a text above columns that have it in common.
type heading struct {
	text       string
	start, end int
}

// heads are the texts of each level: neighbours that have a key and all that stand above
// it in common are below one of them.
func headings(columns [][]string) [][]heading {
	if len(columns) == 0 {
		return nil
	}
	levels := make([][]heading, len(columns[0]))
	for level := range levels {
		for i, values := range columns {
			if i > 0 && slices.Equal(columns[i-1][:level+1], values[:level+1]) {
				levels[level][len(levels[level])-1].end = i + 1
				continue
			}
			levels[level] = append(levels[level], heading{values[level], i, i + 1})
		}
	}
	return levels
}

func (b *benchstat) write(w io.Writer) {
	end := strings.TrimRight(headBar, " ")
	for _, level := range headings(b.t.Columns) {
		fmt.Fprint(w, blanks(b.names))
		for _, h := range level {
			fmt.Fprint(w, headBar, centered(h.text, b.span(h)))
		}
		fmt.Fprintln(w, end)
	}
	fmt.Fprint(w, blanks(b.names))
	for i := range b.widths {
		fmt.Fprint(w, headBar, centered(b.t.Unit, b.width(i, 0, deltaPart)))
		if i > 0 {
			fmt.Fprint(w, benchstatParts[deltaPart].before, overflowing("vs base", b.width(i, deltaPart, parts)))
		}
	}
	fmt.Fprintln(w, end)
	for _, r := range b.rows {
		fmt.Fprintln(w, strings.TrimRight(b.row(r), " "))
	}
	for _, n := range b.notes {
		fmt.Fprintln(w, b.marks[n], n)
	}
}

func (b *benchstat) row(r benchstatRow) string {
	var line strings.Builder
	line.WriteString(padded(r.name, b.names, true))
	for i, texts := range r.cells {
		line.WriteString(rowBar)
		for k, text := range texts {
			before, width := benchstatParts[k].before, b.widths[i][k]
			switch {
			case width == 0:
				continue
			case text == "":
				before = blanks(utf8.RuneCountInString(before))
			}
			line.WriteString(before + padded(text, width, benchstatParts[k].left))
		}
	}
	return line.String()
}

func blanks(n int) string { return strings.Repeat(" ", max(0, n)) }

// padded is a text in so many characters, on their left or on their right.
func padded(text string, width int, left bool) string {
	room := blanks(width - utf8.RuneCountInString(text))
	if left {
		return text + room
	}
	return room + text
}

// centered is a text in the middle of so many characters.
func centered(text string, width int) string {
	room := width - utf8.RuneCountInString(text)
	return blanks(room/2) + text + blanks(room-room/2)
}

// overflowing is a text on the left of so many characters. Where it does not fit,
// benchstat leaves as many blanks behind it as it is too long, so that the bar stands off
// its place: where no row of a column has a counterpart in the first one.
func overflowing(text string, width int) string {
	room := width - utf8.RuneCountInString(text)
	return text + blanks(max(room, -room))
}
