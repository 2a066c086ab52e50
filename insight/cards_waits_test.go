package insight

import "testing"

// TestBelowWaits: what takes CPU time of a program that hardly uses a CPU goes behind what its units wait for.
func TestBelowWaits(t *testing.T) {
	for _, x := range []struct {
		name         string
		cpus, share  float64 // that are used; of the time that units wait
		high         float64 // of the CPU time
		unit         string
		cpu          Severity
		behind, none bool
	}{
		{"a tenth of half a CPU", 0.44, 0.454, 0.207, "share of the time of main", Warning, true, false},
		{"most of a CPU", 0.9, 0.454, 0.207, "share of the time of main", Warning, false, false},
		{"more of the run than the waits", 0.7, 0.454, 0.9, "share of the time of main", Warning, false, false},
		{"graver", 0.44, 0.454, 0.207, "share of the time of main", Critical, false, false},
		{"busy time", 0.44, 0.454, 0.207, "share of the busy time", Warning, false, false},
		{"no CPU profile", 0, 0.454, 0.207, "share of the time of main", Warning, false, true},
	} {
		c := &causal{all: []Finding{{Rule: "AL13", Severity: x.cpu}, {Rule: "WT01", Severity: Warning, Impact: exactly(x.share, x.unit)}}, rank: map[int]float64{0: 0.5, 1: 0.454}, spent: &spent{cpus: x.cpus}}
		if x.none {
			c.spent = nil
		}
		cards := []Card{{Finding: 0, Gain: &Gain{Of: "CPU time", Share: 0.1, High: x.high}}, {Finding: 1}}
		if c.belowWaits([]*Card{&cards[0]}, cards); c.rank[0] < c.rank[1] != x.behind {
			t.Errorf("%s: %v", x.name, c.rank)
		}
	}
}
