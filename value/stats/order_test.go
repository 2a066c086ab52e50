package stats

import (
	"slices"
	"testing"
)

// TestOrder: each block has every side once, the order is that of the seed, and every
// order comes up equally often.
func TestOrder(t *testing.T) {
	for _, sides := range []int{2, 3} {
		seen := map[string]int{}
		for block := range 6000 {
			got := Order{Seed: 7}.Block(block, sides)
			if again := (Order{Seed: 7}).Block(block, sides); !slices.Equal(got, again) {
				t.Fatalf("block %d is %v, and %v when asked again", block, got, again)
			}
			name := ""
			for _, side := range got {
				name += string(rune('A' + side))
			}
			seen[name]++
			if slices.Sort(got); !slices.Equal(got, []int{0, 1, 2}[:sides]) {
				t.Fatalf("block %d has the sides %v", block, got)
			}
		}
		orders := 2
		if sides == 3 {
			orders = 6
		}
		for name, n := range seen { // within five standard errors
			near(t, name, float64(n)/6000, 1/float64(orders), 0.033)
		}
		if len(seen) != orders {
			t.Errorf("the orders are %v, want %d", seen, orders)
		}
	}
	same := 0
	for block := range 1000 {
		if slices.Equal(Order{Seed: 1}.Block(block, 2), Order{Seed: 2}.Block(block, 2)) {
			same++
		}
	}
	near(t, "blocks alike of two seeds", float64(same)/1000, 0.5, 0.08)
}
