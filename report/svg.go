package report

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The measures of the picture in pixels: those of a 13 px monospace face.
const (
	svgColumn = 7.83
	svgLine   = 18
	svgMargin = 16
)

// svgColours gives each SGR code a colour that reads on both a light and a
// dark page; the picture brings its own background.
var svgColours = map[string]string{bold: "#e6edf3", dim: "#8b949e", red: "#ff7b72", green: "#7ee787", yellow: "#e3b341"}

// WriteSVG draws text as a picture of a terminal, for a README or an issue.
// write gets the style to print in: colours on, the given width.
func WriteSVG(out io.Writer, columns int, write func(w io.Writer, s Style) error) error {
	var text strings.Builder
	if err := write(&text, Style{Width: columns, Colour: true}); err != nil {
		return err
	}
	rows := strings.Split(strings.Trim(text.String(), "\n"), "\n")
	widest := 0
	for _, row := range rows {
		widest = max(widest, utf8.RuneCountInString(stripPaint(row)))
	}
	w := &lines{w: out}
	width, height := 2*svgMargin+int(svgColumn*float64(widest)+1), 2*svgMargin+svgLine*len(rows)
	w.printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n", width, height, width, height)
	w.printf("<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#0d1117\"/>\n")
	w.printf("<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"13\" fill=\"#c9d1d9\">\n")
	painting := ""
	for i, row := range rows {
		if row == "" {
			continue
		}
		var b string
		b, painting = svgRow(row, painting)
		w.printf("<text x=\"%d\" y=\"%d\" textLength=\"%.1f\">%s</text>\n", svgMargin, svgMargin+svgLine*i+13,
			svgColumn*float64(utf8.RuneCountInString(stripPaint(row))), b)
	}
	w.printf("</g>\n</svg>\n")
	return w.err
}

var anyPaint = regexp.MustCompile("\x1b\\[\\d+m")

func stripPaint(row string) string { return anyPaint.ReplaceAllString(row, "") }

// svgRow turns the colours of one row into spans. A colour may go on over
// several rows; it is passed on from row to row.
func svgRow(row, painting string) (svg, still string) {
	var b strings.Builder
	open := func(code string) {
		weight := ""
		if code == bold {
			weight = " font-weight=\"bold\""
		}
		fmt.Fprintf(&b, "<tspan fill=\"%s\"%s>", svgColours[code], weight)
	}
	if painting != "" {
		open(painting)
	}
	for row != "" {
		at := anyPaint.FindStringIndex(row)
		if at == nil {
			b.WriteString(svgText(row))
			break
		}
		b.WriteString(svgText(row[:at[0]]))
		code := row[at[0]+2 : at[1]-1]
		row = row[at[1]:]
		if painting != "" {
			b.WriteString("</tspan>")
			painting = ""
		}
		if code != "0" {
			painting = code
			open(code)
		}
	}
	if painting != "" {
		b.WriteString("</tspan>")
	}
	return b.String(), painting
}

// svgText escapes text. Blanks become such that no viewer folds them: what
// xml:space asks for is not done everywhere.
func svgText(text string) string {
	return html.EscapeString(strings.ReplaceAll(text, " ", "\u00a0"))
}
