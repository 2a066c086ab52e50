package facts

import (
	"fmt"
	"slices"

	"loupe/analysis/sched"
	"loupe/format/exectrace/sweep"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/session"
)

// Weights are a profile that answers a question, and the type of its samples that does.
type Weights struct {
	Provenance
	Profile *profile.Profile
	// Index is that of the sample type.
	Index int
}

// Total is the sum of all samples, in the unit of their type.
func (w *Weights) Total() int64 { return w.Profile.Total(w.Index) }

// Weights returns what answers [CPU] or [Allocations] by stack, in samples of a type
// ("samples", "alloc_space", "alloc_objects"). The CPU profile tells where the time goes,
// or the execution trace that was taken while the profiler ran. [session.ErrNone] says
// that nothing tells.
func (f *Facts) Weights(q Question, sample string) (*Weights, error) {
	kind, what := recording.CPU, "CPU profile"
	if q == Allocations {
		kind, what = recording.Allocs, "allocs profile"
	}
	if q == CPU && len(f.Manifest.Of(kind)) == 0 {
		return f.samples()
	}
	p, entry, err := f.session.Profile(kind)
	if err != nil {
		return nil, err
	}
	index, err := p.Index(sample)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path, err)
	}
	if err := whole(p, index, entry); err != nil {
		return nil, err
	}
	w := &Weights{Provenance: f.provenance(entry, p.Duration), Profile: p, Index: index}
	w.What, w.Precision = what, Sampled
	return w, nil
}

// whole says that a profile is a difference of two, of which shares say nothing; nil of
// any other.
func whole(p *profile.Profile, index int, entry recording.Entry) error {
	if slices.ContainsFunc(p.Values[index], func(v int64) bool { return v < 0 }) {
		return fmt.Errorf("%s is a difference of two profiles, with values below 0: look at each of the two, or compare them (loupe compare A B)", entry.Path)
	}
	return nil
}

// tracedSamples makes a profile of the CPU samples in the execution trace.
func tracedSamples(f *Facts) (*Weights, error) {
	none := fmt.Errorf("no %s: %w", Describe(recording.CPU), session.ErrNone)
	entry, ok := f.Manifest.Main(recording.ExecTrace)
	if !ok || f.Part {
		return nil, none
	}
	desk, err := f.session.Sweep()
	if err != nil {
		return nil, none // what is wrong with the trace, those say that ask for it
	}
	s, err := sweep.Get(f.session.Context(), desk, nil, sched.Samples)
	if err != nil || s.Total == 0 {
		return nil, none
	}
	w := &Weights{Provenance: f.provenance(entry, s.Length), Profile: &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: profile.ValueType{Type: "cpu", Unit: "samples"}, Period: 1,
		Duration: s.Length, Stacks: s.Stacks, StackIDs: s.IDs, Values: [][]int64{s.Counts},
	}}
	w.What, w.Precision = "CPU samples of the execution trace", Sampled
	return w, nil
}

// Missing is [Question.Missing] of the recording, of which a file may answer what its
// kind as such does not.
func (f *Facts) Missing(q Question) string {
	missing := q.Missing(f.Manifest)
	if missing == "" {
		return ""
	}
	switch q {
	case CPU, Work:
		if _, err := f.samples(); err == nil {
			return ""
		}
	case Built:
		if _, err := BuildOf(f); err == nil {
			return ""
		}
	}
	return missing
}
