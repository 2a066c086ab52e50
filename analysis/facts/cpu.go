package facts

import (
	"math"
	"slices"

	"loupe/value/stack"
)

// CPUTime is where the CPU time goes.
type CPUTime struct {
	*Weights
	// Samples is all of it.
	Samples int64

	scope stack.Scope
}

// CPU is what the CPU profile tells, see [Facts.Weights].
func (f *Facts) CPU() (*CPUTime, error) {
	w, err := f.Weights(CPU, "samples")
	if err != nil {
		return nil, err
	}
	return &CPUTime{Weights: w, Samples: w.Total(), scope: f.session.Scope()}, nil
}

// Lines are the lines of the user's code that the time goes through, the most first.
func (c *CPUTime) Lines() []*Line { return lines(c.Profile, c.Index, c.scope) }

// Collecting is the collector's share, marking on idle Ps left out. It is unknown
// below a number of samples.
func (c *CPUTime) Collecting(least float64) float64 {
	known := map[stack.FrameID]stack.Category{}
	category := func(f stack.FrameID) stack.Category {
		kind, ok := known[f]
		if !ok {
			kind = stack.CategoryOf(c.Profile.Stacks.Frame(f).Func)
			known[f] = kind
		}
		return kind
	}
	onIdle := func(f stack.FrameID) bool {
		return c.Profile.Stacks.Frame(f).Func == "runtime.gcDrainMarkWorkerIdle"
	}
	var all, collecting int64
	for id, w := range c.Profile.Samples(c.Index) {
		frames := c.Profile.Stacks.Frames(id)
		if slices.ContainsFunc(frames, onIdle) {
			continue
		}
		all += w
		if kind := stack.Categorize(frames, category); kind == stack.GarbageCollect || kind == stack.Assist {
			collecting += w
		}
	}
	if float64(all) < least {
		return math.NaN()
	}
	return float64(collecting) / float64(all)
}
