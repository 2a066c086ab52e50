package heap

import (
	"cmp"
	"math/bits"
	"slices"
)

// Graph is what leads to what in a heap, with the dominators: of an object, that
// one without which it would be free.
//
// The nodes are numbered in the order of a depth-first search. Node 0 leads to
// all roots.
//
// What a global variable or a finalizer leads to, is held by that: pointers on
// stacks count for what nothing else holds. A worker that looks at an entry of a
// cache does not keep it from being the cache's, and a stale word on a stack, which
// nobody can tell from a used one, does not divide a list.
type Graph struct {
	h *Heap

	before []uint32 // by 64 objects: how many are reached before them
	number []uint32 // of a node as it was first counted: root, or object
	first  []uint32 // the reverse: by number
	preds  adjacency
	parent []uint32 // on a shortest path from node 0
	idom   []uint32
	held   []int64 // by node: bytes that would be free without it
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
	n := g.count()
	if err := h.take(int64(n)*44, "the graph"); err != nil {
		return nil, err
	}
	out, err := g.edges(n)
	if err != nil {
		return nil, err
	}
	// The rest is numbers in memory: it takes about as long as reading them.
	var t tree
	for i, f := range []func(){
		func() { g.leaveStacks(n, out) }, func() { t = g.search(n, out) }, func() { g.shortest(n, out) }, func() { g.reverse(n, out) }, func() { g.dominators(t) },
	} {
		if p := h.pace(0.5+0.1*float64(i), 1, 1); p.err != nil {
			return nil, p.err
		}
		f()
	}
	g.preds = adjacency{} // they are as large as all the rest
	g.sum()
	return g, nil
}

// count numbers the reached objects, behind node 0 and the roots.
func (g *Graph) count() uint32 {
	h := g.h
	n := uint32(1 + len(h.roots))
	g.before = make([]uint32, len(h.marked))
	for i, w := range h.marked {
		g.before[i] = n
		n += uint32(bits.OnesCount64(w))
	}
	return n
}

// nodeOf is the number of an object.
func (g *Graph) nodeOf(id uint32) uint32 {
	return g.before[id>>6] + uint32(bits.OnesCount64(g.h.marked[id>>6]&(1<<(id&63)-1)))
}

// edgeVisitor collects what an object leads to.
type edgeVisitor struct {
	g    *Graph
	to   *paged
	last uint32
	full bool
}

func (v *edgeVisitor) pointer(p uint64, _ slotKind, _ typeID) {
	id, _, _ := v.g.h.find(p)
	if id == noObject || id == v.last || !v.g.h.marked.has(id) {
		return
	}
	v.last = id
	if v.to.n&listMask == 0 && v.g.h.take(8<<listBits, "the graph") != nil || v.to.n == noObject {
		v.full = true
		return
	}
	v.to.add(v.g.nodeOf(id))
}

// edges reads the pointers, in the order of addresses.
func (g *Graph) edges(n uint32) (out adjacency, err error) {
	h := g.h
	out.start = make([]uint32, 1, n+1)
	// Node 0 leads to the roots, which are in order, as their edges are.
	for r := range h.roots {
		out.to.add(uint32(1 + r))
	}
	out.start = append(out.start, out.to.n)
	at := 0
	v := edgeVisitor{g: g, to: &out.to}
	for r := range h.roots {
		for ; at < len(h.edges) && h.edges[at].root == uint32(r); at++ {
			out.to.add(g.nodeOf(h.edges[at].target))
		}
		out.start = append(out.start, out.to.n)
	}
	var sc scanner
	p := h.pace(0, 0.5, int64(n))
	h.eachObject(h.marked, func(id uint32, s *span) {
		if p.next() && !s.noscan && !v.full {
			v.last = noObject
			sc.scan(h, id, s, &v)
		}
		out.start = append(out.start, out.to.n)
	})
	if v.full {
		return out, h.take(1<<62, "the graph")
	}
	return out, p.err
}

