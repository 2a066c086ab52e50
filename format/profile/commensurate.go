package profile

import (
	"fmt"
	"slices"
	"strings"
)

// UnitRatio returns how many of the unit "to" one of the unit "from" is, and
// whether the one can be converted into the other at all.
type UnitRatio func(from, to string) (ratio float64, ok bool)

// Commensurate gives profiles the same sample types in the same units, so that
// they can be added or compared: the types that all of them have, each in the
// finest unit that one of them has it in. The error says what does not fit.
func Commensurate(list []*Profile, ratio UnitRatio) ([]*Profile, error) {
	list, err := CommonTypes(list)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	period, types := list[0].PeriodType, slices.Clone(list[0].SampleTypes)
	for _, p := range list[1:] {
		if err := finer(&period, p.PeriodType, ratio); err != nil {
			return nil, fmt.Errorf("period type: %w", err)
		}
		for i, t := range p.SampleTypes {
			if err := finer(&types[i], t, ratio); err != nil {
				return nil, fmt.Errorf("sample types: %w", err)
			}
		}
	}
	out := make([]*Profile, len(list))
	for i, p := range list {
		ratios := make([]float64, len(p.SampleTypes))
		for c, t := range p.SampleTypes {
			ratios[c], _ = ratio(t.Unit, types[c].Unit)
		}
		q := *p.Scale(ratios...)
		scale, _ := ratio(q.PeriodType.Unit, period.Unit)
		q.Period, q.PeriodType, q.SampleTypes = int64(float64(q.Period)*scale), period, types
		out[i] = &q
	}
	return out, nil
}

// finer replaces a type by one with a finer unit. The types may differ by a
// plural.
func finer(t *ValueType, other ValueType, ratio UnitRatio) error {
	r, ok := ratio(other.Unit, t.Unit)
	if strings.TrimSuffix(t.Type, "s") != strings.TrimSuffix(other.Type, "s") || !ok {
		return fmt.Errorf("incompatible types: %s and %s", *t, other)
	}
	if r < 1 {
		t.Unit = other.Unit
	}
	return nil
}
