package store

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Op is what a matcher does.
type Op uint8

// The operators of Prometheus: = != =~ !~.
const (
	Equal Op = iota
	NotEqual
	Matches
	NotMatches
)

// String returns the operator as it is written.
func (o Op) String() string { return [...]string{"=", "!=", "=~", "!~"}[o] }

// Matcher is a condition on one label. A label that is not there has the empty value, so
// that x="" and x!="a" hold for series without x, as in Prometheus. Expressions are
// RE2 and must match the whole value.
type Matcher struct {
	Name  string
	Op    Op
	Value string
	re    *regexp.Regexp
}

// NewMatcher makes a matcher. It fails when the expression is none.
func NewMatcher(name string, op Op, value string) (*Matcher, error) {
	m := &Matcher{Name: name, Op: op, Value: value}
	if op == Matches || op == NotMatches {
		re, err := regexp.Compile(value) // alone, since "a)|(b" is whole in parentheses only
		if err == nil {
			re, err = regexp.Compile("^(?s:" + value + ")$")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the expression of label %q: %w", name, err)
		}
		m.re = re
	}
	return m, nil
}

// Match tells whether the value of the label is accepted.
func (m *Matcher) Match(value string) bool {
	switch m.Op {
	case Equal:
		return value == m.Value
	case NotEqual:
		return value != m.Value
	case Matches:
		return m.re.MatchString(value)
	}
	return !m.re.MatchString(value)
}

// String returns the matcher as it is written: pod=~"a|b".
func (m *Matcher) String() string {
	name := m.Name
	if !plain(name) {
		name = strconv.Quote(name)
	}
	return name + m.Op.String() + strconv.Quote(m.Value)
}

// Matchers are conditions that must all hold. None hold for everything.
type Matchers []*Matcher

// Match tells whether all hold for the labels.
func (ms Matchers) Match(l Labels) bool {
	for _, m := range ms {
		if !m.Match(l.Value(m.Name)) {
			return false
		}
	}
	return true
}

// String returns the form that [ParseMatchers] reads.
func (ms Matchers) String() string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.String()
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// ParseMatchers reads a selector of Prometheus: {pod="a",x!="b",y=~"c.*",z!~"d"}. The
// braces may be left out, the list may be empty and end in a comma, names may be quoted,
// values stand in double or single quotes or backquotes. A name in front of the braces
// is not accepted: the type of profiles is asked for by itself.
func ParseMatchers(s string) (Matchers, error) {
	ms, err := parseMatchers(s)
	if err != nil {
		return nil, fmt.Errorf("cannot read selector %.200q: %w", s, err)
	}
	return ms, nil
}

func parseMatchers(s string) (Matchers, error) {
	rest := strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(rest, "{"); ok {
		if rest, ok = strings.CutSuffix(inner, "}"); !ok {
			return nil, errors.New("the closing brace is missing")
		}
	}
	var ms Matchers
	for rest = strings.TrimSpace(rest); rest != ""; {
		m, after, err := parseMatcher(rest)
		if err != nil {
			return nil, err
		}
		ms = append(ms, m)
		rest = strings.TrimSpace(after)
		if rest == "" {
			break
		}
		if rest[0] != ',' {
			return nil, fmt.Errorf("want a comma at %.20q", rest)
		}
		rest = strings.TrimSpace(rest[1:])
	}
	return ms, nil
}

// operators are tried in this order: the longer ones first.
var operators = []Op{Matches, NotMatches, NotEqual, Equal}

func parseMatcher(s string) (m *Matcher, rest string, err error) {
	name, rest, err := parseName(s)
	if err != nil {
		return nil, "", err
	}
	rest = strings.TrimSpace(rest)
	for _, op := range operators {
		after, ok := strings.CutPrefix(rest, op.String())
		if !ok {
			continue
		}
		value, after, err := cutQuoted(strings.TrimSpace(after))
		if err != nil {
			return nil, "", fmt.Errorf("the value of %q: %w", name, err)
		}
		m, err := NewMatcher(name, op, value)
		return m, after, err
	}
	return nil, "", fmt.Errorf("want =, !=, =~ or !~ behind %q", name)
}

func parseName(s string) (name, rest string, err error) {
	if strings.ContainsRune("\"'`", rune(s[0])) {
		name, rest, err = cutQuoted(s)
	} else {
		n := 0
		for n < len(s) && nameByte(s[n]) {
			n++
		}
		name, rest = s[:n], s[n:]
	}
	if err == nil && name == "" {
		err = fmt.Errorf("want the name of a label at %.20q", s)
	}
	return name, rest, err
}

// nameByte says what a name may have that is not quoted: Prometheus's letters, digits
// and underlines, and the dots of OpenTelemetry.
func nameByte(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func plain(name string) bool {
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return name != ""
}

// cutQuoted takes a quoted string off the front, with the escapes of Go.
func cutQuoted(s string) (value, rest string, err error) {
	if s == "" || !strings.ContainsRune("\"'`", rune(s[0])) {
		return "", "", fmt.Errorf("want quotes at %.20q", s)
	}
	quote := s[0]
	if quote == '`' {
		value, rest, ok := strings.Cut(s[1:], "`")
		if !ok {
			return "", "", errors.New("the closing quote is missing")
		}
		return value, rest, nil
	}
	var b []byte
	for rest = s[1:]; rest != ""; {
		if rest[0] == quote {
			return string(b), rest[1:], nil
		}
		r, multi, tail, err := strconv.UnquoteChar(rest, quote)
		if err != nil {
			return "", "", fmt.Errorf("there is a bad escape at %.20q", rest)
		}
		if multi {
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, byte(r))
		}
		rest = tail
	}
	return "", "", errors.New("the closing quote is missing")
}
