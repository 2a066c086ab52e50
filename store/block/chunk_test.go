package block

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrder: many samples come in the order that comparing them gives, those of one stack as they came.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, manySamples - 1, manySamples, 5000} {
		for _, largest := range []uint32{0, 3, 511, 512, 100_000, 1<<32 - 1} {
			s := &samples{stacks: make([]uint32, n), sets: make([]uint32, n)}
			for i := range s.stacks {
				s.stacks[i] = uint32(r.Uint64N(uint64(largest) + 1))
			}
			got := s.order()
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int {
				if s.stacks[a] != s.stacks[b] {
					return map[bool]int{true: -1, false: 1}[s.stacks[a] < s.stacks[b]]
				}
				return 0
			})
			if !slices.Equal(got, want) {
				t.Errorf("%d samples up to %d: another order", n, largest)
			}
			slices.Sort(s.stacks)
			if got := s.order(); !slices.IsSorted(got) || len(got) != n {
				t.Errorf("%d sorted samples up to %d move", n, largest)
			}
		}
	}
}

func BenchmarkOrder(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name string
		n    int
	}{{"few", 150}, {"421", 421}, {"5000", 5000}} {
		s := &samples{stacks: make([]uint32, c.n), sets: make([]uint32, c.n)}
		for i := range s.stacks {
			s.stacks[i] = r.Uint32N(20_000)
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				s.order()
			}
		})
	}
}
