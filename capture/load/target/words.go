package target

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// splitWords splits a command line into words as a POSIX shell does: with
// quotes of both kinds, $'…', backslashes, and lines that go on behind one. It
// is no shell: where one would do more (variables, pipes), it says so.
func splitWords(line string) (out []string, err error) {
	var word strings.Builder
	open := false // a word has begun
	end := func() {
		if open {
			out = append(out, word.String())
			word.Reset()
			open = false
		}
	}
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			end()
			i++
		case c == '#' && !open:
			for i < len(line) && line[i] != '\n' {
				i++
			}
		case c == '\\':
			if n := lineBreak(line[i+1:]); n > 0 {
				i += 1 + n
				continue
			}
			if i+1 == len(line) {
				return nil, errors.New("the line ends with a backslash")
			}
			_, size := utf8.DecodeRuneInString(line[i+1:])
			word.WriteString(line[i+1 : i+1+size])
			open = true
			i += 1 + size
		case c == '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, errors.New("a ' has no partner")
			}
			word.WriteString(line[i+1 : i+1+n])
			open = true
			i += n + 2
		case c == '"':
			n, err := doubleQuoted(&word, line[i+1:])
			if err != nil {
				return nil, err
			}
			open = true
			i += 1 + n
		case strings.HasPrefix(line[i:], "$'"):
			n, err := ansiQuoted(&word, line[i+2:])
			if err != nil {
				return nil, err
			}
			open = true
			i += 2 + n
		case strings.IndexByte("|&;<>()`", c) >= 0 || c == '$' && expands(line[i+1:]):
			return nil, fmt.Errorf("%q is for a shell, which is not asked here (put the word into '…')", clip(line[i:]))
		default:
			word.WriteByte(c)
			open = true
			i++
		}
	}
	end()
	return out, nil
}

// lineBreak returns the length of the line break that s begins with.
func lineBreak(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case strings.HasPrefix(s, "\n"):
		return 1
	}
	return 0
}

// expands tells whether a shell would fill something in for $ before s.
func expands(s string) bool {
	return s != "" && (s[0] == '(' || s[0] == '{' || s[0] == '_' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] >= '0' && s[0] <= '9')
}

// doubleQuoted reads up to the closing quote and returns the length.
func doubleQuoted(word *strings.Builder, s string) (int, error) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, nil
		case c == '\\' && i+1 < len(s) && strings.IndexByte("\\\"$`", s[i+1]) >= 0:
			i++
			word.WriteByte(s[i])
		case c == '\\' && lineBreak(s[i+1:]) > 0:
			i += lineBreak(s[i+1:])
		case c == '`' || c == '$' && expands(s[i+1:]):
			return 0, fmt.Errorf("%q is for a shell, which is not asked here (put it into '…')", clip(s[i:]))
		default:
			word.WriteByte(c)
		}
	}
	return 0, errors.New(`a " has no partner`)
}

// ansiQuoted reads what stands in $'…', as browsers copy requests.
func ansiQuoted(word *strings.Builder, s string) (int, error) {
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': 7, 'b': 8, 'f': 12, 'v': 11, 'e': 27, 'E': 27, '\\': '\\', '\'': '\'', '"': '"', '?': '?'}
	for i := 0; i < len(s); i++ {
		if s[i] == '\'' {
			return i + 1, nil
		}
		if s[i] != '\\' || i+1 == len(s) {
			word.WriteByte(s[i])
			continue
		}
		i++
		digits, base, most := 0, 16, 2
		switch c := s[i]; {
		case simple[c] != 0:
			word.WriteByte(simple[c])
			continue
		case c == 'u':
			most = 4
		case c == 'U':
			most = 8
		case c >= '0' && c <= '7':
			base, most = 8, 3
			i--
		case c != 'x':
			word.WriteByte('\\')
			word.WriteByte(c)
			continue
		}
		for digits < most && i+1+digits < len(s) && isDigit(s[i+1+digits], base) {
			digits++
		}
		n, err := strconv.ParseUint(s[i+1:i+1+digits], base, 32)
		switch {
		case err != nil:
			return 0, fmt.Errorf(`%q is not a character`, clip(s[i-1:]))
		case most > 3:
			word.WriteRune(rune(n))
		default:
			word.WriteByte(byte(n))
		}
		i += digits
	}
	return 0, errors.New("a $' has no partner")
}

func isDigit(c byte, base int) bool {
	n, err := strconv.ParseUint(string(rune(c)), base, 8)
	return err == nil && int(n) < base
}
