package repetition

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/repeats"
)

// Set is what was counted of a program.
type Set = repeats.Set

// Unjudged is a function that is called again with the arguments of earlier calls, as far as these were compared. Either some of these calls returned
// something else: nobody can tell from the counts whether what it reads has changed in between, or whether each call has to be made. Or they are too
// short to time.
type Unjudged struct {
	// Func is the function, Unit the outermost one around it, of which Share is the part that calls with arguments that had been there take: by
	// the calls that were looked at later, where it was not counted to the end.
	Func, Unit repeats.Func
	Share      float64
	// Outer are the counts within Unit.
	Outer repeats.Within
}

// UnjudgedOf are such functions of a set, those first that take the most.
func UnjudgedOf(set *Set) (all []Unjudged) {
	ways := waysOf(set, func(w repeats.Within) bool {
		return !w.Void && !w.Alters && !w.Writes && set.Functions[w.Call].Caller == "" && (!set.Loaded || w.Around >= fewAround)
	})
	for call, of := range ways {
		w := of[len(of)-1]
		short := w.Time < leastCall*time.Duration(w.Calls) && !w.Fails && !(w.Plain && w.Partial)
		if w.Again < fewAgain || w.AgainTime < leastAgain || w.Differ == 0 && !short {
			continue
		}
		part := float64(w.Again) / float64(max(1, w.Calls))
		all = append(all, Unjudged{Func: set.Functions[call], Unit: set.Functions[w.In], Share: part * shareOf(set.Functions[call], w), Outer: w})
	}
	slices.SortFunc(all, func(a, b Unjudged) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return all
}
