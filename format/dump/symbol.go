package dump

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSymbol tells that a text may be the name of a function as Go prints it. A line of a
// log is none: it has blanks, or has no dot.
func isSymbol(name []byte) bool {
	depth, dot := 0, false
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRune(name[i:])
		i += n
		switch {
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			if depth--; depth < 0 {
				return false
			}
		case depth > 0:
			if r < ' ' || r == utf8.RuneError {
				return false
			}
		case r == '.':
			dot = true
		case strings.ContainsRune("_/-()*%~+@$:·<>,;!", r) || unicode.IsLetter(r) || unicode.IsDigit(r):
		default:
			return false
		}
	}
	return depth == 0 && len(name) > 0 && (dot || isCName(name))
}

// isCName tells that a name has the form of one of C: those have no package.
func isCName(name []byte) bool {
	for _, c := range name {
		if c != '_' && c-'0' > 9 && (c|0x20)-'a' > 25 {
			return false
		}
	}
	return name[0]-'0' > 9
}
