// Package repetition judges which calls of a program repeat: that had the arguments of an earlier call and returned what
// that had returned (format/repeats). It tells the function, what is around it in whose calls that is, and what part of
// the time it takes.
package repetition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/format/repeats"
	"loupe/recording"
	"loupe/session"
)

// Call is a function whose calls have the arguments of earlier ones, and return the same again.
type Call struct {
	Entry recording.Entry
	// Func is the function; Within the one in whose calls nearly all of the repetition lies, nearest to
	// it, and Unit the outermost, of which Share is the part that calls after the first take.
	Func, Within, Unit repeats.Func
	Share              float64
	// Inner are the counts within Within, Outer those within Unit.
	Inner, Outer repeats.Within
	// Loaded tells that a load was put on the program.
	Loaded bool
}

// Limits of what counts as repetition.
const (
	mostBytes  = 64 << 20
	fewAgain   = 8                     // calls: fewer may be chance, unless they take long
	fewLong    = 2                     // calls that take long: one may be a first try
	leastLong  = 50 * time.Millisecond // the mean of a call that takes long
	fewAround  = 5                     // calls around under load: fewer may be set-up
	leastAgain = 20 * time.Millisecond // that repeated calls took in all
	leastCall  = time.Microsecond      // the mean of a call: cheaper ones are distorted by being counted
	leastKept  = 3 * time.Microsecond  // the same where results have to be looked up by their arguments
	innermost  = 0.8                   // of the repetition that has to lie within the nearest function
	partOfCall = 0.6                   // of a function's time that lies within another whose calls repeat
)

// countsOf are those of a recording. An error wraps [session.ErrNone] where it has none.
func countsOf(s *session.Session) (*repeats.Set, error) {
	e, ok := s.Manifest().Main(recording.Repeats)
	if !ok {
		return nil, fmt.Errorf("counts of calls that repeat: %w", session.ErrNone)
	}
	return session.Computed(s, "repeats:"+e.Path, func(s *session.Session) (*repeats.Set, error) {
		data, err := s.Bytes(e, mostBytes)
		if err != nil {
			return nil, err
		}
		set, err := repeats.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", e.Path, err)
		}
		return set, nil
	})
}

// Made is how often the function that is declared on a line was called: within calls of functions with names that are asked for, and
// altogether. It is false where that was not counted, or not all of it.
func Made(s *session.Session, around func(name string) bool, file string, line int) (within, all int64, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return 0, 0, false
	}
	at := slices.IndexFunc(set.Functions, func(f repeats.Func) bool { return f.Caller == "" && !f.Cut && f.File == file && f.Line == line })
	if at < 0 {
		return 0, 0, false
	}
	for _, w := range set.Within {
		if w.Call == at && around(set.Functions[w.In].Name) {
			within = max(within, w.Calls)
		}
	}
	return within, set.Functions[at].Calls, true
}

// In are such functions, those first whose repetition takes the largest part of what is around. What is called
// by one of them alone is not told again. An error is that the recording has no counts.
func In(s *session.Session) (all []Call, set *repeats.Set, err error) {
	set, err = countsOf(s)
	if err != nil {
		return nil, nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	for call, ways := range waysOf(set, func(w repeats.Within) bool { return judged(set, w) }) {
		most := time.Duration(0)
		for _, w := range ways {
			most = max(most, w.AgainTime)
		}
		inner := slices.IndexFunc(ways, func(w repeats.Within) bool { return float64(w.AgainTime) >= innermost*float64(most) })
		outer := ways[len(ways)-1]
		r := Call{Entry: entry, Func: set.Functions[call], Within: set.Functions[ways[inner].In], Unit: set.Functions[outer.In], Inner: ways[inner], Outer: outer, Loaded: set.Loaded}
		r.Share = min(1, float64(outer.AgainTime)/float64(max(1, outer.AroundTime)))
		if r.Func.Caller != "" && (outer.Partial || ownCall(set, r.Func)) {
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Call) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Outer.Time, a.Outer.Time), strings.Compare(a.Func.Name, b.Func.Name))
	})
	return withoutParts(set, all), set, nil
}

// ownCall tells of a call that was counted at its line that it may be of a function which is counted itself: the name is the same, and
// the function around calls that.
func ownCall(set *repeats.Set, at repeats.Func) bool {
	name := at.Name[strings.LastIndexByte(at.Name, '.')+1:]
	return slices.ContainsFunc(set.Within, func(w repeats.Within) bool {
		in, call := set.Functions[w.In], set.Functions[w.Call]
		return call.Caller == "" && strings.HasSuffix(call.Name, "."+name) && (in.Name == at.Caller || in.Name == at.Caller+".func") && 2*w.Calls >= at.Calls
	})
}

