package compare

import (
	"errors"
	"time"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stats"
)

// PhaseCost is what a phase did, and what its profiler cost the program.
type PhaseCost struct {
	Name     string        `json:"name"`
	Profiler string        `json:"profiler,omitempty"`
	Length   time.Duration `json:"length_ns"`
	Requests int           `json:"requests,omitempty"`
	// RPS is in requests a second, CPU in CPUs used: by the process itself where it has children, see [phaseCPU].
	RPS gc.Figure `json:"rps"`
	CPU gc.Figure `json:"cpus"`
	// PerRequest is the CPU time of one request in ns.
	PerRequest gc.Figure `json:"cpu_per_request_ns"`
	// Cost is how much more CPU time a request took than in the bare
	// phases, as a ratio; without a load, how much more CPU was used, by the
	// whole run where the program ends by itself. It is unknown for bare
	// phases and for profiles taken at once.
	Cost  gc.Figure `json:"cost"`
	Error string    `json:"error,omitempty"`
}

// minCostLength is the length of a phase below which its CPU time, counted in
// ticks of 10 ms, says nothing.
const minCostLength = 500 * time.Millisecond

// PhaseCosts lists all phases of a recording with what they cost.
func PhaseCosts(s *session.Session) []PhaseCost {
	var out []PhaseCost
	var bareRequest, bareCPU, bareRun []float64
	runs := make([]time.Duration, 0, len(s.Manifest().Phases)) // CPU time of runs that ended by themselves
	for _, p := range s.Manifest().Phases {
		c := phaseCost(s, p)
		run := wholeRun(s.Manifest(), p)
		runs = append(runs, run)
		if p.Bare() && run > 0 {
			bareRun = append(bareRun, float64(run))
		}
		if p.Bare() && c.CPU.Known() {
			bareCPU = append(bareCPU, float64(c.CPU))
			if c.PerRequest.Known() {
				bareRequest = append(bareRequest, float64(c.PerRequest))
			}
		}
		out = append(out, c)
	}
	for i := range out {
		c := &out[i]
		switch {
		case c.Profiler != "" && runs[i] >= minCostLength && len(bareRun) > 0:
			c.Cost = gc.Figure(float64(runs[i]) / stats.Median(bareRun))
		case c.Profiler == "" || c.Length < minCostLength || runs[i] > 0:
		case c.PerRequest.Known() && len(bareRequest) > 0:
			c.Cost = c.PerRequest / gc.Figure(stats.Median(bareRequest))
		case c.CPU.Known() && c.Requests == 0 && len(bareRequest) == 0 && len(bareCPU) > 0 && stats.Median(bareCPU) > 0.05:
			c.Cost = c.CPU / gc.Figure(stats.Median(bareCPU))
		}
	}
	return out
}

// wholeRun returns the CPU time of the phase's process when that ended by
// itself, else 0.
func wholeRun(m *recording.Manifest, p recording.Phase) time.Duration {
	if p.Run < 0 || p.Run >= len(m.Target.Runs) {
		return 0
	}
	run := m.Target.Runs[p.Run]
	if run.Exit == "" || run.Stopped {
		return 0
	}
	return run.User + run.System
}

// manyChildren is the part of a phase's CPU time from which on that of child processes changes a comparison. Chosen: less is
// within what the samples of the system can tell.
const manyChildren = 0.05

// phaseCPU is the CPU time of a phase's process itself; 0 where it is not known. The figures of a process that has ended
// include the children that it waited for, those of one that is only seen between two moments do not: of phases with
// children, only what the process used itself is the same in both.
func phaseCPU(s *session.Session, p recording.Phase) time.Duration {
	all := p.User + p.System
	if wholeRun(s.Manifest(), p) == 0 || float64(facts.ChildrenCPU(s, p)) < manyChildren*float64(all) {
		return all
	}
	return min(all, facts.OwnCPU(s, p))
}

func phaseCost(s *session.Session, p recording.Phase) PhaseCost {
	c := PhaseCost{
		Name: p.Name, Profiler: p.Profiler, Length: p.Span.Len(), Error: p.Error,
		RPS: gc.Unknown(), CPU: gc.Unknown(), PerRequest: gc.Unknown(), Cost: gc.Unknown(),
	}
	cpu := phaseCPU(s, p)
	if c.Length >= minCostLength && cpu > 0 {
		c.CPU = gc.Figure(cpu.Seconds() / c.Length.Seconds())
	}
	l, err := s.Load(p.Name)
	switch {
	case err == nil:
		sum := l.Summary()
		c.Requests, c.RPS = sum.Responses, gc.Figure(sum.RPS)
		if sum.Responses > 0 && cpu > 0 {
			c.PerRequest = gc.Figure(float64(cpu) / float64(sum.Responses))
		}
	case !errors.Is(err, session.ErrNone) && c.Error == "" && !p.Bare():
		c.Error = err.Error() // of a bare phase the figures tell it
	}
	return c
}
