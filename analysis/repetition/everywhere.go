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

// Everywhere is a function that requests call with arguments which earlier requests had, and that returns what it returned then.
type Everywhere struct {
	Entry recording.Entry
	// Func is the function, and Unit the outermost around it, of which Share is the part that calls after the first take.
	Func, Unit repeats.Func
	Share      float64
	// Outer are the counts within Unit, All those of the whole run.
	Outer  repeats.Within
	All    repeats.Counts
	within map[[2]int]time.Duration
}

// Limits of what counts as the same everywhere. Chosen.
const (
	fewEverywhere  = 20  // calls again
	partEverywhere = 0.9 // of all calls
	partAgain      = 0.5 // of all calls, where something else says that they are needless
)

// EverywhereIn are such functions, those first that take the most, and of those that take as much the outer ones. What is called by one of them is
// told as well, see [Everywhere.PartOf]. An error is that the recording has no counts. There are none without a load: a run is no
// series of requests.
func EverywhereIn(s *session.Session) (all []Everywhere, err error) {
	set, err := countsOf(s)
	if err != nil || !set.Loaded {
		return nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	within, _ := timesOf(set)
	for call, ways := range waysOf(set, func(w repeats.Within) bool { return w.Around >= fewAround }) {
		f := set.Functions[call]
		outer := ways[len(ways)-1]
		if f.Everywhere == nil || !sameEverywhere(f.Everywhere) || f.Caller != "" && ownCall(set, f) {
			continue
		}
		x := Everywhere{Entry: entry, Func: f, Unit: set.Functions[outer.In], Outer: outer, All: *f.Everywhere, within: within}
		again := float64(f.Everywhere.AgainTime) / float64(max(1, f.Everywhere.Time))
		x.Share = min(1, again*float64(outer.Time)/float64(max(1, outer.AroundTime)))
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Everywhere) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Outer.Time, a.Outer.Time), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return all, nil
}

// PartOf tells whether most of the function's time passes within calls of another.
func (x Everywhere) PartOf(o Everywhere) bool {
	in, call := o.Outer.Call, x.Outer.Call
	return in != call && float64(x.within[[2]int{in, call}]) >= partOfCall*float64(x.Func.Time)
}

// sameEverywhere tells whether nearly all calls had the arguments of an earlier one, took time, and returned the same.
func sameEverywhere(e *repeats.Counts) bool {
	t := e.Traits
	switch {
	case t.Void, t.Alters, t.Writes, t.Fails, t.Plain && t.Partial:
		return false
	case e.Differ > 0, e.Again < fewEverywhere, e.AgainTime < leastAgain, e.Time < leastKept*time.Duration(e.Calls):
		return false
	}
	return float64(e.Again) >= partEverywhere*float64(e.Calls)
}

// SeenAt is what was counted of the calls of a library's function on a line of the program, by the last part of its name. It is false where
// they were not counted, or not to the end, or did not return the same for the same arguments as far as that was seen.
func SeenAt(s *session.Session, file string, line int, name string) (calls repeats.Counts, loaded, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return calls, false, false
	}
	for _, f := range set.Functions {
		if f.Caller == "" || f.File != file || f.Line != line || f.Name[strings.LastIndexByte(f.Name, '.')+1:] != name || f.Everywhere == nil || f.Cut {
			continue
		}
		if e := f.Everywhere; e.Differ == 0 && !e.Alters && !e.Partial && !e.Fails {
			return *e, set.Loaded, true
		}
	}
	return calls, false, false
}

