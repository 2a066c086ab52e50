package store

import (
	"context"
	"fmt"
	"time"

	"loupe/format/profile"
)

// Moved is a profile on its way from one engine to another: one as it was written, or one
// that an engine has made of several when it thinned them out.
type Moved struct {
	Labels Labels
	// Types are those that are kept; column i of the samples and Totals[i] belong to Types[i].
	Types    []Type
	Time     time.Time // when it began, or its interval
	Duration time.Duration
	// Resolution is the length of the interval that it was thinned out to, 0 when it is as it
	// came.
	Resolution time.Duration
	Count      int64   // profiles that were added up, 1 of one as it came
	Weight     int64   // what values of states are to be divided by, 1 of one as it came
	Totals     []int64 // of all samples, not divided
	// Nth tells profiles apart that are equal in all of that: how many there were before it.
	Nth int
	// Samples decodes the samples. It may be called until the function that got the Moved
	// returns; what it returns stays valid.
	Samples func() (*profile.Profile, error)
}

// Value returns what one column amounts to, as [Engine.Totals] without steps says it: a
// state is divided by its weight.
func (m *Moved) Value(column int) int64 {
	if m.Types[column].Over() == Sum {
		return m.Totals[column]
	}
	return average(m.Totals[column], m.Weight)
}

// average is a mean as engines round it: to the nearest whole number, halves away from zero.
func average(sum, n int64) int64 {
	if sum < 0 {
		return -average(-sum, n)
	}
	return (sum + n/2) / n
}

// Check says what is wrong with a profile that is to be taken over: ErrInvalid, wrapped.
func (m *Moved) Check() error {
	if m.Resolution < 0 || m.Count < 1 || m.Weight < 1 || m.Resolution == 0 && (m.Count != 1 || m.Weight != 1) {
		return fmt.Errorf("%w: it is %d profiles of %v with the weight %d", ErrInvalid, m.Count, m.Resolution, m.Weight)
	}
	return nil
}

// Exporter is a place that profiles can be taken out of as they are kept: an engine, or an
// archive.
type Exporter interface {
	// Days returns the begins of the days, in UTC, that there are profiles of, sorted.
	Days(ctx context.Context) ([]time.Time, error)
	// Export calls f with every selected profile: series by series, in each by time. It
	// stops at an error of f and returns it.
	Export(ctx context.Context, s Selection, f func(m *Moved) error) error
}

// Importer is an engine that takes profiles over as another one kept them.
type Importer interface {
	Engine
	// Import stores profiles, all or none of them, durably, at the resolution that they
	// have. Their IDs are made of what they say, see [Moved.ID], and each is stored once, as
	// in Write.
	Import(ctx context.Context, list []*Moved) error
}

// ID names the profile by whose it is, when, and how much.
func (m *Moved) ID() ID {
	parts := [][]byte{[]byte(m.Labels.String()), fmt.Appendf(nil, "%d %d %d %d %d %d", m.Time.UnixNano(), m.Duration, m.Resolution, m.Count, m.Weight, m.Nth)}
	for i, t := range m.Types {
		parts = append(parts, fmt.Appendf(nil, "%s %d", t, m.Totals[i]))
	}
	return IDOf(parts...)
}
