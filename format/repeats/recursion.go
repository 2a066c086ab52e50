package repeats

import "time"

// Recursion are the calls of a function within an outermost call of its own on the same goroutine. Arguments are the same here if pointers and
// maps lead to one place, whatever lies there.
type Recursion struct {
	// Around is how many outermost calls had others in them, and AroundTime what they took as long as those were counted.
	Around     int64         `json:"around"`
	AroundTime time.Duration `json:"around_ns"`
	// Calls is how many there were in them. Distinct is how many different arguments they had in each outermost call, summed up, Again how many
	// had those of one that had ended.
	Calls    int64 `json:"calls"`
	Distinct int64 `json:"distinct"`
	Again    int64 `json:"again"`
	// Tops is how many of Again were in no other one of these, and TopsTime what they took: what would be saved if results were kept.
	Tops     int64         `json:"tops"`
	TopsTime time.Duration `json:"tops_ns"`
	// Same is how many of Again had arguments that held the same as well, as far as that is seen, and Differ how many returned something else than the
	// first with these arguments.
	Same   int64 `json:"same,omitempty"`
	Differ int64 `json:"differ,omitempty"`
	// Changed is how many results were changed after they were returned, of the few that were looked at again.
	Changed int64 `json:"changed,omitempty"`
	// Results is how many different results the calls of one outermost call had, counted up to 16.
	Results int64 `json:"results"`
	// Most is the largest number of calls in one outermost call, and MostDistinct the number of different arguments they had.
	Most         int64 `json:"most"`
	MostDistinct int64 `json:"most_distinct"`
	Traits
}

// recursionFields are the numbers behind "r" in a line of the counting code.
const recursionFields = 15

// recursionOf reads them, without the first.
func recursionOf(v []int64) *Recursion {
	return &Recursion{
		Around: v[0], AroundTime: time.Duration(v[1]), Calls: v[2], Distinct: v[3], Again: v[4], Tops: v[5], TopsTime: time.Duration(v[6]),
		Same: v[7], Differ: v[8], Changed: v[9], Results: v[10], Most: v[11], MostDistinct: v[12], Traits: traitsOf(v[13]),
	}
}

// possible tells that the counts do not contradict each other.
func (r *Recursion) possible() bool {
	return sane(r.Around, int64(r.AroundTime), r.Calls, r.Distinct, r.Again, r.Tops, int64(r.TopsTime), r.Same, r.Differ, r.Changed, r.Results, r.Most, r.MostDistinct) &&
		r.Around >= 1 && r.Around <= r.Calls && r.MostDistinct <= r.Distinct && r.Distinct+r.Again <= r.Calls && r.Tops <= r.Calls && r.TopsTime <= r.AroundTime && r.Same <= r.Again && r.Most <= r.Calls && r.MostDistinct <= r.Most
}
