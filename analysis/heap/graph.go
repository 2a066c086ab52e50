package heap

import (
	"math/bits"
	"runtime/debug"
	"slices"
)

// Graph is what leads to what in a heap, with the dominators: of an object, that
// one without which it would be free.
//
// Nodes are the roots and the reached objects, in the order of their addresses;
// node 0 leads to all roots. An object without pointers that one other thing alone
// leads to is no node: it is that one's leaf. In most heaps a third of all objects
// are leaves.
//
// What a global variable or a finalizer leads to, is held by that: pointers on
// stacks count for what nothing else holds. A worker that looks at an entry of a
// cache does not keep it from being the cache's.
type Graph struct {
	h *Heap

	nodes nodes
	idom  []uint32
	held  sums // by node: bytes that would be free without it

	paths *paths // nil until it is asked for
}

// nodes numbers the nodes of a graph.
type nodes struct {
	set   bitset // the objects that are nodes
	rank  rank   // of them, behind node 0 and the roots
	roots []Root
}

// nodesOf numbers the nodes of a heap. There are n of them.
func nodesOf(h *Heap) (x nodes, n uint32) {
	x = nodes{set: slices.Clone(h.marked), roots: h.roots}
	for i := range h.spans {
		if s := &h.spans[i]; s.noscan {
			h.marked.each(s.first, s.first+s.nelems, func(id uint32) {
				if !h.shared.has(id) {
					x.set.clear(id)
				}
			})
		}
	}
	x.rank, n = newRank(x.set, uint32(1+len(x.roots)))
	return x, n
}

// stacks is the first root that is a goroutine: they are the last ones.
func (x *nodes) stacks() uint32 {
	i := slices.IndexFunc(x.roots, func(r Root) bool { return r.Kind == Goroutine })
	if i < 0 {
		i = len(x.roots)
	}
	return uint32(1 + i)
}

// has tells whether an object is a node.
func (x *nodes) has(id uint32) bool { return x.set.has(id) }

// of is the number of an object that is a node.
func (x *nodes) of(id uint32) uint32 { return x.rank.of(x.set, id) }

// object returns the object of a node; ok is false for node 0 and for roots.
func (x *nodes) object(node uint32) (id uint32, ok bool) {
	if node <= uint32(len(x.roots)) {
		return 0, false
	}
	return x.rank.member(x.set, node), true
}

// root returns the root of a node.
func (x *nodes) root(node uint32) (r *Root, ok bool) {
	if node == 0 || node > uint32(len(x.roots)) {
		return nil, false
	}
	return &x.roots[node-1], true
}

// rank numbers the members of a set.
type rank []uint32 // by 64 members: how many are before them

// newRank numbers a set from first on; n is the number behind the last.
func newRank(set bitset, first uint32) (r rank, n uint32) {
	r = make(rank, len(set))
	for i, w := range set {
		r[i] = first
		first += uint32(bits.OnesCount64(w))
	}
	return r, first
}

// of is the number of a member.
func (r rank) of(set bitset, id uint32) uint32 {
	return r[id>>6] + uint32(bits.OnesCount64(set[id>>6]&(1<<(id&63)-1)))
}

// member returns the member of a number that is one.
func (r rank) member(set bitset, n uint32) uint32 {
	// The last 64 that begin with no more than n.
	w, _ := slices.BinarySearch(r, n+1)
	w--
	left := n - r[w]
	word := set[w]
	for range left {
		word &= word - 1
	}
	return uint32(w)<<6 + uint32(bits.TrailingZeros64(word))
}

// sums are numbers of bytes, each a multiple of 8. Nearly all are below 32 GB.
type sums struct {
	low  []uint32          // in 8 bytes
	high map[uint32]uint32 // what does not fit
}

func (s *sums) at(i uint32) int64 { return int64(s.high[i])<<35 + int64(s.low[i])<<3 }

