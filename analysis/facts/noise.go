package facts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// What makes a machine noisy.
const (
	NoisyCompeting = 0.20
	NoisySteal     = 0.01
	NoisyThrottled = 0.05
	// LateThreads is chosen: the kernel lets a thread that it has taken off its CPU wait for
	// milliseconds, and pauses and waits for a P are judged by tenths of them.
	LateThreads = 0.05
)

// Noise is what kept the machine busy during the rounds.
type Noise struct {
	Competing, Steal, Throttled float64 // shares
	Busy                        float64 // of all CPU time, everything together
	// Late is the part of the time in which threads of the program wanted a CPU that they waited
	// for one, 0 where the system does not tell.
	Late    float64
	Samples int
	Rounds  []*Round
	Reason  string // empty when it was quiet
}

// Full tells that all CPUs were in use, by whomever.
func (n *Noise) Full() bool { return n.Busy > 0.9 }

// Delayed tells that threads of the program were kept waiting for a CPU, by whomever.
func (n *Noise) Delayed() bool { return n.Late > LateThreads }

// NoiseOf measures what else the machine did in a phase of the recording; a phase that
// the samples of the operating system do not cover has no reason and no samples.
func (f *Facts) NoiseOf(phase string) *Noise {
	p, ok := f.Manifest.PhaseNamed(phase)
	samples, err := f.session.OS()
	if !ok || err != nil {
		return &Noise{}
	}
	return noiseOf(f.Manifest.Target.Runs, within(samples, p.Span))
}

// noise measures what else the machine did in all rounds.
func noise(f *Facts) *Noise {
	samples, err := f.session.OS()
	if err != nil {
		return &Noise{}
	}
	var parts [][]metrics.OSSample
	var rounds []*Round
	for i := range f.Rounds {
		r := &f.Rounds[i]
		if part := within(samples, r.Phase.Span); len(part) > 0 {
			rounds, parts = append(rounds, r), append(parts, part)
		}
	}
	n := noiseOf(f.Manifest.Target.Runs, parts...)
	n.Rounds = rounds
	return n
}

// noiseOf measures it from samples of the operating system, each part by itself. The runs are those of the program.
func noiseOf(runs []recording.Run, parts ...[]metrics.OSSample) *Noise {
	var all, busy, steal, throttled, ours, wall, ran, waited time.Duration
	n := &Noise{}
	for _, part := range parts {
		n.Samples += len(part)
		for i := 1; i < len(part); i++ {
			a, b := part[i-1], part[i]
			wall += b.At.Sub(a.At)
			busy += b.Busy - a.Busy
			steal += b.Steal - a.Steal
			throttled += b.Throttled - a.Throttled
			all += b.Busy - a.Busy + b.Idle - a.Idle + b.Steal - a.Steal
			if used := b.User + b.System - a.User - a.System; a.PID == b.PID && used > 0 {
				ran += used
				waited += max(0, b.Waited-a.Waited) // threads that have ended take their waits along
			}
			ours += b.Self - a.Self + usedBetween(runs, &a, &b)
		}
	}
	if all <= 0 || wall <= 0 {
		return n
	}
	if ran > 0 {
		n.Late = float64(waited) / float64(ran+waited)
	}
	n.Competing = max(0, float64(busy-ours)/float64(all))
	n.Steal = float64(steal) / float64(all)
	n.Throttled = float64(throttled) / float64(wall)
	n.Busy = float64(busy+steal) / float64(all)
	var why []string
	if n.Competing >= NoisyCompeting {
		why = append(why, fmt.Sprintf("other programs used %s of the CPUs", unit.Percent(n.Competing)))
	}
	if n.Steal > NoisySteal {
		why = append(why, fmt.Sprintf("the hypervisor took %s", unit.Percent(n.Steal)))
	}
	if n.Throttled > NoisyThrottled {
		why = append(why, fmt.Sprintf("the cgroup was throttled for %s of the time", unit.Percent(n.Throttled)))
	}
	n.Reason = strings.Join(why, ", ")
	return n
}

// usedBetween is the CPU time of the program between two samples. One that has ended before the second shows nothing there; what
// it had used by then is what its run has.
func usedBetween(runs []recording.Run, a, b *metrics.OSSample) time.Duration {
	before, after := a.User+a.System, b.User+b.System
	if a.PID == b.PID && after >= before {
		return after - before
	}
	used := time.Duration(0)
	if i := slices.IndexFunc(runs, func(r recording.Run) bool { return r.PID == a.PID && a.PID > 0 && r.Span.Start <= a.At }); i >= 0 {
		used += max(0, runs[i].User+runs[i].System-before)
	}
	if b.PID != a.PID {
		used += after
	}
	return used
}

// within returns the samples of a span.
func within(samples []metrics.OSSample, span timeline.Span) []metrics.OSSample {
	var out []metrics.OSSample
	for _, s := range samples {
		if s.At >= span.Start && s.At <= span.End {
			out = append(out, s)
		}
	}
	return out
}
