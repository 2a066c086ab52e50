package pprof

import (
	"loupe/analysis/calltree"
	"loupe/format/profile"
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
	return profile.Commensurate(list, calltree.ConvertUnit)
}
