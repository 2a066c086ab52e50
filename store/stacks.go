package store

import (
	"cmp"
	"fmt"
	"slices"

	"loupe/format/profile"
	"loupe/value/stack"
)

// Stacks are merged stacks as a tree, in columns. Node 0 is the root and stands for no
// code; the parent of a node is in front of it, so that one pass from the last node to
// the first adds up what is below, and one the other way round goes from the root to the
// leaves.
type Stacks struct {
	Type      Type
	Functions []Function
	Lines     []Line   // of all locations
	Ends      []uint32 // location i has Lines[Ends[i-1]:Ends[i]], the innermost call first
	Parents   []uint32 // of each node
	Locations []uint32 // of each node; that of the root means nothing

	// Groups are the labels of each group: one that is empty when nothing was asked to be
	// split.
	Groups []Labels
	// Values has for each group what was spent in stacks that end at each node.
	Values [][]int64
	// Profiles is how many profiles were added up in each group (of Last one of each
	// series), those that were thinned out counted as the ones that they were made of.
	Profiles []int64
}

// Function is a function of the program.
type Function struct {
	Name, File string
	StartLine  int // of the func keyword; 0 means unknown
}

// Line is a call in the source: the line in a function.
type Line struct {
	Function uint32 // position in Functions
	Line     int
}

// LinesOf returns the lines of a location, the innermost call first; all but the last
// were inlined into the next.
func (s *Stacks) LinesOf(location uint32) []Line {
	begin := uint32(0)
	if location > 0 {
		begin = s.Ends[location-1]
	}
	return s.Lines[begin:s.Ends[location]]
}

// Inclusive returns for every node what was spent in it and below. That of the root is
// the total.
func (s *Stacks) Inclusive(group int) []int64 {
	sum := append([]int64(nil), s.Values[group]...)
	for i := len(sum) - 1; i > 0; i-- {
		sum[s.Parents[i]] += sum[i]
	}
	return sum
}

// Total returns the sum of a group.
func (s *Stacks) Total(group int) (sum int64) {
	for _, v := range s.Values[group] {
		sum += v
	}
	return sum
}

// Profile returns a group as a profile, which can be encoded for go tool pprof and
// looked at with everything that reads profiles.
func (s *Stacks) Profile(group int) (*profile.Profile, error) {
	if group < 0 || group >= len(s.Values) {
		return nil, fmt.Errorf("there is no group %d of %d", group, len(s.Values))
	}
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: s.Type.Sample, Unit: s.Type.Unit}},
		PeriodType:  profile.ValueType{Type: s.Type.Period, Unit: s.Type.PeriodUnit},
		Stacks:      new(stack.Table),
		Values:      make([][]int64, 1),
	}
	first := make([]stack.FrameID, len(s.Lines)) // interned when they are needed
	done := make([]bool, len(s.Lines))
	var frames []stack.FrameID
	for node, v := range s.Values[group] {
		if v == 0 {
			continue
		}
		frames = frames[:0]
		for n := uint32(node); n != 0; n = s.Parents[n] {
			end := s.Ends[s.Locations[n]]
			lines := s.LinesOf(s.Locations[n])
			for i, l := range lines {
				at := int(end) - len(lines) + i
				if !done[at] {
					f := s.Functions[l.Function]
					first[at] = p.Stacks.InternFrame(stack.Frame{Func: f.Name, System: f.Name, File: f.File,
						StartLine: f.StartLine, Line: l.Line, Inlined: i < len(lines)-1})
					done[at] = true
				}
				frames = append(frames, first[at])
			}
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(frames))
		p.Values[0] = append(p.Values[0], v)
	}
	return p, nil
}

// Check says what is wrong with a profile that is to be written: ErrInvalid, wrapped.
// Engines ask it before anything else.
func (p *Profile) Check() error {
	if err := p.Labels.check(); err != nil {
		return err
	}
	switch s := p.Samples; {
	case s == nil || s.Stacks == nil:
		return fmt.Errorf("%w: it has no samples", ErrInvalid)
	case len(p.Types) != len(s.Values):
		return fmt.Errorf("%w: it has %d types for %d columns", ErrInvalid, len(p.Types), len(s.Values))
	case s.Len() > maxSamples:
		return fmt.Errorf("%w: it has %d samples, more than %d", ErrInvalid, s.Len(), maxSamples)
	case p.Time.Year() < 1980 || p.Time.Year() > 2200:
		return fmt.Errorf("%w: its time is %v (set the clock, or the time)", ErrInvalid, p.Time)
	case p.Duration < 0:
		return fmt.Errorf("%w: its duration is %v", ErrInvalid, p.Duration)
	}
	kept := map[Type]bool{}
	for _, t := range p.Types {
		if t == (Type{}) {
			continue
		}
		if back, err := ParseType(t.String()); err != nil || back != t {
			return fmt.Errorf("%w: its type %q has a colon or an empty part", ErrInvalid, t)
		}
		if kept[t] {
			return fmt.Errorf("%w: it has the type %s twice", ErrInvalid, t)
		}
		kept[t] = true
	}
	if len(kept) == 0 || len(kept) > maxTypes {
		return fmt.Errorf("%w: it has %d types, want 1 to %d", ErrInvalid, len(kept), maxTypes)
	}
	return nil
}

// The most that one written profile may have.
const (
	maxSamples = 1 << 20
	maxTypes   = 32
)

// Top returns the functions of a group that most was spent in, n at most; 0 means 100.
// A function that is in a stack twice has what was spent there once.
func (s *Stacks) Top(group, n int) *Top {
	type name struct{ function, file string }
	ids := map[name]int{}
	of := make([]int, len(s.Functions))
	var sums []FunctionTotal
	for i, f := range s.Functions {
		at, ok := ids[name{f.Name, f.File}]
		if !ok {
			at = len(sums)
			ids[name{f.Name, f.File}] = at
			sums = append(sums, FunctionTotal{Function: f.Name, File: f.File})
		}
		of[i] = at
	}
	top := &Top{}
	seen := make([]int, len(sums)) // the last node that had it, plus one
	for node, v := range s.Values[group] {
		if v == 0 {
			continue
		}
		top.Total += v
		leaf := true
		for at := uint32(node); at != 0; at = s.Parents[at] {
			for _, l := range s.LinesOf(s.Locations[at]) {
				f := of[l.Function]
				if leaf {
					sums[f].Self += v
					leaf = false
				}
				if seen[f] != node+1 {
					seen[f] = node + 1
					sums[f].Total += v
				}
			}
		}
	}
	sums = slices.DeleteFunc(sums, func(f FunctionTotal) bool { return f.Total == 0 && f.Self == 0 })
	slices.SortFunc(sums, FunctionTotal.Compare)
	top.Functions = sums[:min(len(sums), cmp.Or(n, 100))]
	return top
}
