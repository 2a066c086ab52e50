package compare

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

// clockTick is that of /proc, which CPU times come from where the kernel's clock of a
// process cannot be read, as in recordings of older versions.
const clockTick = 10 * time.Millisecond

// inTicks tells whether the CPU times of all rounds are whole ticks. Times in ns are that
// by chance in one round of ten million.
func inTicks(all []*facts.Facts) bool {
	any := false
	for _, f := range all {
		for _, r := range f.Rounds {
			if r.CPU%clockTick != 0 {
				return false
			}
			any = any || r.CPU > 0
		}
	}
	return any
}

// dithered are the recordings as they are judged: CPU times that were read in ticks are
// spread over the tick that each stands for ([stats.Dither]). What is shown are the times
// as they were read.
func dithered(all []*facts.Facts) []*facts.Facts {
	if !inTicks(all) {
		return all
	}
	var out []*facts.Facts
	for i, f := range all {
		one := &facts.Facts{Title: f.Title, Manifest: f.Manifest}
		for k, r := range f.Rounds {
			if r.CPU > 0 {
				r.CPU = time.Duration(stats.Dither([]float64{float64(r.CPU)}, float64(clockTick), uint64(i)<<32+uint64(k))[0])
			}
			one.Rounds = append(one.Rounds, r)
		}
		out = append(out, one)
	}
	return out
}

// noteTicks says what the clock of ticks does to the CPU times of rounds.
func (t *Table) noteTicks(all []*facts.Facts) {
	if len(all) < 2 || !inTicks(all) {
		return
	}
	var times []float64
	for _, f := range all {
		for _, r := range f.Rounds {
			times = append(times, float64(r.CPU))
		}
	}
	if typical := stats.Median(times); typical > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("CPU times were read in ticks of %s, which is %s of a round: what a tick hides is filled in by chance, alike on both sides", unit.Duration(clockTick), unit.Percent(float64(clockTick)/typical)))
	}
}