// leaveStacks makes the edges from goroutines to what other roots reach lead to
// node 0, where they mean nothing.
func (g *Graph) leaveStacks(n uint32, out adjacency) {
	seen := newBitset(n)
	var stack []uint32
	for r := range g.h.roots {
		if g.h.roots[r].Kind != Goroutine {
			seen.set(uint32(1 + r))
			stack = append(stack, uint32(1+r))
		}
	}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for e := out.start[v]; e < out.start[v+1]; e++ {
			if w := out.to.at(e); !seen.has(w) {
				seen.set(w)
				stack = append(stack, w)
			}
		}
	}
	for r := range g.h.roots {
		if g.h.roots[r].Kind != Goroutine {
			continue
		}
		for e := out.start[1+r]; e < out.start[2+r]; e++ {
			if p := &out.to.pages[e>>listBits][e&listMask]; seen.has(*p) {
				*p = 0
			}
		}
	}
}

// tree is a depth-first search: the node before each.
type tree struct{ parent []uint32 }

// search numbers the nodes in the order of a depth-first search.
func (g *Graph) search(n uint32, out adjacency) tree {
	g.number = make([]uint32, 0, n) // by node in the new order
	g.first = make([]uint32, n)     // by node in the old one
	parent := make([]uint32, 0, n)  // new numbers
	cursor := slices.Clone(out.start[:n])
	seen := newBitset(n)
	var stack []uint32 // old numbers
	enter := func(v, from uint32) {
		seen.set(v)
		g.first[v] = uint32(len(g.number))
		g.number = append(g.number, v)
		parent = append(parent, from)
		stack = append(stack, v)
	}
	enter(0, 0)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		if cursor[v] == out.start[v+1] {
			stack = stack[:len(stack)-1]
			continue
		}
		w := out.to.at(cursor[v])
		cursor[v]++
		if !seen.has(w) {
			enter(w, g.first[v])
		}
	}
	// Nothing else was marked, but memory that changes while it is read may
	// tell otherwise the second time: such objects hang on node 0.
	for v := range n {
		if !seen.has(v) {
			enter(v, 0)
			stack = stack[:0]
		}
	}
	return tree{parent}
}

// shortest finds a shortest path to each node, from node 0 on.
func (g *Graph) shortest(n uint32, out adjacency) {
	g.parent = make([]uint32, n)
	seen := newBitset(n)
	queue := make([]uint32, 1, n) // old numbers
	seen.set(0)
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		for e := out.start[v]; e < out.start[v+1]; e++ {
			if w := out.to.at(e); !seen.has(w) {
				seen.set(w)
				g.parent[g.first[w]] = g.first[v]
				queue = append(queue, w)
			}
		}
	}
}

