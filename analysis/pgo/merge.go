package pgo

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Weighing says how much each of several profiles counts.
type Weighing string

// Ways to weigh profiles.
const (
	// ByRate: CPU time per second of recording. A process counts by how much CPU time it needs,
	// however long it was recorded.
	ByRate Weighing = "rate"
	// BySum: every sample counts the same, as go tool pprof -proto adds profiles up. Who was
	// recorded for longer counts for more.
	BySum Weighing = "sum"
	// Equally: every profile counts the same, whether it was busy or idle.
	Equally Weighing = "equal"
)

// Weighings are all ways, the usual one first.
var Weighings = []Weighing{ByRate, BySum, Equally}

// Source is one of several profiles.
type Source struct {
	Name    string
	Profile *profile.Profile
	Weight  float64 // beside what the weighing says; 1 is usual
}

// Part is what a source came to in what was made of all.
type Part struct {
	Name     string
	Samples  int64 // or nanoseconds, where it counts no samples
	Duration time.Duration
	Factor   float64 // that its values were multiplied with
	Share    float64 // of the whole, 0 to 1
}

// ErrNoDuration is that of a weighing by rate of a profile that does not say how long it was.
var ErrNoDuration = errors.New("it does not say how long was recorded")

// Merge makes one profile of several, trimmed as [Trim] does it or else with all of their stacks.
// Where values are multiplied, they are nanoseconds, which can be: the factors are at least 1, and
// one of them is. It fails as [CallsOf] does, with the name of the source.
func Merge(sources []Source, how Weighing, trim bool) (*profile.Profile, []Part, error) {
	parts := make([]Part, len(sources))
	for i, s := range sources {
		if _, err := CallsOf(s.Profile); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		index, err := Index(s.Profile)
		if err != nil {
			return nil, nil, err
		}
		parts[i] = Part{Name: s.Name, Samples: s.Profile.Total(index), Duration: s.Profile.Duration}
		if parts[i].Factor, err = factor(s, how); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	least := slices.MinFunc(parts, func(a, b Part) int { return cmp.Compare(a.Factor, b.Factor) }).Factor
	scaled := false
	for i := range parts {
		parts[i].Factor /= least
		scaled = scaled || parts[i].Factor != 1
	}
	of, values, err := columns(sources, scaled)
	if err != nil {
		return nil, nil, err
	}
	out, err := add(sources, parts, of, values, trim)
	if err != nil {
		return nil, nil, err
	}
	total := float64(out.Total(0))
	for i := range parts {
		sum := 0.0
		for _, v := range values[i] {
			sum += float64(v)
		}
		parts[i].Share = sum * parts[i].Factor / total
	}
	return out, parts, nil
}

// factor is what a source counts, up to a common factor.
func factor(s Source, how Weighing) (float64, error) {
	w := s.Weight
	switch how {
	case ByRate:
		if s.Profile.Duration <= 0 {
			return 0, ErrNoDuration
		}
		w /= s.Profile.Duration.Seconds()
	case Equally:
		// By its CPU time, so that samples of different lengths count the same.
		v, err := nanosecondsOf(s.Profile)
		if err != nil {
			index, ierr := Index(s.Profile)
			if ierr != nil {
				return 0, ierr
			}
			v = s.Profile.Values[index]
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x)
		}
		w /= sum
	}
	if !(w > 0) || math.IsInf(w, 0) {
		return 0, fmt.Errorf("its weight is %v", w)
	}
	return w, nil
}

