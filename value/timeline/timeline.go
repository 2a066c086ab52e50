// Package timeline is the one time axis of a recording: instants, half-open
// spans, clocks that map a file's own time onto the axis, and columns of
// timed values.
//
// The axis counts nanoseconds since the recording's epoch. Wall-clock dates
// appear only in a recording's manifest; everything else is relative, so that
// two recordings can be laid over each other.
package timeline

import (
	"sort"
	"time"
)

// Time is an instant: nanoseconds since the recording's epoch. It may be
// negative for something that happened before the recording began.
type Time int64

// Add returns the instant d after t.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Seconds returns t in seconds.
func (t Time) Seconds() float64 { return float64(t) / 1e9 }

// Span is the half-open interval Start <= t < End.
type Span struct {
	Start Time `json:"start_ns"`
	End   Time `json:"end_ns"`
}

// Len returns the length of s, zero for an empty or inverted span.
func (s Span) Len() time.Duration { return max(0, s.End.Sub(s.Start)) }

// Contains tells whether t lies in s.
func (s Span) Contains(t Time) bool { return s.Start <= t && t < s.End }

// Overlap returns how much of s lies in u.
func (s Span) Overlap(u Span) time.Duration {
	return max(0, min(s.End, u.End).Sub(max(s.Start, u.Start)))
}

// Clock maps the time of one file or process onto the recording's axis:
//
//	axis = Offset + Rate × own
//
// The zero Clock is the identity.
type Clock struct {
	// Offset is where the clock's own zero lies on the axis.
	Offset Time `json:"offset_ns"`
	// Drift is the clock's rate minus one; 1e-6 means that it runs slow by
	// one microsecond a second. Almost always zero on one machine.
	Drift float64 `json:"drift,omitempty"`
	// Error bounds how far a mapped instant may be off, in both directions.
	Error time.Duration `json:"error_ns"`
}

// At maps an instant of the clock's own time, in nanoseconds, onto the axis.
func (c Clock) At(own int64) Time {
	return c.Offset + Time(own) + Time(c.Drift*float64(own))
}

// Span maps a span of the file's own time onto the axis.
func (c Clock) Span(own Span) Span {
	return Span{Start: c.At(int64(own.Start)), End: c.At(int64(own.End))}
}

// Own maps an instant of the axis onto the clock's own time: the opposite of
// [Clock.At], and exact where there is no drift.
func (c Clock) Own(t Time) int64 {
	d := int64(t - c.Offset)
	return d - int64(float64(d)*c.Drift/(1+c.Drift))
}

// Series is a column of values with the instants at which they were taken,
// in ascending order of time.
type Series struct {
	Name   string
	Times  []Time
	Values []float64
}

// Append adds a value; at must not lie before the last one.
func (s *Series) Append(at Time, v float64) {
	s.Times = append(s.Times, at)
	s.Values = append(s.Values, v)
}

// In returns the part of s that lies in span. The columns are shared with s.
func (s Series) In(span Span) Series {
	lo := sort.Search(len(s.Times), func(i int) bool { return s.Times[i] >= span.Start })
	hi := sort.Search(len(s.Times), func(i int) bool { return s.Times[i] >= span.End })
	hi = max(lo, hi)
	return Series{Name: s.Name, Times: s.Times[lo:hi], Values: s.Values[lo:hi]}
}