func (s *sums) add(i uint32, n int64) {
	v := uint64(s.low[i]) + uint64(n)>>3
	s.low[i] = uint32(v)
	if v >>= 32; v != 0 {
		if s.high == nil {
			s.high = map[uint32]uint32{}
		}
		s.high[i] += uint32(v)
	}
}

// adjacency is, for each node, a run of others.
type adjacency struct {
	start []uint32
	to    paged
}

// paged is a long list of numbers. It grows without being copied.
type paged struct {
	pages [][]uint32
	n     uint32
}

const (
	listBits = 20
	listMask = 1<<listBits - 1
)

func (p *paged) at(i uint32) uint32 { return p.pages[i>>listBits][i&listMask] }

func (p *paged) place(i uint32) *uint32 { return &p.pages[i>>listBits][i&listMask] }

func (p *paged) add(v uint32) {
	if p.n&listMask == 0 {
		p.pages = append(p.pages, make([]uint32, 1<<listBits))
	}
	p.pages[p.n>>listBits][p.n&listMask] = v
	p.n++
}

// newPaged makes a list of n zeros.
func newPaged(n uint32) paged {
	p := paged{n: n}
	for done := uint64(0); done < uint64(n); done += 1 << listBits {
		p.pages = append(p.pages, make([]uint32, 1<<listBits))
	}
	return p
}

// Graph reads the pointers of all reached objects once more, and finds out what
// dominates what.
func (h *Heap) Graph() (g *Graph, err error) {
	taken := h.taken
	defer func() {
		if err != nil {
			h.taken = taken // it may be asked for again
		}
	}()
	g = &Graph{h: h}
	var n uint32
	var out adjacency
	for again := true; again; {
		h.taken = taken
		g.nodes, n = nodesOf(h)
		giveBack(n)
		// At the most: what leads to it and is led to, its numbers, and what the
		// search for dominators needs.
		if err := h.take(int64(n)*32, "the graph"); err != nil {
			return nil, err
		}
		if out, again, err = g.edges(n); err != nil {
			return nil, err
		}
	}
	h.cache.drop()
	giveBack(n)
	// The rest is numbers in memory: it takes about as long as reading them.
	var t tree
	var preds adjacency
	for i, f := range []func(){
		func() { t = search(n, out, g.nodes.stacks()) },
		func() { preds, out.to = reverse(t, out), paged{} },
		func() { g.idom = dominators(t, preds, out.start[:n], &g.held); t, preds = tree{}, adjacency{} },
	} {
		if p := h.pace(0.5+0.15*float64(i), 1, 1); p.err != nil {
			return nil, p.err
		}
		f()
		giveBack(n)
	}
	return g, nil
}

// giveBack returns memory that large tables have left to the system: the garbage of
// one step would be there beside the tables of the next.
func giveBack(n uint32) {
	if n > 1<<20 {
		debug.FreeOSMemory()
	}
}

// edgeVisitor collects what a node leads to.
type edgeVisitor struct {
	g    *Graph
	to   *paged
	node uint32
	last uint32
	full bool
	leaf func(id, node uint32, s *span)
}

func (v *edgeVisitor) pointer(p uint64, _ slotKind, _ typeID) {
	id, s, _ := v.g.h.locate(p)
	if id == noObject || id == v.last {
		return
	}
	v.last = id
	v.target(id, s)
}

// target adds an edge to an object, if it is reached.

func (v *edgeVisitor) target(id uint32, s *span) {
	if !v.g.nodes.has(id) {
		if v.g.h.marked.has(id) {
			v.leaf(id, v.node, s)
		}
		return
	}
	if v.to.n&listMask == 0 && v.g.h.take(8<<listBits, "the graph") != nil || v.to.n == noObject {
		v.full = true
		return
	}
	v.to.add(v.g.nodes.of(id))
}

