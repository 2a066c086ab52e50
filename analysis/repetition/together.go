package repetition

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/repeats"
	"loupe/recording"
	"loupe/session"
)

// Together is a function that several goroutines call with the same arguments at the same time, where others that ask for the
// same find it done: somebody remembers what it returns, or what it did (Outer.Void).
type Together struct {
	Entry recording.Entry
	// Func is the function, Caller the one around it whose calls with the same arguments do without it for the most part, and Unit the
	// outermost, of which Share is the part that calls take which began while others went on.
	Func, Caller, Unit repeats.Func
	Share              float64
	// Inner are the counts within Caller, Outer those within Unit.
	Inner, Outer repeats.Within
	// Apart tells that calls that went on together returned different things, as answers do that have the time in them.
	Apart bool
}

// Limits of what goes on together. Chosen.
const (
	fewTogether  = 8
	partTogether = 0.3 // of all calls
	mostApart    = 0.02
	mostOfUnits  = 0.5 // of the calls of the outermost function: what each of them makes is not remembered by anybody
	mostMade     = 0.8 // of the calls around with the same arguments: the rest has found it done
	workGoesOn   = 0.7 // as many calls as a function has the one that does its work: else one has done it for others
)

// TogetherIn are such functions, those first that take the most. What is called by one of them alone is not told again. An error is that
// the recording has no counts. Only under load several do the same at once that nobody has planned.
func TogetherIn(s *session.Session) (all []Together, set *repeats.Set, err error) {
	if set, err = countsOf(s); err != nil || !set.Loaded {
		return nil, set, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	within, _ := timesOf(set)
	for call, ways := range waysOf(set, func(w repeats.Within) bool { return set.Functions[w.Call].Caller == "" }) {
		f, outer := set.Functions[call], ways[len(ways)-1]
		inner := slices.IndexFunc(ways, func(w repeats.Within) bool { return w.Same > 0 && !set.Functions[w.In].Cut })
		if inner < 0 || f.Cut || !goesOnTogether(f, outer, set.Functions[outer.In]) || float64(ways[inner].Made) > mostMade*float64(ways[inner].Same) || waitsForOne(set, within, call) {
			continue
		}
		x := Together{Entry: entry, Func: f, Caller: set.Functions[ways[inner].In], Unit: set.Functions[outer.In], Inner: ways[inner], Outer: outer}
		x.Apart = apart(f)
		x.Share = min(1, float64(f.TogetherTime)/float64(max(1, outer.AroundTime, x.Unit.Time)))
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Together) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return slices.DeleteFunc(all, func(x Together) bool {
		return slices.ContainsFunc(all, func(o Together) bool {
			in, call := o.Outer.Call, x.Outer.Call
			return in != call && float64(within[[2]int{in, call}]) >= partOfCall*float64(x.Func.Time) && float64(within[[2]int{call, in}]) < partOfCall*float64(o.Func.Time)
		})
	}), set, nil
}

// goesOnTogether tells of a function whether much of it is the same that goes on elsewhere, and most of the outermost calls do without it.
func goesOnTogether(f repeats.Func, outer repeats.Within, unit repeats.Func) bool {
	t := outer.Traits
	switch {
	case t.Writes, t.Fails, t.Vague && t.Handles, t.Handles && apart(f):
		return false
	case f.Together < fewTogether, float64(f.Together) < partTogether*float64(f.Calls):
		return false
	}
	return outer.Around >= fewAround && float64(outer.Calls) <= mostOfUnits*float64(unit.Calls) && f.TogetherTime >= leastAgain
}

// apart tells of a function that its calls which went on together did not return the same.
func apart(f repeats.Func) bool { return float64(f.Apart) > mostApart*float64(f.Together) }

// waitsForOne tells whether a function calls another one in some of its calls alone, which would take most of its time if all of them called it:
// one does the work, and the others wait for it.
func waitsForOne(set *repeats.Set, within map[[2]int]time.Duration, call int) bool {
	f := set.Functions[call]
	for i, g := range set.Functions {
		took := within[[2]int{call, i}]
		if i != call && g.Caller == "" && took > 0 && float64(g.Calls) < workGoesOn*float64(f.Calls) && float64(took)/float64(g.Calls)*float64(f.Calls) >= partOfCall*float64(f.Time) {
			return true
		}
	}
	return false
}
