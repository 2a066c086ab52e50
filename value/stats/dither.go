package stats

import "math/rand/v2"

// Dither spreads values that were read from a clock of coarse ticks, each evenly over the
// tick that it stands for: what the clock did not tell is filled in with chance, the same
// for both sides. Without it many values are equal, and an estimate is a whole number of
// ticks. It makes nothing more certain than it is: with few ticks a round the interval
// stays wide. The draw follows from the seed, so that a comparison comes out the same
// when it is repeated; the sides of one comparison have different seeds.
//
// A duration between two readings lies up to one tick to either side, closer ones being
// more likely: the sum of two even draws. Values stay positive where they were.
func Dither(values []float64, tick float64, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0x7469636b))
	out := make([]float64, len(values))
	for i, v := range values {
		moved := v + tick*(r.Float64()+r.Float64()-1)
		if v > 0 && moved <= 0 {
			moved = v
		}
		out[i] = moved
	}
	return out
}
