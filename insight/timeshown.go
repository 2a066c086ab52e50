package insight

import (
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
)

// TimeShown is how much a recording tells of what its program spends its time on.
type TimeShown uint8

// It tells nothing without a CPU profile and an execution trace, and hardly anything where most of
// the rules that ask one of them have too few samples or events in it.
const (
	TimeUnknown TimeShown = iota
	TimeHardly
	TimeSeen
)

// TimeShownIn is what a recording tells, by what the rules found. That nothing was found is worth little
// where nothing shows the work and the waits.
func TimeShownIn(m *recording.Manifest, all []Finding) TimeShown {
	state := states(all)
	out := TimeUnknown
	for _, q := range []facts.Question{facts.CPU, facts.Scheduling} {
		if !q.Answered(m) {
			continue
		}
		could, unknown := 0, 0
		for _, r := range Rules() {
			switch s := state[r.ID]; {
			case !slices.Contains(r.Asks, q):
			case s == Found, s == Fine:
				could++
			case s == TooLittle:
				unknown++
			}
		}
		if could > unknown {
			return TimeSeen
		}
		out = TimeHardly
	}
	return out
}

// states is what each rule said: where it has several answers, one by which it could judge.
func states(all []Finding) map[string]State {
	state := map[string]State{}
	for _, f := range all {
		if was, ok := state[f.Rule]; !ok || was != Found && was != Fine {
			state[f.Rule] = f.State
		}
	}
	return state
}