// waysOf are the counts of each function within others, the nearest first, as far as they are wanted.
func waysOf(set *repeats.Set, wanted func(repeats.Within) bool) map[int][]repeats.Within {
	by := map[int][]repeats.Within{}
	for _, w := range pairsOf(set) {
		if wanted(w) {
			by[w.Call] = append(by[w.Call], w)
		}
	}
	for _, ways := range by {
		slices.SortFunc(ways, func(a, b repeats.Within) int {
			return cmp.Or(cmp.Compare(a.AroundTime/time.Duration(a.Around), b.AroundTime/time.Duration(b.Around)), cmp.Compare(a.In, b.In))
		})
	}
	return by
}

// pairsOf are the counts of pairs of functions, those of calls around that had ended and had not added up for a program that
// ends by itself: what main has called is all that there is. Under load, what never ends is no unit of work.
func pairsOf(set *repeats.Set) []repeats.Within {
	at := map[[2]int]int{}
	var out []repeats.Within
	for _, w := range set.Within {
		if w.Open && set.Loaded {
			continue
		}
		key := [2]int{w.In, w.Call}
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, w)
			continue
		}
		o := &out[i]
		o.Around, o.AroundTime, o.Calls, o.Time = o.Around+w.Around, o.AroundTime+w.AroundTime, o.Calls+w.Calls, o.Time+w.Time
		o.WholeTime += w.WholeTime
		o.Distinct, o.Again, o.AgainTime = o.Distinct+w.Distinct, o.Again+w.Again, o.AgainTime+w.AgainTime
		o.Differ, o.Changed, o.Sampled = o.Differ+w.Differ, o.Changed+w.Changed, o.Sampled || w.Sampled
		o.Course = joinSteps(o.Course, w.Course)
		o.Most, o.MostOne = max(o.Most, w.Most), max(o.MostOne, w.MostOne)
		t, u := &o.Traits, w.Traits
		t.Partial, t.Vague, t.Plain, t.Writes = t.Partial || u.Partial, t.Vague || u.Vague, t.Plain || u.Plain, t.Writes || u.Writes
		t.Alters, t.Void, t.Refers, t.Fails = t.Alters || u.Alters, t.Void || u.Void, t.Refers || u.Refers, t.Fails || u.Fails
		t.Handles, t.Maps, t.Large = t.Handles || u.Handles, t.Maps || u.Maps, t.Large || u.Large
		t.First, t.Others, t.Unknown = t.First || u.First, t.Others || u.Others, t.Unknown || u.Unknown
	}
	return out
}

// joinSteps adds up two courses.
func joinSteps(a, b []repeats.Step) []repeats.Step {
	out := slices.Clone(a)
	for i, x := range b {
		if i == len(out) {
			out = append(out, repeats.Step{})
		}
		o := &out[i]
		o.Calls, o.Time, o.Size, o.Digits = o.Calls+x.Calls, o.Time+x.Time, o.Size+x.Size, o.Digits+x.Digits
	}
	return out
}

// judged tells whether counts can show that calls repeat: nothing that was seen of them says that each has to be made.
func judged(set *repeats.Set, w repeats.Within) bool {
	t := w.Traits
	switch {
	case t.Void, t.Alters, t.Writes, t.Fails, t.Unknown, t.Plain && t.Partial:
		return false
	case w.Differ > 0, w.Again < fewAgain && !longAgain(w), w.AgainTime < leastAgain, w.Time < leastCall*time.Duration(w.Calls):
		return false
	case 2*w.Distinct > 3*w.Around && w.Time < leastKept*time.Duration(w.Calls):
		return false
	case set.Loaded && w.Around < fewAround:
		return false
	}
	return true
}

// longAgain tells of a few calls which repeat that each of them takes long.
func longAgain(w repeats.Within) bool {
	return w.Again >= fewLong && w.AgainTime >= leastLong*time.Duration(w.Again)
}

// withoutParts leaves out what is called by another function of the list: it repeats because that does.
func withoutParts(set *repeats.Set, all []Call) (out []Call) {
	within, total := timesOf(set)
	for i, r := range all {
		part := slices.ContainsFunc(all, func(o Call) bool {
			in, call := o.Outer.Call, r.Outer.Call
			return in != call && float64(within[[2]int{in, call}]) >= partOfCall*float64(total[call]) && o.Share >= partOfCall*r.Share &&
				float64(within[[2]int{call, in}]) < partOfCall*float64(total[in])
		})
		if !part {
			out = append(out, all[i])
		}
	}
	return out
}
