package dump

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/value/filter"
	"loupe/value/stack"
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
	filter.Term
	age time.Duration
	ids []uint64
}

var filterGrammar = filter.Grammar{
	"state": "= != ~ !~", "func": "= != ~ !~", "creator": "= != ~ !~", "label": "= != ~ !~",
	"age": "> >= < <=", "g": "=", "leaked": "", "locked": "",
}

// ParseFilter reads a filter. An empty one is nil, which lets everything through.
func ParseFilter(text string) (*Filter, error) {
	terms, err := filterGrammar.Parse(text)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	f := &Filter{}
	for _, t := range terms {
		own := filterTerm{Term: t}
		switch t.Key {
		case "age":
			if own.age, err = time.ParseDuration(t.Value); err != nil {
				return nil, fmt.Errorf("age%s%s: want a time such as 5m or 2h", t.Op, t.Value)
			}
		case "g":
			for n := range strings.SplitSeq(t.Value, ",") {
				id, err := strconv.ParseUint(n, 10, 64)
				if err != nil {
					return nil, fmt.Errorf("g=%s: want numbers of goroutines", t.Value)
				}
				own.ids = append(own.ids, id)
			}
		}
		f.terms = append(f.terms, own)
	}
	return f, nil
}

// Keep returns what chooses the goroutines of a file that the filter lets
// through. It looks at each stack once.
func (x *Filter) Keep(f *File) func(g int) bool {
	return x.KeepAged(f, func(g int) time.Duration { return time.Duration(f.Waits[g]) * time.Minute })
}

// KeepAged is Keep for who knows the ages of goroutines better than Go prints
// them.
func (x *Filter) KeepAged(f *File, age func(g int) time.Duration) func(g int) bool {
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
			switch t.Key {
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
				if !t.goroutine(f, g, age) {
					return false
				}
			}
		}
		return true
	}
}

func (t *filterTerm) stack(f *File, id stack.ID) bool {
	found := false
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		name, created := strings.CutPrefix(r.Func, CreatedBy)
		if created == (t.Key == "creator") && (t.Fits(name) || t.Fits(r.File)) {
			found = true
			break
		}
	}
	return found != t.Negative()
}

func (t *filterTerm) goroutine(f *File, g int, age func(g int) time.Duration) bool {
	s := f.State(g)
	switch t.Key {
	case "state":
		return t.Fits(s.Name) != t.Negative()
	case "label":
		return t.Fits(s.Labels) != t.Negative()
	case "leaked":
		return s.Leaked
	case "locked":
		return s.Locked
	case "g":
		return slices.Contains(t.ids, f.IDs[g])
	}
	wait := age(g)
	switch t.Op {
	case ">":
		return wait > t.age
	case ">=":
		return wait >= t.age
	case "<":
		return wait < t.age
	}
	return wait <= t.age
}
