package compare

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stats"
	"loupe/value/unit"
)

// clockTick is that of /proc, which CPU times come from where the kernel's clock of a
// process cannot be read, as in recordings of older versions.
const clockTick = 10 * time.Millisecond

// fineTick is the share of a round from which on a tick is told and spread: a tenth of what
// counts as a change.
const fineTick = ROPE / 10

// inTicks tells whether the CPU times of all rounds are whole ticks, and what share of the
// typical one a tick is. Times in ns are that by chance in one round of ten million.
func inTicks(all []*facts.Facts) (share float64, ok bool) {
	var times []float64
	for _, f := range all {
		for _, r := range f.Rounds {
			if r.CPU%clockTick != 0 {
				return 0, false
			}
			times = append(times, float64(r.CPU))
		}
	}
	share = float64(clockTick) / stats.Median(times)
	return share, share >= fineTick && !math.IsInf(share, 0)
}

// dithered are the recordings as they are judged: CPU times that were read in ticks are
// spread over the tick that each stands for ([stats.Dither]). What is shown are the times
// as they were read.
func dithered(all []*facts.Facts) []*facts.Facts {
	if _, coarse := inTicks(all); !coarse {
		return all
	}
	var out []*facts.Facts
	for i, f := range all {
		one := &facts.Facts{Title: f.Title, Manifest: f.Manifest, Rounds: slices.Clone(f.Rounds)}
		read := make([]float64, len(f.Rounds))
		// The draw is another for other figures: it must not lean to one side for good.
		seed := fnv.New64a()
		fmt.Fprint(seed, i)
		for k := range f.Rounds {
			read[k] = float64(f.Rounds[k].CPU)
			fmt.Fprint(seed, " ", read[k])
		}
		for k, v := range stats.Dither(read, float64(clockTick), seed.Sum64()) {
			if read[k] > 0 {
				one.Rounds[k].CPU = time.Duration(v)
			}
		}
		out = append(out, one)
	}
	return out
}

// noteTicks says what the clock of ticks does to the CPU times of rounds.
func (t *Table) noteTicks(all []*facts.Facts) {
	if share, coarse := inTicks(all); coarse && len(all) > 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("CPU times were read in ticks of %s, which is %s of a round: the resolution lost is filled in at random, equally on both sides", unit.Duration(clockTick), unit.Percent(share)))
	}
}
