package store

import (
	"cmp"
	"fmt"
	"strings"

	"loupe/format/profile"
)

// Type says what a column of values is, in the five parts that Pyroscope's protocol has:
// process_cpu:cpu:nanoseconds:cpu:nanoseconds.
type Type struct {
	Name       string // of the profile: process_cpu, memory, mutex, block, goroutine
	Sample     string // what is counted: cpu, alloc_space, contentions
	Unit       string // and in which unit: nanoseconds, bytes, count
	Period     string // what the profiler counts between two samples: cpu, space
	PeriodUnit string // and in which unit
}

// ParseType reads the form that [Type.String] writes.
func ParseType(s string) (Type, error) {
	parts := strings.Split(s, ":")
	if len(parts) != 5 || parts[0] == "" || parts[1] == "" {
		return Type{}, fmt.Errorf("cannot read profile type %q: want five parts, such as process_cpu:cpu:nanoseconds:cpu:nanoseconds", s)
	}
	return Type{parts[0], parts[1], parts[2], parts[3], parts[4]}, nil
}

// String returns the five parts, joined by colons.
func (t Type) String() string {
	return strings.Join([]string{t.Name, t.Sample, t.Unit, t.Period, t.PeriodUnit}, ":")
}

// Compare orders types by their parts.
func (t Type) Compare(u Type) int { return cmp.Compare(t.String(), u.String()) }

// Aggregation is how the profiles of one series become one value.
type Aggregation uint8

// The ways. Of several series the values are always summed.
const (
	// Natural is the way of the type: Sum of activity, Mean of a state.
	Natural Aggregation = iota
	// Sum adds all profiles up: what was spent in the range.
	Sum
	// Mean is the average of the profiles that the series has in the range, each stack
	// rounded to the nearest whole number, halves away from zero. A series counts in
	// full, however little of the range it was there.
	Mean
	// Last is the last profile that the series has in the range. Of what was thinned
	// out it is the mean of the last interval.
	Last
)

// String returns the name in lower case.
func (a Aggregation) String() string { return [...]string{"natural", "sum", "mean", "last"}[a] }

// Over returns how values of the type add up over time: Sum for what is spent (CPU,
// allocations, delays), Mean for what is a state at one moment (memory in use,
// goroutines, threads), of which a sum over time means nothing. A type that is not
// known is taken for one of activity.
func (t Type) Over() Aggregation {
	if strings.HasPrefix(t.Sample, "inuse_") {
		return Mean
	}
	switch t.Name {
	case "goroutine", "goroutines", "goroutineleak", "goroutineleaks", "threadcreate":
		return Mean
	case "heap", "memory", "inuse": // before Go 1.1, and other languages
		if t.Sample == "space" || t.Sample == "objects" {
			return Mean
		}
	}
	switch t.Sample {
	case "goroutine", "goroutines", "goroutineleak", "threadcreate", "threads":
		return Mean
	}
	return Sum
}

// Resolve returns the way that a query which asks for a is answered in, or
// ErrAggregation: a state has no sum over time, and activity nothing but its sum.
func (t Type) Resolve(a Aggregation) (Aggregation, error) {
	natural := t.Over()
	if a == Natural || a == natural || natural == Mean && a == Last {
		return max(a, natural), nil
	}
	return 0, fmt.Errorf("%w: %s is aggregated over time by %s, not %s", ErrAggregation, t, natural, a)
}

// TypesOf names the columns of a profile. The name is that of the profile, such as
// process_cpu; "" derives it from what is counted, as Pyroscope's clients name it:
// process_cpu, memory, mutex or block (which a profile does not tell apart: block),
// goroutine, or else what the sample type says.
func TypesOf(p *profile.Profile, name string) []Type {
	if name == "" {
		name = nameOf(p)
	}
	types := make([]Type, len(p.SampleTypes))
	for i, v := range p.SampleTypes {
		types[i] = Type{name, clean(v.Type), clean(v.Unit), clean(p.PeriodType.Type), clean(p.PeriodType.Unit)}
	}
	return types
}

// nameOf guesses a profile's name from its sample types.
func nameOf(p *profile.Profile) string {
	for _, v := range p.SampleTypes {
		switch v.Type {
		case "cpu":
			return "process_cpu"
		case "alloc_space", "inuse_space", "alloc_objects", "inuse_objects", "space":
			return "memory"
		case "contentions", "delay":
			return "block"
		}
	}
	if len(p.SampleTypes) > 0 && p.SampleTypes[0].Type != "" {
		return clean(p.SampleTypes[0].Type)
	}
	return "unknown"
}

// clean keeps colons, which separate the parts, out of one.
func clean(s string) string { return strings.ReplaceAll(s, ":", "_") }
