package bench

// Standing is what is known of a revision between a good and a bad one.
type Standing int

// What a revision may be.
const (
	Unknown Standing = iota
	Good
	Bad
	// Skipped cannot be measured, or it cannot be told which of both it is like.
	Skipped
)

// Search looks for the first bad one in a row that begins with a good one and ends with a
// bad one, by halving what is left.
type Search struct{ row []Standing }

// NewSearch begins a search in a row of n, two at least.
func NewSearch(n int) *Search {
	s := &Search{make([]Standing, n)}
	s.row[0], s.row[n-1] = Good, Bad
	return s
}

// Tell tells what one is.
func (s *Search) Tell(i int, what Standing) { s.row[i] = what }

// Left is what is left: the last that is known to be good, and the first after it that is
// known to be bad. They are neighbours when it is found.
func (s *Search) Left() (good, bad int) {
	for i, what := range s.row {
		switch what {
		case Good:
			good = i
		case Bad:
			return good, i
		}
	}
	return good, len(s.row) - 1
}

// Next is the one to look at next, the nearest to the middle of what is left; false where there is
// none any more.
func (s *Search) Next() (i int, ok bool) {
	good, bad := s.Left()
	middle := (good + bad) / 2
	for away := 0; away <= bad-good; away++ {
		for _, i := range []int{middle - away, middle + away} {
			if i > good && i < bad && s.row[i] == Unknown {
				return i, true
			}
		}
	}
	return 0, false
}
