package repetition

import (
	"cmp"
	"slices"
	"strings"

	"loupe/format/repeats"
	"loupe/recording"
	"loupe/session"
)

// Rewritten are calls on one line that write whole files, most of them with the name and the content of an earlier one.
type Rewritten struct {
	Entry recording.Entry
	// Func are the calls, at their line, and All their counts in the whole run.
	Func repeats.Func
	All  repeats.Counts
	// Around is the function that makes them, once in each of its calls; without a name where it does not.
	Around repeats.Func
	// Unit is the outermost function around, of which Share is the part that the calls of Around take which write the same again, or else the
	// writing itself.
	Unit  repeats.Func
	Share float64
}

// writesWhole are the functions of the library that write a file as a whole, as the source calls them.
var writesWhole = []string{"os.WriteFile", "ioutil.WriteFile"}

// partRewritten is the part of the calls that have to write the same again. Chosen.
const partRewritten = 0.5

// RewrittenIn are such calls in a run that nobody puts a load on, those first that take most. An error is that the recording has no counts.
func RewrittenIn(s *session.Session) (all []Rewritten, err error) {
	set, err := countsOf(s)
	if err != nil || set.Loaded {
		return nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	ways := waysOf(set, func(w repeats.Within) bool { return w.AroundTime > 0 })
	for call, f := range set.Functions {
		e := f.Everywhere
		if f.Caller == "" || !slices.Contains(writesWhole, f.Name) || e == nil || f.Cut || e.Partial || e.Large || e.Fails || e.Again < fewAgain ||
			float64(e.Again) < partRewritten*float64(e.Calls) || len(ways[call]) == 0 {
			continue
		}
		outer := ways[call][len(ways[call])-1]
		x := Rewritten{Entry: entry, Func: f, All: *e, Unit: set.Functions[outer.In], Share: min(1, float64(e.AgainTime)/float64(outer.AroundTime))}
		if i := slices.IndexFunc(set.Functions, func(by repeats.Func) bool { return by.Caller == "" && by.Name == f.Caller }); i >= 0 && i != outer.In && set.Functions[i].Calls == f.Calls {
			for _, w := range ways[i] {
				if w.In == outer.In {
					x.Around = set.Functions[i]
					x.Share = min(1, float64(w.Time)*float64(e.Again)/float64(e.Calls)/float64(w.AroundTime))
				}
			}
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Rewritten) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Func.File, b.Func.File), cmp.Compare(a.Func.Line, b.Func.Line))
	})
	return all, nil
}
