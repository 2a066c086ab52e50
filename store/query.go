package store

import (
	"cmp"
	"fmt"
	"time"
)

// Range is a part of time: Start <= t < End. A zero Start or End is open.
type Range struct{ Start, End time.Time }

// Contains tells whether the time is in the range.
func (r Range) Contains(t time.Time) bool {
	return (r.Start.IsZero() || !t.Before(r.Start)) && (r.End.IsZero() || t.Before(r.End))
}

// Selection says which profiles a question is about: those of the type (the zero Type
// is any, where that makes sense), of series that match, that began in the range.
type Selection struct {
	Type     Type
	Matchers Matchers
	Range    Range
	Limits   Limits
}

// Limits bound what a query may cost. 0 is the default in brackets, which a machine of
// two cores answers within some seconds; a negative number is no limit.
type Limits struct {
	Series  int   // most series that may be looked at [100,000]
	Samples int64 // most samples that may be added up [500 million]
	Nodes   int   // most nodes that the merged stacks may have [4 million]
	Groups  int   // most groups that may come out [10,000]
}

// Filled returns the limits with the defaults in place of 0.
func (l Limits) Filled() Limits {
	fill := func(v *int, to int) {
		switch {
		case *v == 0:
			*v = to
		case *v < 0:
			*v = 1<<31 - 1
		}
	}
	fill(&l.Series, 100_000)
	fill(&l.Nodes, 4_000_000)
	fill(&l.Groups, 10_000)
	switch {
	case l.Samples == 0:
		l.Samples = 500_000_000
	case l.Samples < 0:
		l.Samples = 1<<63 - 1
	}
	return l
}

// TooMuch is the error of a query that went beyond one of its limits.
func TooMuch(what string, limit int64) error {
	return fmt.Errorf("%w: more than %d %s (select fewer series or a shorter range)", ErrTooMuch, limit, what)
}

// TotalsQuery asks how much there was over time. The type must be given.
type TotalsQuery struct {
	Selection
	// Step divides the range, from its Start on, which must be given then. 0 asks for
	// every profile by itself: a point has its time and its total.
	Step time.Duration
	// By are the labels that make groups. Without any, all is one group.
	By []string
	// Over is how profiles of one series in one step become one value.
	Over Aggregation
}

// TotalSeries is the line of one group.
type TotalSeries struct {
	Labels Labels  // those of the query's By
	Points []Point // sorted by time; steps without profiles are left out
}

// Point is one value of a line.
type Point struct {
	Time  time.Time // when the step, or the profile, begins
	Value int64     // in the unit of the type
	// Covered is the time that the profiles behind the value were taken for, added up over
	// series: a CPU profile of ten seconds in each of three pods covers 30 s. Of states it is 0.
	Covered time.Duration
}

// StacksQuery asks for merged stacks. The type must be given.
type StacksQuery struct {
	Selection
	// By are labels that make groups. It cannot be used with Parts.
	By []string
	// Parts are groups that are selected each by itself out of the selection, such as
	// the two sides of a diff; they may overlap. Their labels are empty in the result.
	Parts []Part
	// Sample keeps samples only whose own labels match, such as {span_id="…"}. What was
	// thinned out has none.
	Sample Matchers
	// Over is how profiles of one series become one value.
	Over Aggregation
}

// Part is one group of a [StacksQuery].
type Part struct {
	Matchers Matchers
	Range    Range
}

// TopQuery asks for functions of a long range. The type must be given.
type TopQuery struct {
	Selection
	N    int // how many functions; 0 means 100
	Over Aggregation
}

// Top are the functions that most was spent in, sorted by what was spent in the function
// itself and what it called, then by name.
type Top struct {
	Functions []FunctionTotal
	Total     int64 // of all stacks
	// Slack is the most that any function may have beyond what is said here, because
	// roll-ups keep the largest functions only. 0 means that all is exact.
	Slack int64
}

// FunctionTotal is what was spent in a function, in the unit of the type.
type FunctionTotal struct {
	Function, File string
	Self           int64 // in the function itself
	Total          int64 // and in what it called; a recursive call counts once
}

// Compare puts the largest total first, and of equal ones the first by name.
func (f FunctionTotal) Compare(g FunctionTotal) int {
	return cmp.Or(cmp.Compare(g.Total, f.Total), cmp.Compare(f.Function, g.Function), cmp.Compare(f.File, g.File))
}

// Policy says how long profiles are kept: whichever comes first. 0 in a field is the
// default in brackets; a negative number keeps for ever, or any number of bytes.
type Policy struct {
	Bytes int64 // most that the store may have on disk, what is pinned included [10 GB]
	// Raw, FiveMinutes and Hours are the age up to which profiles are kept as they
	// came [7 days], as sums of five minutes of a series [30 days], and as sums of
	// an hour of a service and version [400 days].
	Raw, FiveMinutes, Hours time.Duration
}

// At returns the resolution in which the policy keeps profiles of an age: 0 as they came. When
// drop is true, it keeps them no longer. The policy is a filled one.
func (p Policy) At(age time.Duration) (resolution time.Duration, drop bool) {
	switch {
	case age <= p.Raw:
		return 0, false
	case age <= p.FiveMinutes:
		return 5 * time.Minute, false
	case age <= p.Hours:
		return time.Hour, false
	}
	return 0, true
}

// Filled returns the policy with the defaults in place of 0, and of negative numbers the
// largest.
func (p Policy) Filled() Policy {
	const day = 24 * time.Hour
	fill := func(v *time.Duration, to time.Duration) {
		switch {
		case *v == 0:
			*v = to
		case *v < 0:
			*v = 1<<63 - 1
		}
	}
	fill(&p.Raw, 7*day)
	fill(&p.FiveMinutes, 30*day)
	fill(&p.Hours, 400*day)
	switch {
	case p.Bytes == 0:
		p.Bytes = 10 << 30
	case p.Bytes < 0:
		p.Bytes = 1<<63 - 1
	}
	return p
}

// Pin is a selection that is kept as it came: a baseline, an incident.
type Pin struct {
	Name     string
	Matchers Matchers
	Range    Range
	Reason   string // for people
}
