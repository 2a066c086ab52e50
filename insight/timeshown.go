package insight

import (
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
)

// TimeShown is how much a recording tells of what its program spends its time on.
type TimeShown uint8

// It tells nothing without a CPU profile and an execution trace, and hardly anything where most of
// the rules that ask one of them have too few samples or events in it. A CPU profile alone tells of the
// work, and not of the waits.
const (
	TimeUnknown TimeShown = iota
	TimeHardly
	TimeWorked
	TimeSeen
)

// TimeShownIn is what a recording tells, by what the rules found. That nothing was found is worth little
// where nothing shows the work and the waits.
func TimeShownIn(m *recording.Manifest, all []Finding) TimeShown {
	state := states(all)
	judged := func(q facts.Question) bool {
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
		return could > unknown
	}
	cpu, trace := facts.CPU.Answered(m), facts.Scheduling.Answered(m)
	switch {
	case trace && judged(facts.Scheduling):
		return TimeSeen
	case cpu && judged(facts.CPU):
		if facts.WaitTimes.Answered(m) && judged(facts.WaitTimes) { // by a block profile
			return TimeSeen
		}
		return TimeWorked
	case cpu || trace:
		return TimeHardly
	}
	return TimeUnknown
}

// TimeGaps is why a recording tells less of what its program spends its time on than it was to tell.
type TimeGaps struct {
	// Unread are the entries that would tell it and cannot be read.
	Unread []string
	// Used is how many CPUs the program used while its CPU profile was taken, 0 where that is not known.
	Used float64
}

// TimeGapsIn is why the recording tells less.
func TimeGapsIn(in *Input) (g TimeGaps) {
	m := in.Session.Manifest()
	for _, kind := range []recording.Kind{recording.CPU, recording.ExecTrace} {
		if e, ok := m.Main(kind); ok && (gaps{in}).unreadable(e) != "" {
			g.Unread = append(g.Unread, e.Path)
		}
	}
	if p, _, err := in.Session.Profile(recording.CPU); err == nil && p.Duration > 0 {
		if index, err := p.Index("cpu"); err == nil {
			total := int64(0)
			for _, w := range p.Samples(index) {
				total += w
			}
			g.Used = max(0, float64(total)/float64(p.Duration))
		}
	}
	return g
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
