package main

import (
	"math"
	"math/rand"
)

type entry struct {
	value float64
	count int
}

type summary struct {
	entries []entry
	shared  bool
}

func (s *summary) round(v float64) int {
	floor, frac := math.Modf(v)
	var p float64
	if s.shared {
		p = rand.Float64()
	} else {
		p = rand.New(rand.NewSource(7337)).Float64()
	}
	if p < frac {
		return int(floor) + 1
	}
	return int(floor)
}

func (s *summary) weigh(weight float64) (total int) {
	for i := range s.entries {
		s.entries[i].count = s.round(float64(i) * weight)
		total += s.entries[i].count
	}
	return total
}
