package bench

import (
	"fmt"
	"regexp"
	"strings"
)

// Pattern is what -bench asks for: alternatives, each of expressions for the levels of
// benchmarks and what they run in turn, as go help testflag has it.
type Pattern [][]string

// ParsePattern reads it.
func ParsePattern(text string) (Pattern, error) {
	var out Pattern
	for _, alternative := range split(text, '|') {
		out = append(out, split(alternative, '/'))
	}
	deep := false
	for _, levels := range out {
		deep = deep || len(levels) > 1
	}
	if !deep {
		out = Pattern{{text}}
	}
	for _, levels := range out {
		for _, level := range levels {
			if _, err := regexp.Compile(level); err != nil {
				return nil, fmt.Errorf("%q is not a regular expression: %w", level, err)
			}
		}
	}
	return out, nil
}

// split splits an expression at a character outside of brackets.
func split(text string, at byte) (parts []string) {
	square, round, start := 0, 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '[':
			square++
		case c == ']' && square > 0:
			square--
		case c == '(' && square == 0:
			round++
		case c == ')' && square == 0:
			round--
		case c == at && square == 0 && round == 0:
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return append(parts, text[start:])
}

// of is the expression for one benchmark of the top and what it runs in turn, "" where
// the pattern does not match it.
func (p Pattern) of(name string) string {
	var found []string
	for _, levels := range p {
		if ok, err := regexp.MatchString(levels[0], name); err == nil && ok {
			found = append(found, strings.Join(append([]string{Exactly(name)}, levels[1:]...), "/"))
		}
	}
	return strings.Join(found, "|")
}

// Match tells whether the pattern names a benchmark, given by its name with or without the number
// of Ps.
func (p Pattern) Match(name string) bool {
	parts := strings.Split(procsSuffix.ReplaceAllString(name, ""), "/")
	for _, levels := range p {
		all := len(levels) <= len(parts)
		for i := 0; all && i < len(levels); i++ {
			ok, err := regexp.MatchString(levels[i], parts[i])
			all = err == nil && ok
		}
		if all {
			return true
		}
	}
	return false
}

// procsSuffix is the number of Ps behind the name of a benchmark.
var procsSuffix = regexp.MustCompile(`-[1-9][0-9]*$`)

// Exactly is the expression for one benchmark alone, by its name without the number of Ps.
func Exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
