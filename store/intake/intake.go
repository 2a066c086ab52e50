// Package intake is the way of profiles into a store: what comes from clients and what is
// taken of targets is named, made into what has happened since the last one where it counts
// from the start of a process, and written.
//
// It decodes nothing and knows no protocol.
package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/delta"
)

// Arrival is a profile as it came.
type Arrival struct {
	// Labels say whose it is: [store.ServiceLabel] at least.
	Labels store.Labels
	// Name is what kind of profile it is, such as process_cpu or mutex; "" derives it from
	// what is counted, see [store.TypesOf].
	Name    string
	Profile *profile.Profile
	// At is when it was taken, by the clock of who took it; Duration is how long it took,
	// where the profile does not say.
	At       time.Time
	Duration time.Duration
	// ID is the same when it is sent again.
	ID store.ID
	// Difference tells that nothing in the profile counts from the start of the process.
	Difference bool
	// Process tells one run of the program from the next; zero where that is not known.
	Process delta.Process
}

// Intake writes profiles to an engine. Any number of goroutines may share it.
type Intake struct {
	engine store.Engine
	deltas delta.Engine
}

// New makes an Intake of an engine.
func New(engine store.Engine) *Intake { return &Intake{engine: engine} }

// Add writes profiles, all or none of them; when it returns nil they are durable. A first
// reading of counters is kept for the next one, and its states alone are written.
func (i *Intake) Add(ctx context.Context, arrivals ...*Arrival) error {
	var list []*store.Profile
	for _, a := range arrivals {
		p, err := i.profile(a)
		if err != nil {
			return err
		}
		if p != nil {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	err := i.engine.Write(ctx, list)
	if err != nil {
		// The next difference would begin at a reading whose own was not kept.
		for _, a := range arrivals {
			i.deltas.Forget(a.Labels.String())
		}
	}
	return err
}

// profile makes what is written of an arrival: nil where there is nothing yet.
func (i *Intake) profile(a *Arrival) (*store.Profile, error) {
	if a.Labels.Value(store.ServiceLabel) == "" {
		return nil, fmt.Errorf("%w: it has no label %s", store.ErrInvalid, store.ServiceLabel)
	}
	name := a.Name
	if name == "" {
		types := store.TypesOf(a.Profile, "")
		if len(types) > 0 {
			name = types[0].Name
		}
	}
	d := delta.Delta{Outcome: delta.Passed, Profile: a.Profile}
	if !a.Difference {
		var err error
		d, err = i.deltas.Add(delta.Reading{Target: a.Labels.String(), Kind: name, Process: a.Process, Profile: a.Profile, At: a.At})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrInvalid, err)
		}
	}
	p := d.Profile
	if p == nil || p.Len() == 0 {
		return nil, nil
	}
	out := &store.Profile{
		ID: a.ID, Labels: a.Labels, Types: store.TypesOf(p, name), Time: a.At, Duration: p.Duration, Samples: p,
	}
	if d.Outcome == delta.First {
		for i, t := range p.SampleTypes {
			if delta.IsCumulative(t) {
				out.Types[i] = store.Type{} // nobody knows since when: it is no zero
			}
		}
	}
	if !slices.ContainsFunc(out.Types, func(t store.Type) bool { return t != store.Type{} }) {
		return nil, nil
	}
	if out.Duration == 0 && !onlyStates(out.Types) {
		out.Duration = a.Duration
	}
	if !d.From.IsZero() {
		out.Time = d.From
	}
	if build := buildOf(p); build != "" && a.Labels.Value(store.BuildLabel) == "" {
		out.Labels = a.Labels.With(store.BuildLabel, build)
	}
	return out, nil
}

// onlyStates tells whether all types are of a moment.
func onlyStates(types []store.Type) bool {
	for _, t := range types {
		if t != (store.Type{}) && t.Over() == store.Sum {
			return false
		}
	}
	return true
}

// buildOf is the build id of the main binary, where the profile has one.
func buildOf(p *profile.Profile) string {
	if len(p.Mappings) == 0 {
		return ""
	}
	return strings.TrimSpace(p.Mappings[0].BuildID)
}
