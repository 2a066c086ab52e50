package stats

import "math/rand/v2"

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
