package heap

import (
	"slices"
	"strings"
)

// paths are shortest ways from the roots. What nothing but goroutines leads to comes
// after all else, so that a way begins at a goroutine only if there is no other. Last of all
// are the tables of the runtime, such as that of those who wait for a lock: what they lead to
// belongs to the program, which has another way to it, unless they alone hold it, as timers
// hold their functions.
type paths struct {
	nodes  *nodes
	parent []uint32 // by node
	leaves bitset   // the reached objects that are no nodes
	rank   rank     // of leaves, from 0 on
	holder []uint32 // by leaf: the node that leads to it
}

// findPaths reads the pointers once more.
func (g *Graph) findPaths() (*paths, error) {
	if g.paths != nil {
		return g.paths, nil
	}
	h := g.h
	taken := h.taken
	defer func() { h.taken = taken }()
	p := &paths{nodes: &g.nodes, leaves: slices.Clone(h.marked)}
	for i, w := range g.nodes.set {
		p.leaves[i] &^= w
	}
	var leaves uint32
	p.rank, leaves = newRank(p.leaves, 0)
	p.holder = make([]uint32, leaves)
	n := uint32(len(g.idom))
	out, err := g.read(n, 0.9, func(id, node uint32, _ *span) {
		if at := &p.holder[p.rank.of(p.leaves, id)]; *at == 0 {
			*at = node
		}
	})
	if err != nil {
		return nil, err
	}
	h.cache.drop()
	giveBack(n)
	p.parent = shortest(n, out, g.nodes.turn)
	giveBack(n)
	g.paths = p
	return p, nil
}

// turns is how many turns there are, see [nodes.turn].
const turns = 4

// turn is when the ways from a root are looked for: those of the program's variables first, those
// of the main goroutine, which lives as long as they do, those of other goroutines, of which
// some only wait for what they point to, and those of the runtime's variables in the end.
func (x *nodes) turn(node uint32) int {
	r, ok := x.root(node)
	switch {
	case !ok:
		return 0
	case r.Kind == Goroutine && r.Func == "runtime.main":
		return 1
	case r.Kind == Goroutine:
		return 2
	case r.Kind == Global && strings.HasPrefix(strings.TrimLeft(r.Name, "*"), "runtime."):
		return 3
	}
	return 0
}

// shortest finds a shortest path to each node, from node 0 on: first by the nodes of the
// first turn that node 0 leads to, then by the others.
func shortest(n uint32, out adjacency, turnOf func(node uint32) int) []uint32 {
	parent := make([]uint32, n)
	seen := newBitset(n)
	seen.set(0)
	var now, next []uint32
	spread := func() {
		for len(now) > 0 {
			next = next[:0]
			for _, v := range now {
				for e := out.start[v]; e < out.start[v+1]; e++ {
					if w := out.to.at(e); !seen.has(w) {
						seen.set(w)
						parent[w] = v
						next = append(next, w)
					}
				}
			}
			now, next = next, now
		}
	}
	for turn := range turns {
		now = now[:0]
		for e := out.start[0]; e < out.start[1]; e++ {
			if w := out.to.at(e); turnOf(w) == turn && !seen.has(w) {
				seen.set(w)
				now = append(now, w)
			}
		}
		spread()
	}
	return parent
}

// before is the node that leads to an object.
func (p *paths) before(id uint32) uint32 {
	if !p.nodes.has(id) {
		return p.holder[p.rank.of(p.leaves, id)]
	}
	return p.parent[p.nodes.of(id)]
}

// chain is the way to an object: the root's node, 0 where there is none, and the
// objects up to it.
func (p *paths) chain(id uint32) (root uint32, ids []uint32) {
	ids = []uint32{id}
	v := p.before(id)
	for {
		next, ok := p.nodes.object(v)
		if !ok {
			slices.Reverse(ids)
			return v, ids
		}
		ids = append(ids, next)
		v = p.parent[v]
	}
}
