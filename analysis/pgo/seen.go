package pgo

import (
	"cmp"
	"fmt"
	"slices"

	"loupe/format/profile"
)

// Seen says how much of an older profile for the compiler a newer one has seen again.
type Seen struct {
	Total int64 // weight of all calls of the older profile
	// Calls is the weight of the calls that the newer one has, too, at the same
	// line; Lines that of those at another line of the same caller, which the
	// compiler no longer finds; Functions that of those whose functions are
	// both there, but not as caller and callee. The rest is Gone.
	Calls, Lines, Functions, Gone int64
	// Lost are the heaviest calls that no longer match.
	Lost []LostCall
}

// LostCall is a call that a profile has and the program no longer makes in the
// same place.
type LostCall struct {
	Call
	Weight int64
	Why    string
}

// SeenAgain compares a profile that was made for the compiler with a newer CPU
// profile of the program. Only calls with a weight in the older one count.
func SeenAgain(older, newer *profile.Profile) (*Seen, error) {
	was, err := CallsOf(older)
	if err != nil {
		return nil, fmt.Errorf("the older profile: %w", err)
	}
	is, err := CallsOf(newer)
	if err != nil {
		return nil, fmt.Errorf("the newer profile: %w", err)
	}
	functions, pairs := map[string]bool{}, map[[2]string]bool{}
	for c := range is.Weight {
		functions[c.Caller], functions[c.Callee] = true, true
		pairs[[2]string{c.Caller, c.Callee}] = true
	}
	m := &Seen{}
	for c, v := range was.Weight {
		m.Total += v
		why := ""
		switch {
		case is.Weight[c] != 0:
			m.Calls += v
			continue
		case pairs[[2]string{c.Caller, c.Callee}]:
			m.Lines += v
			why = "it is on another line now"
		case functions[c.Caller] && functions[c.Callee]:
			m.Functions += v
			why = "the caller was not seen calling it"
		default:
			m.Gone += v
			missing := c.Callee
			if !functions[c.Caller] {
				missing = c.Caller
			}
			why = missing + " was not seen"
		}
		m.Lost = append(m.Lost, LostCall{c, v, why})
	}
	sortLost(m.Lost)
	return m, nil
}

// sortLost puts the heaviest in front.
func sortLost(all []LostCall) {
	slices.SortFunc(all, func(a, b LostCall) int { return cmp.Or(cmp.Compare(b.Weight, a.Weight), a.Call.compare(b.Call)) })
}
