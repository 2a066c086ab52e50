package report

import (
	"strconv"
	"strings"
)

// csvText is a text as a cell of CSV. Such files are opened with programs that show
// text on a terminal, and with spreadsheets, which take a cell that begins with one
// of = + - @, blanks before it or not, for a formula, and run it. A name gets an apostrophe in front then, which
// they take for "this is text"; a number stays one.
func csvText(text string) string {
	text = clean(strings.ToValidUTF8(text, "\uFFFD"))
	begin := strings.TrimLeft(text, " \t")
	if begin == "" || !strings.ContainsRune("=+-@", rune(begin[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(begin, 64); err == nil {
		return text
	}
	return "'" + text
}
