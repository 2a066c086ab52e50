package pprof

import (
	"fmt"
	"slices"

	"loupe/calltree"
	"loupe/profile"
)

// Sum adds up profiles that may differ in what they measure: the sample types
// that all of them have are kept, and units are converted into the finest.
// The zero Sum is ready for use.
type Sum struct {
	merger *profile.Merger
	first  *profile.Profile // the only one so far
}

// Add adds a profile. It fails when the profiles have nothing in common.
func (s *Sum) Add(p *profile.Profile) error {
	switch {
	case s.first == nil && s.merger == nil:
		s.first = p
		return nil
	case s.first != nil:
		s.merger = new(profile.Merger)
		first := s.first
		s.first = nil
		if err := s.merger.Add(first); err != nil {
			return err
		}
	}
	if s.merger.Add(p) == nil {
		return nil
	}
	sum, err := s.merger.Profile()
	if err != nil {
		return err
	}
	list, err := commensurate([]*profile.Profile{sum, p})
	if err != nil {
		return err
	}
	s.merger = new(profile.Merger)
	for _, p := range list {
		if err := s.merger.Add(p); err != nil {
			return err
		}
	}
	return nil
}

// Profile returns the sum; of a single profile that is itself, as it was read.
func (s *Sum) Profile() (*profile.Profile, error) {
	if s.first != nil {
		return s.first, nil
	}
	if s.merger == nil {
		s.merger = new(profile.Merger)
	}
	return s.merger.Profile()
}

// Subtract returns the difference of a profile and a base. With normalize the
// profile is scaled to the base's totals before.
func Subtract(p, base *profile.Profile, normalize bool) (*profile.Profile, error) {
	list, err := commensurate([]*profile.Profile{p, base})
	if err != nil {
		return nil, err
	}
	p, base = list[0], list[1]
	if normalize {
		if p, err = p.Normalize(base); err != nil {
			return nil, err
		}
	}
	return profile.Merge(p, base.Negate())
}

// commensurate gives profiles the same sample types in the same units.
func commensurate(list []*profile.Profile) ([]*profile.Profile, error) {
	list, err := profile.CommonTypes(list)
	if err != nil {
		return nil, err
	}
	finest := *list[0]
	finest.SampleTypes = slices.Clone(finest.SampleTypes)
	for _, p := range list[1:] {
		if err := finer(&finest.PeriodType, p.PeriodType); err != nil {
			return nil, fmt.Errorf("period type: %w", err)
		}
		for i, t := range p.SampleTypes {
			if err := finer(&finest.SampleTypes[i], t); err != nil {
				return nil, fmt.Errorf("sample types: %w", err)
			}
		}
	}
	out := make([]*profile.Profile, len(list))
	for i, p := range list {
		ratios := make([]float64, len(p.SampleTypes))
		for c, t := range p.SampleTypes {
			ratios[c] = calltree.UnitRatio(t.Unit, finest.SampleTypes[c].Unit)
		}
		q := *p.Scale(ratios...)
		period, _ := calltree.Scale(q.Period, q.PeriodType.Unit, finest.PeriodType.Unit)
		q.Period, q.PeriodType, q.SampleTypes = int64(period), finest.PeriodType, finest.SampleTypes
		out[i] = &q
	}
	return out, nil
}

// finer replaces a type by one with a finer unit. The types may differ by a
// plural.
func finer(t *profile.ValueType, other profile.ValueType) error {
	singular := func(s string) string {
		if n := len(s); n > 0 && s[n-1] == 's' {
			return s[:n-1]
		}
		return s
	}
	if singular(t.Type) != singular(other.Type) || !calltree.CompatibleUnits(t.Unit, other.Unit) {
		return fmt.Errorf("incompatible types: %s and %s", *t, other)
	}
	if calltree.UnitRatio(other.Unit, t.Unit) < 1 {
		t.Unit = other.Unit
	}
	return nil
}
