package demo

import (
	"fmt"
	"time"

	"loupe/analysis/compare"
	"loupe/value/unit"
)

// How long the demo may take. Whatever the machine, it is over after two minutes,
// but for a first build of the service: what does not fit is left out and said.
const (
	// demoRounds reach a probability of 0.8%.
	demoRounds = 5
	// demoBudget is how long two forms should take at most, the build included.
	demoBudget = 85 * time.Second
	// demoDeadline is when recording ends whatever there is by then; what is left
	// of two minutes is for the comparison.
	demoDeadline = 105 * time.Second
	// leastRecorded is what recording has at least when the build took long.
	leastRecorded = 45 * time.Second
	// requestTime is what a request of the demo takes on a quiet machine of two
	// CPUs, the mean of both forms.
	requestTime = 350 * time.Microsecond
	// roundTime is what a round takes beside its requests there, and profilesTime what
	// the phases of the profilers take beside what they last.
	roundTime, profilesTime = 500 * time.Millisecond, 2 * time.Second
)

// demoPlan is how much of it there is to be.
type demoPlan struct {
	n, rounds  int
	cpu, trace time.Duration // what these phases last
}

// fullDemo is what there is on a machine that is fast enough.
func fullDemo(n int) demoPlan {
	return demoPlan{n: n, rounds: demoRounds, cpu: 4 * time.Second, trace: time.Second}
}

// time is how long the plan takes for so many forms when a request takes so long:
// what is slower than a quiet machine is so in everything.
func (p demoPlan) time(forms int, request time.Duration) time.Duration {
	slow := max(1, float64(request)/float64(requestTime))
	round := time.Duration(slow*float64(roundTime)) + time.Duration(p.n)*request
	profiles := time.Duration(slow*float64(profilesTime)) + p.cpu + p.trace
	return time.Duration(forms) * (profiles + time.Duration(p.rounds)*round)
}

// fitDemo is the most that fits into what is left: fewer requests first, down to a
// quarter; then fewer rounds, down to those that a verdict can rest on; then shorter
// profiles, and fewer requests still.
func fitDemo(n, forms int, request, left time.Duration) demoPlan {
	p := fullDemo(n)
	least := func(share int) int { return max(1, n/share) }
	for _, step := range []struct {
		rounds, least int
		cpu, trace    time.Duration
	}{
		{demoRounds, least(4), p.cpu, p.trace},
		{compare.EnoughRounds, least(20), 2 * time.Second, time.Second / 2},
	} {
		p.rounds, p.cpu, p.trace = step.rounds, step.cpu, step.trace
		for p.n = n; p.n >= step.least; p.n -= max(1, n/20) {
			if p.time(forms, request) <= left {
				return p
			}
		}
	}
	p.n = least(20)
	return p
}

// less says how the plan differs from the whole one, or nothing.
func (p demoPlan) less(full demoPlan, request time.Duration) string {
	if p == full {
		return ""
	}
	return fmt.Sprintf("a request takes %s on this machine now: running %d rounds of %s requests instead of %d of %s, to finish in two minutes",
		unit.Duration(request), p.rounds, unit.Count(int64(p.n)), full.rounds, unit.Count(int64(full.n)))
}
