// Package terminal knows what text must not hold that people are shown: names in profiles,
// dumps and titles are whatever somebody put there.
package terminal

import (
	"strings"
	"unicode"
)

// Obeyed tells whether a terminal, or a page, would obey a character instead of showing
// it: control characters, tabs and ends of lines among them, and those that turn the
// direction of writing (UAX #9).
func Obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Line makes text one line that a terminal shows and does not obey: ends of lines and tabs become spaces, the rest of what
// [Obeyed] tells is left out.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case Obeyed(r):
			return -1
		}
		return r
	}, text)
}

// Text is [Line] for what has several lines: ends of lines and tabs stay.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if Obeyed(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
