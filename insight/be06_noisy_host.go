package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

var be06 = &Rule{
	ID: "BE06", Title: "Noisy machine: other programs or guests used the CPUs",
	About: "How much CPU other programs, and other guests on the same hardware, used while the bare phases ran. It " +
		"makes times longer and comparisons unreliable. What the program has started is not another program.",
	Asks: []facts.Question{facts.Host},
	Params: []Param{
		{"competing_info", facts.NoisyCompeting, "share of all CPU time", "JDK Mission Control, competing CPU usage"},
		{"steal", facts.NoisySteal, "share of all CPU time", "research"},
		{"throttled", facts.NoisyThrottled, "share of time", "research, rule SC08"},
	},
	Part:        true,
	Measurement: true,
	Check:       checkNoisyHost,
}

func checkNoisyHost(r *Rule, in *Input) []Finding {
	n := in.Facts.Noise()
	if n.Samples < 4 {
		return []Finding{r.short("%d samples of the operating system lie in %s; 4 are needed", n.Samples, in.where())}
	}
	if n.Reason == "" {
		return []Finding{r.answer(Fine, "other programs used %s of the CPUs, the hypervisor took %s", unit.Percent(n.Competing), unit.Percent(n.Steal))}
	}
	f := r.answer(Found, "%s", n.Reason)
	f.Severity, f.Score = Info, score(max(n.Competing, 10*n.Steal, 4*n.Throttled), 0.2, 0.6)
	taken := n.Competing + n.Steal
	f.Impact = &Impact{taken, "share of all CPU time used by others", taken, taken}
	if taken < facts.NoisyCompeting && n.Steal <= facts.NoisySteal {
		f.Impact = &Impact{n.Throttled, "share of the time throttled", n.Throttled, n.Throttled}
	}
	m := in.Session.Manifest()
	f.Evidence = []Evidence{Evidence{Text: fmt.Sprintf("load average %.2f at the start, %d CPUs; %d samples", m.Host.Load, m.Host.CPUs, n.Samples), Path: m.Of(recording.OS)[0].Path}.across(n.Rounds)}
	f.Advice = "Stop other programs, or compare in interleaved rounds (loupe run -rounds 5 -vs OTHER) and rely on CPU time."
	f.Verify = "loupe doctor says whether the machine is quiet now."
	return []Finding{f}
}
