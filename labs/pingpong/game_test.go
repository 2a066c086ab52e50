package main

import (
	"hash/fnv"
	"testing"
)

// TestModes: however they are thrown, the balls remember the same, which is
// the FNV-1a hash of ioioio… when they begin with its offset.
func TestModes(t *testing.T) {
	for _, balls := range []int{0, 1, 2, basketSize, basketSize + 1, 3*basketSize - 1} {
		for _, hits := range []int{0, 1, 7} {
			want := alone(balls, hits)
			for name, game := range modes {
				if got := game(balls, hits); got != want {
					t.Errorf("%s, %d balls, %d hits: %x, want %x", name, balls, hits, got, want)
				}
			}
		}
	}
}

// TestHit asks the standard library what a ball should remember.
func TestHit(t *testing.T) {
	h := fnv.New64a()
	b := ball(h.Sum64())
	for range 5 {
		h.Write([]byte("io"))
		b = b.hit(ping).hit(pong)
	}
	if uint64(b) != h.Sum64() {
		t.Errorf("the ball remembers %x, want %x", b, h.Sum64())
	}
}