// columns are the values to be added, of one type: samples where all have them and none is
// multiplied, else nanoseconds.
func columns(sources []Source, scaled bool) (profile.ValueType, [][]int64, error) {
	counted := !scaled && !slices.ContainsFunc(sources, func(s Source) bool {
		i, err := Index(s.Profile)
		return err != nil || s.Profile.SampleTypes[i] != samples || s.Profile.Period != sources[0].Profile.Period
	})
	var out [][]int64
	for _, s := range sources {
		if counted || len(sources) == 1 {
			i, err := Index(s.Profile)
			if err != nil {
				return profile.ValueType{}, nil, err
			}
			out = append(out, s.Profile.Values[i])
			continue
		}
		v, err := nanosecondsOf(s.Profile)
		if err != nil {
			return profile.ValueType{}, nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		out = append(out, v)
	}
	if len(sources) == 1 {
		i, err := Index(sources[0].Profile)
		return sources[0].Profile.SampleTypes[i], out, err
	}
	if counted {
		return samples, out, nil
	}
	return nanoseconds, out, nil
}

// nanosecondsOf is the CPU time of the samples of a profile.
func nanosecondsOf(p *profile.Profile) ([]int64, error) {
	if i := slices.Index(p.SampleTypes, nanoseconds); i >= 0 {
		return p.Values[i], nil
	}
	i := slices.Index(p.SampleTypes, samples)
	if i < 0 || p.PeriodType != nanoseconds || p.Period <= 0 {
		return nil, errors.New("it does not say how much CPU time a sample is, which is needed to add it to others")
	}
	out := make([]int64, len(p.Values[i]))
	for n, v := range p.Values[i] {
		if v > math.MaxInt64/p.Period {
			return nil, errors.New("its values are too large")
		}
		out[n] = v * p.Period
	}
	return out, nil
}

// add adds the sources up.
func add(sources []Source, parts []Part, of profile.ValueType, values [][]int64, trim bool) (*profile.Profile, error) {
	b := newBuilder(sources[0].Profile)
	b.out.SampleTypes = []profile.ValueType{of}
	b.out.Comments, b.out.Duration = nil, 0
	b.whole = !trim
	sum := 0.0
	for i, s := range sources {
		p := s.Profile
		if p.Time.Before(b.out.Time) && !p.Time.IsZero() || b.out.Time.IsZero() {
			b.out.Time = p.Time // the oldest says how old the whole is
		}
		b.out.Duration += p.Duration
		for _, c := range p.Comments {
			if !slices.Contains(b.out.Comments, c) {
				b.out.Comments = append(b.out.Comments, c)
			}
		}
		for n, id := range p.StackIDs {
			v := float64(values[i][n]) * parts[i].Factor
			if v == 0 || id == 0 {
				continue
			}
			if sum += v; sum > math.MaxInt64/2 {
				return nil, errors.New("the sum of all values is too large")
			}
			if parts[i].Factor == 1 {
				b.add(p.Stacks, id, values[i][n])
			} else {
				b.add(p.Stacks, id, int64(math.Round(v)))
			}
		}
	}
	return b.profile(), nil
}

// The comments by which a profile says what it was made of.
const (
	revisionComment = "loupe pgo: revision "
	editedComment   = "loupe pgo: edited since revision "
	builtComment    = "loupe pgo: built by "
)

// Origin is what is known of the programs that a profile is of.
type Origin struct {
	// Revisions are those of the source in git, Edited those of them that the files differed from when
	// one of the programs was built.
	Revisions, Edited []string
	// Go are the versions of Go that built them.
	Go []string
}

// Note adds to the comments of a profile what is known of its program; "" is not known. What the
// profile says already stays.
func Note(p *profile.Profile, o Origin) *profile.Profile {
	q := *p
	q.Comments = slices.Clone(p.Comments)
	for _, c := range []struct {
		prefix string
		values []string
	}{{revisionComment, o.Revisions}, {editedComment, o.Edited}, {builtComment, o.Go}} {
		for _, value := range c.values {
			if value != "" && !slices.Contains(q.Comments, c.prefix+value) {
				q.Comments = append(q.Comments, c.prefix+value)
			}
		}
	}
	return &q
}

// Noted is what [Note] has put into a profile, of all programs that it is of.
func Noted(p *profile.Profile) (o Origin) {
	for _, c := range p.Comments {
		if v, ok := strings.CutPrefix(c, revisionComment); ok {
			o.Revisions = append(o.Revisions, v)
		}
		if v, ok := strings.CutPrefix(c, editedComment); ok {
			o.Edited = append(o.Edited, v)
		}
		if v, ok := strings.CutPrefix(c, builtComment); ok {
			o.Go = append(o.Go, v)
		}
	}
	return o
}

// Packages are the packages of a profile's functions, with the weight of the stacks that the
// compiler reads and which they are on. Nothing is in the package "".
func Packages(p *profile.Profile) (map[string]int64, error) {
	index, err := Index(p)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	seen := map[string]bool{}
	for i, id := range p.StackIDs {
		clear(seen)
		for _, f := range p.Stacks.Frames(id) {
			pkg := stack.Package(p.Stacks.Frame(f).Func)
			if pkg != "" && !seen[pkg] {
				seen[pkg] = true
				out[pkg] += p.Values[index][i]
			}
		}
	}
	return out, nil
}