// reverse makes the edges lead back, in the new numbers.
func (g *Graph) reverse(n uint32, out adjacency) {
	start := make([]uint32, n+1)
	for e := range out.to.n {
		start[g.first[out.to.at(e)]+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	to := newPaged(out.to.n)
	fill := slices.Clone(start[:n])
	for v := range n {
		for e := out.start[v]; e < out.start[v+1]; e++ {
			w := g.first[out.to.at(e)]
			to.pages[fill[w]>>listBits][fill[w]&listMask] = g.first[v]
			fill[w]++
		}
	}
	g.preds = adjacency{start, to}
}

// dominators finds them by the semidominators (Georgiadis, Tarjan and Werneck,
// "Finding Dominators in Practice", 2006: SEMI-NCA). Nodes before the one in work
// are not linked yet; paths among the others are compressed as they are walked.
func (g *Graph) dominators(t tree) {
	n := uint32(len(t.parent))
	ancestor := t.parent
	g.idom = slices.Clone(t.parent)
	semi, label := make([]uint32, n), make([]uint32, n)
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
		for e := g.preds.start[i]; e < g.preds.start[i+1]; e++ {
			s = min(s, semi[best(g.preds.to.at(e), i+1)])
		}
		semi[i] = s
	}
	for i := uint32(1); i < n; i++ {
		d := g.idom[i]
		for d > semi[i] {
			d = g.idom[d]
		}
		g.idom[i] = d
	}
}

// sum adds the sizes up along the dominators.
func (g *Graph) sum() {
	h := g.h
	g.held = make([]int64, len(g.idom))
	h.eachObject(h.marked, func(id uint32, s *span) {
		g.held[g.first[g.nodeOf(id)]] = int64(s.elemsize)
	})
	for i := len(g.idom) - 1; i >= 1; i-- {
		g.held[g.idom[i]] += g.held[i]
	}
}

// object returns the object of a node; ok is false for node 0 and for roots.
func (g *Graph) object(node uint32) (id uint32, ok bool) {
	v := g.number[node]
	if v <= uint32(len(g.h.roots)) {
		return 0, false
	}
	// The last 64 objects that begin with no more than v.
	w, _ := slices.BinarySearch(g.before, v+1)
	w--
	left := v - g.before[w]
	word := g.h.marked[w]
	for range left {
		word &= word - 1
	}
	return uint32(w)<<6 + uint32(bits.TrailingZeros64(word)), true
}

// root returns the root of a node.
func (g *Graph) root(node uint32) (r *Root, ok bool) {
	v := g.number[node]
	if v == 0 || v > uint32(len(g.h.roots)) {
		return nil, false
	}
	return &g.h.roots[v-1], true
}

// Holder is something that holds memory.
type Holder struct {
	Kind RootKind `json:"kind"`
	Name string   `json:"name"`
	// Func is where a goroutine began.
	Func string `json:"func,omitempty"`
	// Retained is how many bytes would be free without it.
	Retained int64 `json:"retained"`
}

// Holders returns the roots by what they alone hold, the most first. Goroutines
// that began at one function are one when together is set.
func (g *Graph) Holders(together bool) []Holder {
	var out []Holder
	at := map[string]int{}
	for r := range g.h.roots {
		root := &g.h.roots[r]
		hold := Holder{root.Kind, root.Name, root.Func, g.held[g.first[1+r]]}
		if hold.Retained == 0 {
			continue
		}
		if key := string(root.Kind) + root.Func + "\x00"; together && root.Kind == Goroutine {
			if i, ok := at[key]; ok {
				out[i].Retained += hold.Retained
				out[i].Name = "goroutines"
				continue
			}
			at[key] = len(out)
		}
		out = append(out, hold)
	}
	slices.SortStableFunc(out, func(x, y Holder) int { return cmp.Compare(y.Retained, x.Retained) })
	return out
}

// ByType returns the histogram with what the objects of each type retain: what is
// held by one of them within another one counts once.
func (g *Graph) ByType() []Row {
	n := uint32(len(g.idom))
	start := make([]uint32, n+1)
	for i := uint32(1); i < n; i++ {
		start[g.idom[i]+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	child := make([]uint32, n)
	fill := slices.Clone(start[:n])
	for i := uint32(1); i < n; i++ {
		child[fill[g.idom[i]]] = i
		fill[g.idom[i]]++
	}
	rows := g.h.Histogram()
	index := make(map[string]int, len(rows))
	for i := range rows {
		index[rows[i].Type] = i
	}
	kinds := g.kindsOf(index)
	open := make([]int32, len(rows)+1)
	cursor := slices.Clone(start[:n])
	stack := []uint32{0}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		if cursor[v] < start[v+1] {
			w := child[cursor[v]]
			cursor[v]++
			if k := kinds[w]; k > 0 {
				if open[k] == 0 {
					rows[k-1].Retained += g.held[w]
				}
				open[k]++
			}
			stack = append(stack, w)
			continue
		}
		open[kinds[v]]--
		stack = stack[:len(stack)-1]
	}
	return rows
}

// kindsOf returns, by node, the row of its type in a histogram, plus one.
func (g *Graph) kindsOf(index map[string]int) []uint32 {
	h := g.h
	kinds := make([]uint32, len(g.idom))
	type key struct {
		kind   uint32
		size   uint64
		noscan bool
	}
	known := map[key]uint32{}
	h.eachObject(h.marked, func(id uint32, s *span) {
		k := key{kind: h.kind(id)}
		if k.kind == 0 {
			k.size, k.noscan = s.elemsize, s.noscan
		}
		row, ok := known[k]
		if !ok {
			row = uint32(index[h.typeName(id, s)]) + 1
			known[k] = row
		}
		kinds[g.first[g.nodeOf(id)]] = row
	})
	return kinds
}
