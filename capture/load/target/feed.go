package target

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Sources are what templates can take values from.
type Sources struct {
	// Read returns what the file holds that {{line "name"}} names; nil
	// when there are no files.
	Read func(name string) ([]byte, error)
	// Feed has the columns of {{csv "column"}}; nil when there is none.
	Feed *Feed
	// Random takes lines and rows at random and not in their order.
	Random bool

	lines map[string][]string
}

// Feed is a table whose rows requests take one after the other.
type Feed struct {
	Columns []string
	rows    [][]string
}

// Len returns the number of rows.
func (f *Feed) Len() int { return len(f.rows) }

// ParseFeed reads a feed from a CSV text whose first row names the columns. A
// text whose first row has tabs and no commas is separated by tabs.
func ParseFeed(text []byte) (*Feed, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	r := csv.NewReader(bytes.NewReader(text))
	if first, _, _ := bytes.Cut(text, []byte("\n")); bytes.IndexByte(first, '\t') >= 0 && bytes.IndexByte(first, ',') < 0 {
		r.Comma = '\t'
	}
	columns, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("cannot read feed: it is empty (want a row with the names of the columns, and rows)")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read feed: %w", err)
	}
	f := &Feed{}
	for i, c := range columns {
		c = strings.TrimSpace(c)
		for _, before := range f.Columns {
			if c == before {
				return nil, fmt.Errorf("cannot read feed: two columns are named %q", c)
			}
		}
		if c == "" {
			return nil, fmt.Errorf("cannot read feed: column %d has no name", i+1)
		}
		f.Columns = append(f.Columns, c)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read feed: %w", err)
		}
		f.rows = append(f.rows, row)
	}
	if len(f.rows) == 0 {
		return nil, errors.New("cannot read feed: there is no row below the names of the columns")
	}
	return f, nil
}

// line makes a piece of the lines of a file.
func (s *Sources) line(name string, escape func(string) string) (piece, error) {
	lines, err := s.linesOf(name)
	if err != nil {
		return piece{}, err
	}
	values := make([]string, len(lines))
	for i, l := range lines {
		values[i] = escape(l)
	}
	return piece{kind: value, values: values, scattered: s.Random}, nil
}

// linesOf reads a file once; empty lines are left out.
func (s *Sources) linesOf(name string) ([]string, error) {
	if s == nil || s.Read == nil {
		return nil, errors.New("line: there are no files here")
	}
	if lines, ok := s.lines[name]; ok {
		return lines, nil
	}
	text, err := s.Read(name)
	if err != nil {
		return nil, fmt.Errorf("line: %w", err)
	}
	var lines []string
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimRight(l, "\r\n"); l != "" {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("line: %s has no lines", name)
	}
	if s.lines == nil {
		s.lines = map[string][]string{}
	}
	s.lines[name] = lines
	return lines, nil
}

// column makes a piece of a column of the feed.
func (s *Sources) column(name string, escape func(string) string) (piece, error) {
	if s == nil || s.Feed == nil {
		return piece{}, errors.New("csv: there is no feed (-feed FILE names one)")
	}
	for i, c := range s.Feed.Columns {
		if c != name {
			continue
		}
		values := make([]string, len(s.Feed.rows))
		for j, row := range s.Feed.rows {
			values[j] = escape(row[i])
		}
		return piece{kind: value, values: values, scattered: s.Random}, nil
	}
	return piece{}, fmt.Errorf("csv: the feed has no column %q; it has %s", name, strings.Join(s.Feed.Columns, ", "))
}

// escapeFor is what becomes of values without a word before the name.
func escapeFor(in Place) func(string) string {
	switch in {
	case InURL:
		return escapeURL
	case InHeader:
		return escapeHeader
	}
	return func(s string) string { return s }
}

// escapeNamed is what becomes of values behind the word raw, json or url; nil
// for another word. None of them lets a value end the line that it stands in.
func escapeNamed(word string, in Place) func(string) string {
	switch word {
	case "raw":
		switch in {
		case InURL:
			return keepURL
		case InHeader:
			return escapeHeader
		}
		return func(s string) string { return s }
	case "url":
		return escapeURL
	case "json":
		if in == InURL {
			return func(s string) string { return escapeURL(escapeJSON(s)) }
		}
		return escapeJSON
	}
	return nil
}

// escapeURL encodes everything but the unreserved characters of RFC 3986, so
// that a value stays one part of a path or a query.
func escapeURL(s string) string {
	return percent(s, func(c byte) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
	})
}

// keepURL encodes only what cannot stand in the first line of a request.
func keepURL(s string) string {
	return percent(s, func(c byte) bool { return c > ' ' && c < 0x7f })
}

func percent(s string, keep func(byte) bool) string {
	const upper = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; keep(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', upper[c>>4], upper[c&15]})
		}
	}
	return b.String()
}

func escapeHeader(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == 0 {
			return ' '
		}
		return r
	}, s)
}

// escapeJSON makes a text fit between the quotes of a JSON string.
func escapeJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return s // no string fails to encode
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}
