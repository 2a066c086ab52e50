package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"loupe/value/terminal"
)

// Style says how text is laid out.
type Style struct {
	// Width is that of the terminal in columns; 100 when zero.
	Width int
	// Colour switches ANSI colours on.
	Colour bool
	// Whole tells that tables are as wide as they are: who reads a pipe or a file
	// wants the names, all of them.
	Whole bool
}

// fit makes a grid as wide as there is room, less an indentation.
func (s Style) fit(g *grid, indent int) {
	if !s.Whole {
		fit(g, s.width()-indent)
	}
}

func (s Style) width() int {
	if s.Width <= 0 {
		return 100
	}
	return max(s.Width, 40)
}

// Wrap breaks text into lines that fit behind an indentation; the first line is
// left to the caller to indent.
func (s Style) Wrap(text string, indent int) string {
	return wrap(text, s.width()-indent, strings.Repeat(" ", indent))
}

// Bold is text that stands out, if colours are on.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// The colours that are used, as SGR codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint wraps text in a colour, if colours are on.
func (s Style) paint(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// clean makes text from a recording safe for a terminal: names and labels in
// a profile are whatever somebody put there.
func clean(text string) string { return terminal.Line(text) }

// wrap breaks text at blanks so that no line has more than width columns;
// every line but the first has indent in front, which does not count. Where
// hardly any room is left, lines get longer instead of narrower.
func wrap(text string, width int, indent string) string {
	width = max(width, 20)
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// grid is a table of text whose columns are as wide as their widest cell. A
// cell may hold colours in paint, which do not count.
type grid struct {
	rows [][]cell
}

type cell struct {
	text  string
	paint string
	left  bool
}

func (g *grid) add(cells ...cell) { g.rows = append(g.rows, cells) }

// widths are those of the columns.
func (g *grid) widths() (widths []int) {
	for _, row := range g.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c.text))
		}
	}
	return widths
}

// width is that of the longest line.
func (g *grid) width() int {
	widths, longest := g.widths(), 0
	for _, row := range g.rows {
		end := 0
		for i, c := range row {
			if c.text != "" {
				end = 2 * i
				for _, w := range widths[:i] {
					end += w
				}
				if end += widths[i]; c.left {
					end += utf8.RuneCountInString(c.text) - widths[i]
				}
			}
		}
		longest = max(longest, end)
	}
	return longest
}

func (g *grid) write(w io.Writer, s Style, indent string) {
	widths := g.widths()
	for _, row := range g.rows {
		var b strings.Builder
		b.WriteString(indent)
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text))
			text := c.text
			if c.paint != "" {
				text = s.paint(c.paint, text)
			}
			if i > 0 {
				b.WriteString("  ")
			}
			if c.left {
				b.WriteString(text + pad)
			} else {
				b.WriteString(pad + text)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// lines is an io.Writer that remembers the first failure, so that a report is
// written as one sequence and checked once.
type lines struct {
	w   io.Writer
	err error
}

// Write passes p on until something fails.
func (l *lines) Write(p []byte) (int, error) {
	if l.err != nil {
		return len(p), nil
	}
	n, err := l.w.Write(p)
	l.err = err
	return n, err
}

func (l *lines) printf(format string, args ...any) { fmt.Fprintf(l, format, args...) }
