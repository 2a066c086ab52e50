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

// Recursion is a function that asks itself again for what it has returned: its calls within its own outermost one have the arguments of others that
// have ended.
type Recursion struct {
	Entry recording.Entry
	Func  repeats.Func
	repeats.Recursion
	// Share is the part of the outermost calls that those again take.
	Share float64
	// Given tells that the arguments hold the same in nearly all calls again: what they return comes from nothing else, as far as
	// that is seen. Otherwise they are the same but for what lies behind a pointer or in a map, as a set of what has been visited.
	Given bool
	// Few tells that they are not, and that there are so few different results that a search which puts back what it has tried may return them too.
	Few bool
	// Void tells that nothing, or an error alone, is returned: it is called for what it does.
	Void bool
	// Loaded tells that a load was put on the program.
	Loaded bool
	at     int // among the functions of the counts: literals of one function share its name
}

// Limits of what counts as the same in a recursion. Chosen.
const (
	fewNested   = 100  // calls again
	partNested  = 0.5  // of the time of outermost calls
	eachArg     = 3    // calls for each different argument
	fewResults  = 8    // different results, where what lies behind the arguments differs
	nearlyGiven = 0.98 // of the calls again, whose arguments hold the same
)

// RecursionsIn are such functions, those first that take the most time with it; of functions that call each other the outermost. An error is that
// the recording has no counts.
func RecursionsIn(s *session.Session) (all []Recursion, err error) {
	set, err := countsOf(s)
	if err != nil {
		return nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	within, _ := timesOf(set)
	for i, f := range set.Functions {
		if f.Recursion == nil || !asksAgain(f.Recursion) {
			continue
		}
		x := Recursion{Entry: entry, Func: f, Recursion: *f.Recursion, Void: f.Recursion.Traits.Void, Loaded: set.Loaded, at: i}
		x.Share = min(1, float64(x.TopsTime)/float64(max(1, x.AroundTime)))
		x.Given = float64(x.Same) >= nearlyGiven*float64(x.Again)
		x.Few = !x.Given && !x.Void && x.Results < fewResults
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Recursion) int {
		return cmp.Or(cmp.Compare(b.AroundTime, a.AroundTime), strings.Compare(a.Func.Name, b.Func.Name), cmp.Compare(a.at, b.at))
	})
	var out []Recursion
	for _, x := range all {
		part := slices.ContainsFunc(out, func(o Recursion) bool {
			return float64(within[[2]int{o.at, x.at}]) >= partOfCall*float64(x.Func.Time)
		})
		if !part {
			out = append(out, x)
		}
	}
	return out, nil
}

// asksAgain tells whether most of the time of a function within itself goes to what it has computed before.
func asksAgain(r *repeats.Recursion) bool {
	t := r.Traits
	switch {
	case t.Alters, t.Writes, t.Fails:
		return false
	case r.Differ > 0, r.Again < fewNested, r.Again < eachArg*r.Distinct:
		return false
	case float64(r.TopsTime) < partNested*float64(r.AroundTime), r.TopsTime < leastKept*time.Duration(r.Tops):
		return false
	}
	return true
}