// edges reads the pointers, in the order of addresses, and adds up what nodes and
// their leaves take themselves. again is set where a leaf turned out to be led to by
// several: it is none then, and all are to be counted anew. An object that is known
// by its type only after it was looked at may show more pointers.
func (g *Graph) edges(n uint32) (out adjacency, again bool, err error) {
	h := g.h
	g.held = sums{low: make([]uint32, n)}
	known := newBitset(h.objects)
	out, err = g.read(n, 0.5, func(id, node uint32, s *span) {
		if known.has(id) {
			h.shared.set(id)
			again = true
			return
		}
		known.set(id)
		g.held.add(node, int64(s.elemsize))
	})
	if err != nil || again {
		return out, again, err
	}
	h.each(h.marked, func(id uint32, s *span) {
		switch {
		case g.nodes.has(id):
			g.held.add(g.nodes.of(id), int64(s.elemsize))
		case !known.has(id):
			// Nothing else was marked, but memory that changes while it is
			// read may tell otherwise the second time.
			g.held.add(0, int64(s.elemsize))
		}
	})
	return out, false, nil
}

// read goes through the pointers of all nodes; leaf is told of those to leaves.
func (g *Graph) read(n uint32, part float64, leaf func(id, node uint32, s *span)) (out adjacency, err error) {
	h := g.h
	out.start = make([]uint32, 1, n+1)
	// Node 0 leads to the roots, which are in order, as their edges are.
	for r := range h.roots {
		out.to.add(uint32(1 + r))
	}
	out.start = append(out.start, out.to.n)
	at := 0
	v := edgeVisitor{g: g, to: &out.to, leaf: leaf}
	for r := range h.roots {
		v.node++
		for ; at < len(h.edges) && h.edges[at].root == uint32(r); at++ {
			id := h.edges[at].target
			v.target(id, h.spanOfObject(id))
		}
		out.start = append(out.start, out.to.n)
	}
	var sc scanner
	p := h.pace(0, part, int64(n))
	h.each(g.nodes.set, func(id uint32, s *span) {
		v.node++
		if p.next() && !s.noscan && !v.full {
			v.last = noObject
			sc.scan(&h.typing, id, s, &v)
		}
		out.start = append(out.start, out.to.n)
	})
	if v.full {
		return out, h.take(1<<62, "the graph")
	}
	return out, p.err
}

// tree is a depth-first search. Nodes have new numbers in it, in the order in which
// they are found.
type tree struct {
	number []uint32 // by old number
	parent []uint32 // by new number: the node before each, a new number
	into   []uint32 // by new number, one further: how many edges lead there
}

// cursor is a node on the way of a search, and the edge that is next.
type cursor struct{ node, edge uint32 }

// cursors is a stack that grows without being copied: lists are as deep as they are
// long.
type cursors struct {
	pages [][]cursor
	n     uint32
}

const (
	pathBits = 14
	pathMask = 1<<pathBits - 1
)

func (c *cursors) push(x cursor) {
	if int(c.n>>pathBits) == len(c.pages) {
		c.pages = append(c.pages, make([]cursor, 1<<pathBits))
	}
	c.pages[c.n>>pathBits][c.n&pathMask] = x
	c.n++
}

func (c *cursors) top() *cursor { return &c.pages[(c.n-1)>>pathBits][(c.n-1)&pathMask] }

