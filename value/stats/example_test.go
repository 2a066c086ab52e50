package stats_test

import (
	"fmt"

	"loupe/value/stats"
)

// A comparison that goes on until it is decided: rounds in blocks of a random order, and
// looks at fixed points.
func ExampleCompare_looks() {
	order, looks := stats.Order{Seed: 1}, stats.UsualLooks()
	noise := []float64{0, 3, 1, 7, 2, 5, 4, 6} // what the machine does meanwhile
	measure := func(side, i int) float64 { return 100 + 5*float64(side) + noise[i%len(noise)]/8 }

	var sides [2]stats.Side
	for block := 0; ; block++ {
		for at, side := range order.Block(block, 2) {
			s := &sides[side]
			s.Values, s.Blocks = append(s.Values, measure(side, 2*block+at)), append(s.Blocks, block)
		}
		due, last := looks.Due(block + 1)
		if !due {
			continue
		}
		c := stats.Compare(sides[0], sides[1], looks.Confidence())
		if d := c.Decide(0.01); d.Different() || d == stats.Same || last {
			fmt.Printf("×%.2f [%.2f, %.2f] after %d blocks, larger: %t\n", c.Estimate, c.Low, c.High, c.N, d == stats.Larger)
			return
		}
	}
	// Output: ×1.05 [1.04, 1.05] after 10 blocks, larger: true
}

// Rows that decide together: each p is worth less.
func ExampleHolm() {
	fmt.Println(stats.Holm([]float64{0.01, 0.04}))
	// Output: [0.02 0.04]
}

// A clock of 10 ms has told two durations.
func ExampleDither() {
	for _, v := range stats.Dither([]float64{30, 30}, 10, 1) {
		fmt.Println(20 < v && v < 40 && v != 30)
	}
	// Output:
	// true
	// true
}
