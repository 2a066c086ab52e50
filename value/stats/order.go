package stats

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Order is the order in which the sides of a comparison take their rounds. Rounds come
// in blocks, in which every side has one round, and the order within a block is drawn at
// random: what comes back every so often, such as a timer, a cron job or a collector
// elsewhere, cannot stay in step with one side, as it can with a fixed order like ABBA.
// The draw is also what makes the tests of [Compare] exact: under equality a block is as
// likely to have come out with its sides exchanged.
//
// The order is a function of the seed and the number of the block. So it goes on for as
// many blocks as are wanted, and who keeps the seed can repeat it.
type Order struct {
	Seed uint64 `json:"seed"`
}

// Block returns the sides, numbered from 0, in the order in which they have their rounds
// in a block; blocks count from 0.
func (o Order) Block(block, sides int) []int {
	return rand.New(rand.NewPCG(o.Seed, uint64(block))).Perm(sides)
}

// Blocks finds out which block each round belongs to, from when the rounds of each side
// began: in the order of time, each block has every side once, and the last may lack some.
// It is nil where the rounds did not take turns so, or when a time is not known.
func Blocks(when [][]time.Time) [][]int {
	type round struct {
		at       time.Time
		side, nr int
	}
	var all []round
	blocks := make([][]int, len(when))
	for side, starts := range when {
		for nr, at := range starts {
			if at.IsZero() {
				return nil
			}
			all = append(all, round{at, side, nr})
		}
		blocks[side] = make([]int, len(starts))
	}
	slices.SortStableFunc(all, func(a, b round) int { return a.at.Compare(b.at) })
	if len(when) < 2 || len(all) < len(when) {
		return nil
	}
	for block, rounds := range slices.Collect(slices.Chunk(all, len(when))) {
		seen := map[int]bool{}
		for _, r := range rounds {
			if seen[r.side] {
				return nil
			}
			seen[r.side] = true
			blocks[r.side][r.nr] = block
		}
	}
	return blocks
}

// Fixed tells of two sides that took turns in blocks whether their order looks like one
// that was not drawn: always the same side first (AB AB), or each in turn (AB BA). Of
// seven blocks that were drawn, one set in 32 looks so.
func Fixed(a, b []time.Time) bool {
	n := min(len(a), len(b))
	if n < enoughBlocks {
		return false
	}
	first := func(i int) bool { return a[i].Before(b[i]) }
	same, turns := true, true
	for i := 1; i < n; i++ {
		same, turns = same && first(i) == first(0), turns && first(i) != first(i-1)
	}
	return same || turns
}
