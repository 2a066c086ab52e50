package block

import (
	"math/rand/v2"
	"testing"
)

// TestPaths holds paths that are found whole against those that are looked up node by
// node, also where all of them have one hash.
func TestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	whole, single := newInterner(), newInterner()
	for range 20_000 {
		path := make([]uint32, r.IntN(6)) // few locations: many are a part of others
		for i := range path {
			path[i] = r.Uint32N(5)
		}
		want := uint32(0)
		for _, l := range path {
			want = single.node(want, l)
		}
		if got := whole.path(path); got != want {
			t.Fatalf("%d is at node %d, want %d", path, got, want)
		}
	}
	var same hashed
	for i := range uint32(2000) {
		at, slot := same.find(7, func(node uint32) bool { return node == i })
		if slot < 0 {
			t.Fatalf("%d is found at %d before it was added", i, at)
		}
		same.add(slot, 7, i)
	}
	for i := range uint32(2000) {
		if at, slot := same.find(7, func(node uint32) bool { return node == i }); slot >= 0 || at != i {
			t.Fatalf("of one hash %d is found at %d, %d", i, at, slot)
		}
	}
}
