// Package profile reads pprof's profile.proto into columns: one stack id, one
// label set id and one value per sample type for every sample, over a shared
// table of interned stacks. There is no object per sample.
//
// It takes bytes and gives values; it opens no file and fetches nothing. What
// the numbers mean is for calltree and the packages above it. The format and
// its dialects are described in docs/formats/pprof.md.
package profile

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"loupe/stack"
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
	Start, Limit, Offset uint64 // addresses in memory, offset in the file
	File                 string // path of the binary or shared object
	BuildID              string // GNU or Go build id
	HasFunctions         bool   // the profile brings function names along
}

// LabelSet names one distinct set of labels of a profile; 0 is the empty set.
type LabelSet uint32

// Profile is one decoded profile. Nobody modifies it after [Decode], so any
// number of goroutines may share it.
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

	// The columns: entry i of each belongs to sample i. LabelSets is nil when
	// no sample has labels. Values has one column per sample type.
	StackIDs  []stack.ID
	LabelSets []LabelSet
	Values    [][]int64

	labels labelTable
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
