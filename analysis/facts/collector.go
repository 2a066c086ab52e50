package facts

import (
	"slices"
	"strings"
	"time"

	"loupe/recording"
)

// Collector is what is known of the collections of all rounds together.
type Collector struct {
	Collections, Forced int64
	// Length is how long the rounds are, None that the runtime would have told of
	// collections in all of them, and that there was none for long enough.
	Length time.Duration
	None   bool
	// Traced is how many collections the execution trace has in the part that is looked
	// at; 0 of the whole, which the rounds tell of.
	Traced int64
	// Untold says why nothing is known of collections: the runtime told of none, and
	// that does not mean that there were none. It is empty when something is known.
	Untold string
}

// minQuiet is the length from which the absence of collections says something.
const minQuiet = time.Second

// Collector is what the rounds tell of collections.
func (f *Facts) Collector() Collector {
	c := Collector{None: true}
	known := false
	for _, r := range f.Rounds {
		c.Length += r.Duration
		if r.GC == nil {
			c.None = false
			continue
		}
		known = true
		c.Collections += r.GC.Derived.Collections
		c.Forced += int64(r.GC.Derived.Forced)
	}
	if f.Part {
		if t := f.Trace(); t.Err == nil {
			c.Traced = int64(len(t.GC.Cycles))
		}
	}
	c.None = c.None && c.Collections == 0 && c.Traced == 0 && c.Length >= minQuiet
	switch {
	case known || len(f.Rounds) == 0: // without rounds there is too little of anything
	case len(f.Manifest.Of(recording.Stderr)) == 0:
		c.Untold = "there is no data on individual collections: that needs gctrace, and the recording has no " + Describe(recording.Stderr)
	default:
		c.Untold = untold(f.Manifest)
	}
	return c
}

// untold says why a recording with the standard error of a program has nothing of its collections, as far as
// that is known.
func untold(m *recording.Manifest) string {
	if slices.ContainsFunc(m.Target.Runs, func(r recording.Run) bool { return r.Server != 0 }) {
		return "there is no data on individual collections: the process that answers is not the one that was started, and its runtime printed none (has it GODEBUG=gctrace=1, and the same standard error?)"
	}
	var may []string
	if m.Target.Go == "" {
		may = append(may, "it may not be a Go program")
	}
	if !asked(m, "gctrace") {
		may = append(may, "gctrace=1 is not in its GODEBUG")
	} else {
		may = append(may, "it may have closed its standard error, or have replaced itself by another program")
	}
	return "the runtime printed nothing about its collections: " + strings.Join(may, ", or ")
}
