package heap

import (
	"cmp"
	"slices"
)

// Change is how much of something there was, and is.
type Change struct {
	Name     string `json:"name"`
	Old, New Total  `json:"-"`
}

// Count and Bytes are how many there are more, in objects and bytes.
func (c Change) Count() int64 { return c.New.Count - c.Old.Count }

// Bytes is how many bytes there are more.
func (c Change) Bytes() int64 { return c.New.Bytes - c.Old.Bytes }

// Diff compares two histograms: what grew most first, what shrank most last.
// What did not change is left out.
func Diff(before, after []Row) []Change {
	index := map[string]int{}
	var out []Change
	at := func(name string) *Change {
		i, ok := index[name]
		if !ok {
			i = len(out)
			index[name] = i
			out = append(out, Change{Name: name})
		}
		return &out[i]
	}
	for _, r := range before {
		at(r.Type).Old = Total{r.Count, r.Bytes}
	}
	for _, r := range after {
		at(r.Type).New = Total{r.Count, r.Bytes}
	}
	return sorted(out)
}

// DiffHolders compares what roots hold in the same way.
func DiffHolders(before, after []Holder) []Change {
	rows := func(list []Holder) (out []Row) {
		sums := map[string]int{}
		for _, x := range list {
			name := string(x.Kind) + " " + x.Name
			switch x.Kind {
			case Goroutine:
				name = "goroutines of " + x.Func
			case Finalizer:
				name = x.Name
			}
			i, ok := sums[name]
			if !ok {
				i = len(out)
				sums[name] = i
				out = append(out, Row{Type: name})
			}
			out[i].Bytes += x.Retained
		}
		return out
	}
	return Diff(rows(before), rows(after))
}

func sorted(list []Change) []Change {
	list = slices.DeleteFunc(list, func(c Change) bool { return c.Old == c.New })
	slices.SortFunc(list, func(x, y Change) int {
		return cmp.Or(cmp.Compare(y.Bytes(), x.Bytes()), cmp.Compare(y.Count(), x.Count()), cmp.Compare(x.Name, y.Name))
	})
	return list
}
