package facts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/session"
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
	Own                         float64 // of all CPU time, the program and what has come from it
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

// Wanted is how many CPUs a program would have used that used some: for the rest its threads waited. Threads that wait
// side by side count each, so that it may be more than there are.
func (n *Noise) Wanted(used float64) float64 { return used / max(1-n.Late, 0.01) }

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
	var all, busy, steal, throttled, ours, own, wall, ran, waited time.Duration
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
			used := usedBetween(runs, &a, &b)
			own += used
			ours += b.Self - a.Self + used
		}
	}
	if all <= 0 || wall <= 0 {
		return n
	}
	if ran > 0 {
		n.Late = float64(waited) / float64(ran+waited)
	}
	n.Own = float64(own) / float64(all)
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

// usedBetween is the CPU time of the program and of what has come from it between two samples. A program that has ended between them
// shows nothing at the second; what it had used by then, with the children that it has waited for, is what its run has.
func usedBetween(runs []recording.Run, a, b *metrics.OSSample) time.Duration {
	before, after := a.User+a.System, b.User+b.System
	used := familyBetween(a, b)
	if a.PID == b.PID && after >= before {
		return used + after - before
	}
	if i := slices.IndexFunc(runs, func(r recording.Run) bool {
		return r.PID == a.PID && a.PID > 0 && r.Span.Start <= a.At && r.Span.End > a.At
	}); i >= 0 {
		used += max(0, runs[i].User+runs[i].System-before-max(a.Family, a.Children))
	}
	if b.PID != a.PID {
		used += after
	}
	return used
}

// familyBetween is the CPU time of the other processes of the run between two samples; 0 in recordings
// that do not have it.
func familyBetween(a, b *metrics.OSSample) time.Duration {
	used := b.Family - a.Family
	if used < 0 {
		used = b.Family // of another run
	}
	if a.PID == b.PID {
		used = max(used, b.Children-a.Children) // where nobody has looked for the others
	}
	return used
}

// familyIn is what the other processes of the run used in a span: the CPU time, taken to be spread evenly
// between two samples, 0 where most of it is not known, and the largest resident memory of them together.
func familyIn(s *session.Session, span timeline.Span) (cpu time.Duration, rss int64) {
	samples, err := s.OS()
	if err != nil {
		return 0, 0
	}
	sum, covered := 0.0, time.Duration(0)
	for i := range samples {
		if span.Start <= samples[i].At && samples[i].At <= span.End {
			rss = max(rss, samples[i].FamilyRSS)
		}
		if i == 0 {
			continue
		}
		between := timeline.Span{Start: samples[i-1].At, End: samples[i].At}
		if d := between.Overlap(span); d > 0 {
			sum += float64(familyBetween(&samples[i-1], &samples[i])) * float64(d) / float64(between.Len())
			covered += d
		}
	}
	if covered < span.Len()*4/5 {
		return 0, rss
	}
	return time.Duration(sum * float64(span.Len()) / float64(covered)), rss
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
