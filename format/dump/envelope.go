package dump

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"loupe/value/streams"
)

// envelope says how a log wraps each line of a dump: behind a prefix that has
// the shape of the first one (numbers may differ), or as a field of JSON.
type envelope struct {
	prefix string
	field  string // `"log":`
}

func (e *envelope) plain() bool { return e.prefix == "" && e.field == "" }

func (e *envelope) String() string {
	if e.field != "" {
		return e.field
	}
	return e.prefix
}

// strip returns what the program printed, or tells that the line is none of
// this log's. It may use the scratch, which it returns.
func (e *envelope) strip(line, scratch []byte) (text, kept []byte, ok bool) {
	if e.field != "" {
		i := bytes.Index(line, []byte(e.field))
		if i < 0 {
			return nil, scratch, false
		}
		j := i + len(e.field)
		for j < len(line) && line[j] == ' ' {
			j++
		}
		if j >= len(line) || line[j] != '"' {
			return nil, scratch, false
		}
		out, _ := unescape(scratch[:0], line[j+1:])
		return trimCR(bytes.TrimSuffix(out, []byte("\n"))), out, true
	}
	if n, ok := sameShape(e.prefix, line); ok {
		return line[n:], scratch, true
	}
	return nil, scratch, false
}

// sameShape tells whether line begins like prefix, where a number stands for any
// number. Blanks at the end of the prefix may have been trimmed from an empty line.
func sameShape(prefix string, line []byte) (n int, ok bool) {
	i := 0
	for n < len(line) && i < len(prefix) {
		switch {
		case isDigit(prefix[i]) && isDigit(line[n]):
			for i < len(prefix) && isDigit(prefix[i]) {
				i++
			}
			for n < len(line) && isDigit(line[n]) {
				n++
			}
		case prefix[i] == line[n]:
			i++
			n++
		default:
			return 0, false
		}
	}
	for ; i < len(prefix); i++ {
		if prefix[i] != ' ' && prefix[i] != '\t' {
			return 0, false
		}
	}
	return n, true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// unescape appends the text of a string in JSON or Go syntax up to its closing
// quote, and returns how much of s it has read. An escape that is none stays.
func unescape(dst, s []byte) (out []byte, n int) {
	for n < len(s) {
		c := s[n]
		if c == '"' {
			return dst, n + 1
		}
		if c != '\\' || n+1 >= len(s) {
			dst = append(dst, c)
			n++
			continue
		}
		n += 2
		switch e := s[n-1]; e {
		case 'n':
			dst = append(dst, '\n')
		case 't':
			dst = append(dst, '\t')
		case 'r':
			dst = append(dst, '\r')
		case '"', '\\', '/', '\'':
			dst = append(dst, e)
		case 'u':
			if n+4 <= len(s) {
				if r, err := strconv.ParseUint(string(s[n:n+4]), 16, 32); err == nil {
					dst = utf8.AppendRune(dst, rune(r))
					n += 4
					continue
				}
			}
			dst = append(dst, '\\', 'u')
		case 'x':
			if n+2 <= len(s) {
				if r, err := strconv.ParseUint(string(s[n:n+2]), 16, 8); err == nil {
					dst = append(dst, byte(r))
					n += 2
					continue
				}
			}
			dst = append(dst, '\\', 'x')
		default:
			dst = append(dst, '\\', e)
		}
	}
	return dst, n
}

// find is what a line was found to hold that is not at its begin.
type find struct {
	env      envelope
	embedded []byte // a whole dump inside of one string, decoded
}

// maxTries bounds how often one line is looked at: each look costs its length.
const maxTries = 8

// wrapped looks for a header, or for the first line of a message, inside a line.
func wrapped(line []byte, start string) (f find, ok bool) {
	for from, tries := 0, 0; ; tries++ {
		i := bytes.Index(line[from:], []byte(start))
		if i < 0 || tries == maxTries {
			return f, false
		}
		i += from
		from = i + len(start)
		n := len(start)
		if start == headerStart {
			if n = looseHeader(line[i:]); n == 0 {
				continue
			}
		}
		rest := line[i+n:]
		quote := streams.OpenQuote(line[:i])
		if quote < 0 {
			if i == 0 || start == headerStart && len(rest) > 0 {
				continue
			}
			return find{env: envelope{prefix: string(line[:i])}}, true
		}
		text, _ := unescape(nil, line[quote+1:])
		if body := bytes.TrimRight(text, "\r\n"); bytes.IndexByte(body, '\n') >= 0 {
			return find{embedded: text}, true
		}
		if start == headerStart && len(bytes.TrimRight(text, "\r\n")) != i-quote-1+n {
			continue
		}
		if field := fieldBefore(line, quote); field != "" {
			return find{env: envelope{field: field}}, true
		}
	}
}

// fieldBefore returns `"log":` for the string that opens at quote.
func fieldBefore(line []byte, quote int) string {
	i := quote
	for i > 0 && line[i-1] == ' ' {
		i--
	}
	if i < 2 || line[i-1] != ':' && line[i-1] != '=' {
		return ""
	}
	end := i
	i--
	if i > 0 && line[i-1] == '"' {
		j := bytes.LastIndexByte(line[:i-1], '"')
		if j < 0 {
			return ""
		}
		return string(line[j:end])
	}
	j := i
	for j > 0 && line[j-1] != ' ' && line[j-1] != ',' && line[j-1] != '{' {
		j--
	}
	if j == i {
		return ""
	}
	return string(line[j:end])
}