// AskedAgain are the calls of the function that is declared on a line, and how many different arguments they had, within the calls of the function around in
// which most of them repeat. It is false where that was not counted to the end, or arguments other than the receiver were not compared as a whole.
func AskedAgain(s *session.Session, file string, line int) (calls, distinct int64, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return 0, 0, false
	}
	again := int64(-1)
	for _, w := range pairsOf(set) {
		f := set.Functions[w.Call]
		if f.Caller != "" || f.File != file || f.Line != line || f.Cut || w.Sampled || w.Partial && (!w.First || w.Others) || w.Large || w.Unknown || w.Again <= again {
			continue
		}
		again, calls, distinct, ok = w.Again, w.Calls, w.Distinct, true
	}
	return calls, distinct, ok
}

// DifferentIn is how many different arguments the calls of the function that is declared on a line had in the whole run, its receiver aside where that
// was not compared as a whole. It is false where that was not counted, or where other arguments were not compared as a whole.
func DifferentIn(s *session.Session, file string, line int) (calls, distinct int64, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return 0, 0, false
	}
	for _, f := range set.Functions {
		e := f.Everywhere
		if f.Caller == "" && f.File == file && f.Line == line && !f.Cut && e != nil && !e.Sampled && !e.Large && !e.Unknown && (!e.Partial || e.First && !e.Others) {
			return e.Calls, e.Distinct, true
		}
	}
	return 0, 0, false
}

// fewCalls is how many calls have to be counted to say of a function that it is never asked the same. Chosen.
const fewCalls = 20

// NeverAgain is how often something was called that never had the arguments of an earlier call: the function of the program that is declared on
// a line, where name is empty, or a library's function of that name that is called there. It is false where a call had them, or where that was not
// followed to the end.
func NeverAgain(s *session.Session, file string, line int, name string) (calls int64, ok bool) {
	return neverAgain(s, file, line, name, fewCalls)
}

// NeverTwice is [NeverAgain] of however few calls: that what costs much was never done twice says of a few that there is nothing to keep.
func NeverTwice(s *session.Session, file string, line int, name string) (calls int64, ok bool) {
	return neverAgain(s, file, line, name, 1)
}

// neverAgain is [NeverAgain] of at least so many calls.
func neverAgain(s *session.Session, file string, line int, name string, least int64) (calls int64, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return 0, false
	}
	for _, f := range set.Functions {
		if f.File != file || f.Line != line || (f.Caller == "") != (name == "") || name != "" && f.Name[strings.LastIndexByte(f.Name, '.')+1:] != name {
			continue
		}
		if f.Cut || f.Calls < least || f.Time < leastKept*time.Duration(f.Calls) || f.Everywhere != nil && f.Everywhere.Again > 0 {
			return 0, false
		}
		calls, ok = calls+f.Calls, true
	}
	return calls, ok
}

// AgainIn are functions, and calls of libraries' functions at their lines, half of whose calls and more had the arguments of an earlier one and returned
// what that had returned, whatever was around them, those first whose repetition took longest: of Outer only the function is set, and Unit and Share are not. An error is
// that the recording has no counts.
func AgainIn(s *session.Session) (all []Everywhere, err error) {
	set, err := countsOf(s)
	if err != nil {
		return nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	within, _ := timesOf(set)
	for i, f := range set.Functions {
		e := f.Everywhere
		if e == nil || f.Caller != "" && ownCall(set, f) {
			continue
		}
		switch t := e.Traits; {
		case t.Void, t.Alters, t.Writes, t.Fails, t.Vague, t.Plain && t.Partial, e.Differ > 0:
		case e.Again < fewEverywhere, float64(e.Again) < partAgain*float64(e.Calls), e.AgainTime < leastAgain, e.Time < leastKept*time.Duration(e.Calls):
		default:
			all = append(all, Everywhere{Entry: entry, Func: f, All: *e, Outer: repeats.Within{Call: i}, within: within})
		}
	}
	slices.SortFunc(all, func(a, b Everywhere) int {
		return cmp.Or(cmp.Compare(b.All.AgainTime, a.All.AgainTime), strings.Compare(a.Func.Name, b.Func.Name), cmp.Compare(a.Func.Line, b.Func.Line))
	})
	return all, nil
}
