package heap

import "testing"

// TestWaysFrom: a way begins at a variable of the program rather than at the main goroutine, there rather than at another one,
// and at a table of the runtime only if there is no other.
func TestWaysFrom(t *testing.T) {
	roots := []Root{{Kind: Global, Name: "runtime.semtable"}, {Kind: Global, Name: "*main.shop"}, {Kind: Global, Name: "runtimes.all"}, {Kind: Goroutine, Func: "main.serve"}, {Kind: Goroutine, Func: "runtime.main"}}
	x := &nodes{roots: roots}
	// Node 6 is held by all, 7 by goroutines and the runtime, 8 by one goroutine and the runtime, 9 by the runtime alone; the way from
	// a variable is the longest.
	out := adjacency{start: []uint32{0}}
	for _, to := range [][]uint32{{1, 2, 3, 4, 5}, {6, 7, 8, 9}, {10}, nil, {6, 7, 8}, {6, 7}, nil, nil, nil, nil, {6}} {
		for _, w := range to {
			out.to.add(w)
		}
		out.start = append(out.start, out.to.n)
	}
	parent := shortest(11, out, x.turn)
	for node, want := range map[uint32]uint32{6: 10, 7: 5, 8: 4, 9: 1} {
		if parent[node] != want {
			t.Errorf("the way to %d comes from %d, want %d", node, parent[node], want)
		}
	}
}
