package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// graphOf makes the dominators of edges between n nodes; all are to be reached
// from node 0.
func graphOf(n uint32, edges [][2]uint32) *Graph {
	slices.SortStableFunc(edges, func(x, y [2]uint32) int { return int(x[0]) - int(y[0]) })
	var out adjacency
	out.start = []uint32{0}
	at := 0
	for v := range n {
		for ; at < len(edges) && edges[at][0] == v; at++ {
			out.to.add(edges[at][1])
		}
		out.start = append(out.start, out.to.n)
	}
	g := &Graph{held: sums{low: make([]uint32, n)}}
	t := search(n, out, noObject)
	g.idom = dominators(t, reverse(t, out), out.start[:n], &g.held)
	return g
}

// reachable tells what is reached from node 0 without going through one.
func reachable(n uint32, edges [][2]uint32, without uint32) []bool {
	seen := make([]bool, n)
	if without == 0 {
		return seen
	}
	seen[0] = true
	for again := true; again; {
		again = false
		for _, e := range edges {
			if seen[e[0]] && !seen[e[1]] && e[1] != without {
				seen[e[1]], again = true, true
			}
		}
	}
	return seen
}

// TestDominators holds the dominators of random graphs against their definition: a
// node dominates those that cannot be reached without it, and the immediate one is
// dominated by all the others.
func TestDominators(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 120 {
		n := uint32(2 + r.IntN(24))
		var edges [][2]uint32
		for v := uint32(1); v < n; v++ {
			edges = append(edges, [2]uint32{uint32(r.IntN(int(v))), v})
		}
		for range r.IntN(int(3 * n)) {
			edges = append(edges, [2]uint32{uint32(r.IntN(int(n))), 1 + uint32(r.IntN(int(n-1)))})
		}
		g := graphOf(n, edges)
		doms := make([]map[uint32]bool, n)
		for v := range doms {
			doms[v] = map[uint32]bool{}
		}
		for d := range n {
			for v, seen := range reachable(n, edges, d) {
				if !seen && uint32(v) != d {
					doms[v][d] = true
				}
			}
		}
		for v := uint32(1); v < n; v++ {
			d := g.idom[v]
			if !doms[v][d] || len(doms[d]) != len(doms[v])-1 {
				t.Fatalf("round %d: node %d has the dominator %d, and is dominated by %v; edges %v", round, v, d, doms[v], edges)
			}
		}
	}
}

// TestDeep: a list of a million nodes takes no stack and no quadratic time.
func TestDeep(t *testing.T) {
	const n = 1 << 20
	edges := make([][2]uint32, 0, 2*n)
	for v := uint32(1); v < n; v++ {
		edges = append(edges, [2]uint32{v - 1, v})
		if v > 1 {
			edges = append(edges, [2]uint32{v, v - 1}) // and back, as in a double list
		}
	}
	g := graphOf(n, edges)
	if d := g.idom[n-1]; d != n-2 {
		t.Errorf("the last node has the dominator %d", d)
	}
}

// TestSums: what does not fit into 32 bits is carried.
func TestSums(t *testing.T) {
	s := sums{low: make([]uint32, 2)}
	want := int64(0)
	for range 20 {
		s.add(1, 7<<32)
		want += 7 << 32
	}
	s.add(1, 24)
	if got := s.at(1); got != want+24 || s.at(0) != 0 {
		t.Errorf("the sum is %d, want %d; beside it %d", got, want+24, s.at(0))
	}
}

// TestRank: numbers of members lead back to them.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	set := newBitset(1000)
	for range 300 {
		set.set(uint32(r.IntN(100)*(1+r.IntN(2)*9)) % 1000)
	}
	ranks, n := newRank(set, 5)
	next := uint32(5)
	set.each(0, 1000, func(id uint32) {
		if ranks.of(set, id) != next || ranks.member(set, next) != id {
			t.Errorf("%d has the number %d, and %d leads to %d", id, ranks.of(set, id), next, ranks.member(set, next))
		}
		next++
	})
	if n != next {
		t.Errorf("the last number is %d, want %d", n, next)
	}
}