// search numbers the nodes in the order of a depth-first search. stacks is the
// first of the nodes, behind all others that node 0 leads to, that hold only what
// those do not.
//
// It turns the targets of edges into new numbers, and into 0 those of edges that
// say nothing of dominators: of the tree, and from stacks to what others hold.
func search(n uint32, out adjacency, stacks uint32) tree {
	t := tree{number: make([]uint32, n), parent: make([]uint32, 1, n), into: make([]uint32, n+1)}
	var path cursors
	path.push(cursor{0, out.start[0]})
	enter := func(v, from uint32) {
		t.number[v] = uint32(len(t.parent))
		t.parent = append(t.parent, from)
	}
	late := uint32(noObject) // the first number of stacks
	for path.n > 0 {
		top := path.top()
		if top.edge == out.start[top.node+1] {
			path.n--
			continue
		}
		edge := out.to.place(top.edge)
		top.edge++
		w := *edge
		if at := t.number[w]; at != 0 {
			if path.n == 2 && top.node >= stacks && at < late {
				at = 0
			} else {
				t.into[at+1]++
			}
			*edge = at
			continue
		}
		*edge = 0
		if w == 0 {
			continue
		}
		if w == stacks {
			late = uint32(len(t.parent))
		}
		enter(w, t.number[top.node])
		path.push(cursor{w, out.start[w]})
	}
	// What the second reading of changing memory has not shown hangs on node 0.
	for v := uint32(1); v < n; v++ {
		if t.number[v] == 0 {
			enter(v, 0)
			for e := out.start[v]; e < out.start[v+1]; e++ {
				*out.to.place(e) = 0
			}
		}
	}
	return t
}

// reverse makes the edges lead back, in the new numbers.
func reverse(t tree, out adjacency) (preds adjacency) {
	n := uint32(len(t.parent))
	start := t.into
	for i := range n {
		start[i+1] += start[i]
	}
	to := newPaged(start[n])
	// Each start moves to the end of its run, and is the next one's then.
	for v := range n {
		from := t.number[v]
		for e := out.start[v]; e < out.start[v+1]; e++ {
			if w := out.to.at(e); w != 0 {
				*to.place(start[w]) = from
				start[w]++
			}
		}
	}
	copy(start[1:], start[:n])
	start[0] = 0
	return adjacency{start, to}
}

// dominators finds them by the semidominators (Georgiadis, Tarjan and Werneck,
// "Finding Dominators in Practice", 2006: SEMI-NCA). Nodes before the one in work
// are not linked yet; paths among the others are compressed as they are walked.
// Then it adds up what is held, and returns the dominator of each node. It uses up the tree, and semi, which has room for a
// number for each node.
func dominators(t tree, preds adjacency, semi []uint32, held *sums) []uint32 {
	n := uint32(len(t.parent))
	ancestor := t.parent
	idom := slices.Clone(t.parent)
	label := make([]uint32, n)
	for i := range n {
		semi[i], label[i] = i, i
	}
	var path []uint32
	best := func(v, linked uint32) uint32 {
		if ancestor[v] < linked {
			return label[v]
		}
		path = path[:0]
		for ancestor[v] >= linked {
			path = append(path, v)
			v = ancestor[v]
		}
		top := label[v]
		for i := len(path) - 1; i >= 0; i-- {
			w := path[i]
			ancestor[w] = ancestor[v]
			if semi[top] < semi[label[w]] {
				label[w] = top
			} else {
				top = label[w]
			}
			v = w
		}
		return label[v]
	}
	for i := n - 1; i >= 1; i-- {
		s := ancestor[i]
		for e := preds.start[i]; e < preds.start[i+1]; e++ {
			s = min(s, semi[best(preds.to.at(e), i+1)])
		}
		semi[i] = s
	}
	for i := uint32(1); i < n; i++ {
		d := idom[i]
		for d > semi[i] {
			d = idom[d]
		}
		idom[i] = d
	}
	// Back to the old numbers.
	old := label
	for v, i := range t.number {
		old[i] = uint32(v)
	}
	out := semi
	for i := n - 1; i >= 1; i-- {
		idom[i] = old[idom[i]]
		held.add(idom[i], held.at(old[i]))
	}
	for i := uint32(1); i < n; i++ {
		out[old[i]] = idom[i]
	}
	out[0] = 0
	return out
}

// retained is how many bytes would be free without an object.
func (g *Graph) retained(id uint32, s *span) int64 {
	if !g.nodes.has(id) {
		return int64(s.elemsize)
	}
	return g.held.at(g.nodes.of(id))
}
