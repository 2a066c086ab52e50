package profile

import (
	"fmt"
	"math"
	"slices"
)

// Scale multiplies every sample type by its ratio and rounds to whole numbers.
// A sample of which nothing is left is removed, where only the types with a
// ratio other than 1 are looked at: so does pprof. There must be a ratio for
// every sample type.
func (p *Profile) Scale(ratios ...float64) *Profile {
	changing := make([]int, 0, len(ratios))
	for i := range p.Values {
		if ratios[i] != 1 {
			changing = append(changing, i)
		}
	}
	if len(changing) == 0 {
		return p
	}
	q := p.shallow()
	q.Values = slices.Clone(p.Values)
	for _, c := range changing {
		column := make([]int64, p.Len())
		for i, v := range p.Values[c] {
			column[i] = int64(math.Round(float64(v) * ratios[c]))
		}
		q.Values[c] = column
	}
	return q.filter(func(row int) bool {
		return slices.ContainsFunc(changing, func(c int) bool { return q.Values[c][row] != 0 })
	})
}

// Negate returns the profile with every value negated, to be merged with
// another from which it is subtracted.
func (p *Profile) Negate() *Profile {
	ratios := make([]float64, len(p.Values))
	for i := range ratios {
		ratios[i] = -1
	}
	return p.Scale(ratios...)
}

// Normalize scales the profile so that the sum of each sample type is that of
// the base: what is left when the base is subtracted is a difference of shares.
// The error says why the two cannot be compared.
func (p *Profile) Normalize(base *Profile) (*Profile, error) {
	if err := p.compatible(base); err != nil {
		return nil, err
	}
	ratios := make([]float64, len(p.Values))
	for c := range p.Values {
		if sum := sumOf(p.Values[c]); sum != 0 {
			ratios[c] = float64(sumOf(base.Values[c])) / float64(sum)
		}
	}
	return p.Scale(ratios...), nil
}

func sumOf(column []int64) (sum int64) {
	for _, v := range column {
		sum += v
	}
	return sum
}

// compatible says why two profiles cannot be merged.
func (p *Profile) compatible(q *Profile) error {
	if p.PeriodType != q.PeriodType {
		return fmt.Errorf("incompatible period types %s and %s", p.PeriodType, q.PeriodType)
	}
	if !slices.Equal(p.SampleTypes, q.SampleTypes) {
		return fmt.Errorf("incompatible sample types %v and %v", p.SampleTypes, q.SampleTypes)
	}
	return nil
}

// CommonTypes returns the profiles with the sample types that all of them have,
// in the order of the first. It fails when there are none.
func CommonTypes(profiles []*Profile) ([]*Profile, error) {
	if len(profiles) == 0 {
		return nil, nil
	}
	counts := map[string]int{}
	for _, p := range profiles {
		for _, t := range p.SampleTypes {
			counts[t.Type]++
		}
	}
	var common []string
	for _, t := range profiles[0].SampleTypes {
		if counts[t.Type] == len(profiles) {
			common = append(common, t.Type)
		}
	}
	if len(common) == 0 {
		return nil, fmt.Errorf("cannot compare these profiles: they have no sample type in common")
	}
	out := make([]*Profile, len(profiles))
	for i, p := range profiles {
		var err error
		if out[i], err = p.withTypes(common); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// withTypes returns the profile with these sample types only. When the default
// one is not among them, the first takes its place.
func (p *Profile) withTypes(names []string) (*Profile, error) {
	from, same := make([]int, len(names)), len(names) == len(p.SampleTypes)
	for i, name := range names {
		from[i] = slices.IndexFunc(p.SampleTypes, func(t ValueType) bool { return t.Type == name })
		if from[i] < 0 {
			return nil, fmt.Errorf("cannot find sample type %q", name)
		}
		same = same && from[i] == i
	}
	if same {
		return p, nil
	}
	q := p.shallow()
	q.SampleTypes, q.Values = make([]ValueType, len(names)), make([][]int64, len(names))
	for i, c := range from {
		q.SampleTypes[i], q.Values[i] = p.SampleTypes[c], p.Values[c]
	}
	if !slices.Contains(names, p.DefaultSampleType) {
		q.DefaultSampleType = names[0]
	}
	return q, nil
}
