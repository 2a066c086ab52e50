// Package terminal knows what text must not hold that people are shown: names in profiles,
// dumps and titles are whatever somebody put there.
package terminal

import "unicode"

// Obeyed tells whether a terminal, or a page, would obey a character instead of showing
// it: control characters, tabs and ends of lines among them, and those that turn the
// direction of writing (UAX #9).
func Obeyed(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
