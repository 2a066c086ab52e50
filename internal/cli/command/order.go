package command

import (
	"math"
	"math/rand/v2"

	"loupe/value/stats"
)

// DrawOrder is the order in which the sides of a comparison take turns, drawn from a seed; 0
// draws a seed too, small enough for every reader of JSON.
func DrawOrder(seed uint64) stats.Order {
	if seed == 0 {
		seed = 1 + rand.Uint64N(math.MaxUint32)
	}
	return stats.Order{Seed: seed}
}
