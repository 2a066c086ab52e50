package querier

import (
	"strings"

	"loupe/format/connect"
)

// ProfileType is a type of profile: what it is called, what is counted, and what a sample
// stands for.
type ProfileType struct {
	ID         string `pb:"1,ID"`
	Name       string `pb:"2,name"`
	SampleType string `pb:"4,sample_type"`
	SampleUnit string `pb:"5,sample_unit"`
	PeriodType string `pb:"6,period_type"`
	PeriodUnit string `pb:"7,period_unit"`
}

// NewProfileType makes a type with its id, which joins the parts by colons.
func NewProfileType(name, sampleType, sampleUnit, periodType, periodUnit string) ProfileType {
	return ProfileType{strings.Join([]string{name, sampleType, sampleUnit, periodType, periodUnit}, ":"), name, sampleType, sampleUnit, periodType, periodUnit}
}

// ParseProfileType reads the id of a type. Parca's ids have a sixth part, "delta", which
// is dropped.
func ParseProfileType(id string) (ProfileType, error) {
	parts := strings.Split(id, ":")
	if len(parts) == 6 && parts[5] == "delta" {
		parts = parts[:5]
	}
	if len(parts) != 5 || parts[0] == "" || parts[1] == "" {
		return ProfileType{}, connect.Errorf(connect.InvalidArgument, "%.200q is not a profile type (want name:sample_type:sample_unit:period_type:period_unit, such as process_cpu:cpu:nanoseconds:cpu:nanoseconds)", id)
	}
	return NewProfileType(parts[0], parts[1], parts[2], parts[3], parts[4]), nil
}
