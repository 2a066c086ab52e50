package insight

import (
	"fmt"
	"time"

	"loupe/recording"
	"loupe/value/unit"
)

// A CPU profile of a part of a run: what it has none of may be all that the rest does.

// nearlyWhole is the part of a run from which on its profile stands for all of it. Chosen: a phase begins some time after its process does,
// and ends some time before it.
const nearlyWhole = 0.9

// sampledPart is how long the CPU profile is, of a run of which length, where that is a part of a program that ends by itself, without a load.
func sampledPart(in *Input) (seen, of time.Duration, part bool) {
	s := in.Facts
	w, err := s.CPU()
	if err != nil || !byItself(in) {
		return 0, 0, false
	}
	m := in.Session.Manifest()
	p, ok := m.PhaseNamed(w.Entry.Phase)
	if !ok || p.Run < 0 || p.Run >= len(m.Target.Runs) {
		return 0, 0, false
	}
	if of = endedAfter(m, p.Run); of == 0 {
		return 0, 0, false
	}
	if p.Lives > 1 { // the profile has whole lives
		return of, of, false
	}
	seen = p.Span.Len()
	return seen, of, float64(seen) < nearlyWhole*float64(of)
}

// livesOfPhase is how many lives of the program the capture of a phase has, 1 or more.
func livesOfPhase(in *Input, e recording.Entry) int {
	p, _ := in.Session.Manifest().PhaseNamed(e.Phase)
	return max(1, p.Lives)
}

// endedAfter is how long a run of the program took that ended by itself; of one that did not, what the first one took that did.
func endedAfter(m *recording.Manifest, run int) time.Duration {
	ended := func(r recording.Run) bool { return r.Exit != "" && !r.Stopped }
	if r := m.Target.Runs[run]; ended(r) {
		return r.Span.Len()
	}
	for _, r := range m.Target.Runs {
		if ended(r) {
			return r.Span.Len()
		}
	}
	return 0
}

// ofSampled says of which part of a run samples are; empty where they are of nearly all of it.
func ofSampled(in *Input) string {
	seen, of, part := sampledPart(in)
	if !part {
		return ""
	}
	return fmt.Sprintf(" of the %s of a run of %s that were profiled", unit.Duration(seen.Round(10*time.Millisecond)), unit.Duration(of.Round(10*time.Millisecond)))
}
