// Package corpus makes profiles for benchmarks of stores: fresh draws from real stacks, with
// the weights of a service, each with a table of symbols of its own, as runtime/pprof writes
// them. The same seed makes the same profiles.
package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Period is the time that one sample of a CPU profile stands for.
const Period = 10 * time.Millisecond

// Base reads the profiles that stacks are drawn from, separated by commas. None are the CPU
// profiles of this repository, whose root must be the current folder.
func Base(files string) (*profile.Profile, error) {
	names := strings.Split(files, ",")
	if files == "" {
		var err error
		if names, err = filepath.Glob("analysis/compare/testdata/regexp/*.pb.gz"); err != nil || len(names) == 0 {
			return nil, fmt.Errorf("there are no profiles: run this in the root of the repository, or name some (%v)", err)
		}
	}
	var all profile.Merger
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := profile.Decode(data, profile.Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := all.Add(p); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all.Profile()
}

// Service draws the profiles of one program: each stack of the base has a weight in it.
type Service struct {
	from *profile.Profile
	sums []float64 // of the weights, up to each stack
}

// NewService makes a service of a number. Spread is how uneven the weights are: the standard
// deviation of their logarithms.
func NewService(from *profile.Profile, number uint64, spread float64) *Service {
	weights := rand.New(rand.NewPCG(2, number))
	s := &Service{from, make([]float64, from.Len())}
	sum := 0.0
	for i := range s.sums {
		sum += math.Exp(spread * weights.NormFloat64())
		s.sums[i] = sum
	}
	return s
}

// Drift is the service a little later or in another version: the weights change by about
// so much, in logarithms.
func (s *Service) Drift(r *rand.Rand, by float64) *Service {
	out := &Service{s.from, make([]float64, len(s.sums))}
	before, sum := 0.0, 0.0
	for i, upTo := range s.sums {
		sum += (upTo - before) * math.Exp(by*r.NormFloat64())
		before, out.sums[i] = upTo, sum
	}
	return out
}

// Counts draws samples, and returns how often each row of the base was hit.
func (s *Service) Counts(r *rand.Rand, draws int) map[int]int64 {
	counts := map[int]int64{}
	for range draws {
		at, _ := slices.BinarySearch(s.sums, r.Float64()*s.sums[len(s.sums)-1])
		counts[at]++
	}
	return counts
}

// Draw makes a CPU profile of samples that are drawn.
func (s *Service) Draw(r *rand.Rand, draws int, at time.Time) *profile.Profile {
	counts := s.Counts(r, draws)
	p := header(at)
	p.Stacks = new(stack.Table)
	var frames []stack.FrameID
	for i := range s.from.Len() {
		n := counts[i]
		if n == 0 {
			continue
		}
		frames = frames[:0]
		for _, id := range s.from.Stacks.Frames(s.from.StackIDs[i]) {
			frames = append(frames, p.Stacks.InternFrame(s.from.Stacks.Frame(id)))
		}
		add(p, p.Stacks.Intern(frames), n)
	}
	return p
}

func header(at time.Time) *profile.Profile {
	return &profile.Profile{Values: make([][]int64, 2), Period: int64(Period), Time: at, Duration: 10 * time.Second,
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
}

func add(p *profile.Profile, id stack.ID, n int64) {
	p.StackIDs = append(p.StackIDs, id)
	p.Values[0] = append(p.Values[0], n)
	p.Values[1] = append(p.Values[1], n*p.Period)
}
