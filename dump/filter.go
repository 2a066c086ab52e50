package dump

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/stack"
)

// FilterHelp describes the filter language in a few lines.
const FilterHelp = `A filter is a row of terms, all of which must hold:
  state=select state~chan   what the goroutine does or waits for (=, !=, ~, !~)
  func~handle               some function or file of its stack (=, !=, ~, !~)
  creator~Serve             the function that started it (=, !=, ~, !~)
  age>=5m age<1h            how long it has waited; Go prints whole minutes
  g=12 g=12,15              goroutines by number
  label~users               its labels, as printed (=, !=, ~, !~)
  leaked locked             what Go says of it
= compares whole names, ~ takes a regular expression; quote what has spaces:
'state="chan receive" age>=10m'.`

// Filter picks goroutines by a row of terms: see [FilterHelp]. It is made by
// [ParseFilter].
type Filter struct{ terms []filterTerm }

type filterTerm struct {
	key, op, value string
	re             *regexp.Regexp
	age            time.Duration
	ids            []uint64
}

var filterForm = regexp.MustCompile(`^([a-z]+)(?:(!=|!~|>=|<=|=|~|>|<)(.*))?$`)

// ParseFilter reads a filter. An empty one is nil, which lets everything through.
func ParseFilter(text string) (*Filter, error) {
	words, err := filterWords(text)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	f := &Filter{}
	for _, w := range words {
		t, err := parseTerm(w)
		if err != nil {
			return nil, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// filterWords cuts a text at blanks outside of quotation marks, which it takes off.
func filterWords(text string) (words []string, err error) {
	var b strings.Builder
	quote, in := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, b.String())
				b.Reset()
			}
			in = false
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quotation mark %c is not closed", quote)
	}
	if in {
		words = append(words, b.String())
	}
	return words, nil
}

func parseTerm(word string) (t filterTerm, err error) {
	m := filterForm.FindStringSubmatch(word)
	if m == nil {
		return t, fmt.Errorf("cannot understand %q: want a key, an operator and a value, such as state~chan", word)
	}
	t = filterTerm{key: m[1], op: m[2], value: m[3]}
	ops := map[string]string{"state": "= != ~ !~", "func": "= != ~ !~", "creator": "= != ~ !~", "label": "= != ~ !~", "age": "> >= < <=", "g": "=", "leaked": "", "locked": ""}
	known, ok := ops[t.key]
	if !ok {
		return t, fmt.Errorf("cannot filter by %q: there are state, func, creator, age, g, label, leaked and locked", t.key)
	}
	if !slices.Contains(strings.Split(known, " "), t.op) {
		return t, fmt.Errorf("%q: after %s comes one of: %s", word, t.key, cmp.Or(known, "nothing"))
	}
	switch {
	case t.key == "age":
		if t.age, err = time.ParseDuration(t.value); err != nil {
			return t, fmt.Errorf("%q: want a time such as 5m or 2h", word)
		}
	case t.key == "g":
		for n := range strings.SplitSeq(t.value, ",") {
			id, err := strconv.ParseUint(n, 10, 64)
			if err != nil {
				return t, fmt.Errorf("%q: want numbers of goroutines", word)
			}
			t.ids = append(t.ids, id)
		}
	case strings.HasSuffix(t.op, "~"):
		if t.re, err = regexp.Compile(t.value); err != nil {
			return t, fmt.Errorf("%q: %w", word, err)
		}
	}
	return t, nil
}

// Keep returns what chooses the goroutines of a file that the filter lets
// through. It looks at each stack once.
func (x *Filter) Keep(f *File) func(g int) bool {
	if x == nil {
		return func(int) bool { return true }
	}
	seen := make([]map[stack.ID]bool, len(x.terms))
	for i := range seen {
		seen[i] = map[stack.ID]bool{}
	}
	return func(g int) bool {
		for i := range x.terms {
			t := &x.terms[i]
			switch t.key {
			case "func", "creator":
				yes, ok := seen[i][f.StackIDs[g]]
				if !ok {
					yes = t.stack(f, f.StackIDs[g])
					seen[i][f.StackIDs[g]] = yes
				}
				if !yes {
					return false
				}
			default:
				if !t.goroutine(f, g) {
					return false
				}
			}
		}
		return true
	}
}

// word tells whether one name fits.
func (t *filterTerm) word(s string) bool {
	if t.re != nil {
		return t.re.MatchString(s)
	}
	return s == t.value
}

func (t *filterTerm) negative() bool { return t.op[0] == '!' }

func (t *filterTerm) stack(f *File, id stack.ID) bool {
	found := false
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		name, created := strings.CutPrefix(r.Func, CreatedBy)
		if created == (t.key == "creator") && (t.word(name) || t.word(r.File)) {
			found = true
			break
		}
	}
	return found != t.negative()
}

func (t *filterTerm) goroutine(f *File, g int) bool {
	s := f.State(g)
	switch t.key {
	case "state":
		return t.word(s.Name) != t.negative()
	case "label":
		return t.word(s.Labels) != t.negative()
	case "leaked":
		return s.Leaked
	case "locked":
		return s.Locked
	case "g":
		return slices.Contains(t.ids, f.IDs[g])
	}
	wait := time.Duration(f.Waits[g]) * time.Minute
	switch t.op {
	case ">":
		return wait > t.age
	case ">=":
		return wait >= t.age
	case "<":
		return wait < t.age
	}
	return wait <= t.age
}
