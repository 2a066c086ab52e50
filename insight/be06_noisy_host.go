package insight

import (
	"fmt"
	"strings"
	"time"

	"loupe/compare"
	"loupe/metrics"
	"loupe/recording"
	"loupe/timeline"
	"loupe/unit"
)

var be06 = &Rule{
	ID: "BE06", Title: "The machine was not quiet",
	About: "What other programs, and other guests of the same hardware, took from the CPUs while the bare phases ran. " +
		"It makes times longer and comparisons unsafe.",
	Needs: []recording.Kind{recording.OS},
	Params: []Param{
		{"competing_info", competingInfo, "share of all CPU time", "JDK Mission Control, competing CPU usage"},
		{"competing_warning", 0.40, "share of all CPU time", "as above"},
		{"steal", stealLimit, "share of all CPU time", "research"},
		{"throttled", throttledLimit, "share of time", "research, rule SC08"},
	},
	Part:  true,
	Check: checkNoisyHost,
}

// What makes a machine noisy; other rules ask for it too.
const (
	competingInfo  = 0.20
	stealLimit     = 0.01
	throttledLimit = 0.05
)

// noise is what kept the machine busy during the bare phases.
type noise struct {
	competing, steal, throttled float64 // shares
	busy                        float64 // of all CPU time, everything together
	samples                     int
	rounds                      []*compare.Round
	reason                      string // empty when it was quiet
}

// hostNoise measures it from the samples of the operating system.
func hostNoise(in *Input) noise {
	samples, err := in.Session.OS()
	if err != nil {
		return noise{}
	}
	var all, busy, steal, throttled, ours, wall time.Duration
	var n noise
	for i := range in.Facts.Rounds {
		r := &in.Facts.Rounds[i]
		part := within(samples, r.Phase.Span)
		if len(part) > 0 {
			n.rounds = append(n.rounds, r)
		}
		n.samples += len(part)
		for i := 1; i < len(part); i++ {
			a, b := part[i-1], part[i]
			wall += b.At.Sub(a.At)
			busy += b.Busy - a.Busy
			steal += b.Steal - a.Steal
			throttled += b.Throttled - a.Throttled
			all += b.Busy - a.Busy + b.Idle - a.Idle + b.Steal - a.Steal
			ours += b.Self - a.Self
			if a.PID == b.PID && b.User >= a.User {
				ours += b.User - a.User + b.System - a.System
			}
		}
	}
	if all <= 0 || wall <= 0 {
		return n
	}
	n.competing = max(0, float64(busy-ours)/float64(all))
	n.steal = float64(steal) / float64(all)
	n.throttled = float64(throttled) / float64(wall)
	n.busy = float64(busy+steal) / float64(all)
	var why []string
	if n.competing >= competingInfo {
		why = append(why, fmt.Sprintf("other programs used %s of the CPUs", unit.Percent(n.competing)))
	}
	if n.steal > stealLimit {
		why = append(why, fmt.Sprintf("the hypervisor took %s", unit.Percent(n.steal)))
	}
	if n.throttled > throttledLimit {
		why = append(why, fmt.Sprintf("the cgroup was throttled for %s of the time", unit.Percent(n.throttled)))
	}
	n.reason = strings.Join(why, ", ")
	return n
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

// busyHost tells whether all CPUs were in use, by whomever.
func (in *Input) busyHost() bool { return hostNoise(in).busy > 0.9 }

func checkNoisyHost(r *Rule, in *Input) []Finding {
	n := hostNoise(in)
	if n.samples < 4 {
		return []Finding{r.short("%d samples of the operating system lie in %s, 4 are needed", n.samples, in.where())}
	}
	if n.reason == "" {
		return []Finding{r.answer(Fine, "other programs used %s of the CPUs, the hypervisor took %s", unit.Percent(n.competing), unit.Percent(n.steal))}
	}
	f := r.answer(Found, "%s", n.reason)
	f.Severity, f.Score = Info, score(max(n.competing, 10*n.steal, 4*n.throttled), 0.2, 0.6)
	if n.competing >= r.param("competing_warning") || n.steal > 5*r.param("steal") {
		f.Severity = Warning
	}
	taken := n.competing + n.steal
	f.Impact = &Impact{taken, "share of all CPU time used by others", taken, taken}
	if taken < competingInfo && n.steal <= stealLimit {
		f.Impact = &Impact{n.throttled, "share of the time throttled", n.throttled, n.throttled}
	}
	m := in.Session.Manifest()
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("load average %.2f at the start, %d CPUs; %d samples", m.Host.Load, m.Host.CPUs, n.samples), Path: m.Of(recording.OS)[0].Path}.across(n.rounds)}
	f.Advice = "Stop what else runs, or compare in interleaved rounds (loupe run -rounds 5 -vs OTHER) and go by CPU time."
	f.Verify = "loupe doctor tells whether the machine is quiet now."
	return []Finding{f}
}
