// Package profile reads profiles into columns: one stack id, one label set id
// and one value per sample type for every sample, over a shared table of
// interned stacks. There is no object per sample. It reads pprof's profile.proto
// and what came before and beside it, see [Decode].
//
// It takes bytes and gives values; it opens no file and fetches nothing. What
// the numbers mean is for calltree and the packages above it. The formats
// are described in docs/formats: pprof.md, legacy-profiles.md, go-text.md,
// folded.md.
package profile

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"loupe/value/stack"
)

// ValueType says what a column of numbers counts and in which unit, such as
// {"alloc_space", "bytes"}.
type ValueType struct {
	Type string
	Unit string
}

// String returns the form "alloc_space/bytes".
func (v ValueType) String() string { return v.Type + "/" + v.Unit }

// Mapping is one executable part of a file that was mapped into the process.
// The first one is the main binary by convention.
type Mapping struct {
	ID                   uint64 // as in the file; 0 in a profile made by hand
	Start, Limit, Offset uint64 // addresses in memory, offset in the file
	File                 string // path of the binary or shared object
	BuildID              string // GNU or Go build id

	// What the profile brings along of this mapping: names of functions,
	// of files, numbers of lines, inlined calls. Go sets the first alone.
	HasFunctions, HasFilenames, HasLineNumbers, HasInlineFrames bool
}

// Location is one address of the program, with its frames: the function that
// the address is in, and those that were inlined there.
type Location struct {
	ID      uint64 // as in the file
	Mapping int    // position in Profile.Mappings; -1 means unknown
	Address uint64
	Folded  bool // several addresses were folded into this one

	// The frames are First, First+1, … of Profile.Stacks, the innermost call
	// first. A location without lines has one frame with nothing in it.
	First stack.FrameID
	Lines int
}

// NumFrames returns the number of frames that the location has.
func (l *Location) NumFrames() int { return max(l.Lines, 1) }

// LabelSet names one distinct set of labels of a profile; 0 is the empty set.
type LabelSet uint32

// Profile is one decoded profile. Nobody modifies it after [Decode], so any
// number of goroutines may share it. It has more methods than most because each
// makes another profile of it (filters, labels, scales), or writes it in one
// format: they are independent of each other, and none changes it.
type Profile struct {
	SampleTypes       []ValueType
	DefaultSampleType string // type to show unless another is asked for; "" means the last
	PeriodType        ValueType
	Period            int64         // events between two samples, in units of PeriodType
	Time              time.Time     // when the profile was taken; zero means unknown
	Duration          time.Duration // how long it was taken; 0 for a state, such as a heap
	Comments          []string
	DocURL            string
	// DropFrames and KeepFrames are regular expressions of functions that the
	// writer wants hidden, or not. They are not applied; Go writes none.
	DropFrames, KeepFrames string
	Mappings               []Mapping

	// Stacks holds the call stacks of all samples, with inlined calls as
	// frames of their own.
	Stacks *stack.Table

	// Locations are the addresses that the stacks go through, in the order of
	// the file. It is nil in a profile that was put together from stacks; in
	// all others every frame belongs to one location, see [Profile.LocationOf].
	Locations []Location

	// MemStats is what Go says of the allocator below a heap profile in text
	// form; nil in all other profiles.
	MemStats *MemStats

	// The columns: entry i of each belongs to sample i. LabelSets is nil when
	// no sample has labels. Values has one column per sample type.
	StackIDs  []stack.ID
	LabelSets []LabelSet
	Values    [][]int64

	labels     labelTable
	locationOf []uint32 // by frame

	// functionOf numbers the functions of the file, by frame: frames of one
	// function have one number. It is nil when nobody knows.
	functionOf []uint32
}

// LocationOf returns the position in Locations of the location that a frame
// belongs to. It panics when the profile has no locations.
func (p *Profile) LocationOf(frame stack.FrameID) int { return int(p.locationOf[frame]) }

// FunctionOf returns the number of the function that a frame is in, as the file counts its
// functions from 0: frames of one function have one number, so that what is looked up for
// a function need be looked up once. It is not known of a profile without locations, nor
// of a frame without a line.
func (p *Profile) FunctionOf(frame stack.FrameID) (number int, known bool) {
	if p.functionOf == nil || p.Locations[p.locationOf[frame]].Lines == 0 {
		return 0, false
	}
	return int(p.functionOf[frame]), true
}

// Len returns the number of samples.
func (p *Profile) Len() int { return len(p.StackIDs) }

// Samples returns the stacks and the values of one sample type, in the order
// of the file. A stack may come more than once, a value may be zero, and it
// may be negative in a difference of two profiles. The index is one that
// [Profile.Index] returns.
func (p *Profile) Samples(index int) iter.Seq2[stack.ID, int64] {
	values := p.Values[index]
	return func(yield func(stack.ID, int64) bool) {
		for i, id := range p.StackIDs {
			if !yield(id, values[i]) {
				return
			}
		}
	}
}

// Total returns the sum of the absolute values of one sample type, which is
// what pprof calls the total and takes percentages of.
func (p *Profile) Total(index int) int64 {
	var total int64
	for _, v := range p.Values[index] {
		total += max(v, -v)
	}
	return total
}

// Index finds a sample type the way pprof's -sample_index does. The empty name
// is the default sample type, or else the last one; a number is a position;
// "inuse_space" also finds "space", which old heap profiles say. The error
// lists what there is.
func (p *Profile) Index(name string) (int, error) {
	n := len(p.SampleTypes)
	if n == 0 {
		return 0, fmt.Errorf("cannot choose a sample type: the profile has none and no samples either")
	}
	if name == "" {
		for i, t := range p.SampleTypes {
			if p.DefaultSampleType != "" && t.Type == p.DefaultSampleType {
				return i, nil
			}
		}
		return n - 1, nil
	}
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i >= n {
			return 0, fmt.Errorf("cannot choose sample type %d: the profile has the types 0 to %d", i, n-1)
		}
		return i, nil
	}
	old := strings.TrimPrefix(name, "inuse_")
	for i, t := range p.SampleTypes {
		if t.Type == name || t.Type == old {
			return i, nil
		}
	}
	names := make([]string, n)
	for i, t := range p.SampleTypes {
		names[i] = t.Type
	}
	return 0, fmt.Errorf("cannot find sample type %q: choose one of %s", name, strings.Join(names, ", "))
}
