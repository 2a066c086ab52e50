// Package filter is the grammar of all filters that a user types: a row of
// terms such as func~handle or dur>1ms, each of a key, a comparison and a value,
// all of which must hold. What the keys mean is the business of those who have
// something to filter.
package filter

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Grammar says which comparisons each key takes: "= != ~ !~". A key with an
// empty list stands alone.
type Grammar map[string]string

// Term is one term of a filter.
type Term struct {
	Key string
	// Op is one of =, !=, ~, !~, <, <=, >, >=; empty for a key that stands
	// alone.
	Op    string
	Value string
	// Re is the value of ~ and !~.
	Re *regexp.Regexp
}

var form = regexp.MustCompile(`(?s)^([a-z]+)(?:(!=|!~|<=|>=|=|~|<|>)(.*))?$`)

// Parse reads the terms of a text, which stand between blanks; quotation marks
// hold together what has blanks in it. It fails with the term that it cannot
// read and what there is instead.
func (g Grammar) Parse(text string) ([]Term, error) {
	words, err := split(text)
	if err != nil {
		return nil, err
	}
	var all []Term
	for _, w := range words {
		t, err := g.term(w)
		if err != nil {
			return nil, fmt.Errorf("cannot read the filter term %q: %w", w, err)
		}
		all = append(all, t)
	}
	return all, nil
}

func (g Grammar) term(word string) (t Term, err error) {
	m := form.FindStringSubmatch(word)
	if m == nil {
		return t, fmt.Errorf("it should be like func~handle")
	}
	t = Term{Key: m[1], Op: m[2], Value: m[3]}
	ops, ok := g[t.Key]
	switch {
	case !ok && t.Op == "":
		return t, fmt.Errorf("it should be like func~handle")
	case !ok:
		return t, fmt.Errorf("there is no %q; known are %s", t.Key, strings.Join(slices.Sorted(maps.Keys(g)), ", "))
	case ops == "" && t.Op != "":
		return t, fmt.Errorf("%s stands alone", t.Key)
	case ops != "" && t.Op == "":
		return t, fmt.Errorf("%s wants one of %s behind it", t.Key, ops)
	case ops != "" && !slices.Contains(strings.Fields(ops), t.Op):
		return t, fmt.Errorf("%s cannot be compared by %s; it takes %s", t.Key, t.Op, ops)
	}
	if t.Op == "~" || t.Op == "!~" {
		t.Re, err = regexp.Compile(t.Value)
	}
	return t, err
}

// Negative tells whether the term holds for what does not fit its value.
func (t *Term) Negative() bool { return strings.HasPrefix(t.Op, "!") }

// Fits tells whether a word fits the value, whichever way the comparison goes.
func (t *Term) Fits(word string) bool {
	if t.Re != nil {
		return t.Re.MatchString(word)
	}
	return word == t.Value
}

// Holds tells whether the term holds for a word.
func (t *Term) Holds(word string) bool { return t.Fits(word) != t.Negative() }

// split cuts a text at blanks outside of quotation marks, which it takes off.
func split(text string) (words []string, err error) {
	var b strings.Builder
	quote, in := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if in {
				words = append(words, b.String())
				b.Reset()
			}
			in = false
		default:
			b.WriteRune(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("cannot read the filter %q: the quotation mark %c is not closed", text, quote)
	}
	if in {
		words = append(words, b.String())
	}
	return words, nil
}
